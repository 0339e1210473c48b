"""ALTER TABLE .. UPDATE STATISTICS: which numbers a statement may store."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition, Span, suggestion
from acidsql.grammar.statements import Name, UpdateStatistics
from acidsql.planner.ddl.ddl_plan import StoreStatistics

_KEYS: Final = ("numRows", "rawDataSize")
"""StatsSetupConst.ROW_COUNT and RAW_DATA_SIZE, the only ones that Hive's statement takes."""
_WHOLE_NUMBER: Final = re.compile(r"[+-]?[0-9]+")
_LONG: Final = 1 << 63


def statistics_step(table: Table, action: UpdateStatistics, span: Span | None) -> StoreStatistics:
    """The rules and messages are those of Hive's AbstractAlterTablePropertiesAnalyzer.

    Raises NOT_PARTITIONED, ALTER_REFUSED.
    """
    if action.partition and not table.partition_columns:
        raise AcidSqlError(Condition.NOT_PARTITIONED, span=span, table=table.qualified)
    if table.partition_columns and not action.partition:
        message = f"The statistics of {table.qualified} are those of its partitions"
        columns = ", ".join(f"{column.name} = .." for column in table.partition_columns)
        hint = f"ALTER TABLE .. PARTITION ({columns}) UPDATE STATISTICS SET (..)"
        raise AcidSqlError(Condition.ALTER_REFUSED, span=span, message=message, hint=hint)
    for key, value in action.statistics:
        if key not in _KEYS:
            message = f"AlterTable UpdateStats {key} failed because the only valid keys are {' and '.join(_KEYS)}"
            raise AcidSqlError(Condition.ALTER_REFUSED, span=span, message=message)
        if not _WHOLE_NUMBER.fullmatch(value) or not -_LONG <= int(value) < _LONG:
            message = f"AlterTable {key} failed with value {value}"
            raise AcidSqlError(Condition.ALTER_REFUSED, span=span, message=message)
    return StoreStatistics(table, dict(action.statistics), action.partition)


def require_column(name: Name, columns: Sequence[str]) -> None:
    """Raises COLUMN_NOT_FOUND for a column whose statistics a statement names."""
    if name.value not in columns:
        near = suggestion(name.value, list(columns))
        raise AcidSqlError(Condition.COLUMN_NOT_FOUND, span=name.span, column=name.value, suggestion=near)
