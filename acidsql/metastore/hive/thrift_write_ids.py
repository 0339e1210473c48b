"""The write IDs of tables in a Hive Metastore: lists of valid ones, adopted ones and seeded ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pymetastore.hive_metastore import ttypes as t

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.errors import AcidSqlError, Condition
from acidsql.interrupts import holding
from acidsql.metastore.catalog import AdoptedWriteIds
from acidsql.metastore.hive.thrift_connection import HiveConnections


@dataclass(frozen=True, slots=True)
class WriteState:
    """The write ID under which a transaction changes a table's statistics, and the write IDs that it sees."""

    write_id: WriteId
    valid: ValidWriteIdList


class WriteIds:
    """Lists of write IDs, and write IDs that count as committed without a transaction of this metastore."""

    def __init__(self, hive: HiveConnections) -> None:
        self._hive = hive

    def valid_txns(self) -> ValidTxnList:
        found = self._hive.ask(lambda c: c.get_open_txns())
        opened, aborted = _told_apart(found.open_txns, found.abortedBits)
        return ValidTxnList(
            TxnId(found.txn_high_water_mark), frozenset(map(TxnId, opened)), frozenset(map(TxnId, aborted))
        )

    def valid_write_ids(self, table: Table, txns: ValidTxnList) -> ValidWriteIdList:
        request = t.GetValidWriteIdsRequest(fullTableNames=[table.qualified], validTxnList=txns.to_text())
        found = self._hive.ask(lambda c: c.get_valid_write_ids(request)).tblValidWriteIds[0]
        opened, aborted = _told_apart(found.invalidWriteIds, found.abortedBits)
        return ValidWriteIdList(
            found.fullTableName,
            WriteId(found.writeIdHighWaterMark),
            frozenset(map(WriteId, opened)),
            frozenset(map(WriteId, aborted)),
        )

    # -- adopted write IDs

    def check_adoptable(self, table: Table, adopted: AdoptedWriteIds | None) -> None:
        """Raises LOCATION_NOT_EMPTY where the table was compacted under transactions that are not committed here:
        acidsql cannot make transaction IDs of this metastore count as committed."""
        if adopted is None or not adopted.committed_txns:
            return
        txns = self.valid_txns()
        unknown = [txn for txn in adopted.committed_txns if not txns.is_valid(txn)]
        if unknown:
            reason = (
                f"a directory of it was compacted by transaction {min(unknown)}, which is not committed in this"
                f" metastore ({txns.state(min(unknown))})"
            )
            hint = "Read the table where it was written, or fill a new one with INSERT .. SELECT."
            raise AcidSqlError(Condition.LOCATION_NOT_EMPTY, path=table.location, reason=reason, hint=hint)

    def adopt(self, table: Table, adopted: AdoptedWriteIds) -> None:
        """As a replicated table's (TxnHandler.replTableWriteIdState): open ones become aborted ones, for nobody is left
        to commit them.

        One more write ID is committed then: a table whose transactions are all aborted is seen up to the lowest of them
        only (TxnHandler.getValidWriteIdsForTable).
        """
        used = max((adopted.high_watermark, *adopted.open, *adopted.aborted))
        if used < 1:
            return
        above = range(adopted.high_watermark + 1, used + 1)
        aborted = adopted.open.union(adopted.aborted, map(WriteId, above))
        self._replicate(table, ValidWriteIdList(table.qualified, WriteId(used), aborted=frozenset(aborted)))
        if aborted:
            self._commit_nothing(table)

    def _commit_nothing(self, table: Table) -> None:
        opened = t.OpenTxnRequest(num_txns=1, user=self._hive.user, hostname=self._hive.host)
        with holding():
            (txn,) = self._hive.tell(lambda c: c.open_txns(opened)).txn_ids
            request = t.AllocateTableWriteIdsRequest(dbName=table.database, tableName=table.name, txnIds=[txn])
            self._hive.ask(lambda c: c.allocate_table_write_ids(request))
            self._hive.ask(lambda c: c.commit_txn(t.CommitTxnRequest(txnid=txn)))

    def seed(self, table: Table, committed_up_to: WriteId) -> None:
        """The metastore itself does this for a table that becomes full ACID (seedWriteIdOnAcidConversion)."""
        seen = self.valid_write_ids(table, self.valid_txns())
        if seen.high_watermark >= committed_up_to:
            return
        if seen.high_watermark == 0:
            self._replicate(table, ValidWriteIdList(table.qualified, committed_up_to))
            return
        raise AcidSqlError(
            Condition.NOT_YET_SUPPORTED,
            feature=f"The conversion of a table that has write IDs already, on a Hive Metastore ({table.qualified})",
        )

    def _replicate(self, table: Table, state: ValidWriteIdList) -> None:
        request = t.ReplTblWriteIdStateRequest(
            validWriteIdlist=state.to_text(),
            user=self._hive.user,
            hostName=self._hive.host,
            dbName=table.database,
            tableName=table.name,
        )
        self._hive.ask(lambda c: c.repl_tbl_writeid_state(request))


def _told_apart(ids: Any, aborted_bits: Any) -> tuple[list[int], list[int]]:
    """The open and aborted write IDs: a set bit (java.util.BitSet.toByteArray) marks an aborted one in the list."""
    octets = aborted_bits.encode("latin-1") if isinstance(aborted_bits, str) else aborted_bits or b""
    bits = int.from_bytes(octets, "little")
    opened: list[int] = []
    aborted: list[int] = []
    for place, number in enumerate(ids):
        (aborted if bits >> place & 1 else opened).append(number)
    return opened, aborted
