"""What Hive's compactor made of tables, made again: the same directories, files, events, rows and row IDs."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from acidsql.acid.partition_names import unescape
from acidsql.session import Session
from tests.compactor.layout import (
    VISIBILITY,
    as_streamed,
    as_with_large_files,
    compact,
    directories,
    events,
    files,
    metadata,
)
from tests.selection import core
from tests.support.golden_cases import (
    GoldenTable,
    golden_tables,
    read_golden_rows,
    read_rows,
    sorted_golden_rows,
    sorted_rows,
)

DONE = ("succeeded", "ready for cleaning", "refused")
"""A compaction waits for the cleaner as long as a frame lives that may read what it merged."""
TABLES = {t.id: t for t in golden_tables() if t.is_recorded}
READ_ONLY = ("skip.header.line.count",)
"""Properties of tables that are not written to, and so not compacted."""
CORE = (
    ("aborted_open", "direct"),
    ("bucketed", "streamed"),
    ("insert_only_orc", "spark"),
    ("multi_writer", "spark"),
    ("originals.changed", "direct"),
    ("partitioned_ops", "streamed"),
)
WAYS: Mapping[str, Callable[[], AbstractContextManager[None]]] = {
    "direct": nullcontext,
    "streamed": as_streamed,
    "spark": as_with_large_files,
}
COMPACTED = [t for t in TABLES.values() if not any(n in READ_ONLY for n, _ in t.properties)]


def uncompacted(golden: GoldenTable, into: Path) -> Path:
    """A copy of the table as it was before Hive's compactor came."""
    copy = golden.copy(into)
    for path in copy.iterdir():
        if VISIBILITY.search(path.name):
            shutil.rmtree(path)
    return copy


@pytest.mark.parametrize("kind", ["minor", "major"])
def test_hives_own_compactions_are_made_again(kind: str, session: Session, tmp_path: Path) -> None:
    golden = TABLES[f"{kind}_compacted.before_clean/t"]
    copy = uncompacted(golden, tmp_path)
    session.execute(golden.create_statement(copy))
    assert compact(session, golden.adopted_name, kind)[0] == "succeeded"

    hives = TABLES[f"{kind}_compacted.after_clean/t"]
    assert directories(copy) == directories(hives.directory)
    assert files(copy) == files(hives.directory)
    for ours, theirs in zip(sorted(copy.iterdir()), sorted(hives.directory.iterdir()), strict=True):
        assert events(ours) == events(theirs)
        for mine, its in zip(sorted(ours.glob("bucket*")), sorted(theirs.glob("bucket*")), strict=True):
            assert metadata(mine) == metadata(its)
    assert sorted_rows(read_rows(session, golden.adopted_name)) == sorted_rows(hives.expected())


@pytest.mark.ci
@pytest.mark.parametrize(
    "case",
    core([(t, way) for t in COMPACTED for way in WAYS], lambda case: (case[0].case, case[1]) in CORE, one_of=3),
    ids=lambda case: f"{case[0].id}-{case[1]}",
)
def test_compactions_of_every_golden_table_keep_rows_and_row_ids(
    case: tuple[GoldenTable, str], session: Session, tmp_path: Path
) -> None:
    """Minor compactions sort all rows after a shuffle; major ones by Spark copy the files where they can."""
    golden, way = case
    table = golden.adopt(session, tmp_path)
    place = tmp_path / golden.case / golden.name
    before = row_ids(session, golden, table, place)
    shown = session.execute(f"SHOW PARTITIONS {table}").rows() if golden.partition_columns else [("",)]
    partitions = [str(row[0]) for row in shown]
    for kind in ("minor", "major"):
        for partition in partitions:
            with as_with_large_files() if kind == "minor" else WAYS[way]():
                state, message = compact(session, table, kind, clause(partition))
            assert state in DONE, message
            assert row_ids(session, golden, table, place) == before


def row_ids(session: Session, golden: GoldenTable, table: str, place: Path) -> list[str]:
    """Rows with their row IDs, where the table has some, without the files they are in."""
    if not golden.is_full_acid:
        return sorted_rows(read_rows(session, table))
    found = read_golden_rows(session, table, place)
    return sorted_golden_rows([type(row)(row.row_id, "", row.row) for row in found])


def clause(partition: str) -> str:
    if not partition:
        return ""
    items = (unescape(item).replace("\\", "\\\\").replace("'", "\\'").partition("=") for item in partition.split("/"))
    return f"PARTITION ({', '.join(f'''`{name}`='{value}' ''' for name, _, value in items)})"
