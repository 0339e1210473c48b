"""Writes docs/reference/errors.md from acidsql.errors.Condition: `python -m docs.scripts.errors_page`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from acidsql.errors import Condition

PAGE: Final = Path(__file__).parents[1] / "reference" / "errors.md"

_INTRODUCTION: Final = """# Errors

<!-- Generated from acidsql/errors/conditions.py and docs/scripts/errors_page.py by `make docs-pages`: do not edit. -->

acidsql raises one exception, [`acidsql.AcidSqlError`](api.md#acidsql.AcidSqlError). Its `condition` is one of
the names below. Programs should test `condition` or `sqlstate`, not the message. Where Hive reports the same error, the
message and `hive_code` are Hive's.

SQLSTATE `40001` means that another transaction was in the way and that the statement or transaction can be run again.

Words in braces, such as `{table}`, stand for values that are filled in when the error is raised.
`getMessageParameters()` returns them.
"""
_SECTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "Text, parameters and settings": {
        "PARSE_SYNTAX_ERROR": "The text is not a statement.",
        "NOT_YET_SUPPORTED": "acidsql recognizes the statement or clause but cannot run it yet.",
        "UNBOUND_PARAMETER": "The statement has a parameter without a value.",
        "INVALID_PARAMETER": "A parameter has a value without an SQL type, or an argument has a wrong value.",
        "UNKNOWN_SETTING": "A setting begins with `acidsql.` or `hive.txn.` and does not exist.",
        "INVALID_SETTING": "The setting does not accept the value.",
        "INVALID_SETTINGS_FILE": "The file that `$ACIDSQL_SETTINGS` names is not one of settings in TOML.",
        "VARIABLE_DEPTH": "The values of variables name further variables without an end.",
    },
    "Names": {
        "TABLE_NOT_FOUND": "No such table. The message suggests similar names.",
        "COLUMN_NOT_FOUND": "No such column. The message suggests similar names.",
        "AMBIGUOUS_COLUMN": "More than one table in scope has the column.",
        "AMBIGUOUS_TABLE_ALIAS": "Two tables of a query have the same alias.",
        "DATABASE_NOT_FOUND": "No such database.",
        "WAREHOUSE_NOT_FOUND": "`acidsql inspect`, `ingest` or `compactor` finds no warehouse. It makes none.",
        "TABLE_ALREADY_EXISTS": "The name of a new table is taken.",
        "DATABASE_ALREADY_EXISTS": "The name of a new database is taken.",
        "DATABASE_NOT_EMPTY": "DROP DATABASE without CASCADE found tables in the database.",
        "CANNOT_DROP_DEFAULT_DATABASE": "The database `default` always exists.",
        "INVALID_DATABASE_NAME": "The name has characters other than ASCII letters, digits and `_`, or is too long.",
        "INVALID_TABLE_NAME": "The name has characters other than ASCII letters, digits and `_`, or is too long.",
        "INVALID_COLUMN_NAME": "The name is empty, too long, reserved, or contains `.` or `:`.",
        "DUPLICATE_COLUMN": "Two columns of a table have the same name.",
        "SET_COLUMN_NOT_FOUND": "SET names a column that the target table does not have.",
        "INSERT_COLUMN_NOT_FOUND": "The column list of an INSERT names an unknown column.",
        "SET_COLUMN_TWICE": "One SET clause assigns a column twice.",
    },
    "Writes": {
        "NOT_TRANSACTIONAL": "UPDATE, DELETE or MERGE of a plain table.",
        "INSERT_ONLY": "UPDATE, DELETE or MERGE of an insert-only table.",
        "SORTED_TABLE": "A transactional table cannot have SORTED BY.",
        "WRITE_TO_VIEW": "UPDATE, DELETE or MERGE of a view.",
        "INSERT_INTO_VIEW": "INSERT or LOAD DATA into a view.",
        "INVALID_RECORD": "A record does not fit the table: the message says which record and why.",
        "INVALID_LINE": "A line of text that is to be streamed is not UTF-8, no JSON object, or has a wrong field.",
        "INVALID_SOURCE": "`acidsql ingest` finds another text where it has read before.",
        "INVALID_STREAM_TABLE": "A stream needs a transactional table.",
        "SERDE_READS_ONLY": "The SerDe of the table cannot write rows.",
        "INVALID_TABLE_PROPERTIES": "Table properties contradict each other or the table.",
        "INVALID_TYPE": "The type does not exist in Hive, or its parameters are out of range.",
        "INSERT_COLUMN_COUNT": "An INSERT has more or fewer values than columns.",
        "INCOMPATIBLE_TYPE": "A value has a type that Hive does not convert to the type of the column.",
        "CREATE_AS_TYPE": "A column of a CREATE TABLE .. AS query has a type that Hive does not have.",
        "INVALID_STORE_VALUE": "With `acidsql.store.assignment=ansi`: a value does not fit its column.",
        "CONSTRAINT_VIOLATED": "A row violates NOT NULL or CHECK.",
        "INVALID_CONSTRAINT": "ALTER TABLE adds a constraint that Hive does not take.",
        "CONSTRAINT_NOT_FOUND": "DROP CONSTRAINT names no constraint of the table.",
        "CONSTRAINT_ALREADY_EXISTS": "The table has a constraint of this name already.",
        "INVALID_DEFAULT": "A DEFAULT is no constant or function of constants, or has more than 255 characters.",
    },
    "MERGE": {
        "MERGE_CLAUSE_ORDER": "WHEN clauses are not in the order MATCHED, NOT MATCHED, NOT MATCHED BY SOURCE.",
        "MERGE_NAMES": "The source has no alias, or target and source have the same name.",
        "MERGE_UNCONDITIONAL_NOT_LAST": "A clause without condition hides the clauses of its kind that follow it.",
        "MERGE_ON_WITHOUT_TARGET": "ON uses no column of the target.",
        "MERGE_INSERT_LENGTH": "INSERT has more or fewer values than columns.",
        "CARDINALITY_VIOLATION": "More than one source row would change the same target row.",
    },
    "Partitions": {
        "DYNAMIC_PARTITION_ORDER": "A dynamic partition column stands before a static one.",
        "IF_NOT_EXISTS_DYNAMIC": "IF NOT EXISTS needs the values of all partition columns.",
        "OUTPUT_SPECIFIED_MULTIPLE_TIMES": "Two branches of a multi-insert overwrite the same table or partition.",
        "DYNAMIC_PARTITION_STRICT": "`hive.exec.dynamic.partition.mode=strict` needs a static partition column.",
        "TRUNCATE_COLUMNS": "TRUNCATE .. COLUMNS, which Hive has for RCFile tables only.",
        "READ_ONLY_DATABASE": "The database has the property `readonly` with the value `true`.",
        "PARTITION_VALUES_NOT_CONTINUOUS": "EXCHANGE PARTITION leaves out a partition column before another one.",
        "INCOMPATIBLE_TABLES": "EXCHANGE PARTITION of tables whose columns differ.",
        "EXCHANGE_TRANSACTIONAL": "EXCHANGE PARTITION of a transactional table.",
        "EXPLICIT_LOCKS": "LOCK and UNLOCK: statements lock what they use themselves.",
        "TRUNCATE_EXTERNAL": "TRUNCATE of an external table.",
        "NOT_PARTITIONED": "A PARTITION clause for a table without partitions.",
        "PARTITION_NOT_FOUND": "No such partition.",
        "PARTITION_COLUMN_UNKNOWN": "A PARTITION clause names a column that is not a partition column.",
        "PARTITION_ALREADY_EXISTS": "The partition exists already.",
        "INVALID_PARTITION_SPEC": "The PARTITION clause does not give each partition column one usable value.",
        "INVALID_PARTITION_VALUE": "The directory name for the value would be too long or invalid.",
        "PARTITION_VALUE_TYPE": "A text in the PARTITION clause of an INSERT is no value of the column's type.",
        "PARTITION_REQUIRED": "The statement needs a PARTITION clause.",
    },
    "ALTER TABLE": {
        "ALTER_REFUSED": "The change is not possible for this table. The message gives the reason.",
        "ANALYZE_VIEW": "ANALYZE TABLE of a view.",
        "CANNOT_CHANGE_SERDE": "SET SERDE of an ORC table.",
        "CANNOT_CHANGE_FILE_FORMAT": "SET FILEFORMAT of an ORC table.",
        "NOT_BUCKETED": "INTO n BUCKETS of a table without buckets.",
        "CANNOT_REORDER_COLUMNS": "FIRST and AFTER are possible for Parquet tables only.",
        "REPLACE_CANNOT_DROP_COLUMNS": "REPLACE COLUMNS must keep the columns that the table has.",
        "INCOMPATIBLE_COLUMN_CHANGE": "Existing files cannot be read with the new type.",
        "UNKNOWN_PROPERTY": "UNSET TBLPROPERTIES names a property that the table does not have.",
    },
    "Views": {
        "NOT_A_TABLE": "The name is that of a view, and the statement works on tables only.",
        "NOT_A_VIEW": "CREATE OR REPLACE VIEW or ALTER VIEW .. AS of a table.",
        "WRONG_DROP": "DROP TABLE of a view, or DROP VIEW of a table.",
        "ALTER_COMMAND_FOR_VIEWS": "ALTER TABLE of a view.",
        "ALTER_COMMAND_FOR_TABLES": "ALTER VIEW of a table.",
        "ALTERED_VIEW_NOT_FOUND": "ALTER VIEW .. AS of a view that does not exist.",
        "VIEW_COLUMN_COUNT": "The column list of CREATE VIEW has more or fewer names than the query has columns.",
        "VIEW_PARTITION_TOTAL": "PARTITIONED ON names all columns of the view.",
        "VIEW_PARTITION_MISMATCH": "The columns of PARTITIONED ON are not the last columns of the view.",
        "RECURSIVE_VIEW": "The view would read itself, directly or through other views.",
        "INVALID_VIEW": "The query cannot be that of a view, or the definition of a view cannot be read.",
        "INVALID_MACRO": "The macro has a qualified name, or its parameters are not the columns of its body.",
        "INVALID_PYTHON_FUNCTION": "CREATE TEMPORARY FUNCTION names no function of Python that can be imported and"
        " whose return type is known, or gives it a qualified name or that of a built-in function.",
    },
    "LOAD DATA": {
        "INVALID_PATH": "The path cannot be read, holds no files, or holds files that cannot be loaded.",
        "ILLEGAL_PATH": "The path is one that the statement cannot read from or write to.",
        "LOAD_ACID_FILE": "The file was written by a transactional table.",
        "LOAD_FORMAT": "The file does not have the format or the columns of the table.",
    },
    "Compaction": {
        "INVALID_COMPACTION_TYPE": "The compaction type is not `major`, `minor` or `rebalance`.",
        "TOO_MANY_COMPACTION_PARTITIONS": "The PARTITION clause matches more than one partition.",
        "NONACID_COMPACTION": "COMPACT of a plain table.",
        "REBALANCE_ONLY_FULL_ACID": "Rebalance compaction needs a full ACID table without buckets.",
        "COMPACTION_CLAUSE": "CLUSTERED INTO and ORDER BY are for rebalance compactions only.",
        "COMPACTION_FAILED": "A compaction with AND WAIT did not succeed.",
    },
    "Queries": {
        "UNRESOLVED_QUERY": "The query has no meaning. The message says why.",
        "INVALID_FUNCTION": "No such function. The message suggests similar names.",
        "WRONG_ARGUMENTS": "An argument of a function, or the text of a literal, has a value that is not allowed.",
        "WRONG_ARGUMENT_COUNT": "A function has more or fewer arguments than it takes.",
        "WRONG_ARGUMENT_TYPE": "A function or an operator has an argument of a type that it cannot take.",
        "NOT_IN_GROUP_BY": "The SELECT list of an aggregation has a column that is neither grouped nor aggregated.",
        "LATERAL_VIEW_WITH_JOIN": "A JOIN stands behind a LATERAL VIEW, which Hive refuses, too.",
        "MISPLACED_UDTF": "A function that gives rows, such as `explode`, stands outside a SELECT list.",
        "MISPLACED_AGGREGATE": "An aggregate stands in WHERE or in another aggregate.",
        "GROUP_BY_POSITION": "GROUP BY names a position that the SELECT list does not have.",
        "ORDER_BY_POSITION": "ORDER BY names a position that the SELECT list does not have.",
        "MISSING_OVER": "A window function has no OVER clause.",
        "AMBIGUOUS_ROW_ID": "`row__id` without a table name, where more than one table has it.",
        "ROW_ID_OF_PLAIN_TABLE": "`row__id` or `ROW__IS__DELETED` of a table that is not transactional.",
        "QUERY_FAILED": "The Spark job failed. The message is Spark's.",
        "UNSAFE_TIME_ZONE": "Your Spark session would shift TIMESTAMP values.",
        "UNSAFE_FILE_NAMES": "Your Spark session's JVM cannot open file names with these characters.",
    },
    "Files": {
        "ACID_V1_FILE": "A file has the format of Hive 2. Hive must compact the table first.",
        "INVALID_JSON_LINE": "A line of a table with JsonSerDe is no JSON object, or a value does not fit its column.",
        "MALFORMED_LAYOUT": "A file or directory is not what the ACID format prescribes.",
        "NOT_ENOUGH_HISTORY": "The directories that the snapshot needs have been cleaned up.",
        "FILES_MISSING": "Files that committed transactions have written are gone. See"
        " [Backup, restore and moving](../operations/backup.md#lost-files).",
        "STORAGE_FAILED": "The file system reported an error.",
        "DISK_FULL": "The file system is full.",
        "LOCATION_NOT_EMPTY": "The directory was compacted by a transaction that conflicts with this metastore.",
        "LOCATION_TAKEN": "The directory belongs to another table, partition or database.",
        "LIMIT_EXCEEDED": "A limit of the format or of acidsql is exceeded.",
    },
    "Streams": {
        "STREAM_CLOSED": "The stream was closed, or an error has ended it.",
        "STREAM_REPLAY_DIFFERS": "A streaming query with a new checkpoint directory does not repeat what is committed.",
    },
    "Transactions": {
        "NO_SUCH_TRANSACTION": "The metastore does not know the transaction.",
        "TRANSACTION_ABORTED": "The transaction timed out or was aborted.",
        "WRITE_CONFLICT": "Another transaction changed the same table, partition or row and committed first.",
        "STREAM_IN_USE": "The stream has a live writer, which the message names. One writer at a time may use an ID.",
        "STREAM_LOST": "Another writer has the stream now, or has committed to it. The transaction commits nothing.",
        "FILE_REPLACED": "A statement has dropped, renamed or overwritten what a result that is still read consists of."
        " Read the result whole before, or run the query again.",
        "TABLE_CHANGED": "The table was altered or dropped while the statement waited for its lock.",
        "COMPACTION_LOST": "The compaction was aborted or given to another worker.",
        "LOCK_TIMEOUT": "A lock was not free in time. The message names its holder.",
        "DEADLOCK": "Two explicit transactions waited for each other, and this one was the younger.",
        "NO_TRANSACTION": "COMMIT or ROLLBACK without START TRANSACTION.",
        "IN_TRANSACTION": "The statement is not allowed inside a transaction.",
        "TOO_MANY_STATEMENTS": "A transaction has more writing statements than row IDs can number.",
        "OVERWRITTEN_IN_TRANSACTION": "A transaction cannot write to a table after it has overwritten it.",
        "TOO_MANY_TRANSACTIONS": "The limit on open transactions is reached.",
        "METASTORE_UNAVAILABLE": "The metastore cannot be opened or reached.",
        "METASTORE_READ_ONLY": "The statement writes, and this process must not write the metastore's file.",
        "CATALOG_MOVED": "The metastore was copied or moved, and some of its tables were not. See"
        " [Backup, restore and moving](../operations/backup.md).",
        "CATALOG_BEHIND": "A directory has a write ID that this metastore has never given out: another metastore wrote"
        " there, or this one was restored from an older copy. See"
        " [Backup, restore and moving](../operations/backup.md).",
        "COMMIT_UNKNOWN": "The connection broke during COMMIT, and the outcome could not be determined."
        " Look for the rows before you run the statement again.",
        "METASTORE_FAILED": "The Hive Metastore reported an error.",
    },
    "Start and front ends": {
        "JAVA_NOT_FOUND": "The machine has no Java.",
        "CANNOT_START": "Spark cannot start, or a file or an extra package is missing. The message names it.",
        "SESSION_CLOSED": "The session was closed, or belongs to another process.",
        "INVALID_CURSOR": "A cursor of `acidsql.dbapi` was closed, or has no rows to fetch.",
        "SPARK_CONNECT": "acidsql cannot use a session of Spark Connect. The hint says how to get a classic session.",
        "SPARK_NOT_SUPPORTED": "This version of Spark lacks names that acidsql needs. The message lists them.",
        "SPARK_GONE": "Spark's JVM has ended, for example because it ran out of memory. The hint says how to go on.",
    },
}


def page() -> str:
    """The whole page; every condition is in one section."""
    lines = [_INTRODUCTION]
    for title, conditions in _SECTIONS.items():
        lines += [f"## {title}\n", "| Condition | SQLSTATE | Hive | Meaning and message |", "|---|---|---|---|"]
        lines += [_row(Condition[name], meaning) for name, meaning in conditions.items()]
        lines.append("")
    return "\n".join(lines)


def explained() -> list[str]:
    """The names of the conditions on the page, in its order."""
    return [name for conditions in _SECTIONS.values() for name in conditions]


def _row(condition: Condition, meaning: str) -> str:
    info = condition.value
    message = "" if info.template == "{message}" else f"<br>`{info.template.replace('|', chr(92) + '|')}`"
    anchor = f'<a id="{condition.name.lower()}"></a>'
    return f"| {anchor}`{condition.name}` | {info.sqlstate} | {info.hive_code or ''} | {meaning}{message} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
