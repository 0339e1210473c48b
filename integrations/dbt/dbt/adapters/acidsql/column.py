"""Columns with Hive's types."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from dbt.adapters.base.column import Column

_LENGTH: Final = re.compile(r"(?:var)?char\((\d+)\)", re.IGNORECASE)
_LONGEST: Final = 65535
"""The most characters of a VARCHAR."""


@dataclass
class AcidSqlColumn(Column):
    """A column. `dtype` is the whole Hive type, as `decimal(10,2)` or `array<int>`."""

    TYPE_LABELS: ClassVar[dict[str, str]] = {
        "TEXT": "STRING",
        "INTEGER": "INT",
        "NUMERIC": "DECIMAL(28,6)",
        "FLOAT8": "DOUBLE",
    }

    @property
    def quoted(self) -> str:
        return "`" + self.column.replace("`", "``") + "`"

    @property
    def data_type(self) -> str:
        return self.dtype

    @classmethod
    def from_description(cls, name: str, raw_data_type: str) -> AcidSqlColumn:
        return cls(name, raw_data_type)

    @classmethod
    def string_type(cls, size: int) -> str:
        return "string" if size >= _LONGEST else f"varchar({size})"

    @classmethod
    def numeric_type(cls, dtype: str, precision: Any, scale: Any) -> str:
        return "decimal" if precision is None or scale is None else f"decimal({precision},{scale})"

    def is_string(self) -> bool:
        return self.dtype.lower() == "string" or _LENGTH.fullmatch(self.dtype) is not None

    def is_integer(self) -> bool:
        return self.dtype.lower() in ("tinyint", "smallint", "int", "bigint")

    def is_float(self) -> bool:
        return self.dtype.lower() in ("float", "double")

    def is_numeric(self) -> bool:
        return self.dtype.lower().startswith("decimal")

    def string_size(self) -> int:
        length = _LENGTH.fullmatch(self.dtype)
        return _LONGEST if length is None else int(length[1])

    def literal(self, value: Any) -> str:
        return f"cast({value} as {self.dtype})"
