"""The adapter of dbt for acidsql."""

from __future__ import annotations

from dbt.adapters.acidsql.column import AcidSqlColumn
from dbt.adapters.acidsql.connections import AcidSqlConnectionManager, AcidSqlCredentials
from dbt.adapters.acidsql.impl import AcidSqlAdapter
from dbt.adapters.acidsql.relation import AcidSqlRelation
from dbt.adapters.base import AdapterPlugin
from dbt.include import acidsql

__all__ = ["AcidSqlAdapter", "AcidSqlColumn", "AcidSqlConnectionManager", "AcidSqlCredentials", "AcidSqlRelation"]

Plugin = AdapterPlugin(
    adapter=AcidSqlAdapter,  # type: ignore[arg-type]
    credentials=AcidSqlCredentials,
    include_path=acidsql.PACKAGE_PATH,
)
