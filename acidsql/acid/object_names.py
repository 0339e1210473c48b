"""Valid names of databases, tables, columns and struct fields, by the rules of Hive 4.

Names of databases and tables become directories, so they contain no characters with a meaning in paths. Names of
columns contain no `.` and no `:`, so acidsql's own names, such as `:row_id`, clash with no column.
"""

from __future__ import annotations

import re
from typing import Final

from acidsql.errors import AcidSqlError, Condition, Span

_OBJECT: Final = re.compile(r"[A-Za-z0-9_]+")
"""Java's `\\w`, as in MetaStoreUtils.validateName."""
_NOT_IN_COLUMNS: Final = ".:"
"""HiveParser.g, excludedCharForColumnName."""
_FIELD: Final = re.compile(r"[\w$](?:[\w.$ ]*[\w$])?")
"""TypeInfoUtils.TypeInfoParser.isTypeChar. The text of a type does not keep blanks at the ends of a name."""
_LONGEST_DATABASE: Final = 128
_LONGEST_TABLE: Final = 255
"""The metastore accepts 256 characters, but a directory name has 255 bytes at most."""
_LONGEST_COLUMN: Final = 767
"""The width of the column in the metastore's database (package.jdo)."""
VIRTUAL: Final = (
    "row__id",
    "row__is__deleted",
    "input__file__name",
    "block__offset__inside__file",
    "row__offset__inside__block",
    "raw__data__size",
    "grouping__id",
)
"""org.apache.hadoop.hive.ql.metadata.VirtualColumn.VIRTUAL_COLUMN_NAMES."""


def table_of(name: str, database: str) -> tuple[str, str]:
    """The database and the name of a table that is given as `t` or `db.t`, with or without backquotes. `database` is
    that of a table that names none.

    >>> table_of("`Sales`.Orders", "default"), table_of("orders", "default")
    (('sales', 'orders'), ('default', 'orders'))
    """
    given, _, table = name.replace("`", "").lower().rpartition(".")
    return given or database, table


def check_database_name(name: str, span: Span | None = None) -> None:
    """Raises INVALID_DATABASE_NAME."""
    if not _OBJECT.fullmatch(name) or len(name) > _LONGEST_DATABASE:
        hint = f"It may have letters of ASCII, digits and _, up to {_LONGEST_DATABASE} of them."
        raise AcidSqlError(Condition.INVALID_DATABASE_NAME, span=span, database=name, hint=hint)


def check_table_name(name: str, span: Span | None = None) -> None:
    """Raises INVALID_TABLE_NAME."""
    if not _OBJECT.fullmatch(name) or len(name) > _LONGEST_TABLE:
        hint = f"It may have letters of ASCII, digits and _, up to {_LONGEST_TABLE} of them."
        raise AcidSqlError(Condition.INVALID_TABLE_NAME, span=span, table=name, hint=hint)


def check_column_name(name: str, span: Span | None = None) -> None:
    """Raises INVALID_COLUMN_NAME."""
    reason = _wrong_with_column(name)
    if reason:
        raise AcidSqlError(Condition.INVALID_COLUMN_NAME, span=span, column=name, reason=reason)


def _wrong_with_column(name: str) -> str:
    if not name:
        return "it is empty"
    if any(c in name for c in _NOT_IN_COLUMNS):
        return "[., :] can not be used in a column name"
    if any(c == "\0" or "\ud800" <= c <= "\udfff" for c in name):
        return "it has a character that is not valid in Unicode text"
    if name.lower() in VIRTUAL:
        return "it is the name of a virtual column"
    if len(name) > _LONGEST_COLUMN:
        return f"it is longer than {_LONGEST_COLUMN} characters"
    return ""


def is_field_name(name: str) -> bool:
    """Whether a field of a struct may have the name.

    >>> is_field_name("a b"), is_field_name("a:b"), is_field_name(" a")
    (True, False, False)
    """
    return _FIELD.fullmatch(name) is not None


def without_case(name: str) -> str:
    """A key that is equal for names that Spark considers equal.

    Spark compares names with String.equalsIgnoreCase: character by character, in upper case and then in lower case.

    >>> without_case("Id") == without_case("iD"), without_case("\u0131") == without_case("i")
    (True, True)
    """
    capitals = (c.upper() if len(c.upper()) == 1 else c for c in name)
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in capitals)
