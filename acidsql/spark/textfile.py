"""Lines of text tables, as LazySimpleSerDe writes and reads them: ^A between fields, \\N for NULL, no quotes.

Spark's CSV format is no help: it takes an empty text for NULL, and trims blanks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as t

from acidsql.acid.table import Table
from acidsql.acid.types import Array, Char, HiveType, Map, Primitive, Struct, Varchar, parse_type
from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.raised import raise_sql, sql_string

_SEPARATOR: Final = "\x01"
_NULL: Final = "\\N"
_BREAKS_LINES: Final = f"[{_SEPARATOR}\\n\\r]|^\\\\N$"
"""What Hive writes all the same, and then reads as other fields, other rows, or NULL."""


def line(table: Table, names: Iterable[str]) -> Column:
    """The line of a row, whose values lie in the columns `names`. Raises NOT_YET_SUPPORTED.

    INVALID_STORE_VALUE, when it runs, for a text that could not be read back.
    """
    check_types(table)
    pairs = zip(names, table.columns, strict=True)
    fields = (_field(name, column.name, parse_type(column.type)) for name, column in pairs)
    return F.concat_ws(_SEPARATOR, *(F.coalesce(field, F.lit(_NULL)) for field in fields))


def fields(schema: t.StructType) -> list[Column]:
    """The columns of a line, `value`. What is no value of its type is NULL; so is what the line is too short for."""
    texts = F.split("value", _SEPARATOR, -1)
    columns = []
    for place, field in enumerate(schema.fields):
        text = F.get(texts, F.lit(place))
        value = F.when(text != _NULL, text)
        value = F.unbase64(value) if isinstance(field.dataType, t.BinaryType) else value.try_cast(field.dataType)
        columns.append(value.alias(field.name))
    return columns


def check_types(table: Table) -> None:
    """Raises NOT_YET_SUPPORTED for types whose text is not known here."""
    for column in table.columns:
        if not _is_known(parse_type(column.type)):
            feature = f"{column.type} ({column.name}) in a table stored as textfile ({table.qualified})"
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)


def _is_known(hive_type: HiveType) -> bool:
    match hive_type:
        case Array() | Map() | Struct() | Primitive("timestamp with local time zone"):
            return False
        case _:
            return True


def _field(name: str, column: str, hive_type: HiveType) -> Column:
    """A value's text. Binary is in base 64 (LazyUtils.writePrimitiveUTF8); a timestamp has a blank, no T and no zone:
    Hive reads others as NULL (tests/interop/test_hive_reads_kinds.py)."""
    value = F.col(name)
    match hive_type:
        case Primitive("binary"):
            return F.translate(F.base64(value), "\r\n", "")  # in lines of 76 characters, as MIME has it
        case Primitive("string") | Char() | Varchar():
            failure = raise_sql(
                Condition.INVALID_STORE_VALUE,
                value=f"concat('\\'', `{name}`, '\\'')",
                column=sql_string(column),
                type=sql_string("string in a text file: ^A, line breaks and \\N mean something else there"),
            )
            return F.when(value.rlike(_BREAKS_LINES), F.expr(failure)).otherwise(value)
        case _:
            return value.cast("string")
