"""ALTER TABLE .. EXCHANGE PARTITION .. WITH TABLE moves partitions of a plain table to another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from tests.answers import rows

COLUMNS = "(id int) PARTITIONED BY (p int, q string)"


@pytest.fixture
def two(session: Session) -> Session:
    for name in ("old", "new"):
        session.execute(f"CREATE TABLE {name} {COLUMNS} STORED AS ORC")
    session.execute("INSERT INTO old VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'a')")
    session.execute("INSERT INTO new VALUES (9, 9, 'z')")
    return session


def names(session: Session, table: str) -> list[str]:
    return [str(name) for (name,) in session.execute(f"SHOW PARTITIONS {table}").rows()]


def test_partitions_move_with_their_files(two: Session, tmp_path: Path) -> None:
    two.execute("ALTER TABLE new EXCHANGE PARTITION (p = 2, q = 'a') WITH TABLE old")
    assert rows(two, "SELECT * FROM new ORDER BY id") == [(3, 2, "a"), (9, 9, "z")]
    two.execute(f"ALTER TABLE old ADD PARTITION (p = 1, q = 'c') LOCATION '{tmp_path}/c'")
    two.execute("INSERT INTO old VALUES (4, 1, 'c')")
    two.execute("ALTER TABLE new EXCHANGE PARTITION (p = 1) WITH TABLE old")
    assert names(two, "old") == []
    assert rows(two, "SELECT id FROM old") == []
    assert rows(two, "SELECT id FROM new ORDER BY id") == [(1,), (2,), (3,), (4,), (9,)]
    places = {p.values: p.location for p in two.catalog.partitions(two.catalog.table("default", "new"))}
    assert places["1", "a"] == f"{two.warehouse}/new/p=1/q=a"
    assert places["1", "c"] == f"{tmp_path}/c"
    assert not Path(two.warehouse, "old", "p=1", "q=a").exists()
    two.execute("DROP TABLE old")
    assert rows(two, "SELECT count(*) FROM new") == [(5,)]


def test_partitions_that_cannot_be_exchanged_stay(two: Session) -> None:
    two.execute("CREATE TABLE other (id bigint) PARTITIONED BY (p int, q string) STORED AS ORC")
    two.execute(f"CREATE TABLE parquet {COLUMNS} STORED AS PARQUET")
    two.execute("INSERT INTO new VALUES (8, 1, 'a')")
    before = names(two, "old"), names(two, "new")
    for table, clause, other, condition, code in (
        ("other", "(p = 1)", "old", "INCOMPATIBLE_TABLES", 10235),
        ("new", "(q = 'a')", "old", "PARTITION_VALUES_NOT_CONTINUOUS", 10234),
        ("new", "(p = 7)", "old", "PARTITION_NOT_FOUND", 10006),
        ("new", "(p = 1)", "old", "PARTITION_ALREADY_EXISTS", None),
        ("parquet", "(p = 1)", "old", "ALTER_REFUSED", None),
        ("old", "(p = 1)", "old", "ALTER_REFUSED", None),
    ):
        with pytest.raises(AcidSqlError) as caught:
            two.execute(f"ALTER TABLE {table} EXCHANGE PARTITION {clause} WITH TABLE {other}")
        assert caught.value.condition == condition, str(caught.value)
        if code is not None:
            assert caught.value.hive_code == code
    assert (names(two, "old"), names(two, "new")) == before
