"""The number of given values that became NULL by store assignment, as a statement's result carries it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import partial

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest

from acidsql.results import CountsResult
from acidsql.session import Session
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
    assert done.note == "Values that do not fit became NULL: 2 in column id, 2 in column v, 1 in column d."
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


def test_rows_that_a_query_computes_are_not_counted(session: Session) -> None:
    session.sql(f"CREATE TABLE t (id int) {ACID}")
    assert nulled(session, "INSERT INTO t SELECT concat(id, 'x') FROM t").nulled is None
    assert nulled(session, "INSERT INTO t VALUES (concat('a', 'b')), ('c')").nulled == {}
    assert rows(session, "SELECT id FROM t") == [(None,), (None,)]


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
