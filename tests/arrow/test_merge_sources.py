"""MERGE whose source nobody has to compute needs no Spark, and leaves the rows that it has with Spark."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest

from acidsql.session import Session, connect
from tests.answers import rows
from tests.arrow.two_ways import ACID, both, drop_on_both

NEW = pa.table(
    {
        "ID": pa.array([1, 2, 4, None], pa.int64()),
        "name": ["one", "two", "four", "none"],
        "c": ["x", "y ", "z", None],
        "amount": pa.array([Decimal("1.50"), None, Decimal("4.00"), Decimal("0.00")], pa.decimal128(6, 2)),
        "day": pa.array([date(2024, 1, 1), date(2024, 1, 2), date(2024, 1, 2), date(2024, 1, 3)]),
        "op": ["U", "D", "I", "I"],
    }
)
CREATE = f"CREATE TABLE t (id INT, name STRING, c CHAR(2), amount DECIMAL(8,2)) PARTITIONED BY (day DATE) {ACID}"
BEFORE = (
    "INSERT INTO t VALUES (1, 'a', 'a', 1, DATE '2024-01-01'), (2, 'b', 'b', 2, DATE '2024-01-02'),"
    " (3, 'c', 'c', 3, DATE '2024-01-02')"
)
STAGING = f"CREATE TABLE s (id BIGINT, name VARCHAR(9), c CHAR(2), amount DECIMAL(6,2), day DATE, op STRING) {ACID}"
VALUES = (
    "(1, 'one', 'x', 1.50, DATE '2024-01-01', 'U'), (2, 'two', 'y', NULL, DATE '2024-01-02', 'D'),"
    " (4, 'four', 'z', 4.00, DATE '2024-01-02', 'I'), (NULL, 'none', NULL, 0.00, DATE '2024-01-03', 'I')"
)
SOURCES = {
    "an Arrow table": "{new} s",
    "a frame of pandas": "{pandas} s",
    "a part of a frame": "(SELECT ID, name, c, amount, day, op FROM {new} f WHERE op IN ('U', 'D', 'I')) s",
    "a table": "s",
    "a part of a table": "(SELECT id, name, c, amount, day, op FROM s WHERE amount IS NULL OR amount >= 0.0) s",
    "literal rows": f"(VALUES {VALUES}) AS s (id, name, c, amount, day, op)",
}
MERGE = """MERGE INTO t USING {source} ON t.id = s.id AND s.day = t.day
 WHEN MATCHED AND s.op = 'D' THEN DELETE
 WHEN MATCHED THEN UPDATE SET name = s.name, amount = s.amount
 WHEN NOT MATCHED AND s.op <> 'U' THEN INSERT VALUES (s.id, s.name, s.c, s.amount, s.day)"""
AFTER = [
    (None, "none", None, Decimal("0.00"), date(2024, 1, 3)),
    (1, "one", "a ", Decimal("1.50"), date(2024, 1, 1)),
    (3, "c", "c ", Decimal("3.00"), date(2024, 1, 2)),
    (4, "four", "z ", Decimal("4.00"), date(2024, 1, 2)),
]


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Session]:
    """A session that never starts Spark."""
    with connect(tmp_path / "warehouse") as session:
        yield session
        assert not session._engine.is_running


@pytest.mark.ci
@pytest.mark.parametrize("source", list(SOURCES))
def test_a_source_that_nobody_computes_needs_no_spark(alone: Session, source: str) -> None:
    for statement in (CREATE, BEFORE, STAGING, f"INSERT INTO s VALUES {VALUES}"):
        alone.execute(statement)
    frames = {"new": NEW, "pandas": NEW.to_pandas(types_mapper=pd.ArrowDtype)}
    named = {name: frame for name, frame in frames.items() if f"{{{name}}}" in SOURCES[source]}
    done = alone.execute(MERGE.replace("{source}", SOURCES[source]), frames=named)
    assert done.counts is not None
    assert (done.counts.updated, done.counts.deleted, done.counts.inserted) == (1, 1, 2)
    found = alone.execute("SELECT * FROM t", rows_only=True).rows()
    assert sorted(map(str, found)) == sorted(map(str, AFTER))


@pytest.mark.ci
def test_an_upsert_by_a_partition_column_moves_no_row(alone: Session) -> None:
    """The partition that it assigns is the one that ON compares."""
    alone.execute(CREATE)
    alone.execute(BEFORE)
    new = NEW.drop_columns("op").slice(0, 3)
    counts = alone.upsert("t", new, on=["id", "day"])
    assert (counts.updated, counts.inserted) == (2, 1)
    found = alone.execute("SELECT * FROM t", rows_only=True).rows()
    moved = [(4, "four", "z ", Decimal("4.00"), date(2024, 1, 2)), (2, "two", "y ", None, date(2024, 1, 2))]
    assert sorted(map(str, found)) == sorted(
        map(str, [(1, "one", "x ", Decimal("1.50"), date(2024, 1, 1)), AFTER[2], *moved])
    )
    assert "Arrow: its clauses" in alone.explain(
        "MERGE INTO t USING t s ON t.day = s.day AND s.id = t.id WHEN MATCHED THEN UPDATE SET *"
    )
    other = "MERGE INTO t USING t s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *"
    assert "Spark: only Spark computes its rows" in alone.explain(other)


REFUSED = {
    "a value that is computed": "SELECT id, upper(name) name, c, amount, day, op FROM s",
    "a join": "SELECT s.* FROM s JOIN s r ON r.id = s.id",
    "rows that UNION makes distinct": "SELECT 4L id, 'd' name, 'd' c, 1.0 amount, DATE '2024-01-01' day, 'I' op"
    " UNION SELECT 4L, 'd', 'd', 1.0, DATE '2024-01-01', 'I'",
    "literals of several types": "SELECT 4 id, 'd' name, 'd' c, 1.0 amount, DATE '2024-01-01' day, 'I' op"
    " UNION ALL SELECT 5, 'e', 'e', 'x', DATE '2024-01-01', 'I'",
    "CHAR in a STRING": "SELECT id, c name, c, amount, day, op FROM s",
    "a limit": "SELECT id, name, c, amount, day, op FROM s LIMIT 9",
    "a name that stands twice": "SELECT id, name, name c, amount, day, op FROM {twice} x",
    "text for a number": "SELECT '7' id, 'd' name, 'd' c, 1.0 amount, DATE '2024-01-01' day, 'I' op",
}


@pytest.mark.nightly
def test_other_sources_are_those_of_spark(pair: tuple[Session, Session]) -> None:
    """Each leaves the rows that it leaves without the Arrow engine."""
    twice = pa.table([*NEW.columns, NEW.column(1)], names=[*NEW.column_names, "NAME"])
    drop_on_both(pair, "s")
    both(pair, STAGING)
    both(pair, f"INSERT INTO s VALUES {VALUES}")
    both(pair, "CREATE OR REPLACE VIEW v AS SELECT id, name, c, amount, day, op FROM s")
    for source in (*REFUSED.values(), "SELECT * FROM v"):
        drop_on_both(pair, "t")
        both(pair, CREATE)
        both(pair, BEFORE)
        statement = MERGE.replace("{source}", f"({source}) s")
        if "{twice}" in source:
            for session in pair:
                with pytest.raises(Exception, match="AMBIGUOUS_COLUMN"):
                    session.execute(statement, frames={"twice": twice})
            continue
        both(pair, statement)
        of_direct, of_spark = (sorted(map(str, rows(session, "SELECT * FROM t"))) for session in pair)
        assert of_direct == of_spark, source


@pytest.mark.ci
def test_a_source_with_a_key_twice_reports_the_key(pair: tuple[Session, Session]) -> None:
    drop_on_both(pair, "t")
    both(pair, CREATE)
    both(pair, BEFORE)
    doubled = pa.concat_tables([NEW, NEW.slice(0, 1)])
    for session in pair:
        with pytest.raises(Exception, match="CARDINALITY_VIOLATION"):
            session.execute(MERGE.replace("{source}", "{new} s"), frames={"new": doubled})
