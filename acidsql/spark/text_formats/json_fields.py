"""Values of tables with JsonSerDe, read from lines as HiveJsonReader reads them.

Each line is an object. Its keys are columns whatever their case, and a column that it lacks is NULL. Spark's variants
tell apart what JSON tells apart: 1 and "1" are not the same BOOLEAN. The rules were seen in Hive 4.0.1
(tests/interop/test_hive_text_formats.py). Numbers with a fraction keep all their digits in a DECIMAL column, where Hive
takes the nearest DOUBLE.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from acidsql.acid.hive_types import (
    Array,
    Char,
    Decimal,
    HiveType,
    Map,
    Primitive,
    Struct,
    Varchar,
    is_complex,
    parse_type,
)
from acidsql.acid.json_format import json_format
from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.quoting import name_sql, sql_string
from acidsql.planner.sql_errors import raise_sql
from acidsql.spark.catalyst.pyspark_api import HAS_VARIANT, try_cast
from acidsql.spark.spark_types import ddl, file_type
from acidsql.spark.text_formats.text_values import taken

REPEATED_KEYS: Final = {"spark.sql.variant.allowDuplicateKeys": "true"}
"""Setting of Spark for scans: of a key that an object has twice, the last value counts."""
_LINE: Final = "value"
_OBJECT: Final = ":object"
"""Column: the keys and values of a line."""
_ORDERED: Final = ":ordered"
"""Column: the same as an array in the order of the line, with the names of columns as keys. NULL for a line whose keys
are all in lower case and name no column by its place: there each column has one key at most."""
_BY_PLACE: Final = "_col"
_NODE: Final = ":node"
_LEAF: Final = ":leaf"
"""The names of columns begin so: the variant of a column of the table, and its kind and text."""
_VALUES: Final = "map<string,variant>"
_STRING: Final = Primitive("string")
_SHOWN: Final = 100
"""The number of characters of a wrong line that its error shows."""

_CONTAINER: Final = r"^(OBJECT|ARRAY)"
_FRACTION: Final = r"^(DOUBLE|DECIMAL\((\d+,[1-9]\d*|(\d|1[0-8]),0)\))$"
"""Patterns of schema_of_variant. A whole number is a BIGINT or, if it has more digits, a DECIMAL(n,0); 1.0 is a
DECIMAL(1,0)."""
_WHOLE: Final = r"^[+-]?\d+$"
_DATE: Final = r"^\s*(-?\d{4,}-\d{1,2}-\d{1,2})([ T].*)?\s*$"
_BASE_64: Final = r"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
_BLANKS: Final = r"^[\x00-\x20]+|[\x00-\x20]+$"
"""What String.trim of Java removes."""


def with_objects(lines: DataFrame, table: Table) -> DataFrame:
    """The lines with the columns that `json_fields` reads: each step of the parsing is a column that the next steps
    read, so that nothing is computed twice. When it runs, it raises INVALID_JSON_LINE.

    Raises NOT_YET_SUPPORTED on Spark 3.5, which has no variants.
    """
    if not HAS_VARIANT:
        hint = "PySpark 4 reads it. The table can be written with Spark 3.5, and Hive reads it."
        raise AcidSqlError(
            Condition.NOT_YET_SUPPORTED,
            feature=f"Reading {table.qualified}, a table of JSON, with Spark 3.5",
            hint=hint,
        )
    refusal = _refusal(table, "it is no JSON object")
    is_null = json_format(table.row_format, table.properties).null_empty_lines
    found = F.col(name_sql(_OBJECT))
    values = F.try_variant_get(found, "$", _VALUES)
    lines = lines.withColumn(_OBJECT, F.try_parse_json(F.col(_LINE)))
    lines = lines.withColumn(
        _OBJECT,
        F.when(F.col(_LINE) == "", F.lit(None) if is_null else refusal)
        .when(F.is_variant_null(found), F.lit(None))
        .when(values.isNull(), refusal)
        .otherwise(values),
    )
    names = [column.name for column in table.columns]
    has_others = F.exists(F.map_keys(found), lambda k: (k != F.lower(k)) | k.startswith(_BY_PLACE))
    entry = F.transform(
        F.json_object_keys(F.col(_LINE)), lambda k: F.struct(_named(k, names).alias("key"), found[k].alias("value"))
    )
    lines = lines.withColumn(_ORDERED, F.when(has_others, entry))
    lines = lines.withColumns({f"{_NODE}{place}": _node(name) for place, name in enumerate(names)})
    return lines.withColumns(
        {f"{_LEAF}{place}": _leaf_of(F.col(name_sql(f"{_NODE}{place}"))) for place in range(len(names))}
    )


def json_fields(table: Table) -> list[Column]:
    """The columns of a line that `with_objects` has parsed."""
    reader = _Reader(table)
    return [reader.column(place).alias(column.name) for place, column in enumerate(table.columns)]


def _node(name: str) -> Column:
    """The variant of a column."""
    ordered = F.col(name_sql(_ORDERED))
    found = F.try_element_at(F.col(name_sql(_OBJECT)), F.lit(name))
    return F.when(ordered.isNull(), found).otherwise(_last(ordered, lambda e: e["key"] == name))


def _leaf_of(node: Column) -> Column:
    """The kind of a variant and its text, which is JSON for objects and arrays."""
    text = F.try_variant_get(node, "$", "string")
    return F.struct(F.schema_of_variant(node).alias("kind"), text.alias("text"))


def _with(value: Column, convert: Callable[[Column], Column]) -> Column:
    """A conversion that reads the value several times. Spark computes the value once."""
    return F.get(F.transform(F.array(value), convert), F.lit(0))


def _named(key: Column, names: Sequence[str]) -> Column:
    """The column or field that a key names: without case, or by its place, as `_col0`."""
    by_place = [F.lit(text) for place, name in enumerate(names) for text in (f"{_BY_PLACE}{place}", name)]
    return F.coalesce(F.try_element_at(F.create_map(*by_place), key), F.lower(key))


def _last(entries: Column, of: Callable[[Column], Column]) -> Column:
    """The value of the last entry for which `of` is true; NULL if there is none."""
    return F.try_element_at(F.filter(entries, of), F.lit(-1))["value"]


def _refusal(table: Table, reason: str) -> Column:
    """Raises INVALID_JSON_LINE."""
    failure = raise_sql(
        Condition.INVALID_JSON_LINE,
        table=sql_string(table.qualified),
        reason=sql_string(reason),
        line=f"translate(substring({_LINE}, 1, {_SHOWN}), '\\u001f', ' ')",
    )
    return F.expr(failure)


class _Reader:
    """Converts variants to values of Hive types (HiveJsonReader.visitNode)."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def column(self, place: int) -> Column:
        hive_type = parse_type(self._table.columns[place].type)
        if is_complex(hive_type):
            return self._value(F.col(name_sql(f"{_NODE}{place}")), hive_type)
        leaf = F.col(name_sql(f"{_LEAF}{place}"))
        value = self._leaf(leaf, hive_type)
        return value if hive_type != _STRING else F.when(_is_container(leaf), self._text(place)).otherwise(value)

    def _text(self, place: int) -> Column:
        """The text of an object or array, with the keys in the order of the line. A variant has them in alphabetical
        order."""
        names = [column.name for column in self._table.columns]
        texts = F.map_entries(F.from_json(F.col(_LINE), "map<string,string>"))
        return _last(texts, lambda e: _named(e["key"], names) == names[place])

    def _value(self, node: Column, hive_type: HiveType) -> Column:
        match hive_type:
            case Array(element):
                items = F.try_variant_get(node, "$", "array<variant>")
                return self._inside(node, items, F.transform(items, lambda e: self._value(e, element)), hive_type)
            case Map(key, of):
                entries = F.map_entries(F.try_variant_get(node, "$", _VALUES))
                return self._inside(node, entries, _with(entries, lambda e: self._map(e, key, of)), hive_type)
            case Struct(fields):
                entries = F.map_entries(F.try_variant_get(node, "$", _VALUES))
                return self._inside(node, entries, _with(entries, lambda e: self._struct(e, fields)), hive_type)
            case _:
                return _with(_leaf_of(node), lambda leaf: self._leaf(leaf, hive_type))

    def _inside(self, node: Column, found: Column, value: Column, hive_type: HiveType) -> Column:
        is_other = node.isNotNull() & ~F.is_variant_null(node) & found.isNull()
        return F.when(is_other, self._wrong(hive_type)).when(found.isNotNull(), value)

    def _wrong(self, hive_type: HiveType) -> Column:
        return _refusal(self._table, f"a value of it is no {hive_type}")

    def _struct(self, entries: Column, fields: Sequence[tuple[str, HiveType]]) -> Column:
        names = [name for name, _ in fields]

        def field(name: str, kind: HiveType) -> Column:
            node = _last(entries, lambda e: _named(e["key"], names) == name)
            return _with(node, lambda n: self._value(n, kind)).alias(name)

        return F.struct(*(field(name, kind) for name, kind in fields))

    def _map(self, entries: Column, key: HiveType, value: HiveType) -> Column:
        """Different texts may be the same key. The last one counts."""

        def entry(of: Column) -> Column:
            text = F.struct(F.lit("STRING").alias("kind"), of["key"].alias("text"))
            new_key = _with(text, lambda leaf: self._leaf(leaf, key))
            return F.struct(new_key.alias("key"), self._value(of["value"], value).alias("value"))

        found = F.transform(entries, entry)
        if key == _STRING:
            return F.map_from_entries(found)
        found = F.filter(found, lambda e: e["key"].isNotNull())
        keys = F.transform(found, lambda e: e["key"])
        is_last = F.filter(found, lambda e, i: ~F.array_contains(F.slice(keys, i + 2, F.size(keys)), e["key"]))
        return F.map_from_entries(is_last)

    # -- primitives

    def _leaf(self, leaf: Column, hive_type: HiveType) -> Column:
        """The value of a primitive type, from the kind of a variant and its text."""
        value = self._scalar(leaf["kind"], leaf["text"], hive_type)
        if hive_type == _STRING:
            return value
        return F.when(_is_container(leaf), self._wrong(hive_type)).when(leaf["text"].isNotNull(), value)

    def _scalar(self, kind: Column, text: Column, hive_type: HiveType) -> Column:
        match hive_type:
            case Primitive("string"):
                return _shown(kind, text)
            case Char(length) | Varchar(length):
                return F.substring(_shown(kind, text), 1, length)
            case Primitive("boolean"):
                is_true = F.when(kind == "STRING", _trimmed(text) == "true").when(kind.rlike(_FRACTION), F.lit(False))
                return is_true.when(kind == "BOOLEAN", text == "true").otherwise(text != "0")
            case Primitive("tinyint" | "smallint" | "int" | "bigint"):
                return _whole(kind, text, "bigint" if hive_type == Primitive("bigint") else "int").cast(_ddl(hive_type))
            case Primitive("float" | "double"):
                of_text = F.coalesce(try_cast(_trimmed(text), "double"), F.lit(0.0))
                number = F.when(kind == "STRING", of_text).when(kind == "BOOLEAN", _as_number(text, "double"))
                return number.otherwise(text.cast("double")).cast(_ddl(hive_type))
            case Primitive("binary"):
                decoded = F.when(text.rlike(_BASE_64), F.unbase64(text)).otherwise(self._wrong(hive_type))
                return F.when(kind == "STRING", decoded)
            case Primitive("date"):
                day = try_cast(F.when(text.rlike(_DATE), F.regexp_extract(text, _DATE, 1)), "date")
                return F.when(day.isNull(), self._wrong(hive_type)).otherwise(day)
            case Decimal():
                return try_cast(text, _ddl(hive_type))
            case _:
                return try_cast(taken(text, str(hive_type)), _ddl(hive_type))


def _ddl(hive_type: HiveType) -> str:
    return ddl(file_type(hive_type))


def _is_container(leaf: Column) -> Column:
    return leaf["kind"].rlike(_CONTAINER)


def _trimmed(text: Column) -> Column:
    return F.regexp_replace(text, _BLANKS, "")


def _shown(kind: Column, text: Column) -> Column:
    """The text of a value as JsonNode.asText gives it: a number with a fraction is a DOUBLE."""
    return F.when(kind.rlike(_FRACTION), text.cast("double").cast("string")).otherwise(text)


def _as_number(truth: Column, kind: str) -> Column:
    return (truth == "true").cast("int").cast(kind)


def _whole(kind: Column, text: Column, wide: str) -> Column:
    """An INT or a BIGINT as JsonNode.asInt and asLong give it. A number out of range loses its higher bits, as in Hive.
    A text that is no number, or out of range, is 0."""
    trimmed = _trimmed(text)
    of_text = F.when(trimmed.rlike(_WHOLE), F.coalesce(try_cast(trimmed, wide), F.lit(0))).otherwise(
        F.coalesce(try_cast(trimmed, "double"), F.lit(0.0)).cast(wide)
    )
    return (
        F.when(kind == "STRING", of_text)
        .when(kind == "BOOLEAN", _as_number(text, wide))
        .when(kind.rlike(_FRACTION), text.cast("double").cast(wide))
        .otherwise(text.cast("decimal(38,0)").cast("bigint").cast(wide))
    )
