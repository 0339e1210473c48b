"""The rows of SHOW and DESCRIBE."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from acidsql.acid.hive_types import Array, HiveType, Map, Struct, parse_type
from acidsql.acid.layout import SESSIONS_DIRECTORY
from acidsql.acid.partition_names import parse_partition_name, partition_name
from acidsql.acid.partition_values import as_known
from acidsql.acid.table import Column, Relation, Table, View
from acidsql.acid.text_format import SERDES
from acidsql.compactor.metrics import metrics
from acidsql.compactor.service import Compactor
from acidsql.ddl.table_lookup import TableLookup
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.quoting import name_sql
from acidsql.grammar.statements import Describe, DescribeHistory, PartitionItem, Show, Shown, TableName
from acidsql.metastore.catalog import Database, Partition
from acidsql.metastore.held_back import compactions_shown
from acidsql.metastore.transaction_client import Transaction
from acidsql.planner.conditions.partition_pruning import has_values
from acidsql.planner.ddl.partition_spec import name_of_partition, partition_values
from acidsql.show.compaction_list import COMPACTION_COLUMNS, compaction_rows
from acidsql.show.function_documentation import function_lines, known_functions
from acidsql.show.history_list import HISTORY_COLUMNS, history_row
from acidsql.show.lock_list import LOCK_COLUMNS, lock_row
from acidsql.show.stream_list import STREAM_COLUMNS, stream_row
from acidsql.show.table_details import Row, partition_details, table_details, view_details
from acidsql.show.table_status import status_lines
from acidsql.snapshot.table_history import history
from acidsql.spark.engine import Engine
from acidsql.storage.file_systems import FilesOf

_PLAIN_NAME: Final = re.compile(r"\w+")
_SPECIAL: Final = re.compile(r"\\([%_])|[%_*?\[]")


@dataclass(frozen=True, slots=True)
class Answer:
    """Named columns and rows of text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]


def show(
    statement: Show,
    lookup: TableLookup,
    database: str,
    compactor: Compactor,
    engine: Engine,
    files_of: FilesOf,
    macros: Collection[str],
) -> Answer:
    """`macros` are the names of the session's macros.

    Raises DATABASE_NOT_FOUND, TABLE_NOT_FOUND, NOT_YET_SUPPORTED."""
    match statement.what:
        case Shown.TABLES | Shown.VIEWS:
            of = statement.database.value if statement.database else database
            names = lookup.metastore.tables if statement.what is Shown.TABLES else lookup.metastore.views
            return _names("tab_name", names(of), statement.pattern)
        case Shown.TABLE_EXTENDED:
            return _table_status(statement, lookup, database, files_of)
        case Shown.FUNCTIONS:
            return _names("tab_name", sorted(known_functions(engine).union(macros)), statement.pattern)
        case Shown.DATABASES:
            return _names("database_name", [d.name for d in lookup.metastore.databases()], statement.pattern)
        case Shown.COLUMNS:
            return _columns(_relation(statement, lookup, database), statement.pattern)
        case Shown.PARTITIONS:
            return _partitions(statement, lookup, database)
        case Shown.CREATE_DATABASE:
            assert statement.database is not None
            text = _create_database_text(lookup.database(statement.database))
            return Answer(("createdb_stmt",), tuple((line,) for line in text.split("\n")))
        case Shown.CREATE_TABLE:
            text = create_text(_relation(statement, lookup, database))
            return Answer(("createtab_stmt",), tuple((line,) for line in text.split("\n")))
        case Shown.TBLPROPERTIES:
            return _properties(_relation(statement, lookup, database), statement.property_key)
        case Shown.TRANSACTIONS:
            return _transactions(lookup.metastore.transactions())
        case Shown.LOCKS:
            return _locks(statement, lookup, database)
        case Shown.COMPACTIONS:
            return _compactions(statement, lookup, database)
        case Shown.STREAMS:
            return _streams(statement, lookup)
        case Shown.METRICS:
            rows = ((m.name, m.shown_place, f"{m.value:g}", m.help) for m in metrics(lookup.metastore, compactor))
            return Answer(("name", "place", "value", "help"), tuple(rows))
        case _:
            assert_never(statement.what)


def describe(
    statement: Describe, lookup: TableLookup, database: str, engine: Engine, macros: Collection[str]
) -> Answer:
    """Raises DATABASE_NOT_FOUND, TABLE_NOT_FOUND, COLUMN_NOT_FOUND, PARTITION_NOT_FOUND."""
    if statement.function is not None and statement.function in macros:
        return Answer(("tab_name",), ((f"There is no documentation for function '{statement.function}'",),))
    if statement.function is not None:
        lines = function_lines(statement.function, engine, extended=statement.detail is not None)
        return Answer(("tab_name",), tuple((line,) for line in lines))
    if statement.database is not None:
        found = lookup.metastore.database(statement.database.value)
        return _database_answer(found, extended=statement.detail == "EXTENDED")
    assert statement.table is not None
    table = lookup.relation(statement.table, database)
    partition = _partition(statement.table, statement.partition, table, lookup) if statement.partition else None
    columns: Sequence[Column] = (*table.columns, *table.partition_columns)
    if statement.column is not None:
        columns = [c for c in columns if c.name == statement.column.value]
        if not columns:
            raise AcidSqlError(
                Condition.COLUMN_NOT_FOUND,
                span=statement.column.span,
                column=statement.column.value,
                suggestion=f" (there is {', '.join(table.column_names)})",
            )
    rows = [(c.name, c.type, c.comment or "") for c in columns]
    if table.partition_columns and statement.column is None:
        rows += [("", "", ""), ("# Partition Information", "", ""), ("# col_name", "data_type", "comment")]
        rows += [(c.name, c.type, c.comment or "") for c in table.partition_columns]
    if statement.detail is not None and statement.column is None:
        rows += _details(table, partition, lookup)
    return Answer(("col_name", "data_type", "comment"), tuple(rows))


def describe_history(statement: DescribeHistory, lookup: TableLookup, database: str, files: FilesOf) -> Answer:
    """Raises DATABASE_NOT_FOUND, TABLE_NOT_FOUND, NOT_A_TABLE; INVALID_PARAMETER for a table without write IDs."""
    table = lookup.table(statement.table, database)
    if not table.is_transactional:
        span, reason = statement.table.span, f"{table.qualified} is not transactional, so that its writes have no IDs"
        raise AcidSqlError(Condition.INVALID_PARAMETER, span=span, name="table", reason=reason)
    return Answer(HISTORY_COLUMNS, tuple(map(history_row, history(lookup.metastore, files, table, statement.limit))))


def _database_answer(found: Database, *, extended: bool) -> Answer:
    """The columns of Hive 4's DescDatabaseDesc, without those of remote databases."""
    properties = ", ".join(f"{key}={value}" for key, value in sorted(found.properties.items()))
    columns = {
        "db_name": found.name,
        "comment": found.comment or "",
        "location": found.location,
        "managedlocation": found.managed_location or "",
        "ownername": found.owner or "",
        "ownertype": found.owner_kind.value,
        "parameters": f"{{{properties}}}" if extended and properties else "",
    }
    return Answer(tuple(columns), (tuple(columns.values()),))


def _details(relation: Relation, partition: Partition | None, lookup: TableLookup) -> Iterator[Row]:
    if isinstance(relation, View):
        return view_details(relation)
    statistics = lookup.metastore.statistics(relation, () if partition is None else partition.values)
    if partition is None:
        return table_details(relation, statistics)
    return partition_details(relation, partition, statistics)


def _partition(name: TableName, items: Sequence[PartitionItem], relation: Relation, lookup: TableLookup) -> Partition:
    """The partition that a clause names with a value for each partition column.

    Raises NOT_PARTITIONED, PARTITION_COLUMN_UNKNOWN, INVALID_PARTITION_SPEC, PARTITION_NOT_FOUND.
    """
    if isinstance(relation, View):
        raise AcidSqlError(Condition.NOT_PARTITIONED, span=name.span, table=relation.qualified)
    values = partition_values(items, relation, name.span)
    known = {p.values: p for p in lookup.metastore.partitions(relation)}
    found = as_known(values, relation.partition_columns, known.keys())
    if found is None:
        shown = name_of_partition(relation, values)
        raise AcidSqlError(Condition.PARTITION_NOT_FOUND, span=items[0].column.span, partition=shown)
    return known[found]


def _table_status(statement: Show, lookup: TableLookup, database: str, files: FilesOf) -> Answer:
    """SHOW TABLE EXTENDED: the files of a partitioned table are those of its partitions, or of one of them."""
    of = statement.database.value if statement.database else database
    lines: list[str] = []
    for (name,) in _names("tab_name", lookup.metastore.tables(of), statement.pattern).rows:
        named = TableName(of, str(name))
        relation = lookup.find(named, database)
        if relation is None:
            continue  # dropped since it was listed
        partition = _partition(named, statement.partition, relation, lookup) if statement.partition else None
        if isinstance(relation, View):
            lines += status_lines(relation, (), None, files)
            continue
        partitions = lookup.metastore.partitions(relation) if relation.partition_columns else ()
        shown = relation.location if partition is None else partition.location
        locations = [p.location for p in partitions] if relation.partition_columns and partition is None else [shown]
        lines += status_lines(relation, locations, shown, files)
    return Answer(("tab_name",), tuple((line,) for line in lines))


def _transactions(found: Sequence[Transaction]) -> Answer:
    """SHOW TRANSACTIONS, with the columns of Hive's ShowTransactionsDesc. Times are milliseconds since 1970."""
    columns = ("txnid", "state", "startedtime", "lastheartbeattime", "user", "host")
    rows = (
        (str(t.id), "OPEN" if t.is_open else "ABORTED", str(t.started), str(t.last_heartbeat), t.user, t.host)
        for t in found
    )
    return Answer(columns, tuple(rows))


def _locks(statement: Show, lookup: TableLookup, database: str) -> Answer:
    """SHOW LOCKS [table [PARTITION (..)] | DATABASE db] [EXTENDED], with the columns of Hive's ShowLocksDesc. EXTENDED
    adds nothing, as with Hive's DbTxnManager."""
    found = list(lookup.metastore.locks())
    if statement.database is not None:
        found = [lock for lock in found if lock.component.database == statement.database.value]
    if statement.table is not None:
        table = _table(statement, lookup, database)
        of_table = (table.database, table.name)
        found = [lock for lock in found if (lock.component.database, lock.component.table) == of_table]
        if statement.partition:
            found = [lock for lock in found if _is_on(statement.partition, table, lock.component.partition)]
    return Answer(LOCK_COLUMNS, tuple(lock_row(lock) for lock in found))


def _compactions(statement: Show, lookup: TableLookup, database: str) -> Answer:
    """SHOW COMPACTIONS [DATABASE db | table [PARTITION (..)]] [filters]."""
    found = list(compactions_shown(lookup.metastore))
    if statement.database is not None:
        found = [c for c in found if c.request.database == statement.database.value]
    if statement.table is not None:
        table = _table(statement, lookup, database)
        found = [c for c in found if (c.request.database, c.request.table) == (table.database, table.name)]
        if statement.partition:
            found = [c for c in found if _is_on(statement.partition, table, c.request.partition)]
    return Answer(COMPACTION_COLUMNS, compaction_rows(found, statement.clauses))


def _streams(statement: Show, lookup: TableLookup) -> Answer:
    """SHOW STREAMS [IN database] [LIKE 'pattern']: the pattern is one of IDs."""
    found = list(lookup.metastore.streams())
    if statement.database is not None:
        database = lookup.database(statement.database).name
        found = [stream for stream in found if stream.database == database]
    kept = set(_matching([stream.id for stream in found], statement.pattern, _LIKE))
    return Answer(STREAM_COLUMNS, tuple(stream_row(stream) for stream in found if stream.id in kept))


def _is_on(items: Sequence[PartitionItem], table: Table, partition: str | None) -> bool:
    values = parse_partition_name(partition or "", [c.name for c in table.partition_columns])
    return values is not None and has_values(items, table, values)


def create_text(relation: Relation) -> str:
    """The answer of SHOW CREATE TABLE: a statement that creates the same table or view."""
    return _create_view_text(relation) if isinstance(relation, View) else _create_table_text(relation)


def _create_database_text(found: Database) -> str:
    lines = [f"CREATE DATABASE {name_sql(found.name)}"]
    if found.comment:
        lines.append(f"COMMENT {_quoted(found.comment)}")
    lines.append(f"LOCATION {_quoted(found.location)}")
    if found.managed_location:
        lines.append(f"MANAGEDLOCATION {_quoted(found.managed_location)}")
    if found.properties:
        lines.append(f"WITH DBPROPERTIES (\n  {_properties_text(found.properties)})")
    return "\n".join(lines)


def _create_view_text(view: View) -> str:
    """Hive's statement, with comments and properties. Its query is the expanded text, which means the same in every
    database."""
    comments = any(c.comment for c in view.all_columns)
    items = (name_sql(c.name) + (f" COMMENT {_quoted(c.comment)}" if c.comment else "") for c in view.all_columns)
    columns = f" ({', '.join(items)})" if comments else ""
    kind = "TEMPORARY VIEW" if view.temporary else "VIEW"
    lines = [f"CREATE {kind} {name_sql(view.database)}.{name_sql(view.name)}{columns}"]
    if view.comment:
        lines.append(f"COMMENT {_quoted(view.comment)}")
    if view.partition_columns:
        lines.append(f"PARTITIONED ON ({', '.join(name_sql(c.name) for c in view.partition_columns)})")
    if view.properties:
        lines.append(f"TBLPROPERTIES (\n  {_properties_text(view.properties)})")
    return "\n".join([*lines, f"AS {view.expanded}"])


def _create_table_text(table: Table) -> str:
    name = f"{name_sql(table.database)}.{name_sql(table.name)}"
    kind = f"{'TEMPORARY ' if table.temporary else ''}{'EXTERNAL ' if table.external else ''}"
    lines = [f"CREATE {kind}TABLE {name}("]
    items = [f"  {_column_text(c, table)}" for c in table.columns]
    checks = ((f"CONSTRAINT {name_sql(c.name)} " if c.name else "", c.condition) for c in table.constraints.checks)
    items += [f"  {name}CHECK ({condition})" for name, condition in checks]
    lines.append(",\n".join(items) + ")")
    if table.comment:
        lines.append(f"COMMENT {_quoted(table.comment)}")
    if table.partition_columns:
        inside = ", ".join(_column_text(c, table) for c in table.partition_columns)
        lines.append(f"PARTITIONED BY ({inside})")
    if table.bucket_columns:
        buckets, sorting = (", ".join(map(name_sql, names)) for names in (table.bucket_columns, table.sort_columns))
        sorted_by = f" SORTED BY ({sorting})" if sorting else ""
        lines.append(f"CLUSTERED BY ({buckets}){sorted_by} INTO {table.bucket_count} BUCKETS")
    if table.row_format or table.serde:
        inside = _properties_text(table.row_format)
        with_properties = f" WITH SERDEPROPERTIES (\n  {inside})" if inside else ""
        lines.append(f"ROW FORMAT SERDE '{table.serde or SERDES[table.file_format]}'{with_properties}")
    lines.append(f"STORED AS {table.file_format.upper()}")
    if not (table.temporary and f"/{SESSIONS_DIRECTORY}/" in table.location):
        lines.append(f"LOCATION {_quoted(table.location)}")
    lines.append(f"TBLPROPERTIES (\n  {_properties_text(table.properties)})")
    return "\n".join(lines)


def _properties_text(properties: Mapping[str, str]) -> str:
    return ",\n  ".join(f"{_quoted(k)}={_quoted(v)}" for k, v in sorted(properties.items()))


def _column_text(column: Column, table: Table) -> str:
    text = f"{name_sql(column.name)} {type_text(column.type)}"
    if column.name in table.constraints.not_null:
        text += " NOT NULL"
    if column.name in table.constraints.defaults:
        text += f" DEFAULT {table.constraints.defaults[column.name]}"
    return text + ("" if column.comment is None else f" COMMENT {_quoted(column.comment)}")


def type_text(text: str) -> str:
    """A type as SQL. In the catalog's text of the type, the names of struct fields are not quoted."""
    try:
        return _type_text(parse_type(text))
    except AcidSqlError:  # acidsql does not know the type
        return text


def _type_text(hive_type: HiveType) -> str:
    match hive_type:
        case Array(element):
            return f"array<{_type_text(element)}>"
        case Map(key, value):
            return f"map<{_type_text(key)},{_type_text(value)}>"
        case Struct(fields):
            return f"struct<{','.join(f'{_field_text(name)}:{_type_text(of)}' for name, of in fields)}>"
        case _:
            return str(hive_type)


def _field_text(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else name_sql(name)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _table(statement: Show, lookup: TableLookup, database: str) -> Table:
    assert statement.table is not None
    return lookup.table(statement.table, database)


def _relation(statement: Show, lookup: TableLookup, database: str) -> Relation:
    assert statement.table is not None
    return lookup.relation(statement.table, database)


def _partitions(statement: Show, lookup: TableLookup, database: str) -> Answer:
    """SHOW PARTITIONS: names such as `p=a/q=b`, escaped as in Hive. A PARTITION clause selects partitions by their
    values."""
    table = _relation(statement, lookup, database)
    if not table.partition_columns:
        assert statement.table is not None
        raise AcidSqlError(Condition.NOT_PARTITIONED, span=statement.table.span, table=table.qualified)
    if isinstance(table, View):
        return Answer(("partition",), ())
    names = [c.name for c in table.partition_columns]
    found = [each for each in lookup.metastore.partition_values(table) if has_values(statement.partition, table, each)]
    return Answer(("partition",), tuple((n,) for n in sorted(partition_name(names, values) for values in found)))


def _names(header: str, names: Sequence[str], pattern: str | None) -> Answer:
    return _filtered(header, names, pattern, _LIKE)


_LIKE: Final = {"%": "*", "*": "*", "_": "?"}
r"""The wildcards of a LIKE pattern: `%` matches any text, `_` one character, and `\%` and `\_` match themselves
(UDFLike.likePatternToRegExp). `*` and `|` are those of Hive 3; no name has these characters."""


def _columns(relation: Relation, pattern: str | None) -> Answer:
    """SHOW COLUMNS: `*` and `%` match any text, and `_` matches itself, because Hive's pattern is a regular expression
    (ShowColumnsOperation.getMatcher)."""
    return _filtered("field", relation.column_names, pattern, {"%": "*", "*": "*"})


def _filtered(header: str, names: Sequence[str], pattern: str | None, wildcards: Mapping[str, str]) -> Answer:
    return Answer((header,), tuple((name,) for name in _matching(names, pattern, wildcards)))


def _matching(names: Sequence[str], pattern: str | None, wildcards: Mapping[str, str]) -> Sequence[str]:
    """The names that a pattern matches, with `|` between its alternatives. `wildcards` maps the pattern's wildcards to
    those of fnmatch. Case does not matter."""
    if pattern is None:
        return names
    shapes = [_glob(alternative.strip().lower(), wildcards) for alternative in pattern.split("|")]
    return [name for name in names if any(fnmatch.fnmatchcase(name.lower(), shape) for shape in shapes)]


def _glob(pattern: str, wildcards: Mapping[str, str]) -> str:
    r"""The pattern in the syntax of fnmatch, where only `wildcards` are special.

    >>> _glob(r"a_\_?", {"_": "?"})
    'a?_[?]'
    """
    return _SPECIAL.sub(lambda found: found[1] or wildcards.get(found[0]) or f"[{found[0]}]", pattern)


def _properties(table: Relation, key: str | None) -> Answer:
    chosen = {k: v for k, v in sorted(table.properties.items()) if key is None or k == key}
    if key is not None and not chosen:
        return Answer(("prpt_name", "prpt_value"), ((f"Table {table.qualified} does not have property: {key}", ""),))
    return Answer(("prpt_name", "prpt_value"), tuple(chosen.items()))
