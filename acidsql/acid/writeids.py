"""Transaction and write IDs, and the lists that say which of them a reader sees."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NewType

TxnId = NewType("TxnId", int)
WriteId = NewType("WriteId", int)
StatementId = NewType("StatementId", int)

NONE_OPEN = 2**63 - 1
"""`min_open` of a list without open IDs (java.lang.Long.MAX_VALUE)."""


class RangeResponse(Enum):
    """How many IDs of a range are valid (org.apache.hadoop.hive.common.ValidWriteIdList.RangeResponse)."""

    NONE = "none"
    SOME = "some"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class ValidTxnList:
    """Which transactions a reader sees as committed: those up to the high watermark, but open and aborted ones."""

    high_watermark: TxnId
    open: frozenset[TxnId] = frozenset()
    aborted: frozenset[TxnId] = frozenset()


@dataclass(frozen=True, slots=True)
class ValidWriteIdList:
    """Which write IDs of one table a reader sees as committed."""

    table: str
    """Qualified, `db.t`."""
    high_watermark: WriteId
    open: frozenset[WriteId] = frozenset()
    aborted: frozenset[WriteId] = frozenset()
