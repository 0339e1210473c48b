"""SQLAlchemy's dialect for acidsql: `create_engine("acidsql:///DIRECTORY")`. It needs SQLAlchemy 2."""

from __future__ import annotations

from acidsql.sqlalchemy_dialect.engine_dialect import AcidSqlDialect
from acidsql.sqlalchemy_dialect.type_mapping import ARRAY, MAP, STRING, STRUCT, TINYINT

__all__ = ["ARRAY", "MAP", "STRING", "STRUCT", "TINYINT", "AcidSqlDialect"]
