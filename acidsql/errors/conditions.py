"""The table of conditions: SQLSTATE, text and Hive's code of each error."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True, eq=False)  # Enum would make conditions with equal infos aliases of each other
class ConditionInfo:
    """A condition's SQLSTATE, Hive's error code (None if Hive has none) and the template of its message."""

    sqlstate: str
    hive_code: int | None
    template: str


def _info(sqlstate: str, template: str, hive_code: int | None = None) -> ConditionInfo:
    return ConditionInfo(sqlstate, hive_code, template)


class Condition(Enum):
    """The conditions. Texts and codes are those of `org.apache.hadoop.hive.ql.ErrorMsg` if Hive has the error."""

    # -- the text itself
    PARSE_SYNTAX_ERROR = _info("42601", "{message}")
    NOT_YET_SUPPORTED = _info("0A000", "{feature} is not yet supported by acidsql.")
    UNBOUND_PARAMETER = _info("42P02", "No value was given for the parameter {name}.")
    INVALID_PARAMETER = _info("22023", "The value of the parameter {name} cannot be used: {reason}")
    UNKNOWN_SETTING = _info("42000", "{name} is not a setting.{suggestion}")
    INVALID_SETTING = _info("22023", "{value} is not a value of {name}: {rule}")
    INVALID_SETTINGS_FILE = _info("22023", "The settings in {path} cannot be read: {reason}")
    VARIABLE_DEPTH = _info("54000", "Variable substitution depth is deeper than {depth} for expression {expression}")
    # -- names
    TABLE_NOT_FOUND = _info("42P01", "Table not found '{table}'{suggestion}", 10001)
    COLUMN_NOT_FOUND = _info("42703", "Invalid column reference '{column}'{suggestion}", 10002)
    AMBIGUOUS_COLUMN = _info("42702", "Ambiguous column reference '{column}': it could be {candidates}", 10007)
    AMBIGUOUS_TABLE_ALIAS = _info("42712", "Ambiguous table alias '{alias}'", 10008)
    WAREHOUSE_NOT_FOUND = _info("3D000", "There is no warehouse at {warehouse}: {metastore} does not exist")
    DATABASE_NOT_FOUND = _info("42000", "Database does not exist: {database}{suggestion}", 10072)
    TABLE_ALREADY_EXISTS = _info("42P07", "Table already exists: {table}", 10073)
    DATABASE_ALREADY_EXISTS = _info("42P06", "Database {database} already exists")
    DATABASE_NOT_EMPTY = _info("2BP01", "Database {database} is not empty. One or more tables exist.")
    CANNOT_DROP_DEFAULT_DATABASE = _info("42000", "Can not drop default database")
    INVALID_DATABASE_NAME = _info("42602", "{database} is not a valid database name")
    INVALID_TABLE_NAME = _info("42602", "[{table}]: is not a valid table name")
    INVALID_COLUMN_NAME = _info("42602", "Invalid column name '{column}': {reason}", 10328)
    DUPLICATE_COLUMN = _info("42701", "Duplicate column name: {column}", 10036)
    SET_COLUMN_NOT_FOUND = _info(
        "42703", 'Target column "{column}" of set clause is not found in table "{table}".{suggestion}', 10408
    )
    INSERT_COLUMN_NOT_FOUND = _info(
        "42703",
        "'{column}' in insert schema specification is/are not found among regular columns of {table} nor dynamic"
        " partition columns.{suggestion}",
    )
    SET_COLUMN_TWICE = _info("42701", "Column {column} is set twice in one SET clause.")
    # -- what may be written
    NOT_TRANSACTIONAL = _info(
        "42000", "Attempt to do update or delete on table {table} that is not transactional", 10297
    )
    INSERT_ONLY = _info(
        "42000", "Attempt to do update or delete on table {table} that is insert-only transactional", 10414
    )
    SORTED_TABLE = _info(
        "42000", "ACID insert, update, delete not supported on tables that are sorted, table {table}", 10298
    )
    WRITE_TO_VIEW = _info("42000", "You cannot update or delete records in a view", 10402)
    INSERT_INTO_VIEW = _info("42000", "A view cannot be used as target table for LOAD or INSERT", 10090)
    INVALID_TABLE_PROPERTIES = _info("42000", "{message}")
    SERDE_READS_ONLY = _info(
        "0A000", "{table} cannot be written to: Regex SerDe doesn't support the serialize() method"
    )
    INVALID_TYPE = _info("42704", "{type} is not a Hive type: {reason}")
    INSERT_COLUMN_COUNT = _info(
        "21S01",
        "Cannot insert into target table because column number/types are different '{table}': {detail}",
        10044,
    )
    INCOMPATIBLE_TYPE = _info(
        "42821",
        "Cannot insert into target table because column number/types are different '{table}':"
        " Cannot convert column {column} from {source} to {target}.",
        10044,
    )
    CREATE_AS_TYPE = _info(
        "42821",
        "CREATE-TABLE-AS-SELECT creates a column {column} of type {type}, which Hive does not have",
        10305,
    )
    INVALID_STORE_VALUE = _info("22018", "The value {value} cannot be stored in column {column} of type {type}.")
    INVALID_RECORD = _info("22018", "Record {number} cannot be stored: {reason}")
    INVALID_LINE = _info("22000", "Line {line} of {source} holds no record: {reason}")
    INVALID_SOURCE = _info("55000", "{source} cannot be read on: {reason}")
    INVALID_STREAM_TABLE = _info("42000", "Invalid table {table}: {reason}")
    CONSTRAINT_VIOLATED = _info(
        "23000", "DataConstraintViolationError: Either CHECK or NOT NULL constraint violated! ({detail})"
    )
    INVALID_CONSTRAINT = _info("42P17", "Invalid Constraint syntax {reason}", 10326)
    CONSTRAINT_NOT_FOUND = _info(
        "42704", "The constraint: {constraint} does not exist for the associated table: {table}{suggestion}"
    )
    CONSTRAINT_ALREADY_EXISTS = _info("42710", "Constraint name already exists: {constraint} (table {table})")
    INVALID_DEFAULT = _info("42P17", "Invalid Constraint syntax Invalid Default value: {value}. {reason}", 10326)
    # -- MERGE
    MERGE_CLAUSE_ORDER = _info("42601", "{message}")
    MERGE_NAMES = _info("42601", "{message}")
    MERGE_UNCONDITIONAL_NOT_LAST = _info(
        "42601",
        "When there are more than one {kind} clauses, all but the last must have an AND predicate:"
        " this clause can never act.",
        10404,
    )
    MERGE_ON_WITHOUT_TARGET = _info(
        "42601",
        "No columns from target table '{target}' found in ON clause '{on}' of MERGE statement.",
    )
    MERGE_INSERT_LENGTH = _info("42601", "Column schema must have the same length as values ({columns} vs {values})")
    CARDINALITY_VIOLATION = _info("21000", "Cardinality Violation in Merge statement: {row_id}")
    # -- partitions
    DYNAMIC_PARTITION_ORDER = _info(
        "42000", "Dynamic partition cannot be the parent of a static partition {partition}", 10094
    )
    IF_NOT_EXISTS_DYNAMIC = _info(
        "42000", "Dynamic partitions do not support IF NOT EXISTS. Specify the values of all partition columns.", 10127
    )
    OUTPUT_SPECIFIED_MULTIPLE_TIMES = _info(
        "42000", "The same output cannot be present multiple times: {output}", 10087
    )
    DYNAMIC_PARTITION_STRICT = _info(
        "42000",
        "Dynamic partition strict mode requires at least one static partition column. To turn this off set"
        " hive.exec.dynamic.partition.mode=nonstrict",
        10096,
    )
    TRUNCATE_COLUMNS = _info("0A000", "Only RCFileFormat supports column truncation.", 10237)
    PARTITION_VALUES_NOT_CONTINUOUS = _info(
        "42000",
        "Partition values specified are not continuous. A subpartition value is specified without specifying the parent"
        " partition's value",
        10234,
    )
    INCOMPATIBLE_TABLES = _info(
        "42000", "Tables have incompatible schemas and their partitions  cannot be exchanged.", 10235
    )
    EXCHANGE_TRANSACTIONAL = _info(
        "42000",
        "Exchange partition is not allowed with transactional tables. Alternatively, shall use load data or insert"
        " overwrite to move partitions.",
        10236,
    )
    READ_ONLY_DATABASE = _info("25006", "A write operation is disallowed on a read-only database.")
    EXPLICIT_LOCKS = _info("0A000", "Current transaction manager does not support explicit lock requests.", 10271)
    TRUNCATE_EXTERNAL = _info("42000", "Cannot truncate non-managed table {table}.", 10146)
    NOT_PARTITIONED = _info("42000", "Table {table} is not a partitioned table", 10241)
    PARTITION_NOT_FOUND = _info("42000", "Partition not found {partition}", 10006)
    PARTITION_COLUMN_UNKNOWN = _info(
        "42703", "Non-Partition column appears in the partition specification: {column}", 10098
    )
    PARTITION_ALREADY_EXISTS = _info("42000", "Partition already exists: {partition}", 10118)
    INVALID_PARTITION_SPEC = _info("42000", "Invalid partition spec specified: {detail}", 10214)
    INVALID_PARTITION_VALUE = _info(
        "22001", "No directory can be named after the value '{value}' of the partition column {column}: {reason}"
    )
    PARTITION_VALUE_TYPE = _info(
        "22018",
        "Cannot add partition column {column} of type {source} as it cannot be converted to type {target}",
        10248,
    )
    PARTITION_REQUIRED = _info(
        "42000", "Need to specify partition columns because the destination table {table} is partitioned", 10062
    )
    # -- ALTER TABLE
    ANALYZE_VIEW = _info("42000", "ANALYZE is not supported for views", 10091)
    ALTER_REFUSED = _info("42000", "{message}")
    CANNOT_CHANGE_SERDE = _info(
        "42000",
        "Changing SerDe (from {serde}) is not supported for table {table}. File format may be incompatible",
        10309,
    )
    CANNOT_CHANGE_FILE_FORMAT = _info(
        "42000", "Changing file format (from {format}) is not supported for table {table}", 10310
    )
    NOT_BUCKETED = _info("42000", "Table is not bucketized. {table}", 10145)
    CANNOT_REORDER_COLUMNS = _info(
        "42000", "Reordering columns is not supported for table {table}. SerDe may be incompatible", 10311
    )
    REPLACE_CANNOT_DROP_COLUMNS = _info(
        "42000", "Replacing columns cannot drop columns for table {table}. SerDe may be incompatible", 10313
    )
    INCOMPATIBLE_COLUMN_CHANGE = _info(
        "42846",
        "Unable to alter table. The following columns have types incompatible with the existing columns in their"
        " respective positions : {column} ({old} to {new})",
    )
    UNKNOWN_PROPERTY = _info(
        "42000",
        "The property {property} does not exist in table {table}: UNSET TBLPROPERTIES IF EXISTS passes it over",
        10215,
    )
    # -- views
    NOT_A_TABLE = _info("42809", "{view} is a view, and the statement needs a table")
    NOT_A_VIEW = _info("42809", "Existing table is not a view: {table}", 10218)
    WRONG_DROP = _info("42809", "Cannot drop a {kind} with {statement}")
    ALTER_COMMAND_FOR_VIEWS = _info("42809", "To alter a view you need to use the ALTER VIEW command.", 10131)
    ALTER_COMMAND_FOR_TABLES = _info("42809", "To alter a base table you need to use the ALTER TABLE command.", 10132)
    ALTERED_VIEW_NOT_FOUND = _info(
        "42P01",
        "Cannot ALTER VIEW AS SELECT if view currently does not exist: the following view does not exist: {view}",
        10216,
    )
    VIEW_COLUMN_COUNT = _info(
        "42P16",
        "The number of columns produced by the SELECT clause does not match the number of column names specified by"
        " CREATE VIEW: {produced} vs {named}",
        10089,
    )
    VIEW_PARTITION_TOTAL = _info("42P16", "At least one non-partitioning column must be present in view", 10092)
    VIEW_PARTITION_MISMATCH = _info(
        "42P16", "Rightmost columns in view output do not match PARTITIONED ON clause", 10093
    )
    RECURSIVE_VIEW = _info("42P17", "Recursive view {view} detected (cycle: {cycle}).")
    INVALID_VIEW = _info("42P17", "{message}")
    INVALID_MACRO = _info("42P13", "{message}")
    INVALID_PYTHON_FUNCTION = _info("42P13", "{message}")
    # -- LOAD DATA
    INVALID_PATH = _info("58030", "Invalid path {path}: {reason}", 10027)
    ILLEGAL_PATH = _info("58030", "Path is not legal {path}: {reason}", 10028)
    LOAD_ACID_FILE = _info(
        "58030", '"{path}" was created by an ACID write - it cannot be loaded into another table', 10413
    )
    LOAD_FORMAT = _info(
        "58030",
        "The file that you are trying to load does not match the file format of the destination table."
        " {path}: {reason}",
    )
    # -- compaction
    INVALID_COMPACTION_TYPE = _info(
        "42000", "Invalid compaction type '{type}': supported values are 'major', 'minor' and 'rebalance'", 10282
    )
    TOO_MANY_COMPACTION_PARTITIONS = _info(
        "42000", "Compaction can only be requested on one partition at a time: {count} of {table} match", 10284
    )
    NONACID_COMPACTION = _info("42000", "Compaction is not allowed on non-ACID table {table}", 10286)
    REBALANCE_ONLY_FULL_ACID = _info(
        "42000", "Rebalance compaction is only supported on full ACID tables that are not bucketed: {table} is {kind}"
    )
    COMPACTION_CLAUSE = _info("42000", "{clause} belongs to a rebalance compaction only")
    COMPACTION_FAILED = _info("58000", "Compaction {id} of {resource} ended as {state}: {reason}")
    # -- queries
    UNRESOLVED_QUERY = _info("42000", "{message}")
    INVALID_FUNCTION = _info("42883", "Invalid function {function}{suggestion}", 10011)
    WRONG_ARGUMENTS = _info("22023", "Wrong arguments: {detail}", 10014)
    WRONG_ARGUMENT_COUNT = _info("21000", "Arguments length mismatch: {detail}", 10015)
    WRONG_ARGUMENT_TYPE = _info("42804", "Argument type mismatch: {detail}", 10016)
    NOT_IN_GROUP_BY = _info("42803", "Expression not in GROUP BY key{expression}", 10025)
    MISPLACED_UDTF = _info(
        "42000", "UDTF's are not supported outside the SELECT clause, nor nested in expressions", 10081
    )
    LATERAL_VIEW_WITH_JOIN = _info("42000", "JOIN with a LATERAL VIEW is not supported", 10085)
    MISPLACED_AGGREGATE = _info("42803", "Not yet supported place for UDAF: {function}", 10128)
    GROUP_BY_POSITION = _info(
        "42000", "Invalid position alias in Group By: {position} is not between 1 and {count}", 10220
    )
    ORDER_BY_POSITION = _info(
        "42000", "Invalid position alias in Order By: {position} is not between 1 and {count}", 10221
    )
    MISSING_OVER = _info("42000", "Missing over clause for function : {function}", 10247)
    AMBIGUOUS_ROW_ID = _info("42702", "row__id is ambiguous: more than one transactional table is in scope ({tables})")
    ROW_ID_OF_PLAIN_TABLE = _info("42703", "{table} has no {column}: it is not a transactional table")
    QUERY_FAILED = _info("58000", "{message}")
    UNSAFE_TIME_ZONE = _info(
        "55000",
        "{table} has TIMESTAMP columns, and this Spark session's JVM runs in time zone {zone}: values would be"
        " shifted. Start it with -Duser.timezone=UTC (spark.driver.extraJavaOptions, spark.executor.extraJavaOptions)",
    )
    UNSAFE_FILE_NAMES = _info(
        "55000",
        "{path} has characters that this Spark session's JVM does not know in the names of files: their encoding is"
        " {encoding}. Start it in a locale with UTF-8 (LC_ALL=C.UTF-8)",
    )
    # -- files
    ACID_V1_FILE = _info(
        "58030",
        "{path} holds events of Hive ACID version 1. Run a major compaction in Hive first:"
        " ALTER TABLE {table} COMPACT 'major'",
    )
    MALFORMED_LAYOUT = _info("58030", "{path} breaks the rules of the Hive ACID layout: {reason}")
    NOT_ENOUGH_HISTORY = _info(
        "58030",
        "Not enough history available for ({high_watermark},{min_open}).  Oldest available base: {base}",
        10327,
    )
    FILES_MISSING = _info(
        "58030", "{path} has lost files of committed writes to {table}: directories are gone, or lack files: {lost}"
    )
    INVALID_JSON_LINE = _info("22032", "A line of {table} is not what its JsonSerDe reads: {reason}: {line}")
    STORAGE_FAILED = _info("58030", "{path}: {reason}")
    DISK_FULL = _info("53100", "No space left where the statement writes: {detail}")
    LOCATION_NOT_EMPTY = _info("58030", "{path} is not empty: {reason}")
    LOCATION_TAKEN = _info("42P07", "{path} cannot be a location of its own: {reason}")
    LIMIT_EXCEEDED = _info("54000", "{what}: {value} is more than {limit}")
    # -- transactions
    NO_SUCH_TRANSACTION = _info("25P01", "No record of transaction {txn_id} could be found, may have timed out", 10262)
    TRANSACTION_ABORTED = _info(
        "25P02", "Transaction manager has aborted the transaction {txn_id}.  Reason: {reason}", 10263
    )
    WRITE_CONFLICT = _info(
        "40001",
        "Aborting [txnid:{txn_id},{commit_id}] due to a write conflict on {resource} committed by"
        " [txnid:{other_txn_id},{other_commit_id}] {operations}",
    )
    STREAM_IN_USE = _info("55006", "Stream '{stream}' of table {table} has a live writer: {writer}")
    STREAM_CLOSED = _info("08003", "The stream into {table} takes no more rows: {reason}")
    STREAM_LOST = _info("40001", "Stream '{stream}' of table {table} was taken over by another writer: {reason}")
    STREAM_REPLAY_DIFFERS = _info(
        "55000",
        "Stream '{stream}' of table {table}: batch {batch} of the new streaming query {query} does not repeat what the"
        " query {other} has committed up to batch {committed}",
    )
    TABLE_CHANGED = _info(
        "40001", "{table} was altered or dropped while the statement waited for its turn: run it again"
    )
    FILE_REPLACED = _info(
        "40001",
        "{path} was {change} after the statement had taken its snapshot: the rows that it held are gone",
    )
    COMPACTION_LOST = _info("40001", "Compaction {id} of {resource} is no longer this worker's: {reason}")
    LOCK_TIMEOUT = _info("57014", "Lock acquisition for {resource} timed out after {millis}ms.  {detail}", 10307)
    DEADLOCK = _info(
        "40001",
        "Transaction manager has aborted the transaction {txn_id}.  Reason: deadlock on {resource} with {others}",
        10263,
    )
    NO_TRANSACTION = _info("25P01", "Operation {operation} is not allowed without an active transaction", 20008)
    IN_TRANSACTION = _info("25001", "Operation {operation} is not allowed in a transaction ({txn_id}).", 20007)
    TOO_MANY_STATEMENTS = _info(
        "54000", "A transaction can write {limit} statement IDs at most: row IDs have 12 bits for them"
    )
    OVERWRITTEN_IN_TRANSACTION = _info(
        "0A000",
        "Table {table} was overwritten in this transaction: the base would hide what it writes to it afterwards",
    )
    TOO_MANY_TRANSACTIONS = _info(
        "53300", "Maximum allowed number of open transactions ({limit}, hive.max.open.txns) has been reached."
    )
    METASTORE_UNAVAILABLE = _info("08001", "Cannot open the metastore {uri}: {reason}")
    METASTORE_READ_ONLY = _info(
        "25006", "The metastore {uri} is read-only for this process: its tables can be read, and nothing can be changed"
    )
    CATALOG_MOVED = _info(
        "55000",
        "The metastore {uri} is a copy, or was moved: it was last used as {home}. Another metastore may write to"
        " tables that did not move with it ({tables}), so this one changes nothing",
    )
    CATALOG_BEHIND = _info(
        "55000",
        "The metastore is older than its table, or another one writes there: there is {path}, {reason}",
    )
    COMMIT_UNKNOWN = _info("08007", "Whether transaction {txn_id} was committed is not known: {reason}")
    METASTORE_FAILED = _info("58000", "The metastore {uri} refused: {reason}")
    # -- start-up and front ends
    JAVA_NOT_FOUND = _info(
        "58000", "Java 17 or 21 was not found: install one (for example openjdk-17-jre) or set JAVA_HOME"
    )
    CANNOT_START = _info("58000", "{message}")
    SESSION_CLOSED = _info("08003", "The session cannot be used: {reason}")
    INVALID_CURSOR = _info("24000", "The cursor cannot be used: {reason}")
    SPARK_NOT_SUPPORTED = _info(
        "0A000", "Spark {version} is not supported: {reason}. acidsql runs on Spark {supported}"
    )
    SPARK_CONNECT = _info("0A000", "acidsql cannot run on Spark Connect: {reason}")
    SPARK_GONE = _info("08006", "The JVM in which Spark ran is gone: {reason}")
