"""Transaction IDs, write IDs, and the lists of those that a reader sees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NewType

from acidsql.errors import AcidSqlError, Condition

TxnId = NewType("TxnId", int)
WriteId = NewType("WriteId", int)
StatementId = NewType("StatementId", int)

NONE_OPEN = 2**63 - 1
"""The value of `min_open` in a list without open IDs (java.lang.Long.MAX_VALUE)."""


class RangeResponse(Enum):
    """How many IDs of a range are valid (org.apache.hadoop.hive.common.ValidWriteIdList.RangeResponse)."""

    NONE = "none"
    SOME = "some"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class ValidTxnList:
    """The transactions that a reader sees as committed: all up to the high watermark but open and aborted ones."""

    high_watermark: TxnId
    open: frozenset[TxnId] = frozenset()
    aborted: frozenset[TxnId] = frozenset()

    @property
    def min_open(self) -> int:
        """The lowest open transaction, or NONE_OPEN."""
        return min(self.open, default=NONE_OPEN)

    def is_valid(self, txn: TxnId) -> bool:
        """Whether the reader sees what `txn` wrote."""
        return txn <= self.high_watermark and txn not in self.open and txn not in self.aborted

    def ended(self, txns: Iterable[TxnId]) -> frozenset[TxnId]:
        """The transactions of `txns` that were committed or aborted when this list was made."""
        return frozenset(txn for txn in txns if 0 < txn <= self.high_watermark and txn not in self.open)

    def state(self, txn: TxnId) -> str:
        """The state of a transaction as the reader sees it, in words."""
        return _state(txn, self.high_watermark, self.open, self.aborted)

    def range_response(self, low: TxnId, high: TxnId) -> RangeResponse:
        """How many of the transactions `low` to `high`, both included, are valid."""
        return _range_response(low, high, self.high_watermark, self.open | self.aborted)

    def to_text(self) -> str:
        """`hwm:minOpen:open,..:aborted,..`, as ValidReadTxnList.writeToString."""
        return _ids_to_text(self.high_watermark, self.min_open, self.open, self.aborted)


@dataclass(frozen=True, slots=True)
class ValidWriteIdList:
    """The write IDs of one table that a reader sees as committed."""

    table: str
    """The qualified name, as in `db.t`."""
    high_watermark: WriteId
    open: frozenset[WriteId] = frozenset()
    aborted: frozenset[WriteId] = frozenset()

    @property
    def min_open(self) -> int:
        """The lowest open write ID, or NONE_OPEN."""
        return min(self.open, default=NONE_OPEN)

    def is_valid(self, write_id: WriteId) -> bool:
        """Whether the reader sees what was written under `write_id`."""
        return write_id <= self.high_watermark and write_id not in self.open and write_id not in self.aborted

    def state(self, write_id: WriteId) -> str:
        """The state of a write ID as the reader sees it, in words."""
        return _state(write_id, self.high_watermark, self.open, self.aborted)

    def range_response(self, low: WriteId, high: WriteId) -> RangeResponse:
        """How many of the write IDs `low` to `high`, both included, are valid."""
        return _range_response(low, high, self.high_watermark, self.open | self.aborted)

    def invalid_in(self, low: WriteId, high: WriteId) -> frozenset[WriteId]:
        """The write IDs from `low` to `high` that are open, aborted or above the high watermark."""
        above = range(max(low, self.high_watermark + 1), high + 1)
        listed = (i for i in (*self.open, *self.aborted) if low <= i <= high)
        return frozenset(listed).union(map(WriteId, above))

    def with_own(self, own: WriteId) -> ValidWriteIdList:
        """The list for the transaction that writes under `own`: it also sees its own rows, but no other new ones."""
        others = frozenset(map(WriteId, range(self.high_watermark + 1, own)))
        return ValidWriteIdList(
            self.table,
            max(self.high_watermark, own),
            (self.open | others) - {own},
            self.aborted - {own},
        )

    def to_text(self) -> str:
        """`db.t:hwm:minOpen:open,..:aborted,..`, as ValidReaderWriteIdList.writeToString."""
        return f"{self.table}:{_ids_to_text(self.high_watermark, self.min_open, self.open, self.aborted)}"


def parse_valid_txns(text: str) -> ValidTxnList:
    """Parses the text of `ValidTxnList.to_text`, which is Hive's. Raises INVALID_SETTING."""
    high, opened, aborted = _parse_ids("ValidTxnList", text)
    return ValidTxnList(TxnId(high), frozenset(map(TxnId, opened)), frozenset(map(TxnId, aborted)))


def parse_valid_write_ids(text: str) -> ValidWriteIdList:
    """Parses the text of `ValidWriteIdList.to_text`, which is Hive's. Raises INVALID_SETTING."""
    table, colon, ids = text.partition(":")
    if not colon or not table:
        raise _invalid("ValidWriteIdList", text, "it begins with the table's name and a colon")
    return _write_ids("ValidWriteIdList", table, ids)


def parse_adopted_write_ids(table: str, text: str) -> ValidWriteIdList:
    """Parses the table property `acidsql.adopt.writeids`, a ValidWriteIdList without the name of the table.

    Raises INVALID_SETTING, which names the property.
    """
    return _write_ids("acidsql.adopt.writeids", table, text)


def _write_ids(name: str, table: str, text: str) -> ValidWriteIdList:
    high, opened, aborted = _parse_ids(name, text)
    return ValidWriteIdList(table, WriteId(high), frozenset(map(WriteId, opened)), frozenset(map(WriteId, aborted)))


def _range_response(low: int, high: int, high_watermark: int, invalid: Iterable[int]) -> RangeResponse:
    size = max(0, high - low + 1)
    top = min(high, high_watermark)
    valid = max(0, top - low + 1) - sum(1 for i in invalid if low <= i <= top)
    if valid == 0:
        return RangeResponse.NONE
    return RangeResponse.ALL if valid == size else RangeResponse.SOME


def _state(number: int, high_watermark: int, opened: frozenset[int], aborted: frozenset[int]) -> str:
    if number > high_watermark:
        return "later than this snapshot"
    if number in opened:
        return "open"
    return "aborted" if number in aborted else "committed"


def _ids_to_text(high_watermark: int, min_open: int, opened: Iterable[int], aborted: Iterable[int]) -> str:
    lists = (",".join(map(str, sorted(ids))) for ids in (opened, aborted))
    return ":".join((str(high_watermark), str(min_open), *lists))


def _parse_ids(name: str, text: str) -> tuple[int, frozenset[int], frozenset[int]]:
    """The high watermark, the open and the aborted IDs. Empty lists at the end may be missing, as in Hive's texts."""
    high, min_open, opened, aborted, *rest = (*text.strip().split(":"), "", "", "")
    if any(rest) or text.count(":") > 3:
        raise _invalid(name, text, "it has four parts: high watermark, lowest open ID, open IDs, aborted IDs")
    open_ids, aborted_ids = _id_list(name, text, opened), _id_list(name, text, aborted)
    if open_ids & aborted_ids:
        raise _invalid(name, text, f"{min(open_ids & aborted_ids)} is both open and aborted")
    if _id(name, text, min_open) != min(open_ids, default=NONE_OPEN):
        raise _invalid(
            name, text, f"its second part is the lowest of the open IDs in its third, or {NONE_OPEN} where none is open"
        )
    return _id(name, text, high), open_ids, aborted_ids


def _id_list(name: str, text: str, part: str) -> frozenset[int]:
    return frozenset(_id(name, text, item) for item in part.split(",")) if part.strip() else frozenset()


def _id(name: str, text: str, digits: str) -> int:
    if not (digits.strip().isascii() and digits.strip().isdigit()):
        raise _invalid(name, text, f"'{digits}' is not a number")
    return int(digits)


def _invalid(name: str, text: str, rule: str) -> AcidSqlError:
    return AcidSqlError(Condition.INVALID_SETTING, value=f"'{text}'", name=name, rule=rule)
