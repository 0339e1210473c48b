"""The same random DML in Hive 4.0.1 and in acidsql: the same rows after every statement, and each reads the other's."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import pytest

from acidsql.session import Session
from tests.interop.hive_client import Hive
from tests.interop.random_dml import COLUMNS, first_rows, source_rows, statements
from tests.interop.shared_table import DATABASE, SharedTable, create_in_both, hive_rows
from tests.interop.values import assert_same_rows, rows_of_spark

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

_ACID: Final = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
_COMPACTIONS: Final = {6: "minor", 12: "major"}
"""Before which statement Hive compacts both its tables."""


@pytest.mark.soak  # test_interleaving.py has the like of it in CI, on more kinds of tables
@pytest.mark.parametrize("count", [18, 60])
def test_a_random_script_gives_the_same_rows_in_hive_and_acidsql(
    hive: Hive, session: Session, tmp_path: Path, count: int
) -> None:
    seed = 7
    mine = create_in_both(session, hive, "mine", f"{COLUMNS} {_ACID}")
    source = create_in_both(session, hive, "script_source", f"{COLUMNS} {_ACID}")
    source.write(f"INSERT INTO {source.name} VALUES {source_rows(seed)}")
    theirs = f"{DATABASE}.theirs"
    hive.run(f"CREATE TABLE {theirs} {COLUMNS} {_ACID}")
    first = f"INSERT INTO {{t}} VALUES {first_rows(seed)}"
    changing = 0
    for number, statement in enumerate([first, *statements(seed, count)]):
        if number in _COMPACTIONS:
            hive.compact(theirs, _COMPACTIONS[number])
            hive.compact(mine.name, _COMPACTIONS[number])
            assert_each_reads_the_other(mine, theirs, tmp_path / f"copy{number}")
        hive.run(statement.format(t=theirs, s=source.name))
        mine.write(statement.format(t=mine.name, s=source.name))
        changing += written(session) > 0
        assert_same_rows(mine.rows("*"), hive_rows(hive, theirs, "*"), f"{number}: {statement}")
    assert changing >= 0.7 * count, "statements that touch no row prove nothing"
    assert_each_reads_the_other(mine, theirs, tmp_path / "copy")


def written(session: Session) -> int:
    """Rows that the last statement touched."""
    result = session.last_result
    return result.counts.affected if result and result.counts else 0


def assert_each_reads_the_other(mine: SharedTable, theirs: str, copy: Path) -> None:
    """Hive reads what acidsql wrote (and Hive compacted), acidsql a copy of what Hive wrote: rows and row IDs."""
    assert mine.rows("*"), "an empty table proves nothing"
    mine.assert_hive_reads_it()
    adopted = f"{DATABASE}.{copy.name}"
    shutil.copytree(mine.hive.home.warehouse / f"{DATABASE}.db" / theirs.partition(".")[2], copy)
    mine.session.sql(
        f"CREATE TABLE {adopted} {COLUMNS} STORED AS ORC LOCATION '{copy}' TBLPROPERTIES ('transactional'='true')"
    )
    read = rows_of_spark(mine.session.sql(f"SELECT row__id, * FROM {adopted}").collect())
    assert_same_rows(read, hive_rows(mine.hive, theirs), "acidsql reads a copy of Hive's table")
