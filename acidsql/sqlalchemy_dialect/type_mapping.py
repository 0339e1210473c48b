"""Hive's types and SQLAlchemy's: types of Hive's own, their names in SQL, and the types that reflection finds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, assert_never

from sqlalchemy import exc, types
from sqlalchemy.sql.compiler import GenericTypeCompiler
from sqlalchemy.types import TypeEngine

from acidsql.acid.hive_types import Array, Char, Decimal, HiveType, Map, Primitive, Struct, Varchar

_Type = TypeEngine[Any]
_SINGLE: Final = 24
"""The most bits of precision of a FLOAT; a DOUBLE has more."""
_DEFAULT_DECIMAL: Final = (38, 18)
"""Precision and scale of a NUMERIC without them: Hive's own default has no digits after the point."""


class STRING(types.Text):
    """Hive's STRING."""

    __visit_name__ = "STRING"


class TINYINT(types.SmallInteger):
    """Hive's TINYINT: integers of one byte."""

    __visit_name__ = "TINYINT"


class ARRAY(types.ARRAY[Any]):
    """Hive's ARRAY: a list in Python. `column[0]` is its first element."""


class MAP(TypeEngine[dict[Any, Any]]):
    """Hive's MAP: a dict in Python."""

    __visit_name__ = "MAP"

    def __init__(self, key_type: _Type | type[_Type], value_type: _Type | type[_Type]) -> None:
        self.key_type = types.to_instance(key_type)
        self.value_type = types.to_instance(value_type)

    @property
    def python_type(self) -> type[dict[Any, Any]]:
        return dict


class STRUCT(TypeEngine[dict[str, Any]]):
    """Hive's STRUCT: a dict in Python. `STRUCT({"x": Integer, "y": String})`."""

    __visit_name__ = "STRUCT"

    def __init__(self, fields: Mapping[str, _Type | type[_Type]]) -> None:
        self.fields = {name: types.to_instance(kind) for name, kind in fields.items()}

    @property
    def python_type(self) -> type[dict[str, Any]]:
        return dict


class AcidSqlTypeCompiler(GenericTypeCompiler):
    """The names of SQLAlchemy's types in Hive's SQL."""

    def visit_STRING(self, type_: Any, **kw: Any) -> str:
        return "STRING"

    visit_TEXT = visit_CLOB = visit_NCLOB = visit_JSON = visit_STRING

    def visit_VARCHAR(self, type_: Any, **kw: Any) -> str:
        return f"VARCHAR({type_.length})" if type_.length else "STRING"

    visit_NVARCHAR = visit_VARCHAR

    def visit_CHAR(self, type_: Any, **kw: Any) -> str:
        return f"CHAR({type_.length or 1})"

    visit_NCHAR = visit_CHAR

    def visit_TINYINT(self, type_: Any, **kw: Any) -> str:
        return "TINYINT"

    def visit_INTEGER(self, type_: Any, **kw: Any) -> str:
        return "INT"

    def visit_FLOAT(self, type_: Any, **kw: Any) -> str:
        return "FLOAT" if type_.precision is not None and type_.precision <= _SINGLE else "DOUBLE"

    def visit_REAL(self, type_: Any, **kw: Any) -> str:
        return "FLOAT"

    def visit_DOUBLE(self, type_: Any, **kw: Any) -> str:
        return "DOUBLE"

    visit_DOUBLE_PRECISION = visit_DOUBLE

    def visit_DECIMAL(self, type_: Any, **kw: Any) -> str:
        precision, scale = _DEFAULT_DECIMAL if type_.precision is None else (type_.precision, type_.scale or 0)
        return f"DECIMAL({precision},{scale})"

    visit_NUMERIC = visit_DECIMAL

    def visit_BINARY(self, type_: Any, **kw: Any) -> str:
        return "BINARY"

    visit_VARBINARY = visit_BLOB = visit_BINARY

    def visit_TIMESTAMP(self, type_: Any, **kw: Any) -> str:
        return "TIMESTAMP WITH LOCAL TIME ZONE" if type_.timezone else "TIMESTAMP"

    visit_DATETIME = visit_TIMESTAMP

    def visit_TIME(self, type_: Any, **kw: Any) -> str:
        raise exc.CompileError("Hive has no type for a time of day")

    def visit_ARRAY(self, type_: Any, **kw: Any) -> str:
        dimensions = type_.dimensions or 1
        return "ARRAY<" * dimensions + str(self.process(type_.item_type, **kw)) + ">" * dimensions

    def visit_MAP(self, type_: Any, **kw: Any) -> str:
        return f"MAP<{self.process(type_.key_type, **kw)},{self.process(type_.value_type, **kw)}>"

    def visit_STRUCT(self, type_: Any, **kw: Any) -> str:
        quoted = self.dialect.identifier_preparer.quote_identifier
        inside = (f"{quoted(name)}:{self.process(kind, **kw)}" for name, kind in type_.fields.items())
        return f"STRUCT<{','.join(inside)}>"


_PRIMITIVES: Final[Mapping[str, type[_Type]]] = {
    "tinyint": TINYINT,
    "smallint": types.SMALLINT,
    "int": types.INTEGER,
    "bigint": types.BIGINT,
    "float": types.REAL,
    "double": types.DOUBLE,
    "string": STRING,
    "boolean": types.BOOLEAN,
    "binary": types.BINARY,
    "date": types.DATE,
    "timestamp": types.TIMESTAMP,
}


def reflected_type(hive_type: HiveType) -> _Type:
    """The SQLAlchemy type of a column.

    >>> from acidsql.acid.hive_types import parse_type
    >>> reflected_type(parse_type("map<string,decimal(10,2)>")).value_type
    DECIMAL(precision=10, scale=2)
    """
    match hive_type:
        case Primitive("timestamp with local time zone"):
            return types.TIMESTAMP(timezone=True)
        case Primitive(name):
            return _PRIMITIVES[name]()
        case Decimal(precision, scale):
            return types.DECIMAL(precision, scale)
        case Char(length):
            return types.CHAR(length)
        case Varchar(length):
            return types.VARCHAR(length)
        case Array(Array() as inner):
            nested = reflected_type(inner)
            assert isinstance(nested, ARRAY)
            return ARRAY(nested.item_type, dimensions=(nested.dimensions or 1) + 1)
        case Array(element):
            return ARRAY(reflected_type(element))
        case Map(key, value):
            return MAP(reflected_type(key), reflected_type(value))
        case Struct(fields):
            return STRUCT({name: reflected_type(kind) for name, kind in fields})
        case _:
            assert_never(hive_type)
