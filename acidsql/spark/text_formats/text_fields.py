"""Values of text tables, read from lines as LazySimpleSerDe reads them. A text that is not a value of its type is NULL
(text_values.py)."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from acidsql.acid.hive_types import Array, Char, Decimal, HiveType, Map, Primitive, Struct, Varchar, parse_type
from acidsql.acid.table import Table
from acidsql.acid.text_format import TextFormat, check_types, is_text, sign_class, text_format
from acidsql.spark.catalyst.pyspark_api import try_cast
from acidsql.spark.spark_types import file_type
from acidsql.spark.text_formats.text_values import taken

_BASE_64: Final = r"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2,3}|[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
_STAND_IN: Final = 0xFDD0
"""The first of the code points that are no characters. They replace escaped characters while a line is split."""


def fields(table: Table) -> list[Column]:
    """The columns of a line, which is the column `value`. Columns that a line lacks are NULL. Raises
    NOT_YET_SUPPORTED."""
    check_types(table)
    reader = _Reader(text_format(table.row_format))
    texts = F.split(reader.protected(F.col("value")), sign_class(reader.separators[:1]), -1)
    return [
        reader.value(F.get(texts, F.lit(place)), parse_type(column.type), 1).alias(column.name)
        for place, column in enumerate(table.columns)
    ]


class _Reader:
    """Splits texts, level by level (LazyArray, LazyMap, LazyStruct)."""

    def __init__(self, given: TextFormat) -> None:
        self.separators = given.separators
        self._escape = given.escape
        self._null = given.null
        self._escaped = "" if given.escape is None else "".join(dict.fromkeys([given.escape, *given.separators]))
        self._stand_ins = "".join(chr(_STAND_IN + place) for place in range(len(self._escaped)))

    def protected(self, text: Column) -> Column:
        """With another sign for each that is escaped; the escape sign itself first, for \\\\, is no escaped comma."""
        for sign, stand_in in zip(self._escaped, self._stand_ins, strict=True):
            text = F.replace(text, F.lit(f"{self._escape}{sign}"), F.lit(stand_in))
        return text

    def value(self, text: Column, hive_type: HiveType, level: int) -> Column:
        present = F.when(text != self.protected(F.lit(self._null)), text)
        match hive_type:
            case Array(element):
                return F.transform(self._items(present, level), lambda t: self.value(t, element, level + 1))
            case Map(key, of):
                return self._map(self._items(present, level), (key, of), level)
            case Struct(fields):
                parts = F.split(present, sign_class(self.separators[level]), -1)
                values = [
                    self.value(F.get(parts, F.lit(place)), kind, level + 1).alias(name)
                    for place, (name, kind) in enumerate(fields)
                ]
                return F.when(present.isNotNull(), F.struct(*values))
            case _:
                return self._primitive(present, hive_type)

    def _items(self, text: Column, level: int) -> Column:
        none = F.array().cast("array<string>")
        return F.when(text == "", none).otherwise(F.split(text, sign_class(self.separators[level]), -1))

    def _map(self, items: Column, types: tuple[HiveType, HiveType], level: int) -> Column:
        """Of two entries with the same key the first counts. An entry without a key is dropped."""

        def entry(text: Column) -> Column:
            pair = F.split(text, sign_class(self.separators[level + 1]), 2)
            key, of = (self.value(F.get(pair, F.lit(place)), kind, level + 2) for place, kind in enumerate(types))
            return F.struct(key.alias("key"), of.alias("value"))

        def is_first(of: Column, place: Column) -> Column:
            return F.array_position(keys, of["key"]) == place + 1

        entries = F.transform(items, entry)
        keys = F.transform(entries, lambda e: e["key"])
        return F.map_from_entries(F.filter(entries, is_first))

    def _primitive(self, text: Column, hive_type: HiveType) -> Column:
        match hive_type:
            case Char(length) | Varchar(length):
                return F.substring(self._unescaped(text), 1, length)
            case _ if is_text(hive_type):
                return self._unescaped(text)
            case Primitive("binary"):
                return F.when(text.rlike(_BASE_64), F.unbase64(text)).otherwise(text.cast("binary"))
            case Primitive("boolean"):
                said = F.lower(text)
                return F.when(said == "true", True).when(said == "false", False)
            case Decimal():
                return try_cast(text, file_type(hive_type))
            case _:
                return try_cast(taken(text, str(hive_type)), file_type(hive_type))

    def _unescaped(self, text: Column) -> Column:
        """LazyUtils.copyAndEscapeStringDataToText."""
        if self._escape is None:
            return text
        for name, sign in (("r", "\r"), ("n", "\n")):
            text = F.replace(text, F.lit(f"{self._escape}{name}"), F.lit(sign))
        text = F.regexp_replace(text, f"(?s){sign_class(self._escape)}(.)", "$1")
        return F.translate(text, self._stand_ins, self._escaped)
