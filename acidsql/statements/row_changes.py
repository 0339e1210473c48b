"""The changes between two versions as rows, of which an update has its old and its new values together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from acidsql.acid.row_id import RowId
from acidsql.arrow.history.row_pairs import RowPairs
from acidsql.arrow.history.stored_events import EventFiles, StoredRow
from acidsql.engines.statement_engines import StatementEngines
from acidsql.planner.change_range import CHANGE_COLUMNS, ChangeType
from acidsql.planner.plan import QueryPlan
from acidsql.snapshot.read_view import ReadView
from acidsql.snapshot.stored_directories import RowPlace, StoredDirectories
from acidsql.statements.results import QueryResult, ResultColumn, ScanResult

MOST_READ: Final = 100_000
"""How many changed rows are in memory, unless all are wanted."""
Values: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class ChangedRow:
    """A changed row, with the values of the table's columns before and after the write ID `version`. `change` is
    insert, delete or update, or `_change_type` for a half of an update of which the other half is not told."""

    change: str
    version: int
    old: Values | None
    new: Values | None


@dataclass(frozen=True, slots=True)
class RowChanges:
    """The changes of a range of versions, by version. `has_more` tells that `rows` has only some of them; the counts
    are those of all."""

    columns: tuple[ResultColumn, ...]
    rows: Sequence[ChangedRow]
    inserted: int
    updated: int
    deleted: int
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class _Image:
    """A row of the change feed."""

    values: Values
    kind: str
    version: int
    row_id: RowId
    file: str


@dataclass(frozen=True, slots=True)
class Queries:
    """What runs the queries of `row_changes`: `scan` by the Arrow engine, or None if Spark has to, and `ordered` by
    Spark."""

    scan: Callable[[str], ScanResult | None]
    ordered: Callable[[str], QueryResult]


Pairing: TypeAlias = Callable[[Sequence[tuple[RowId, str]], Sequence[tuple[RowId, str]]], Mapping[int, int]]
"""For some new rows of updates, the positions of the old ones. A row is given by its row__id and INPUT__FILE__NAME."""


def row_changes(queries: Queries, pairing: Pairing, item: str, limit: int | None) -> RowChanges:
    """The changes that a FROM item gives, at most `limit`. Raises what `session.changes` raises."""
    most = None if limit is None else max(MOST_READ, 2 * limit)
    rows = f"SELECT *, row__id, INPUT__FILE__NAME FROM {item}"
    scanned = queries.scan(rows)
    if scanned is not None:
        with closing(scanned):
            found = _images(scanned, MOST_READ)
        if len(found) <= MOST_READ:
            return _of_images(sorted(found, key=lambda image: (image.version, image.row_id)), scanned, pairing, limit)
    result = queries.ordered(f"{rows} ORDER BY _commit_version, row__id")
    with closing(result):
        found = _images(result, most)
        if most is None or len(found) <= most:
            return _of_images(found, result, pairing, limit)
        some = _of_images(found[:most], result, pairing, limit)
    inserted, updated, deleted = _numbers(_counted(queries.ordered, item))
    return replace(some, inserted=inserted, updated=updated, deleted=deleted, has_more=True)


def _images(result: ScanResult | QueryResult, most: int | None) -> list[_Image]:
    """The rows of the change feed, and if there are more than `most`, one more than that."""
    return [_image(row) for row in result.rows(None if most is None else most + 1)]


def _image(row: Values) -> _Image:
    *values, kind, version, _, row_id, file = row
    numbers: Any = row_id
    return _Image(tuple(values), str(kind), int(str(version)), RowId(*numbers), str(file))


def _of_images(
    found: Sequence[_Image], result: ScanResult | QueryResult, pairing: Pairing, limit: int | None
) -> RowChanges:
    """The changes of some rows of the change feed, by version and row__id."""
    columns = result.columns[: -len(CHANGE_COLUMNS) - 2]
    rows = list(_paired(found, pairing))
    shown = rows if limit is None else rows[:limit]
    return RowChanges(columns, shown, *_numbers(Counter(image.kind for image in found)), len(shown) < len(rows))


def _numbers(of_kinds: Mapping[str, int]) -> tuple[int, int, int]:
    """The numbers of rows that were inserted, updated and deleted, by those of the rows of each change."""
    wanted = (ChangeType.INSERT, ChangeType.UPDATE_POSTIMAGE, ChangeType.DELETE)
    inserted, updated, deleted = (of_kinds.get(kind, 0) for kind in wanted)
    return inserted, updated, deleted


def _counted(query: Callable[[str], QueryResult], item: str) -> Mapping[str, int]:
    with closing(query(f"SELECT _change_type, count(*) FROM {item} GROUP BY _change_type")) as result:
        return {str(kind): int(str(count)) for kind, count in result.rows()}


def _paired(found: Sequence[_Image], pairing: Pairing) -> Iterator[ChangedRow]:
    """The changes in their order; an update stands where its new row does."""
    old = [image for image in found if image.kind == ChangeType.UPDATE_PREIMAGE]
    new = [image for image in found if image.kind == ChangeType.UPDATE_POSTIMAGE]
    pairs = pairing(_places(old), _places(new)) if old and new else {}
    of_new = {id(new[at]): old[of] for at, of in pairs.items() if new[at].version == old[of].version}
    taken = set(map(id, of_new.values()))
    for image in found:
        if image.kind in (ChangeType.INSERT, ChangeType.UPDATE_POSTIMAGE):
            before = of_new.get(id(image))
            kind = image.kind if before is None else "update"
            yield ChangedRow(kind, image.version, None if before is None else before.values, image.values)
        elif id(image) not in taken:
            yield ChangedRow(image.kind, image.version, image.values, None)


def _places(images: Sequence[_Image]) -> list[tuple[RowId, str]]:
    return [(image.row_id, image.file) for image in images]


def pairs_of_updates(
    engines: StatementEngines,
    plan: QueryPlan,
    old: Sequence[tuple[RowId, str]],
    new: Sequence[tuple[RowId, str]],
) -> Mapping[int, int]:
    """The pairing of the rows of a table. The plan is that of a query of this table alone."""

    def found(stored: StoredDirectories, _: ReadView) -> Mapping[int, int]:
        events = EventFiles(stored)
        pairs = RowPairs(events, {})
        positions = {stored.place_of(*each): at for at, each in enumerate(old)}
        places = {place: at for at, each in enumerate(new) if (place := stored.place_of(*each)) is not None}
        copies: dict[RowPlace, list[StoredRow]] = {}
        for row in events.rows(places):
            copies.setdefault(row.place, []).append(row)
        before = {at: pairs.before(copies[place]) for place, at in places.items() if place in copies}
        return {at: positions[b] for at, b in before.items() if isinstance(b, RowPlace) and b in positions}

    return engines.read_stored(plan, found)
