"""Random histories of transactions against a plain model: snapshots, first committer wins, exclusive locks.

The model knows no commit ID and no write set: it keeps the moment at which each transaction opened and committed,
and what each has locked. Nobody waits here: whoever would have to is refused at once.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from acidsql.acid.table import Column, Table
from acidsql.acid.write_ids import TxnId, ValidTxnList, WriteId
from acidsql.errors import AcidSqlError
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.lock_rules import COMPATIBLE
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from tests.metastore.patience import AT_ONCE

TABLES = {name: Table("default", name, (Column("id", "int"),), f"/w/{name}") for name in ("t", "u")}
WRITES = (Operation.UPDATE, Operation.DELETE)

names = st.sampled_from(sorted(TABLES))
partitions = st.sampled_from([None, "p=1", "p=2"])
operations = st.sampled_from([Operation.INSERT, Operation.UPDATE, Operation.DELETE, Operation.SELECT])
# Some are such as go together, or nobody would get anywhere.
lock_types = st.sampled_from([LockType.SHARED_READ, LockType.SHARED_WRITE, LockType.EXCL_WRITE, LockType.EXCLUSIVE])


@dataclass
class ModelTxn:
    seen: int | None = None
    """When it had its first locks."""
    state: str = "open"
    committed: int | None = None
    wrote: set[tuple[str, str | None]] = field(default_factory=set)
    locked: set[tuple[str, str | None, LockType]] = field(default_factory=set)


@dataclass(frozen=True)
class ModelSnapshot:
    txns: ValidTxnList
    committed: frozenset[TxnId]


def overlap(one: str | None, two: str | None) -> bool:
    return one == two or None in (one, two)


class Transactions(RuleBasedStateMachine):
    """Two connections to one file, as two processes have them, each step on either."""

    txn_ids = Bundle("txn_ids")
    snapshots = Bundle("snapshots")

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory()
        path = Path(self.directory.name) / "m.db"
        self.stores = [SqliteMetastore(path, "/w") for _ in range(2)]
        for table in TABLES.values():
            self.stores[0].create_table(table)
        self.clock = 0
        self.txns: dict[TxnId, ModelTxn] = {}
        self.write_ids: dict[str, dict[WriteId, TxnId]] = {name: {} for name in TABLES}

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        self.directory.cleanup()

    def store(self) -> SqliteMetastore:
        self.clock += 1
        return self.stores[self.clock % 3 % 2]

    def fails(self, txn: TxnId) -> bool:
        return self.txns[txn].state != "open"

    @rule(target=txn_ids)
    def open_txn(self) -> TxnId:
        txn = self.store().open_txn()
        assert txn == len(self.txns) + 1
        self.txns[txn] = ModelTxn()
        return txn

    @rule(txn=txn_ids, name=names, partition=partitions, operation=operations, lock_type=lock_types)
    def lock(self, txn: TxnId, name: str, partition: str | None, operation: Operation, lock_type: LockType) -> None:
        condition = self.condition_of_lock(txn, LockComponent("default", name, lock_type, operation, partition))
        assert condition == self.expected_of_lock(txn, name, partition, lock_type)
        if condition:
            return
        self.locked(txn, name, partition, lock_type)
        if operation in WRITES:
            self.txns[txn].wrote.add((name, partition))

    def locked(self, txn: TxnId, name: str, partition: str | None, lock_type: LockType) -> None:
        model = self.txns[txn]
        if model.seen is None:
            model.seen = self.clock
        model.locked.add((name, partition, lock_type))

    def expected_of_lock(self, txn: TxnId, name: str, partition: str | None, lock_type: LockType) -> str:
        if self.fails(txn):
            return "TRANSACTION_ABORTED" if self.txns[txn].state == "aborted" else "NO_SUCH_TRANSACTION"
        others = [model for other, model in self.txns.items() if other != txn and model.state == "open"]
        refused = any(
            name == their_name and overlap(partition, their_partition) and theirs not in COMPATIBLE[lock_type]
            for other in others
            for their_name, their_partition, theirs in other.locked
        )
        return "LOCK_TIMEOUT" if refused else ""

    def condition_of_lock(self, txn: TxnId, component: LockComponent) -> str:
        try:
            self.store().lock(txn, [component], patience=AT_ONCE)
        except AcidSqlError as error:
            return error.condition
        return ""

    @rule(txn=txn_ids, name=names, touched=st.sets(st.sampled_from(["p=1", "p=2"])))
    def write_dynamically(self, txn: TxnId, name: str, touched: set[str]) -> None:
        whole = LockComponent("default", name, LockType.SHARED_WRITE, Operation.UPDATE, dynamic_partition_write=True)
        condition = self.condition_of_lock(txn, whole)
        assert condition == self.expected_of_lock(txn, name, None, LockType.SHARED_WRITE)
        if condition:
            return
        self.store().add_dynamic_partitions(txn, TABLES[name], sorted(touched), Operation.UPDATE)
        self.locked(txn, name, None, LockType.SHARED_WRITE)
        self.txns[txn].wrote |= {(name, partition) for partition in touched}

    @rule(txn=txn_ids, name=names)
    def allocate_write_id(self, txn: TxnId, name: str) -> None:
        known = self.write_ids[name]
        if self.fails(txn):
            with suppress(AcidSqlError):
                self.store().allocate_write_id(txn, TABLES[name])
                raise AssertionError("an ended transaction got a write ID")
            return
        write_id = self.store().allocate_write_id(txn, TABLES[name])
        if txn in known.values():
            assert known[write_id] == txn
        else:
            assert write_id == len(known) + 1
            known[write_id] = txn

    @rule(txn=txn_ids)
    def commit(self, txn: TxnId) -> None:
        model = self.txns[txn]
        condition = ""
        try:
            self.store().commit(txn)
        except AcidSqlError as error:
            condition = error.condition
        match model.state:
            case "open" if self.must_conflict(model):
                expected, model.state = "WRITE_CONFLICT", "aborted"
            case "open":
                expected, model.state, model.committed = "", "committed", self.clock
            case "committed":
                expected = ""
            case _:
                expected = "TRANSACTION_ABORTED"
        assert condition == expected

    def must_conflict(self, mine: ModelTxn) -> bool:
        overlapping = [t for t in self.txns.values() if t.committed is not None and t.committed > (mine.seen or 0)]
        return any(
            name == their_name and overlap(partition, their_partition)
            for theirs in overlapping
            for their_name, their_partition in theirs.wrote
            for name, partition in mine.wrote
        )

    @rule(txn=txn_ids)
    def abort(self, txn: TxnId) -> None:
        condition = ""
        try:
            self.store().abort(txn)
        except AcidSqlError as error:
            condition = error.condition
        assert condition == ("NO_SUCH_TRANSACTION" if self.txns[txn].state == "committed" else "")
        if self.txns[txn].state == "open":
            self.txns[txn].state = "aborted"

    @rule(target=snapshots, txn=txn_ids)
    def take_snapshot(self, txn: TxnId) -> ModelSnapshot:
        return ModelSnapshot(self.store().valid_txns(txn), self.in_state("committed"))

    @rule(snapshot=snapshots)
    def read_with_an_old_snapshot(self, snapshot: ModelSnapshot) -> None:
        self.check(snapshot)

    @rule(snapshot=consumes(snapshots), name=names)
    def remake_table(self, snapshot: ModelSnapshot, name: str) -> None:
        store = self.store()
        store.drop_table("default", name)
        store.create_table(TABLES[name])
        for txn in self.write_ids[name].values():
            if self.txns[txn].state == "open":
                self.txns[txn].state = "aborted"
        self.write_ids[name] = {}
        self.check(snapshot)

    @precondition(lambda self: self.txns)
    @invariant()
    def the_present_is_what_the_model_says(self) -> None:
        now = self.store().valid_txns()
        assert now == ValidTxnList(TxnId(len(self.txns)), self.in_state("open"), self.in_state("aborted"))
        self.check(ModelSnapshot(now, self.in_state("committed")))

    def in_state(self, state: str) -> frozenset[TxnId]:
        return frozenset(txn for txn, model in self.txns.items() if model.state == state)

    def check(self, snapshot: ModelSnapshot) -> None:
        """Valid is what was written by those that had committed when the snapshot was taken, and nothing else."""
        for name, written in self.write_ids.items():
            seen = self.store().valid_write_ids(TABLES[name], snapshot.txns)
            for write_id, txn in written.items():
                assert seen.is_valid(write_id) == (txn in snapshot.committed)
            assert not seen.is_valid(WriteId(len(written) + 1))
            assert not seen.open & seen.aborted
            assert max(seen.open | seen.aborted, default=0) <= seen.high_watermark


TestTransactions = Transactions.TestCase
TestTransactions.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
