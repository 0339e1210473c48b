"""Parameters in PARTITION clauses mean what literals mean there."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.grammar.parameter_literals import with_literals
from acidsql.grammar.parser import parse
from acidsql.grammar.statements import Insert
from acidsql.planner.ddl.partition_spec import comparison_text
from acidsql.session import Session, connect


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    place = tmp_path_factory.mktemp("parameters")
    with connect(place / "warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark) as opened:
        opened.execute("CREATE TRANSACTIONAL TABLE t (v int) PARTITIONED BY (n int, s string)")
        yield opened


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (5, "5"),
        (-5, "-5"),
        (np.int64(5), "5"),
        ("it's", "'it\\'s'"),
        (None, "NULL"),
        (True, "TRUE"),
        (1.5, "1.5"),
        (Decimal("-0.00000001"), "-0.00000001"),
        (float("nan"), "'nan'"),
        (date(2024, 1, 2), "DATE '2024-01-02'"),
        (datetime(2024, 1, 2, 3, 4, 5), "CAST('2024-01-02 03:04:05' AS TIMESTAMP)"),
    ],
)
def test_a_value_becomes_a_literal(value: object, literal: str) -> None:
    source = "INSERT INTO t PARTITION (p = :p, q) SELECT :p, 2"
    found = with_literals(parse(source), {"p": value}, source)
    assert isinstance(found, Insert)
    assert [comparison_text(item) for item in found.partition] == [f"p = {literal}", "q"]


@pytest.mark.parametrize("value", [[1], {"a": 1}, b"x", datetime.fromisoformat("2024-01-02T00:00:00+00:00")])
def test_other_values_name_no_partition(value: object) -> None:
    source = "INSERT INTO t PARTITION (p = :p) SELECT 1"
    with pytest.raises(AcidSqlError, match="names no partition") as raised:
        with_literals(parse(source), {"p": value}, source)
    assert raised.value.condition == "INVALID_PARAMETER"
    assert raised.value.span is not None
    assert raised.value.span.text == ":p"


def test_each_statement_with_a_partition_takes_parameters(session: Session) -> None:
    values = {"n": 5, "s": "it's"}
    both = "PARTITION (n = :n, s = :s)"

    def rows() -> list[tuple[object, ...]]:
        return sorted(map(tuple, session.sql("SELECT * FROM t").collect()))

    session.execute(f"INSERT INTO t {both} VALUES (1)", values)
    session.execute(f"INSERT INTO t {both} SELECT id + :n FROM range(0, 1)", values)
    session.execute("INSERT INTO t PARTITION (n = :n, s) SELECT id, :s FROM range(0, 1)", {"n": -6, "s": "x"})
    assert rows() == [(0, -6, "x"), (1, 5, "it's"), (5, 5, "it's")]
    session.execute(f"INSERT OVERWRITE TABLE t {both} SELECT id FROM range(8, 9)", values)
    session.execute(f"INSERT OVERWRITE TABLE t {both} IF NOT EXISTS SELECT 0", values)
    assert rows() == [(0, -6, "x"), (8, 5, "it's")]
    session.execute("ALTER TABLE t ADD PARTITION (n = ?, s = ?)", [7, "y"])
    session.execute("ALTER TABLE t DROP PARTITION (n = ?)", [-6])
    assert [row[0] for row in session.execute("SHOW PARTITIONS t").rows()] == ["n=5/s=it%27s", "n=7/s=y"]
    session.execute(f"TRUNCATE TABLE t {both}", values)
    assert rows() == []


def test_a_text_that_is_no_number_is_refused_as_a_literal_is(session: Session) -> None:
    for query in ("VALUES (1)", "SELECT id FROM range(0, 1)"):
        with pytest.raises(AcidSqlError) as raised:
            session.execute(f"INSERT INTO t PARTITION (n = :n, s = 'x') {query}", {"n": "abc"})
        assert raised.value.condition == "PARTITION_VALUE_TYPE"
