"""Values that do not fit their columns: what a statement's result tells of them (planner/stored_values/misfits.py)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest

from acidsql.planner.stored_values.misfits import Outcome
from acidsql.planner.write_strategy import ByDriver, InEachTask, Shuffled, StrategyKind
from acidsql.session import Session
from acidsql.spark.write import driver_write
from acidsql.statements.results import CountsResult
from tests.answers import fails, rows

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"


def nulled(
    session: Session, statement: str, args: Mapping[str, object] | None = None, **frames: object
) -> CountsResult:
    result = session.execute(statement, args, frames=frames)
    assert isinstance(result, CountsResult)
    return result


@pytest.mark.ci
@pytest.mark.parametrize(
    "clauses",
    [ACID, INSERT_ONLY, "STORED AS ORC", f"CLUSTERED BY (id) INTO 2 BUCKETS {ACID}", f"PARTITIONED BY (p int) {ACID}"],
)
def test_literals_that_do_not_fit_are_counted(session: Session, clauses: str) -> None:
    session.sql(f"CREATE TABLE t (id int, v decimal(3,1), d date) {clauses}")
    into = "t PARTITION (p = 1)" if "PARTITIONED" in clauses else "t"
    done = nulled(
        session,
        f"INSERT INTO {into} VALUES ('abc', 1234.5, NULL), ('2', NULL, DATE '2026-01-01'), ('x', 99999, '2026-13-01')",
    )
    assert done.nulled == {"id": 2, "v": 2, "d": 1}
    assert done.counts.nulled == 5
    assert str(done.counts).endswith(", nulled=5)")
    assert done.note == (
        "Values that do not fit: 2 in column id became NULL ('abc'), 2 in column v became NULL ('1234.5'), "
        "1 in column d became NULL ('2026-13-01')."
    )
    assert session.last_result is not None
    assert session.last_result.note == done.note
    assert rows(session, "SELECT count(id), count(v), count(d) FROM t") == [(1, 0, 1)]


def test_values_of_frames_and_parameters_are_counted(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id int, v int DEFAULT 7) {ACID}")
    frame = pa.table({"id": ["1", None, "abc"], "more": ["q", "r", None]})
    assert nulled(session, "INSERT INTO t SELECT id, more FROM {new}", new=frame).nulled == {"id": 1, "v": 2}
    given = pd.DataFrame({"id": ["5", "six", None]})
    assert nulled(session, "INSERT INTO t (id) SELECT id FROM {new}", new=given).nulled == {"id": 1}
    assert nulled(session, "INSERT INTO t (id) VALUES (:a), (:b)", {"a": "9", "b": "nine"}).nulled == {"id": 1}


def test_numbers_beyond_bigint_are_counted(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id bigint, v decimal(20,0)) {ACID}")
    done = nulled(session, "INSERT INTO t VALUES (99999999999999999999, 1), (-99999999999999999999, NULL), (NULL, 2)")
    assert done.nulled == {"id": 2}
    big = 10**25
    assert nulled(session, "INSERT INTO t VALUES (:big, :big), (1, :one)", {"big": big, "one": 1}).nulled == {
        "id": 1,
        "v": 1,
    }


def test_what_fits_gives_no_note(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id int, v string) {ACID}")
    done = nulled(session, "INSERT INTO t VALUES (1, NULL), (NULL, 'a')")
    assert (done.nulled, done.note) == ({}, "")
    done = nulled(session, "INSERT INTO t VALUES ('7', 'x'), ('8', NULL)")
    assert (done.nulled, done.note) == ({}, "")


def misfits(session: Session, statement: str, **frames: object) -> list[tuple[str, Outcome, int, str]]:
    """The misfits of a statement: column, outcome, count and example."""
    result = session.execute(statement, frames=frames)
    assert isinstance(result, CountsResult)
    return [(m.column, m.outcome, m.count, m.example) for m in result.misfits]


SOURCE = (
    "(SELECT stack(4, 1, 'one', 1L, 1.5D, 2, '22222', 300L, 2e10D, 3, NULL, NULL, NULL, 4, '4 ', 5000000000L, -1D)"
    " AS (id, text, number, fraction))"
)
"""Four rows with a text, a BIGINT and a DOUBLE: '22222' is too long, 300 and 5000000000 are too large for TINYINT."""


def test_rows_that_a_query_computes_are_counted(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id int, c char(4), n tinyint, i int) {ACID}")
    assert misfits(session, f"INSERT INTO t SELECT id, text, number, fraction FROM {SOURCE} s") == [
        ("c", Outcome.CUT, 1, "22222"),
        ("n", Outcome.CHANGED, 2, "300"),
        ("i", Outcome.CHANGED, 1, "2.0E10"),
    ]
    assert rows(session, "SELECT c, n FROM t ORDER BY id") == [("one ", 1), ("2222", 44), (None, None), ("4   ", 0)]
    assert misfits(session, f"INSERT INTO t (id) SELECT text FROM {SOURCE} s WHERE id < 2 ORDER BY id DESC") == [
        ("id", Outcome.NULL, 1, "one")
    ]
    assert misfits(session, f"INSERT INTO t (id) SELECT text FROM {SOURCE} s WHERE 1 = 0") == []
    assert misfits(session, "INSERT INTO t VALUES (concat('a', 'b'), 'toolong', 1, 3000000000)") == [
        ("id", Outcome.NULL, 1, "ab"),
        ("c", Outcome.CUT, 1, "toolong"),
        ("i", Outcome.CHANGED, 1, "3000000000"),
    ]


def test_update_tells_what_did_not_fit(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id int, n tinyint, v varchar(3)) CLUSTERED BY (id) INTO 2 BUCKETS {ACID}")
    session.sql("INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b'), (3, NULL, 'c')")
    assert misfits(session, "UPDATE t SET n = id * 100, v = concat(v, 'bc') WHERE id > 1") == [
        ("n", Outcome.CHANGED, 2, "200")
    ]
    assert misfits(session, "UPDATE t SET v = 'abc  ', n = 'x' WHERE id = 1") == [("n", Outcome.NULL, 1, "x")]
    assert misfits(session, "UPDATE t SET v = 'abcd' WHERE id = 1") == [("v", Outcome.CUT, 1, "abcd")]
    assert misfits(session, "UPDATE t SET n = id, v = 'ab'") == []
    assert rows(session, "SELECT n, v FROM t ORDER BY id") == [(1, "ab"), (2, "ab"), (3, "ab")]


def test_merge_tells_what_the_clauses_that_acted_could_not_store(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id int, n tinyint, c char(4)) {ACID}")
    session.sql("INSERT INTO t VALUES (1, 0, 'a'), (2, 0, 'b')")
    merge = (
        f"MERGE INTO t USING {SOURCE} s ON t.id = s.id WHEN MATCHED AND s.id = 2 THEN UPDATE SET n = s.number"
        " WHEN MATCHED THEN UPDATE SET c = 'toolong' WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.number, s.text)"
    )
    assert misfits(session, merge) == [
        ("n", Outcome.CHANGED, 2, "300"),  # of the first clause and of the third
        ("c", Outcome.CUT, 1, "toolong"),
    ]
    assert rows(session, "SELECT id, n, c FROM t ORDER BY id") == [
        (1, 0, "tool"),
        (2, 44, "b   "),
        (3, None, None),
        (4, 0, "4   "),
    ]
    frame = pa.table({"id": [1, 9], "n": [1000, 1], "c": ["ok", "much too long"]})
    merge = (
        "MERGE INTO t USING {f} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = s.n"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.n, s.c)"
    )
    assert misfits(session, merge, f=frame) == [
        ("n", Outcome.CHANGED, 1, "1000"),
        ("c", Outcome.CUT, 1, "much too long"),
    ]


def test_a_multi_insert_names_the_tables_of_misfits(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id tinyint) {ACID}")
    session.sql(f"CREATE TABLE u (v boolean, id decimal(1,0)) PARTITIONED BY (p varchar(1)) {ACID}")
    done = session.execute(
        f"FROM {SOURCE} s INSERT INTO t SELECT number WHERE id <> 4"
        " INSERT INTO u SELECT true, number, text WHERE id = 2"
    )
    assert isinstance(done, CountsResult)
    assert done.note == (
        "Values that do not fit: 1 in column default.t.id became other values ('300'), "
        "1 in column default.u.id became NULL ('300'), 1 in column default.u.p became shorter ('22222')."
    )
    assert done.nulled == {"id": 1}


GIVEN: dict[str, list[Any]] = {
    "bigint": [None, 0, 1, -129, 300, 40_000, 5_000_000_000, -(2**63)],
    "double": [None, 0.0, 1.5, -129.0, 4e4, 1e10, 1e300, float("nan")],
    "decimal(20,3)": [None, Decimal("0.001"), Decimal("1.500"), Decimal("999.995"), Decimal("-12345678901234567.125")],
    "string": [None, "", "1", "true", "12345", "2024-02-30", "2024-02-29", "1e400", "abc   ", "abcd"],
}
TARGETS = ("tinyint", "int", "bigint", "float", "decimal(5,2)", "date", "boolean", "char(3)")


def expected(source: Any, stored: Any, target: str) -> Outcome | None:
    """What became of a value, as its stored value tells."""
    match source, stored:
        case None, _:
            return None
        case _, None:
            return Outcome.NULL
        case str(), str():
            return Outcome.CUT if source.rstrip() != stored.rstrip() else None
        case ((int() | float() | Decimal()), str()):
            return Outcome.CUT if len(f"{source}") > 3 else None
        case ((int() | float() | Decimal()), float()) if target == "float":
            return Outcome.CHANGED if math.isinf(stored) and not math.isinf(source) else None
        case ((int() | float() | Decimal()), int()) if target in ("tinyint", "int", "bigint"):
            return Outcome.CHANGED if not abs(float(source) - stored) < 1 else None
        case _:
            return None  # another way of writing the value


@pytest.mark.parametrize("source", GIVEN)
def test_the_counts_are_those_of_the_values_that_are_stored_otherwise(session: Session, source: str) -> None:
    """Each value goes into columns of all types, and is compared with what is read of them."""
    from_double = source == "double"
    targets = [t for t in TARGETS if source == "string" or t != "date"]
    session.sql(f"CREATE TABLE t (id int, {', '.join(f'c{i} {t}' for i, t in enumerate(targets))}) {ACID}")
    frame = session.spark.createDataFrame(list(enumerate(GIVEN[source])), f"id int, v {source}")
    values = ", ".join(["v"] * len(targets))
    found = misfits(session, f"INSERT INTO t SELECT id, {values} FROM {{f}}", f=frame)
    wanted: Counter[tuple[str, Outcome]] = Counter()
    for row in rows(session, "SELECT * FROM t"):
        number, stored = int(str(row[0])), row[1:]
        for place, (target, value) in enumerate(zip(targets, stored, strict=True)):
            given = GIVEN[source][number]
            if from_double and target == "char(3)" and value is not None:
                continue  # Hive's text of a DOUBLE is another one than Python's
            outcome = expected(given, value, target)
            if outcome is not None:
                wanted[f"c{place}", outcome] += 1
    of_doubles = f"c{targets.index('char(3)')}" if from_double else ""
    assert {(c, o): n for c, o, n, _ in found if c != of_doubles} == wanted


def test_values_inside_of_others_are_counted(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id int, a array<tinyint>, m map<string,struct<x:int>>, s struct<d:date>) {ACID}")
    values = "array(1L, 300L), map('k', named_struct('x', 'y')), named_struct('d', NULL)"
    assert misfits(session, f"INSERT INTO t SELECT 1, {values} UNION ALL SELECT 2, array(), NULL, NULL") == [
        ("a", Outcome.CHANGED, 1, "[1, 300]"),
        ("m", Outcome.CHANGED, 1, "{k -> {y}}"),
    ]


@pytest.mark.parametrize("strategy", [ByDriver, InEachTask, Shuffled])
def test_each_way_of_writing_counts(session: Session, strategy: StrategyKind) -> None:
    session.sql(f"CREATE TABLE t (id int, n tinyint) {ACID}")
    session.sql("INSERT INTO t SELECT id, 0 FROM range(0, 40, 1, 2)")
    session._engines.steering.preferred = strategy
    assert misfits(session, "UPDATE t SET n = id + 100") == [("n", Outcome.CHANGED, 12, "128")]
    assert misfits(session, "INSERT INTO t SELECT id + 40, id + 100 FROM range(0, 40, 1, 2) ORDER BY id") == [
        ("n", Outcome.CHANGED, 12, "128")
    ]
    session._engines.steering.preferred = None


def test_a_write_that_starts_again_counts_its_last_run(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_write, "_MOST_ROWS", 10)
    session.sql(f"CREATE TABLE t (id tinyint) {ACID}")
    assert misfits(session, "INSERT INTO t SELECT id + 100 FROM range(0, 50, 1, 2)") == [
        ("id", Outcome.CHANGED, 22, "128")
    ]


def test_integers_beyond_bigint_in_lists_are_refused(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id bigint, v decimal(30,0), s array<bigint>) {ACID}")
    big = 1 << 63
    for records in ([{"id": 1}, {"id": big}], [{"id": 1, "s": [1]}, {"id": 2, "s": [1, -big - 1]}], [(1,), (big,)]):
        error = fails("INVALID_RECORD", partial(session.sql, "SELECT * FROM {f}", f=records))
        assert "Record 2" in str(error)
    assert "its id holds" in str(fails("INVALID_RECORD", lambda: session.insert("t", [{"id": big}])))
    session.insert("t", [{"id": 1, "v": big, "s": [-big]}, {"id": 1 - big, "v": None, "s": None}])
    assert rows(session, "SELECT id, v, s FROM t ORDER BY id") == [(1 - big, None, None), (1, Decimal(big), [-big])]


def test_parameters_with_more_digits_than_a_decimal_are_refused(session: Session) -> None:
    for value in (10**38, -(10**38), Decimal("1e-39"), [10**40]):
        error = fails("INVALID_PARAMETER", partial(session.sql, "SELECT :v", {"v": value}))
        assert "38 digits" in str(error)
    largest = 10**38 - 1
    assert rows(session, "SELECT :v", {"v": largest}) == [(Decimal(largest),)]
