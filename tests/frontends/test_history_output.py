"""DESCRIBE HISTORY as the shell prints it in each format, and as DB-API gives it; no Spark is needed."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from acidsql import dbapi
from acidsql.frontends.cli import main
from acidsql.frontends.render import Format
from acidsql.session import connect
from acidsql.show.history_list import HISTORY_COLUMNS

COUNTED = slice(3, 7)
"""The operation and the counts."""
EXPECTED = [
    ["DELETE", "0", "0", "1"],
    ["UPDATE", "0", "2", "0"],
    ["INSERT", "3", "0", "0"],
]


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    place = tmp_path / "warehouse"
    with connect(place) as session:
        session.execute("CREATE TABLE t (id int, v string) TBLPROPERTIES ('transactional'='true')")
        session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
        session.execute("UPDATE t SET v = 'x' WHERE id > 1")
        session.execute("DELETE FROM t WHERE id = 1")
    return place


def printed(warehouse: Path, capsys: pytest.CaptureFixture[str], shape: Format) -> str:
    assert main(["--warehouse", str(warehouse), "--output", shape.value, "-e", "DESCRIBE HISTORY t"]) == 0
    return capsys.readouterr().out


def rows_of(text: str, shape: Format) -> list[list[str]]:
    """The rows that a text has in a format, with the names of the columns in front."""
    match shape:
        case Format.CSV:
            return list(csv.reader(io.StringIO(text)))
        case Format.TSV:
            return [line.split("\t") for line in text.splitlines()]
        case Format.JSON | Format.JSONL:
            found = json.loads(text) if shape is Format.JSON else [json.loads(line) for line in text.splitlines()]
            return [list(found[0]), *(list(row.values()) for row in found)]
        case Format.VERTICAL:
            blocks = [block for block in re.split(r"\*{3,}.*\*{3,}\n", text) if block]
            fields = [[line.split(": ", 1) for line in block.splitlines()] for block in blocks]
            return [[name.strip() for name, _ in fields[0]], *([value for _, value in block] for block in fields)]
        case Format.TABLE | Format.MARKDOWN:
            lines = [line for line in text.splitlines() if line.startswith("|") and "---" not in line]
            return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("shape", [*Format])
def test_the_shell_prints_each_format(warehouse: Path, capsys: pytest.CaptureFixture[str], shape: Format) -> None:
    header, *rows = rows_of(printed(warehouse, capsys, shape), shape)
    assert header == list(HISTORY_COLUMNS)
    assert [row[0] for row in rows] == ["3", "2", "1"]
    assert [row[COUNTED] for row in rows] == EXPECTED
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z", row[1]) for row in rows)
    assert {tuple(row[8:]) for row in rows} == {("true", "metastore")}


def test_a_limit_gives_the_newest_and_nobody_knows_the_counts_of_a_compaction(
    warehouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with connect(warehouse) as session:
        session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert main(["--warehouse", str(warehouse), "--output", "json", "-e", "DESCRIBE HISTORY t LIMIT 2"]) == 0
    compaction, newest = json.loads(capsys.readouterr().out)
    assert (compaction["operation"], compaction["num_inserted_rows"], compaction["version"]) == (
        "COMPACTION MAJOR",
        None,
        "3",
    )
    assert (newest["operation"], newest["readable"]) == ("DELETE", "true")


def test_db_api_gives_the_rows_and_the_description(warehouse: Path) -> None:
    with dbapi.connect(warehouse) as connection:
        cursor = connection.cursor()
        cursor.execute("DESCRIBE HISTORY t")
        assert cursor.description is not None
        assert [column[0] for column in cursor.description] == list(HISTORY_COLUMNS)
        first = cursor.fetchone()
        assert first is not None
        assert list(first)[COUNTED] == EXPECTED[0]
        assert [list(row)[COUNTED] for row in cursor.fetchall()] == EXPECTED[1:]
        cursor.execute("DESCRIBE HISTORY t LIMIT 1")
        assert [row[0] for row in cursor.fetchall()] == ["3"]
        with pytest.raises(dbapi.Error):
            cursor.execute("DESCRIBE HISTORY nothing")
