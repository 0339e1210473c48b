"""The SerDes that text tables may have instead of LazySimpleSerDe, and what each requires of a table."""

from __future__ import annotations

from typing import Final

from acidsql.acid.csv_format import CSV_SERDE
from acidsql.acid.json_format import JSON_SERDES, check_json
from acidsql.acid.regex_format import REGEX_SERDE, check_regex
from acidsql.acid.table import Table

OTHER_SERDES: Final = frozenset((CSV_SERDE, REGEX_SERDE, *JSON_SERDES))


def check_serde(table: Table) -> None:
    """Raises NOT_YET_SUPPORTED or INVALID_TABLE_PROPERTIES for a table whose columns or properties do not fit its
    SerDe."""
    if table.serde in JSON_SERDES:
        check_json(table)
    elif table.serde == REGEX_SERDE:
        check_regex(table)
