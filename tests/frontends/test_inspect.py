"""`acidsql inspect`: what it says of tables that Hive made, and of ones with something wrong; no Spark is needed."""

from __future__ import annotations

import json
import struct
import sys
from collections import Counter
from pathlib import Path

import pytest

from acidsql.frontends.cli import main
from acidsql.session import Session, connect
from acidsql.snapshot.table_contents import DirectoryKind
from tests.selection import core
from tests.support.golden_cases import GoldenTable, golden_tables

TABLES = [t for t in golden_tables() if t.is_recorded]


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return tmp_path / "warehouse"


def adopt(warehouse: Path, case: str) -> str:
    """The name of the table of a case, adopted; its copy lies below the warehouse's parent."""
    golden = next(t for t in TABLES if t.id == case)
    with connect(warehouse) as session:
        return golden.adopt(session, warehouse.parent)


def inspect(capsys: pytest.CaptureFixture[str], warehouse: Path, *arguments: str) -> tuple[int, list[dict[str, str]]]:
    """Exit status and lines, by column."""
    status = main(["inspect", *arguments, "--warehouse", str(warehouse)])
    header, *lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    return status, [dict(zip(header, line, strict=True)) for line in lines]


def reasons(lines: list[dict[str, str]]) -> dict[str, tuple[bool, str]]:
    return {line["directory"]: (line["read"] == "true", line["why"]) for line in lines}


# ------------------------------------------------------------------------------------------------ golden tables


@pytest.mark.parametrize("golden", core(TABLES, lambda t: t.is_core), ids=lambda t: t.id)
def test_the_events_that_are_seen_are_the_rows_that_hive_reads(golden: GoldenTable, warehouse: Path) -> None:
    with connect(warehouse) as session:
        content = session.inspect(golden.adopt(session, warehouse.parent))
        assert all(part.problem is None for part in content.parts)
        events = [event for part in content.parts for event in session.events(content, part)]
        seen = [e for e in events if e.is_seen and e.operation != 2]
        assert len(seen) == len(golden.expected())
        row_ids = golden.expected_row_ids()
        if row_ids is not None:
            found = Counter((e.original_transaction, e.bucket, e.row_id) for e in seen)
            assert found == Counter(row.row_id for row in row_ids)
        assert all(bool(event.why) != event.is_seen for event in events)
        counted = [f.rows or 0 for part in content.parts for d in part.directories for f in d.files]
        assert sum(counted) == len(events)


def test_aborted_and_open_write_ids_are_the_reasons(capsys: pytest.CaptureFixture[str], warehouse: Path) -> None:
    name = adopt(warehouse, "aborted_open/t")
    status, files = inspect(capsys, warehouse, name, "--files")
    assert status == 0
    assert reasons(files) == {
        "delta_0000001_0000001_0000": (True, ""),
        "delta_0000002_0000002_0000": (False, "write ID 2 is aborted"),
        "delete_delta_0000002_0000002_0001": (False, "write ID 2 is aborted"),
        "delete_delta_0000003_0000003_0000": (True, ""),
        "delta_0000003_0000003_0001": (True, ""),
        "delta_0000004_0000004_0000": (False, "write ID 4 is open"),
        "delete_delta_0000004_0000004_0001": (False, "write ID 4 is open"),
        "delta_0000005_0000005_0000": (True, ""),
    }
    _, events = inspect(capsys, warehouse, name)
    third = next(e for e in events if e["row"] == '{"id":3,"name":"c"}')
    assert third["file"] == "delta_0000001_0000001_0000/bucket_00000_0"
    numbers = [third[column] for column in ("operation", "originalTransaction", "bucket", "rowId")]
    assert numbers == ["insert", "1", "0", "2"]
    assert (third["seen"], third["why"]) == ("false", "deleted by write ID 3 (delete_delta_0000003_0000003_0000)")
    updated = next(e for e in events if e["row"] == '{"id":3,"name":"u"}')
    assert (updated["bucketProperty"], updated["statement"], updated["seen"]) == ("536870913", "1", "true")


def test_what_a_compaction_covers_is_said_by_its_name(capsys: pytest.CaptureFixture[str], warehouse: Path) -> None:
    name = adopt(warehouse, "minor_compacted.before_clean/t")
    _, lines = inspect(capsys, warehouse, name, "--files")
    compacted = "delta_0000001_0000004_v0000699"
    facts = next(line for line in lines if line["directory"] == compacted)
    assert (facts["kind"], facts["write_ids"], facts["statement"], facts["visibility_txn"], facts["rows"]) == (
        "delta",
        "1..4",
        "NULL",
        "699",
        "8",
    )
    found = reasons(lines)
    assert found["delta_0000002_0000002_0000"] == (False, f"covered by {compacted}")
    assert found["delete_delta_0000003_0000003_0000"] == (False, f"covered by delete_{compacted}")


def test_rows_of_original_files_have_the_row_ids_that_readers_give_them(
    capsys: pytest.CaptureFixture[str], warehouse: Path
) -> None:
    name = adopt(warehouse, "originals_bucketed.converted/t")
    _, events = inspect(capsys, warehouse, name)
    named = {(e["file"], e["originalTransaction"], e["bucket"], e["rowId"]) for e in events}
    assert ("000000_0", "0", "0", "0") in named
    assert ("000001_0_copy_1", "0", "1", "4") in named


def test_partitions_and_truncated_ones_are_told_apart(capsys: pytest.CaptureFixture[str], warehouse: Path) -> None:
    name = adopt(warehouse, "partitioned_ops/t")
    (warehouse.parent / "partitioned_ops" / "t" / "p=77").mkdir()
    (warehouse.parent / "partitioned_ops" / "t" / "p=77" / "bucket_00000").write_bytes(b"x")
    _, lines = inspect(capsys, warehouse, name, "--files")
    of = {(line["partition"], line["directory"]): (line["read"], line["why"]) for line in lines}
    assert of["p=3", "base_0000004"] == ("true", "it is empty")
    assert of["p=3", "delta_0000001_0000001_0000"] == ("false", "covered by base_0000004")
    assert of["", "p=77"] == ("false", "it is in no partition that the catalog knows")


# ------------------------------------------------------------------------------------------------ something wrong


def table_with(session: Session, place: Path, write_ids: str) -> Path:
    """The directory of the golden table `insert`, adopted as t with these write IDs."""
    golden = next(t for t in TABLES if t.id == "insert/t")
    directory = golden.copy(place)
    columns = ", ".join(f"`{name}` {kind}" for name, kind in golden.columns)
    session.execute(
        f"CREATE TABLE t ({columns}) STORED AS ORC LOCATION '{directory}'"
        f" TBLPROPERTIES ('transactional'='true', 'acidsql.adopt.writeids'='{write_ids}')"
    )
    return directory


def copy_of_first(directory: Path, name: str) -> None:
    """Another directory of the name, with the file of the first."""
    (directory / name).mkdir()
    first = next(directory.glob("delta_*1_0000/bucket_00000_0"))
    (directory / name / "bucket_00000").write_bytes(first.read_bytes())


def test_leftovers_are_named_for_what_they_are(
    capsys: pytest.CaptureFixture[str], warehouse: Path, tmp_path: Path
) -> None:
    with connect(warehouse) as session:
        directory = table_with(session, tmp_path, "9:7:7:5,6")
    aborted, later, unseen = "delta_0000005_0000005", "delta_0000012_0000012", "delta_0000008_0000008_v9999999"
    for name in (aborted, "delta_0000004_0000006", unseen, later):
        copy_of_first(directory, name)
    (directory / ".acidsql_staging_99_8").mkdir()
    (directory / "_tmp").mkdir()
    status, lines = inspect(capsys, warehouse, "t", "--files")
    assert status == 1  # directories that this metastore does not know: CATALOG_BEHIND
    found = reasons(lines)
    assert found[aborted] == (False, "write ID 5 is aborted")
    assert found["delta_0000004_0000006"] == (
        True,
        "but not all of it: write ID 5 is aborted, write ID 6 is aborted",
    )
    assert found[unseen] == (False, "not visible: transaction 9999999 is later than this snapshot")
    assert found[later] == (False, "write ID 12 is later than this snapshot")
    assert found[".acidsql_staging_99_8"] == (
        False,
        "staged by transaction 99, which is later than this snapshot, for write ID 8",
    )
    assert found["_tmp"] == (False, "hidden: no reader looks there")


def test_a_layout_that_no_reader_takes_is_shown_and_is_a_failure(
    capsys: pytest.CaptureFixture[str], warehouse: Path, tmp_path: Path
) -> None:
    with connect(warehouse) as session:
        directory = table_with(session, tmp_path, "9:9223372036854775807::")
    copy_of_first(directory, "delta_2_x")
    (directory / "delta_0000008_0000008_0000").mkdir()
    (directory / "delta_0000008_0000008_0000" / "part-00000").write_bytes(b"spark")
    assert main(["inspect", "t", "--files", "--warehouse", str(warehouse)]) == 1
    printed = capsys.readouterr()
    assert "MALFORMED_LAYOUT" in printed.err
    for shown in ("delta_2_x", "delta_0000008_0000008_0000", "a reader fails", "part-00000"):
        assert shown in printed.out


def test_a_damaged_file_is_noted_and_the_others_are_shown(
    capsys: pytest.CaptureFixture[str], warehouse: Path, tmp_path: Path
) -> None:
    with connect(warehouse) as session:
        directory = table_with(session, tmp_path, "9:9223372036854775807::")
    (directory / "delta_0000009_0000009_0000").mkdir()
    (directory / "delta_0000009_0000009_0000" / "bucket_00000").write_bytes(b"this is no ORC file")
    _, lines = inspect(capsys, warehouse, "t", "--files")
    damaged = next(line for line in lines if line["directory"] == "delta_0000009_0000009_0000")
    assert "not an ORC file" in damaged["note"] or "damaged" in damaged["note"] or "longer" in damaged["note"]
    _, events = inspect(capsys, warehouse, "t")
    assert events
    assert {e["seen"] for e in events} == {"true"}


def test_the_committed_part_of_a_streaming_file_is_counted(
    capsys: pytest.CaptureFixture[str], warehouse: Path, tmp_path: Path
) -> None:
    with connect(warehouse) as session:
        directory = table_with(session, tmp_path, "9:9223372036854775807::")
    copy_of_first(directory, "delta_0000004_0000006")
    file = directory / "delta_0000004_0000006" / "bucket_00000"
    size = file.stat().st_size
    file.write_bytes(file.read_bytes() + b"more, not committed")
    file.with_name("bucket_00000_flush_length").write_bytes(struct.pack(">q", size))
    _, lines = inspect(capsys, warehouse, "t", "--files")
    line = next(line for line in lines if line["file"] == "delta_0000004_0000006/bucket_00000")
    assert line["note"] == f"the first {size} bytes are committed"
    assert int(line["rows"]) > 0


# ------------------------------------------------------------------------------------------------ the command


def test_a_summary_comes_first_and_a_limit_says_how_to_see_more(
    capsys: pytest.CaptureFixture[str], warehouse: Path
) -> None:
    name = adopt(warehouse, "aborted_open/t")
    assert main(["inspect", name, "--limit", "2", "--warehouse", str(warehouse)]) == 0
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 3
    kind, writes, size, read, limit = printed.err.splitlines()
    assert kind.startswith(f"default.{name}: full ACID, orc, ")
    assert writes == "write IDs up to 5; open: 4; aborted: 2"
    assert size.startswith("8 directories (4 read), ")
    assert read.startswith("read: ")
    assert limit == "The first 2 events are shown. --limit N shows more, and --limit 0 all of them."
    assert main(["inspect", name, "--limit", "0", "--files", "--warehouse", str(warehouse)]) == 0
    assert "are shown" not in capsys.readouterr().err


def test_one_partition_or_those_below_a_value_are_shown(capsys: pytest.CaptureFixture[str], warehouse: Path) -> None:
    name = adopt(warehouse, "partitioned_ops/t")
    status, lines = inspect(capsys, warehouse, name, "--files", "--partition", "p=3")
    assert (status, {line["partition"] for line in lines}) == (0, {"p=3"})
    assert main(["inspect", name, "--partition", "p=33", "--warehouse", str(warehouse)]) == 1
    assert "Partition not found p=33" in capsys.readouterr().err


def test_on_a_terminal_directories_stand_with_their_files_and_events_in_tables(
    capsys: pytest.CaptureFixture[str], warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = adopt(warehouse, "aborted_open/t")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["inspect", f"default.{name}", "--warehouse", str(warehouse)]) == 0
    text = capsys.readouterr().out
    assert "full ACID, orc" in text
    assert "write IDs up to 5; open: 4; aborted: 2\n" in text
    assert (
        "- delta_0000002_0000002_0000: not read (write ID 2 is aborted)\n    bucket_00000_0: 734 bytes, 1 row" in text
    )
    assert '| {"id":3,"name":"c"} | false | deleted by write ID 3' in text


def test_a_table_that_is_not_there_is_an_error(capsys: pytest.CaptureFixture[str], warehouse: Path) -> None:
    adopt(warehouse, "insert/t")
    assert main(["inspect", "nothing", "--warehouse", str(warehouse)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "[TABLE_NOT_FOUND]" in printed.err


def test_inspecting_changes_nothing(warehouse: Path) -> None:
    with connect(warehouse) as session:
        golden = next(t for t in TABLES if t.id == "load_data/t")
        name = golden.adopt(session, warehouse.parent)
        before = sorted((p, p.stat().st_mtime_ns) for p in warehouse.parent.rglob("*") if ".acidsql" not in str(p))
        content = session.inspect(name)
        kinds = {d.kind for part in content.parts for d in part.directories}
        assert kinds == {DirectoryKind.BASE, DirectoryKind.DELTA, DirectoryKind.DELETE_DELTA}
        after = sorted((p, p.stat().st_mtime_ns) for p in warehouse.parent.rglob("*") if ".acidsql" not in str(p))
        assert before == after


# ------------------------------------------------------------------------------------------------ the life of a row


def with_a_life(warehouse: Path) -> None:
    with connect(warehouse) as session:
        session.execute("CREATE TABLE t (id int, v string, f float) TBLPROPERTIES ('transactional'='true')")
        session.execute("INSERT INTO t VALUES (1, 'a', 0.1), (2, 'b', 0.2)")
        session.execute("UPDATE t SET v = 'x' WHERE id = 1")
        session.execute("DELETE FROM t WHERE id = 1")


def test_the_life_of_a_row_is_lines_for_programs(capsys: pytest.CaptureFixture[str], warehouse: Path) -> None:
    with_a_life(warehouse)
    status, lines = inspect(capsys, warehouse, "t", "--where", "v = 'x'")
    assert status == 0
    assert [line["change"] for line in lines] == ["insert", "update", "delete"]
    assert {line["row"] for line in lines} == {"1"}
    assert [line["values"] for line in lines] == [f'{{"id":1,"v":"{v}","f":0.1}}' for v in "axx"]
    assert lines[1]["former_values"] == '{"v":"a"}'
    assert (lines[1]["old_row_id"], lines[2]["row_id"]) == (lines[0]["row_id"], "NULL")
    assert main(["inspect", "t", "--row", lines[1]["row_id"], "--output", "jsonl", "--warehouse", str(warehouse)]) == 0
    same = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["version"] for event in same] == [1, 2, 3]
    assert same[0]["values"] == {"id": 1, "v": "a", "f": 0.1}
    assert same[2]["files"] == ["delete_delta_0000003_0000003_0000/bucket_00000"]
    assert {event["operation"] for event in same} == {"INSERT", "UPDATE", "DELETE"}


def test_the_life_of_a_row_is_a_text_on_a_terminal(
    capsys: pytest.CaptureFixture[str], warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_a_life(warehouse)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["inspect", "t", "--where", "id > 0", "--limit", "1", "--warehouse", str(warehouse)]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("row 1 of t: it is gone since version 3\n\n  version 1: insert by INSERT of ")
    assert '    v: "a" -> "x"\n    values: {"id":1,"v":"x","f":0.1}\n    in delete_delta_0000002_' in printed.out
    assert printed.err.startswith("(1 row)\nThere are more rows.")


def test_a_row_that_is_nowhere_is_a_failure_and_options_must_fit(
    capsys: pytest.CaptureFixture[str], warehouse: Path
) -> None:
    with_a_life(warehouse)
    place = ["--warehouse", str(warehouse)]
    assert main(["inspect", "t", "--where", "id = 7", *place]) == 1
    assert "No file of t holds such a row" in capsys.readouterr().err
    for options in (["--row", "{}"], ["--row", "7"], ["--output", "csv"], ["--where", "id = 1", "--files"]):
        with pytest.raises(SystemExit) as left:
            main(["inspect", "t", *options, *place])
        assert left.value.code == 2
