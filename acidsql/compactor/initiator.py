"""The initiator: checks where transactions have written, and requests the compactions that are due."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from acidsql.acid.compaction_scope import Aborted, CompactionType, due
from acidsql.acid.directories import Base
from acidsql.acid.snapshot_selection import SkipReason
from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId, WriteId
from acidsql.compactor.compactor_settings import FAILED_RETRY, FAILED_THRESHOLD, thresholds
from acidsql.compactor.places import View, compactable, find_place
from acidsql.durations import seconds
from acidsql.errors import AcidSqlError
from acidsql.metastore.client import Metastore
from acidsql.metastore.compactions import Changed, CompactionKeeper, CompactionRequest, CompactionState, PlaceName
from acidsql.metastore.history_retention import keeps_history
from acidsql.storage.file_systems import FilesOf

_ACTIVE = (CompactionState.INITIATED, CompactionState.WORKING)


@dataclass(frozen=True, slots=True)
class Initiated:
    """A compaction that the initiator requested, with the reason; `id` is None if it did not request it."""

    request: CompactionRequest
    reason: str
    id: int | None = None


@dataclass(slots=True)
class Initiator:
    """Requests compactions."""

    files_of: FilesOf
    metastore: Metastore
    keeper: CompactionKeeper
    settings: Mapping[str, str]
    name: str
    _last_checked: dict[PlaceName, TxnId] = field(default_factory=dict)
    """The last write to each place for which nothing is left to do. Not among them are places with open write IDs,
    which may become ready for a compaction without another write, those whose compaction was requested, which may fail,
    and those with obsolete directories beside an earlier cleaning."""

    def run(self) -> list[Initiated]:
        """Checks every place that was written to since its last check. A place that cannot be checked is part of the
        result, and does not stop the others."""
        active, cleaning = self._queued()
        aborted = self._aborted()
        found = []
        for changed in self.keeper.changed_places():
            place = changed.place
            of_table = aborted.get(f"{place.database}.{place.table}", Aborted())
            if place in active or (self._last_checked.get(place) == changed.txn and not of_table.count):
                continue
            try:
                answer = self._check(changed, of_table, cleaning.get(place))
            except (AcidSqlError, OSError) as error:
                answer = Initiated(_request(place, CompactionType.MAJOR, self.name), str(error))
            if answer is not None:
                found.append(answer)
        return found

    def count_deltas(self, most: int) -> dict[PlaceName, tuple[int, int]]:
        """Deltas that readers read, and obsolete directories, of the `most` places that were written to last; only
        places that have some."""
        changed = sorted(self.keeper.changed_places(), key=lambda c: -c.txn)[:most]
        found = {}
        for name in (c.place for c in changed):
            place = find_place(self.metastore, self.files_of, name.database, name.table, name.partition)
            if place is not None and place.table.is_transactional:
                snapshot = compactable(self.metastore, place, self.metastore.valid_txns()).snapshot
                counts = len(snapshot.deltas) + len(snapshot.delete_deltas), len(snapshot.obsolete)
                if any(counts):
                    found[name] = counts
        return found

    def _check(self, changed: Changed, aborted: Aborted, cleaned_up_to: WriteId | None) -> Initiated | None:
        """`cleaned_up_to` is the highest write ID of the cleanings that wait for the place."""
        name = changed.place
        place = find_place(self.metastore, self.files_of, name.database, name.table, name.partition)
        if place is None:  # it is gone, or the write to a partitioned table touched no partition
            self.keeper.forget_changed(changed)
            return None
        if not place.table.is_transactional:
            self._last_checked[name] = changed.txn
            return None
        view = compactable(self.metastore, place, self.metastore.valid_txns())
        snapshot = view.snapshot
        self._clean_later(place.table, name, view, cleaned_up_to)
        is_cleaning = cleaned_up_to is not None
        limits = thresholds(self.settings, place.table.properties)
        is_excluded = _is_excluded(place.table)
        wanted = None if is_excluded else due(snapshot, limits, aborted, insert_only=place.table.is_insert_only)
        if wanted is None:
            if view.is_whole and not (snapshot.obsolete and is_cleaning):
                self._last_checked[name] = changed.txn
            if not is_excluded:
                self._forget_if_clean(changed, view)
            return None
        rewrite, reason = wanted
        return self._enqueue(_request(name, rewrite, self.name), reason)

    def _clean_later(self, table: Table, name: PlaceName, view: View, cleaned_up_to: WriteId | None) -> None:
        """Asks for the removal of what no compaction has replaced. A cleaning may wait for long where history is
        retained, so that one is not enough there: each base of an INSERT OVERWRITE or TRUNCATE gets its own."""
        request, base = _request(name, CompactionType.MAJOR, self.name), view.snapshot.base
        if not view.snapshot.obsolete:
            return
        if not keeps_history(table):
            if cleaned_up_to is None:
                self.keeper.enqueue_cleaning(request, view.writes.high_watermark)
            return
        parsed = base.parsed if base is not None and _replaces(view, base.name) else None
        high = parsed.write_id if isinstance(parsed, Base) else view.writes.high_watermark
        if cleaned_up_to is None or high > cleaned_up_to:
            self.keeper.enqueue_cleaning(request, high)

    def _enqueue(self, request: CompactionRequest, reason: str) -> Initiated:
        """Requests a compaction, unless the last ones failed and failed.retry.time has not passed."""
        count, last = self.keeper.failures_in_a_row(request.place)
        retry = seconds(self.settings[FAILED_RETRY])
        too_early = retry <= 0 or abs(time.time() - last / 1000) < retry  # abs: the clock may have been set back
        if count >= int(self.settings[FAILED_THRESHOLD]) and too_early:
            why = f"Compaction is not initiated since last {count} consecutive compaction attempts failed"
            self.keeper.did_not_initiate(request, why)
            return Initiated(request, why)
        return Initiated(request, reason, self.keeper.enqueue_compaction(request).id)

    def _forget_if_clean(self, changed: Changed, view: View) -> None:
        snapshot = view.snapshot
        if view.is_whole and not (snapshot.deltas or snapshot.delete_deltas or snapshot.obsolete or snapshot.aborted):
            self.keeper.forget_changed(changed)

    def _queued(self) -> tuple[set[PlaceName], dict[PlaceName, WriteId]]:
        """The places with a compaction that waits or runs, and those that wait for the cleaner, each with the highest
        write ID of its cleanings."""
        known = self.keeper.compactions()
        active = {c.request.place for c in known if c.state in _ACTIVE}
        cleaning: dict[PlaceName, WriteId] = {}
        for c in known:
            if c.state is CompactionState.READY_FOR_CLEANING and c.highest_write_id is not None:
                place = c.request.place
                cleaning[place] = max(cleaning.get(place, c.highest_write_id), c.highest_write_id)
        return active, cleaning

    def _aborted(self) -> dict[str, Aborted]:
        """By qualified table name: the aborted transactions that may have left files there."""
        started = {t.id: t.started for t in self.metastore.transactions() if not t.is_open}
        ages: dict[str, list[float]] = {}
        for left in self.metastore.leftovers():
            if left.write_id is not None and left.txn in started:
                ages.setdefault(left.table.qualified, []).append(time.time() - started[left.txn] / 1000)
        return {name: Aborted(len(found), max(found)) for name, found in ages.items()}


def _replaces(view: View, base: str) -> bool:
    """Whether a base makes something obsolete that lies there."""
    return any(s.reason is SkipReason.COVERED and s.detail == base for s in view.snapshot.skipped)


def _request(place: PlaceName, kind: CompactionType, initiator: str) -> CompactionRequest:
    return CompactionRequest(place.database, place.table, place.partition, kind, initiator=initiator)


def _is_excluded(table: Table) -> bool:
    return any(k.lower() == "no_auto_compaction" and v.lower() == "true" for k, v in table.properties.items())
