"""The statistics of a table or partition as parameters with Hive's names, and whether they are true of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

STATISTICS_STATE: Final = "COLUMN_STATS_ACCURATE"
"""StatsSetupConst.COLUMN_STATS_ACCURATE: which statistics Hive may answer queries from."""
ACCURATE_STATISTICS: Final = '{"BASIC_STATS":"true"}'
"""Its value where the numbers of rows and files are true, and nothing is said of columns."""


def with_statistics(known: Mapping[str, str], new: Mapping[str, str], *, accurate: bool | None) -> dict[str, str]:
    """The parameters `known` with `new` ones. `accurate` tells whether they are true; None keeps what is known of
    that."""
    changed = {**known, **new}
    if accurate:
        changed[STATISTICS_STATE] = ACCURATE_STATISTICS
    return out_of_date(changed) if accurate is False else changed


def out_of_date(known: Mapping[str, str]) -> dict[str, str]:
    """The parameters, from which Hive answers no query any more."""
    return {key: value for key, value in known.items() if key != STATISTICS_STATE}
