"""Event queries: SQL that turns the rows a statement found into one row per event, with the target's column types."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Final

from sqlglot import exp

from acidsql.acid.hive_types import Array, Char, HiveType, Map, Primitive, Struct, Varchar, is_complex, parse_type
from acidsql.acid.table import Column, Table
from acidsql.errors import Condition
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.parser import parse
from acidsql.grammar.statements import Query
from acidsql.planner.expression_types import ExpressionTypes
from acidsql.planner.hive_expressions import rewrite
from acidsql.planner.plan import BRANCH, PLACE, ROW_ID, ROWS
from acidsql.planner.sql_errors import raise_sql, sql_string
from acidsql.planner.typed_rules import apply_rules

STORE_ASSIGNMENT: Final = "acidsql.store.assignment"
STRICT: Final = "ansi"
"""The value of `acidsql.store.assignment` with which a value that does not fit its column is an error."""
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_NO_PLACE: Final = "CAST(NULL AS INT)"
ROW_ID_TYPE: Final = "STRUCT<writeid: BIGINT, bucketid: INT, rowid: BIGINT>"


def name_sql(name: str) -> str:
    """A quoted identifier.

    >>> name_sql(":row_id")
    '`:row_id`'
    """
    return "`" + name.replace("`", "``") + "`"


def stored(value: str, target: Column, settings: Mapping[str, str]) -> str:
    """SQL that converts `value` to the type of its column by Hive's store assignment (semantics.md, "Expressions").

    >>> stored("x", Column("c", "int"), {})
    'CAST(x AS INT)'
    >>> stored("x", Column("c", "varchar(3)"), {})
    'SUBSTRING(CAST(x AS STRING), 1, 3)'
    """
    hive_type = parse_type(target.type)
    if is_strict(settings) and not is_complex(hive_type):
        return _strictly(value, target, hive_type)
    return fitted(f"CAST({value} AS {spark_type(hive_type)})", hive_type)


def is_strict(settings: Mapping[str, str]) -> bool:
    """Whether a value that does not fit its column is an error. Otherwise it becomes NULL or is cut."""
    return settings.get(STORE_ASSIGNMENT, "hive") == STRICT


def spark_type(hive_type: HiveType) -> str:
    """The type's name in the Spark SQL of a plan, where TIMESTAMP has no time zone, as in Hive."""
    match hive_type:
        case Char() | Varchar():
            return "STRING"
        case _:
            text = _spark_type(hive_type)
            return text.upper() if text.isalnum() else text


def _spark_type(hive_type: HiveType) -> str:
    match hive_type:
        case Array(element):
            return f"array<{_spark_type(element)}>"
        case Map(key, value):
            return f"map<{_spark_type(key)},{_spark_type(value)}>"
        case Struct(fields):
            inside = ",".join(f"{_field_sql(name)}:{_spark_type(of)}" for name, of in fields)
            return f"struct<{inside}>"
        case Primitive("timestamp with local time zone"):
            return "TIMESTAMP_LTZ"
        case _:
            return str(hive_type)


def _field_sql(name: str) -> str:
    """The name of a struct field in Spark SQL, quoted if it is not a plain name."""
    return name if _PLAIN_NAME.fullmatch(name) else name_sql(name)


def exploded(branches: str, identity: Mapping[str, str], values: Mapping[str, str], source: str) -> str:
    """A query that yields one event for each number in `branches`, an array of the row's branches. `identity` and
    `values` are SQL over the row and BRANCH.

    The query explodes numbers instead of structs: Spark would box each value of a struct for every event.
    """
    columns = select_list({BRANCH: name_sql(BRANCH), **identity, **values})
    return f"SELECT\n  {columns}\nFROM (SELECT *, explode({branches}) AS {name_sql(BRANCH)} FROM {source})"


def first_events(branch: str, identity: Mapping[str, str], values: Mapping[str, str], source: str) -> str:
    """A query that yields one event for each row, that of `branch`. The arguments are as those of `exploded`."""
    columns = select_list({BRANCH: name_sql(BRANCH), **identity, **values})
    return f"SELECT\n  {columns}\nFROM (SELECT *, {branch} AS {name_sql(BRANCH)} FROM {source})"


def in_inserts(inserts: int, values: Mapping[str, str]) -> dict[str, str]:
    """The values in the events of branches below `inserts`, and NULL in others: Hive stores no row in a delete
    event."""
    return {name: f"CASE WHEN {name_sql(BRANCH)} < {inserts} THEN {value} END" for name, value in values.items()}


def rows_view() -> str:
    return name_sql(ROWS)


def old_identity(table: Table) -> dict[str, str]:
    """The row ID and the partition of an old row, as columns of the rows query."""
    return {ROW_ID: name_sql(ROW_ID)} | ({PLACE: name_sql(PLACE)} if table.partition_columns else {})


def event_identity(table: Table, moved: Collection[int]) -> dict[str, str]:
    """The row ID and the partition of an event. Rows of the branches `moved` go to the partition that their partition
    columns name."""
    identity = old_identity(table)
    if table.partition_columns and moved:
        branches = ", ".join(map(str, sorted(moved)))
        identity[PLACE] = f"CASE WHEN {name_sql(BRANCH)} NOT IN ({branches}) THEN {name_sql(PLACE)} END"
    return identity


def no_identity(table: Table) -> dict[str, str]:
    """The identity of a new row: NULLs."""
    return {ROW_ID: f"CAST(NULL AS {ROW_ID_TYPE})"} | ({PLACE: _NO_PLACE} if table.partition_columns else {})


def select_list(values: Mapping[str, str], indent: str = "  ") -> str:
    return f",\n{indent}".join(
        name_sql(name) if value == name_sql(name) else f"{value} AS {name_sql(name)}" for name, value in values.items()
    )


def nulls(table: Table) -> dict[str, str]:
    """The column values of a delete event, in which Hive stores no row: NULLs."""
    return {c.name: null_of(c) for c in table.all_columns}


def null_of(target: Column) -> str:
    return f"CAST(NULL AS {spark_type(parse_type(target.type))})"


def checked_branch(branch: str, table: Table) -> str:
    """SQL for the branch of a new row. It raises CONSTRAINT_VIOLATED for NULL in a NOT NULL column, then for a CHECK
    that is false."""
    cases = [
        f"WHEN {name_sql(c.name)} IS NULL THEN {_violated(f'NOT NULL on column {c.name}')}"
        for c in table.all_columns
        if c.name in table.constraints.not_null
    ]
    cases += [
        f"WHEN NOT ({_in_spark(check.condition, table)}) THEN {_violated(f'CHECK {check.name or check.condition}')}"
        for check in table.constraints.checks
    ]
    return f"CASE {' '.join(cases)} ELSE {branch} END" if cases else branch


def _in_spark(condition: str, table: Table) -> str:
    """The condition of a CHECK as Spark must compute it: by Hive's rules, and with CHAR values stripped of their
    padding, as Hive's expressions see them."""
    query = parse(f"SELECT {condition} FROM new_row")
    assert isinstance(query, Query)
    fields = {c.name: parse_type(c.type) for c in table.all_columns}
    padded = {name for name, kind in fields.items() if isinstance(kind, Char)}

    def stripped(node: exp.Expr) -> exp.Expr:
        is_padded = isinstance(node, exp.Column) and node.name.lower() in padded
        return exp.Anonymous(this="RTRIM", expressions=[node.copy()]) if is_padded else node

    typed = query.tree.copy()
    apply_rules(typed, ExpressionTypes(typed, lambda _: fields), {})
    tree = typed.transform(stripped)
    assert isinstance(tree, exp.Query)
    rewrite(tree)
    value = tree.selects[0].unalias()
    return condition if value == query.tree.selects[0] else to_spark(value)


def _violated(detail: str) -> str:
    return raise_sql(Condition.CONSTRAINT_VIOLATED, detail=sql_string(detail))


def fitted(text: str, hive_type: HiveType) -> str:
    """SQL that cuts CHAR and VARCHAR to their length and pads CHAR, as Hive writes them, also inside nested types."""
    return inside(text, hive_type, _fitted)


def _fitted(text: str, hive_type: HiveType) -> str:
    match hive_type:
        case Char(length):
            return f"RPAD(SUBSTRING({text}, 1, {length}), {length})"
        case Varchar(length):
            return f"SUBSTRING({text}, 1, {length})"
        case _:
            return text


def inside(text: str, hive_type: HiveType, change: Callable[[str, HiveType], str], depth: int = 0) -> str:
    """SQL that applies `change`, which makes SQL from SQL and a type, to each value in `text` that is no array, map or
    struct.

    >>> inside("a", parse_type("array<char(2)>"), lambda text, kind: f"f({text})")
    'TRANSFORM(a, i0 -> f(i0))'
    """
    item, other = f"i{depth}", f"o{depth}"
    match hive_type:
        case Array(element):
            changed = inside(item, element, change, depth + 1)
            return text if changed == item else f"TRANSFORM({text}, {item} -> {changed})"
        case Map(key, value):
            new_key, new_value = (inside(item, of, change, depth + 1) for of in (key, value))
            keys = text if new_key == item else f"TRANSFORM_KEYS({text}, ({item}, {other}) -> {new_key})"
            return keys if new_value == item else f"TRANSFORM_VALUES({keys}, ({other}, {item}) -> {new_value})"
        case Struct(fields):
            old = {name: f"{text}.{name_sql(name)}" for name, _ in fields}
            new = {name: inside(old[name], of, change, depth + 1) for name, of in fields}
            if new == old:
                return text
            named = ", ".join(f"{sql_string(name)}, {value}" for name, value in new.items())
            return f"CASE WHEN {text} IS NOT NULL THEN named_struct({named}) END"
        case _:
            return change(text, hive_type)


def refused_value(value: str, target: Column) -> str:
    """SQL that raises INVALID_STORE_VALUE for a value that its column cannot store."""
    return raise_sql(
        Condition.INVALID_STORE_VALUE,
        value=f"CAST({value} AS STRING)",
        column=sql_string(target.name),
        type=sql_string(target.type),
    )


def _strictly(value: str, target: Column, hive_type: HiveType) -> str:
    cast = f"TRY_CAST({value} AS {spark_type(hive_type)})"
    fails = f"{value} IS NOT NULL AND {does_not_fit(value, hive_type)}"
    return fitted(f"CASE WHEN {fails} THEN {refused_value(value, target)} ELSE {cast} END", hive_type)


def does_not_fit(value: str, hive_type: HiveType) -> str:
    """SQL for whether a type that is not complex lacks a value, which is not NULL."""
    cast = f"TRY_CAST({value} AS {spark_type(hive_type)})"
    match hive_type:
        case Char(length) | Varchar(length):  # as in standard SQL, blanks at the end may be cut
            return f"LENGTH(RTRIM({cast})) > {length}"
        case Primitive("float"):
            is_infinite = "ABS({}) = CAST('Infinity' AS DOUBLE)"
            was_finite = f"NOT {is_infinite.format(f'TRY_CAST({value} AS DOUBLE)')}"
            return f"({cast} IS NULL OR {is_infinite.format(cast)} AND {was_finite})"
        case Primitive("date" | "timestamp"):  # the calendar of Hive's files has no days between these
            return f"({cast} IS NULL OR {cast} >= DATE '1582-10-05' AND {cast} < DATE '1582-10-15')"
        case _:
            return f"{cast} IS NULL"
