"""Random histories of a table, against a model: a reader reads every visible write exactly once, and no other.

The model knows nothing of directory names' rules. It keeps, for each directory that the history makes, the writes
that it holds, and for each write ID what became of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acidsql.acid.directories import Base, Delta, format_directory
from acidsql.acid.snapshot_selection import File, Snapshot, select_snapshot
from acidsql.acid.write_ids import StatementId, TxnId, ValidTxnList, ValidWriteIdList, WriteId


@dataclass(frozen=True, order=True)
class Write:
    """The rows, or the delete events, of one statement."""

    write_id: int
    statement: int
    is_delete: bool


@dataclass
class Directory:
    parsed: Base | Delta
    writes: frozenset[Write]


@dataclass(frozen=True)
class Reader:
    write_ids: ValidWriteIdList
    txns: ValidTxnList
    sees: frozenset[Write]


@dataclass
class History:
    """A table as it grows. `with_suffix`: compactors mark their directories with `_v`, as Hive 4's do."""

    with_suffix: bool
    directories: dict[str, Directory] = field(default_factory=dict)
    fate: dict[int, str] = field(default_factory=dict)
    """Of each write ID: committed, aborted or open."""
    overwrites: set[int] = field(default_factory=set)
    batches: list[range] = field(default_factory=list)
    writes: set[Write] = field(default_factory=set)
    compactions: dict[int, str] = field(default_factory=dict)
    """Fate of the compactors' transactions."""
    compacted_bases: set[str] = field(default_factory=set)

    def new_write_id(self, fate: str) -> int:
        write_id = len(self.fate) + 1
        self.fate[write_id] = fate
        return write_id

    def add(self, parsed: Base | Delta, writes: Iterable[Write]) -> None:
        self.directories[format_directory(parsed)] = Directory(parsed, frozenset(writes))

    def statements(self, fate: str, kinds: list[bool]) -> None:
        """One transaction: for each statement, whether it deletes."""
        write_id = self.new_write_id(fate)
        for statement, is_delete in enumerate(kinds):
            write = Write(write_id, statement, is_delete)
            self.writes.add(write)
            delta = Delta(WriteId(write_id), WriteId(write_id), StatementId(statement), None, is_delete)
            self.add(delta, [write])

    def stream(self, fates: list[str]) -> None:
        """A batch of a streaming client: several transactions in one directory."""
        batch = [Write(self.new_write_id(fate), 0, False) for fate in fates]
        self.writes.update(batch)
        low, high = batch[0].write_id, batch[-1].write_id
        self.batches.append(range(low, high + 1))
        self.add(Delta(WriteId(low), WriteId(high)), batch)

    def overwrite(self, fate: str) -> None:
        write_id = self.new_write_id(fate)
        self.overwrites.add(write_id)
        write = Write(write_id, 0, False)
        self.writes.add(write)
        self.add(Base(WriteId(write_id)), [write])

    def seen(self, up_to: int) -> frozenset[Write]:
        """What a reader sees of the write IDs up to one: committed, and not below a committed overwrite."""
        committed = {i for i, fate in self.fate.items() if fate == "committed" and i <= up_to}
        floor = max(self.overwrites & committed, default=0)
        return frozenset(w for w in self.writes if w.write_id in committed and w.write_id >= floor)

    def compact(self, fate: str, *, major: bool) -> None:
        """Stops below the lowest open write ID, and never cuts a streaming batch in two. A minor compaction merges only
        what lies behind the base that it sees.

        A base would lack the deleted rows and the delete events; here every write counts on.
        """
        limit = min([i - 1 for i, f in self.fate.items() if f == "open"], default=len(self.fate))
        limit = min([limit, *(batch.start - 1 for batch in self.batches if limit in batch[:-1])])
        found = self.seen(limit)
        overwritten = {w.write_id for w in found} & self.overwrites
        base = self.select(self.reader()).base
        merged = base.parsed.write_id if base is not None and isinstance(base.parsed, Base) and not major else 0
        news = {w for w in found if w.write_id not in overwritten and w.write_id > merged}
        if not news:
            return
        high = WriteId(self.batch_of(max(w.write_id for w in news))[-1])
        # Hive 4.0.1 begins at 1 where there is no base (hive-acid-v2.md).
        low = WriteId(self.batch_of(min(w.write_id for w in news))[0] if overwritten or merged else 1)
        txn = self.new_compaction(fate)
        if major:
            self.add(Base(high, txn), found)
            self.compacted_bases |= {format_directory(Base(high))} if txn is None else set()
        for is_delete in {w.is_delete for w in news} if not major else ():
            self.add(Delta(low, high, None, txn, is_delete), (w for w in news if w.is_delete == is_delete))

    def batch_of(self, write_id: int) -> range:
        return next((batch for batch in self.batches if write_id in batch), range(write_id, write_id + 1))

    def new_compaction(self, fate: str) -> TxnId | None:
        if not self.with_suffix:
            return None
        txn = TxnId(len(self.compactions) + 1)
        self.compactions[txn] = fate
        return txn

    def finish(self, fate: str, which: int) -> None:
        """One of the open transactions, compactors' included, commits or aborts."""
        for fates in (self.fate, self.compactions):
            if still_open := [i for i, f in fates.items() if f == "open"]:
                fates[still_open[which % len(still_open)]] = fate

    def reader(self) -> Reader:
        return Reader(
            ValidWriteIdList("d.t", WriteId(len(self.fate)), self.of("open"), self.of("aborted")),
            ValidTxnList(
                TxnId(len(self.compactions)),
                frozenset(TxnId(i) for i, fate in self.compactions.items() if fate == "open"),
                frozenset(TxnId(i) for i, fate in self.compactions.items() if fate == "aborted"),
            ),
            self.seen(len(self.fate)),
        )

    def of(self, fate: str) -> frozenset[WriteId]:
        return frozenset(WriteId(i) for i, f in self.fate.items() if f == fate)

    def select(self, reader: Reader) -> Snapshot:
        files = [File(f"{name}/bucket_00000", 1) for name in self.directories]
        return select_snapshot(files, reader.write_ids, reader.txns, compacted_bases=frozenset(self.compacted_bases))

    def clean(self) -> None:
        """What no reader needs any more, as a cleaner would: obsolete directories, and aborted ones."""
        snapshot = self.select(self.reader())
        for name in snapshot.obsolete:
            del self.directories[name]

    def read(self, reader: Reader) -> Counter[Write]:
        snapshot = self.select(reader)
        chosen = [*([snapshot.base] if snapshot.base else []), *snapshot.deltas, *snapshot.delete_deltas]
        return Counter(
            write
            for directory in chosen
            for write in self.directories[directory.name].writes
            if write.write_id not in directory.invalid_write_ids
        )


fates = st.sampled_from(["committed", "committed", "committed", "aborted", "open"])
steps = st.one_of(
    st.tuples(st.just("statements"), fates, st.lists(st.booleans(), min_size=1, max_size=3)),
    st.tuples(st.just("statements"), fates, st.lists(st.booleans(), min_size=1, max_size=3)),
    st.tuples(st.just("stream"), st.lists(fates, min_size=2, max_size=4)),
    st.tuples(st.just("overwrite"), fates),
    st.tuples(st.just("minor"), fates),
    st.tuples(st.just("major"), fates),
    st.tuples(st.just("finish"), st.sampled_from(["committed", "aborted"]), st.integers(0, 5)),
    st.tuples(st.just("clean")),
)


def apply(history: History, step: tuple[object, ...]) -> None:
    match step:
        case ("statements", str(fate), list(kinds)):
            history.statements(fate, [bool(kind) for kind in kinds])
        case ("stream", list(fates)):
            history.stream([str(fate) for fate in fates])
        case ("overwrite", str(fate)):
            history.overwrite(fate)
        case ("minor" | "major" as kind, str(fate)):
            history.compact(fate, major=kind == "major")
        case ("finish", str(fate), int(which)):
            history.finish(fate, which)
        case ("clean",):
            history.clean()
        case _:
            raise AssertionError(step)


@settings(max_examples=500, deadline=None)
@given(st.lists(steps, max_size=20), st.booleans())
def test_a_reader_reads_every_visible_write_exactly_once(story: list[tuple[object, ...]], with_suffix: bool) -> None:
    history = History(with_suffix)
    for step in story:
        apply(history, step)
        reader = history.reader()
        assert history.read(reader) == Counter(reader.sees)


@pytest.mark.ci
@settings(max_examples=500, deadline=None)
@given(st.lists(steps, max_size=10), st.lists(steps.filter(lambda step: step != ("clean",)), max_size=10))
def test_a_reader_sees_the_same_until_it_ends_whatever_comes_later(
    before: list[tuple[object, ...]], after: list[tuple[object, ...]]
) -> None:
    """The history has no cleaning, because an open transaction delays the cleaner."""
    history = History(with_suffix=True)
    for step in before:
        apply(history, step)
    reader = history.reader()
    for step in after:
        apply(history, step)
        assert history.read(reader) == Counter(reader.sees)
