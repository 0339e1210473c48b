"""MERGE without Spark's join leaves the same rows, row IDs of deleted rows, counts and errors as Spark's way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acidsql.arrow import executor
from acidsql.arrow.write import merged_rows
from acidsql.session import Session
from acidsql.spark.write import driver_write
from tests.answers import fails, rows
from tests.arrow.two_ways import ACID, both, drop_on_both, files
from tests.selection import core

COLUMNS = "(id int, v string, d decimal(6,2), c char(4), k date, a double)"
KINDS = {
    "flat": ACID,
    "parted": f"PARTITIONED BY (p string) {ACID}",
    "bucketed": f"CLUSTERED BY (id) INTO 3 BUCKETS {ACID}",
}
ROWS = """SELECT CAST({id} AS INT) id, CONCAT('{v}', id) v, CAST(id / 4 AS DECIMAL(6,2)) d, CONCAT('c', id) c,
 DATE_ADD(DATE '2024-01-01', CAST(id AS INT)) k, CAST(id AS DOUBLE) a{p} FROM range({first}, {last}, 1, 1)"""
CLAUSES = (
    "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v, s.d, s.c, s.k, s.a{p})",
    "WHEN MATCHED AND s.id % 3 = 0 THEN DELETE WHEN MATCHED AND s.a > 4 THEN UPDATE SET v = upper(s.v), a = s.a + 1",
    "WHEN NOT MATCHED AND s.d > 8 THEN INSERT (id, v{p_name}) VALUES (s.id + 100, 'new'{p})",
    "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v, s.d, s.c, s.k, s.a{p})",
    "WHEN MATCHED THEN UPDATE SET v = NULL, d = NULL, k = NULL, a = 0.5D",
    "WHEN MATCHED AND s.v IS NULL THEN DELETE",
)


@pytest.fixture
def merges(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """The number of events of each MERGE that this process looks at from now on; None if it has left it to Spark."""
    found: list[int | None] = []
    merged = merged_rows.merged

    def noted(*arguments: Any, **named: Any) -> Any:
        events = merged(*arguments, **named)
        found.append(None if events is None else events.events.num_rows)
        return events

    monkeypatch.setattr(merged_rows, "merged", noted)
    return found


def check_same_tables(pair: tuple[Session, Session], table: str) -> None:
    """The same files with the same rows and row IDs; which new row of a file has which number depends on the order in
    which a join gives them."""
    of_direct, of_spark = (files(session, table) for session in pair)
    assert of_direct.keys() == of_spark.keys()
    for path, content in of_spark.items():
        if isinstance(content, bytes):
            assert of_direct[path] == content, path
        else:
            assert _unordered(of_direct[path]) == _unordered(content), path


def _unordered(content: Any) -> Any:
    stored, metadata, *others = content
    numbers = [row["rowId"] for row in stored if row["operation"] == 0]
    shown = Counter(str(row if row["operation"] else row | {"rowId": None}) for row in stored)
    known = {key: value for key, value in metadata.items() if key != b"hive.acid.key.index"}
    return shown, sorted(numbers), known.keys(), others


@pytest.mark.ci
@pytest.mark.parametrize("kind", core(KINDS, lambda kind: kind == "parted"))
def test_merges_leave_the_same_tables(pair: tuple[Session, Session], merges: list[int | None], kind: str) -> None:
    p = ", CAST(NULLIF(id % 3, 1) AS STRING) p" if kind == "parted" else ""
    shared = {"p": ", s.p" if p else "", "p_name": ", p" if p else ""}
    drop_on_both(pair, "t")
    both(pair, f"CREATE TABLE t {COLUMNS} {KINDS[kind]}")
    both(pair, f"INSERT INTO t {ROWS.format(id='id', v='old', p=p, first=0, last=30)}")
    source = ROWS.format(id="NULLIF(id, 35)", v="new", p=p, first=25, last=40)
    for count, clauses in enumerate(CLAUSES, 1):
        statement = f"MERGE INTO t USING ({source}) s ON s.id = t.id {clauses.format(**shared)}"
        both(pair, statement)
        assert len(merges) == count
        assert merges[-1] is not None
        check_same_tables(pair, "t")
    assert merges[-1] == 0


@pytest.mark.ci
def test_keys_of_several_columns_and_a_source_that_is_the_target(
    pair: tuple[Session, Session], merges: list[int | None]
) -> None:
    both(pair, f"CREATE TABLE m (id bigint, k date, v string) PARTITIONED BY (p int) {ACID}")
    both(
        pair,
        "INSERT INTO m SELECT id, DATE_ADD(DATE '2024-01-01', CAST(id AS INT)), 'a', id % 3 FROM range(0, 20, 1, 1)",
    )
    source = "SELECT id + 10 id, DATE_ADD(k, 10) k, CAST((p + 1) % 3 AS INT) p FROM m"
    on = "t.p = s.p AND s.id = t.id AND t.k = s.k"
    both(
        pair,
        f"MERGE INTO m t USING ({source}) s ON {on} WHEN MATCHED THEN UPDATE SET v = 'b'"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.k, CONCAT('n', s.id), s.p)",
    )
    both(pair, f"MERGE INTO m t USING (SELECT * FROM m WHERE v = 'b') s ON {on} WHEN MATCHED THEN DELETE")
    nulls = "SELECT CAST(NULL AS BIGINT) id, DATE '2024-01-12' k, 2 p UNION ALL SELECT 11L, CAST(NULL AS DATE), 2"
    both(pair, f"MERGE INTO m t USING ({nulls}) s ON {on} WHEN MATCHED THEN DELETE")
    assert merges == [30, 10, 0]
    check_same_tables(pair, "m")


STAYS_WITH_SPARK = (
    "MERGE INTO w t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = t.n + s.n",
    "MERGE INTO w t USING s ON t.id = s.id WHEN MATCHED AND t.n > 1 THEN DELETE",
    "MERGE INTO w t USING s ON t.id = s.id AND t.n < 7 WHEN MATCHED THEN DELETE",
    "MERGE INTO w t USING s ON t.id >= s.id AND s.id = 2 AND t.id = s.id WHEN MATCHED THEN DELETE",
    "MERGE INTO w t USING s ON t.id <=> s.id WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.n)",
    "MERGE INTO w t USING s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE",
    "MERGE INTO w t USING s ON t.id = s.word WHEN MATCHED THEN DELETE",
    "MERGE INTO w t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = s.word",
    "MERGE INTO w t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = (SELECT max(n) FROM s)",
)


@pytest.mark.nightly
def test_merges_that_depend_on_the_target_or_convert_values_stay_with_spark(
    pair: tuple[Session, Session], merges: list[int | None]
) -> None:
    both(pair, f"CREATE TABLE s (id int, n int, word string) {ACID}")
    both(pair, "INSERT INTO s VALUES (1, 10, '1'), (2, 20, '02'), (3, 30, 'x'), (NULL, 40, NULL)")
    for statement in STAYS_WITH_SPARK:
        drop_on_both(pair, "w")
        both(pair, f"CREATE TABLE w (id int, n int) {ACID}")
        both(pair, "INSERT INTO w VALUES (1, 1), (2, 7), (5, 5), (NULL, 0)")
        both(pair, statement)
        assert rows(pair[0], "SELECT * FROM w ORDER BY id, 2") == rows(pair[1], "SELECT * FROM w ORDER BY id, 2")
    assert merges == []


@pytest.mark.ci
def test_what_is_wrong_with_rows_is_found_by_spark_in_the_same_transaction(
    pair: tuple[Session, Session], merges: list[int | None]
) -> None:
    both(pair, f"CREATE TABLE e (id int, v string NOT NULL, n tinyint) {ACID}")
    both(pair, "INSERT INTO e VALUES (1, 'a', 1), (2, 'b', 2)")
    merge = "MERGE INTO e t USING ({source}) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v, n = s.n"
    insert = " WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v, s.n)"
    twice = "SELECT 1 id, 'x' v, 1 n UNION ALL SELECT 1, 'y', 2"
    missing = "SELECT 1 id, CAST(NULL AS STRING) v, 1 n"
    for session in pair:
        for source, condition in ((twice, "CARDINALITY_VIOLATION"), (missing, "CONSTRAINT_VIOLATED")):
            statement = merge.format(source=source)
            fails(condition, lambda s=session, text=statement: s.execute(text))  # type: ignore[misc]
    assert merges == [None, None]
    new = "SELECT 7 id, 'x' v, 1 n UNION ALL SELECT 7, 'y', 2"  # two new rows with one key are no violation
    both(pair, merge.format(source=new) + insert)
    both(pair, merge.format(source="SELECT 2 id, 'b' v, 300 n") + insert)  # 300 does not fit, and becomes 44
    assert merges == [None, None, None, None]
    in_order = "SELECT * FROM e ORDER BY id, v"
    assert rows(pair[0], in_order) == rows(pair[1], in_order)
    assert rows(pair[0], in_order) == [(1, "a", 1), (2, "b", 44), (7, "x", 1), (7, "y", 2)]
    source = "SELECT id + 1000 id, v FROM e"  # no row of which has a partner
    value = "CAST(assert_true(s.v <> 'b') AS STRING)"
    both(pair, f"MERGE INTO e t USING ({source}) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = {value}")
    check_same_tables(pair, "e")


def test_a_merge_conflicts_and_sees_the_writes_of_its_transaction(
    session: Session, open_session: Callable[[], Session], merges: list[int | None]
) -> None:
    session.execute("SET hive.txn.xlock.write=false")
    session.execute(f"CREATE TABLE t (id int, v int) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 1), (2, 2)")
    other = open_session()
    other.execute("SET hive.txn.xlock.write=false")
    session.execute("START TRANSACTION")
    session.execute("INSERT INTO t VALUES (3, 3)")
    merge = "MERGE INTO t USING (SELECT explode(array(1, 3)) id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 9"
    session.execute(merge)
    assert rows(session) == [(1, 9), (2, 2), (3, 9)]
    other.execute(merge)
    fails("WRITE_CONFLICT", lambda: session.execute("COMMIT"))
    assert rows(session) == [(1, 9), (2, 2)]
    assert merges == [4, 2]


def test_given_frames_and_parameters(pair: tuple[Session, Session], merges: list[int | None]) -> None:
    both(pair, f"CREATE TABLE f (id int, v string, at timestamp) {ACID}")
    frame = pa.table({"id": pa.array([1, 2], pa.int32()), "v": ["a", None]})
    for session in pair:
        for _ in range(2):
            session.upsert("f", frame.append_column("at", pa.nulls(2, pa.timestamp("us"))), on="id")
        session.execute(
            "MERGE INTO f t USING (SELECT :id AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = :v",
            {"id": 2, "v": "z'"},
        )
    in_order = "SELECT * FROM f ORDER BY id"
    assert rows(pair[0], in_order) == rows(pair[1], in_order) == [(1, "a", None), (2, "z'", None)]
    assert merges == [2, 4, 2]


@pytest.mark.nightly
def test_a_source_with_more_rows_than_the_driver_takes_is_left_to_spark(
    pair: tuple[Session, Session], merges: list[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    both(pair, f"CREATE TABLE l (id bigint, v int) {ACID}")
    both(pair, "INSERT INTO l VALUES (1, 1), (7, 7)")
    monkeypatch.setattr(driver_write, "_MOST_ROWS", 10)
    source = "SELECT id FROM range(0, 4, 1, 1) LATERAL VIEW explode(sequence(0, 4)) e AS n WHERE n = id"
    many = "SELECT id + 10 * n AS id FROM range(0, 4, 1, 1) LATERAL VIEW explode(sequence(0, 4)) e AS n"
    clauses = "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (s.id, 0)"
    both(pair, f"MERGE INTO l t USING ({source}) s ON t.id = s.id {clauses}")
    assert merges == [4]
    both(pair, f"MERGE INTO l t USING ({many}) s ON t.id = s.id {clauses}")
    assert merges == [4]
    check_same_tables(pair, "l")
    with monkeypatch.context() as patch:
        patch.setattr(merged_rows, "EVENT_BYTES", 1 << 40)  # the events of a row do not fit
        both(pair, "MERGE INTO l t USING (SELECT 7 id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 8")
    assert merges == [4, None]
    monkeypatch.setattr(executor, "_IN_MEMORY", 0)  # nor does the source
    both(pair, "MERGE INTO l t USING (SELECT 7 id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 8")
    both(pair, "UPDATE l SET v = 9 WHERE id = 7")
    assert merges == [4, None]
    check_same_tables(pair, "l")


def test_a_merge_computes_a_value_of_chance_for_each_row(session: Session, merges: list[int | None]) -> None:
    session.execute(f"CREATE TABLE t (id int, v string) {ACID}")
    session.execute("INSERT INTO t VALUES (1, ''), (1, ''), (1, ''), (1, '')")
    on = "MERGE INTO t USING (SELECT 1 id) s ON t.id = s.id WHEN MATCHED"
    session.execute(f"{on} THEN UPDATE SET v = uuid()")
    assert len({v for (v,) in rows(session, "SELECT v FROM t")}) == 4
    session.execute(f"{on} AND rand() < 2 THEN UPDATE SET v = 'x'")
    assert merges == []
    session.execute("MERGE INTO t USING (SELECT 1 id, uuid() v) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v")
    assert merges == [8]


def test_keys_that_python_does_not_have_are_merged(pair: tuple[Session, Session]) -> None:
    both(pair, f"CREATE TABLE k (d date, v string) {ACID}")
    both(pair, "INSERT INTO k VALUES (DATE '2024-01-01', 'old')")
    source = "SELECT date_add(DATE '9999-12-31', 1) d, 'a' v UNION ALL SELECT DATE '2024-01-01', 'b'"
    clauses = "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.d, s.v)"
    both(pair, f"MERGE INTO k t USING ({source}) s ON t.d = s.d {clauses}")
    shown = "SELECT CAST(d AS STRING), v FROM k"
    for session in pair:
        assert sorted(session.execute(shown).rows()) == [("+10000-01-01", "a"), ("2024-01-01", "b")]


key = st.tuples(st.none() | st.integers(-3, 3), st.none() | st.sampled_from(["", "a", "b"]))


@given(st.lists(key, max_size=20), st.lists(key, max_size=20, unique=True))
@example([(1, "a")], [(None, "a"), (1, None)])
@example([], [])
def test_keys_are_found_as_by_a_dictionary(wanted: list[Any], known: list[Any]) -> None:
    def columns(of: list[Any]) -> list[Any]:
        return [pa.array([k[0] for k in of], pa.int64()), pa.array([k[1] for k in of], pa.string())]

    keys = merged_rows._Keys(columns(known))
    assert keys.are_unique
    places = {k: place for place, k in enumerate(known) if None not in k}
    assert keys.rows_of(columns(wanted)).tolist() == [places.get(k, -1) for k in wanted]
    twice = [*known, (1, "a"), (1, "a")]
    assert not merged_rows._Keys(columns(twice)).are_unique
