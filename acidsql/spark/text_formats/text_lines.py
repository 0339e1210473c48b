"""Lines of text tables, as LazySimpleSerDe writes them: a separator for each level, a text for NULL, no quotes.

Spark's CSV format cannot write them: it takes an empty text for NULL, trims blanks, and knows one level only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from acidsql.acid.csv_format import CSV_SERDE, csv_format
from acidsql.acid.hive_types import Array, HiveType, Map, Primitive, Struct, parse_type
from acidsql.acid.json_format import JSON_SERDES
from acidsql.acid.table import Table
from acidsql.acid.text_format import (
    FOOTER_LINES,
    HEADER_LINES,
    TextFormat,
    check_types,
    footer_lines,
    header_lines,
    is_text,
    sign_class,
    text_format,
)
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.quoting import sql_string
from acidsql.planner.sql_errors import raise_sql
from acidsql.spark.text_formats.json_lines import json_line

_IN_NUMBERS: Final = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-.: /")
"""Characters that the text of a number, a date or bytes can have."""


def line(table: Table, names: Iterable[str]) -> Column:
    """The line of a row, from its values in the columns `names`. Raises NOT_YET_SUPPORTED.

    When it runs, it raises INVALID_STORE_VALUE for a value that could not be read back from its text.
    """
    hidden = [name for name, count in ((HEADER_LINES, header_lines), (FOOTER_LINES, footer_lines)) if count(table)]
    if hidden:
        feature = f"Writing to {table.qualified}, whose {hidden[0]} hides rows of each file,"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)
    if table.serde == CSV_SERDE:
        return _csv_line(table, names)
    if table.serde in JSON_SERDES:
        return json_line(table, names)
    check_types(table)
    pairs = zip(names, table.columns, strict=True)
    fields = [_Writer(table, name, column.name).text(F.col(name), parse_type(column.type), 1) for name, column in pairs]
    return F.concat_ws(text_format(table.row_format).separators[0], *fields)


def _csv_line(table: Table, names: Iterable[str]) -> Column:
    """The line of OpenCSVSerde: quoted texts, and nothing for NULL, which is read back as an empty text, as in Hive.

    A text that would be read back as another one raises INVALID_STORE_VALUE. Hive writes such texts.
    """
    form = csv_format(table.row_format)
    fields = []
    for name, column in zip(names, table.columns, strict=True):
        value = F.col(name)
        lost = "\r\n" + (form.escape if form.doubles_quotes else "")
        refused = _refusal(
            f"concat('\\'', `{name}`, '\\'')",
            column.name,
            "line breaks and escape characters have a special meaning there",
        )
        marked = (form.quote,) if form.doubles_quotes else (form.quote, form.escape)
        sign = form.quote if form.doubles_quotes else form.escape
        escaped = value
        for each in reversed(marked):
            escaped = F.replace(escaped, F.lit(each), F.lit(f"{sign}{each}"))
        text = F.concat(F.lit(form.quote), escaped, F.lit(form.quote))
        kept = F.when(value.rlike(sign_class(lost)), refused).otherwise(text)
        fields.append(F.coalesce(kept, F.lit("")))
    return F.concat_ws(form.separator, *fields)


def _refusal(value: str, column: str, reason: str) -> Column:
    failure = raise_sql(
        Condition.INVALID_STORE_VALUE,
        value=value,
        column=sql_string(column),
        type=sql_string(f"string in a text file: {reason}"),
    )
    return F.expr(failure)


def _base_64(value: Column) -> Column:
    """Base 64 in one line and without padding. Spark breaks it into lines of 76 characters."""
    return F.translate(F.base64(value), "=\r\n", "")


class _Writer:
    """Writes the values of a column as text, NULL included. The values lie in the column `filed`."""

    def __init__(self, table: Table, filed: str, column: str) -> None:
        self._format: TextFormat = text_format(table.row_format)
        self._value = f"concat('\\'', CAST(`{filed}` AS STRING), '\\'')"
        self._column = column

    def text(self, value: Column, hive_type: HiveType, level: int) -> Column:
        return F.coalesce(self._text(value, hive_type, level), F.lit(self._format.null))

    def _text(self, value: Column, hive_type: HiveType, level: int) -> Column:
        separators = self._format.separators
        match hive_type:
            case Array(element):
                items = F.transform(value, lambda e: self.text(e, element, level + 1))
                return self._unambiguous(F.array_join(items, separators[level]), F.size(value) > 0)
            case Map(key, of):
                pairs = F.transform(
                    F.map_entries(value),
                    lambda e: F.concat(
                        self.text(e["key"], key, level + 2),
                        F.lit(separators[level + 1]),
                        self.text(e["value"], of, level + 2),
                    ),
                )
                return F.array_join(pairs, separators[level])
            case Struct(fields):
                parts = [self.text(value.getField(name), kind, level + 1) for name, kind in fields]
                return F.when(
                    value.isNotNull(), self._unambiguous(F.concat_ws(separators[level], *parts), F.lit(len(parts) > 1))
                )
            case _:
                return self._primitive(value, hive_type, separators[:level])

    def _primitive(self, value: Column, hive_type: HiveType, around: Sequence[str]) -> Column:
        """Writes binary as base 64 (LazyUtils.writePrimitiveUTF8), and a timestamp with a blank, without T and zone:
        Hive reads other forms as NULL (tests/interop/test_hive_reads_kinds.py)."""
        if is_text(hive_type):
            return self._readable(self._escaped(value) if self._format.escape else value, around)
        text = _base_64(value) if hive_type == Primitive("binary") else value.cast("string")
        may_clash = _IN_NUMBERS.intersection(around) or _IN_NUMBERS.issuperset(self._format.null)
        return self._readable(text, around) if may_clash else text

    def _escaped(self, value: Column) -> Column:
        """The text with separators, line breaks and the escape character escaped, as LazyUtils.writeEscaped does it."""
        escape = self._format.escape or ""
        signs = sign_class([escape, *self._format.separators])
        value = F.regexp_replace(value, f"({signs})", f"\\{escape}$1")
        return F.replace(F.replace(value, F.lit("\n"), F.lit(f"{escape}n")), F.lit("\r"), F.lit(f"{escape}r"))

    def _readable(self, text: Column, around: Sequence[str]) -> Column:
        """The text, or INVALID_STORE_VALUE for a text that would be read back as several fields, several rows, or NULL.
        Hive writes such texts."""
        breaks = ["\n", "\r"] if self._format.escape else ["\n", "\r", *around]
        return self._refused_if(text.rlike(sign_class(breaks)) | (text == self._format.null), text)

    def _unambiguous(self, text: Column, has_items: Column) -> Column:
        """The text, or INVALID_STORE_VALUE where it is ambiguous: an array of one empty text looks like an empty array,
        and a value of a single NULL looks like NULL."""
        return self._refused_if((text == self._format.null) | ((text == "") & has_items), text)

    def _refused_if(self, condition: Column, text: Column) -> Column:
        reason = f"separators, line breaks and {self._format.null} have a special meaning there"
        return F.when(condition, _refusal(self._value, self._column, reason)).otherwise(text)
