"""INSERT without Spark leaves the same files, row IDs, counts and errors as Spark's way."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from acidsql.acid.hive_types import parse_type
from acidsql.arrow.write import inserted_columns as inserted_columns
from acidsql.errors import AcidSqlError
from acidsql.grammar.parser import parse
from acidsql.grammar.statements import Query
from acidsql.session import Session
from acidsql.values.literal_columns import stored_column
from tests.answers import fails
from tests.arrow.two_ways import ACID, INSERT_ONLY, both, check_same_files, drop_on_both

TYPES = (
    *("tinyint", "smallint", "int", "bigint", "float", "double", "decimal(5,2)", "decimal(20,0)", "decimal(38,10)"),
    *("string", "varchar(3)", "char(3)", "boolean", "binary", "date", "timestamp"),
)
ROWS = 3
SOME = settings(max_examples=3, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
"""Each example is a statement with many columns; making a failing one smaller would take long."""

integers = st.one_of(
    st.integers(-300, 300), st.sampled_from([2**b + d for b in (15, 24, 31, 53, 62) for d in (-1, 0, 1)])
)
points = st.decimals(-(10**6), 10**6, allow_nan=False, allow_infinity=False, places=3).map(lambda n: f"{n:f}")
short_points = st.decimals(-99, 99, allow_nan=False, allow_infinity=False, places=1).map(lambda n: f"{n:f}")
doubles = st.floats(-1e30, 1e30, allow_nan=False).map(lambda x: f"{x:e}")
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
days = st.dates(date(1500, 1, 1)).map(str)
times = st.datetimes(datetime(1960, 1, 1), datetime(2200, 1, 1)).map(str)


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def nullable(literals: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.one_of(literals, literals, literals, st.just("NULL")), min_size=ROWS, max_size=ROWS)


literal_lists = st.one_of(
    *map(
        nullable,
        (
            integers.map(str),
            points,
            short_points,
            st.one_of(integers.map(str), short_points),
            doubles,
            st.one_of(doubles, points, integers.map(str)).map(lambda text: f"{text}D"),
            integers.map(lambda n: f"{n}L"),
            st.one_of(points, integers.map(str)).map(lambda text: f"{text}BD"),
            texts.map(quoted),
            integers.map(lambda n: quoted(str(n))),
            short_points.map(quoted),
            days.map(lambda text: f"date '{text}'"),
            days.map(quoted),
            times.map(lambda text: f"timestamp '{text}'"),
            times.map(quoted),
            st.sampled_from(["true", "false"]),
            st.sampled_from(["5Y", "7L", "1.50BD", "2.5D", "(4)", "X'00FF'", "1 + 1", "'5' ", "' 5'", "''", "'NaN'"]),
        ),
    )
)
columns_of_literals = st.lists(st.tuples(st.sampled_from(TYPES), literal_lists), min_size=40, max_size=40)


@pytest.fixture
def direct_writes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of rows of the statements that are run without Spark from now on."""
    counted: list[int] = []
    rows_of = inserted_columns.rows_of

    def noted(*arguments: Any, **named: Any) -> Any:
        rows = rows_of(*arguments, **named)
        if rows is not None:
            counted.append(rows.num_rows)
        return rows

    monkeypatch.setattr(inserted_columns, "rows_of", noted)
    return counted


# ------------------------------------------------------------------------------------------------ values


def certain(kind: str, literals: list[str]) -> bool:
    query = parse(f"SELECT {', '.join(literals)}")
    assert isinstance(query, Query)
    trees = [item.unalias() for item in query.tree.selects]
    return stored_column(trees, parse_type(kind)) is not None


@SOME
@given(columns_of_literals)
def test_literals_are_stored_as_spark_stores_them(
    pair: tuple[Session, Session], columns: list[tuple[str, list[str]]]
) -> None:
    chosen = [(kind, literals) for kind, literals in columns if certain(kind, literals)]
    if not chosen:
        return
    drop_on_both(pair, "l")
    both(pair, f"CREATE TABLE l ({', '.join(f'c{i} {kind}' for i, (kind, _) in enumerate(chosen))}) {ACID}")
    rows = [", ".join(row).join("()") for row in zip(*(literals for _, literals in chosen), strict=True)]
    assert both(pair, f"INSERT INTO l VALUES {', '.join(rows)}")
    check_same_files(pair, "l")


arrow_arrays = st.one_of(
    *(
        st.lists(st.one_of(values, st.none()), min_size=ROWS, max_size=ROWS).map(partial(pa.array, type=kind))
        for kind, values in {
            pa.int8(): st.integers(-128, 127),
            pa.int32(): st.integers(-(2**31), 2**31 - 1),
            pa.int64(): integers,
            pa.float32(): st.floats(width=32, allow_nan=False),
            pa.float64(): st.floats(allow_nan=False),
            pa.decimal128(10, 2): st.decimals(-999, 999, places=2),
            pa.string(): texts,
            pa.large_string(): texts,
            pa.bool_(): st.booleans(),
            pa.binary(): st.binary(max_size=4),
            pa.date32(): st.dates(date(1500, 1, 1)),
            pa.timestamp("us"): st.datetimes(datetime(1960, 1, 1), datetime(2200, 1, 1)),
            pa.timestamp("ms"): st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1)).map(
                lambda at: at.replace(microsecond=0)
            ),
        }.items()
    )
)


@SOME
@given(st.lists(st.tuples(st.sampled_from(TYPES), arrow_arrays), min_size=40, max_size=40))
def test_columns_of_frames_are_stored_as_spark_stores_them(
    pair: tuple[Session, Session], columns: list[tuple[str, pa.Array]]
) -> None:
    chosen = [
        (kind, array)
        for kind, array in columns
        if inserted_columns.stored_arrow(pa.chunked_array([array]), parse_type(kind)) is not None
    ]
    if not chosen:
        return
    drop_on_both(pair, "f")
    both(pair, f"CREATE TABLE f ({', '.join(f'c{i} {kind}' for i, (kind, _) in enumerate(chosen))}) {ACID}")
    frame = pa.table({f"x{i}": array for i, (_, array) in enumerate(chosen)})
    assert both(pair, "INSERT INTO f SELECT * FROM {frame}", frame=frame)
    check_same_files(pair, "f")


# ------------------------------------------------------------------------------------------------ tables

PARTITIONED = {
    "string": ["'a'", "'a/b=%'", "''", "NULL", "' x '", "'ü'", "'__HIVE_DEFAULT_PARTITION__'"],
    "int": ["7", "-7", "NULL", "'12'"],
    "decimal(5,2)": ["1.50", "2", "0.00", "-0.25", "NULL"],
    "date": ["date '2024-02-29'", "NULL"],
}


@pytest.mark.ci
def test_partitions_get_the_same_rows(pair: tuple[Session, Session], direct_writes: list[int]) -> None:
    for kind, values in PARTITIONED.items():
        drop_on_both(pair, "p")
        both(pair, f"CREATE TABLE p (id int) PARTITIONED BY (k {kind}, n int) {ACID}")
        for value in values:  # of one type in each statement
            both(pair, f"INSERT INTO p VALUES (1, {value}, 2), (2, NULL, 1), (3, {value}, 2)")
        both(pair, f"INSERT INTO p PARTITION (k={values[0]}, n) VALUES (4, 5), (5, 6)")
        both(pair, f"INSERT INTO p PARTITION (k={values[0]}, n=9) (id) VALUES (6)")
        check_same_files(pair, "p")
        found = [sorted(str(p.values) for p in s.catalog.partitions(s.catalog.table("default", "p"))) for s in pair]
        assert found[0] == found[1]
    assert len(direct_writes) == sum(len(values) + 2 for values in PARTITIONED.values())


def test_buckets_get_the_same_rows(pair: tuple[Session, Session], direct_writes: list[int]) -> None:
    for kind, values in {"int": "12345", "string": "a%c", "decimal(5,2)": "123", "date": "d"}.items():
        drop_on_both(pair, "b")
        both(pair, f"CREATE TABLE b (id int, k {kind}) CLUSTERED BY (k, id) INTO 3 BUCKETS {ACID}")
        literals = [
            f"date '2024-01-0{n + 1}'" if values == "d" else quoted(v) if kind == "string" else v
            for n, v in enumerate(values * 5)
        ]
        rows = [f"({n}, {v})" for n, v in enumerate([*literals, "NULL"])]
        both(pair, f"INSERT INTO b VALUES {', '.join(rows)}")
        check_same_files(pair, "b")
    assert len(direct_writes) == 4


def test_statements_of_all_forms_leave_the_same_files(pair: tuple[Session, Session], direct_writes: list[int]) -> None:
    both(pair, f"CREATE TABLE m (id int NOT NULL, v string DEFAULT 'dflt', d double DEFAULT 1.5) {ACID}")
    both(pair, f"CREATE TABLE o (id int, v string) {INSERT_ONLY}")
    frame = pd.DataFrame({"V": ["x", None], "id": [7, 8]})
    both(pair, "INSERT INTO m VALUES (1, 'a', DEFAULT), (2, DEFAULT, NULL)")
    both(pair, "INSERT INTO m (v, id) VALUES (NULL, 3)")
    both(pair, "INSERT INTO m (id) SELECT 4")
    both(pair, "INSERT INTO m (id, v) SELECT id, v FROM {frame}", frame=frame)
    both(pair, "INSERT INTO o VALUES (1, 'a'), (2, NULL)")
    both(pair, "INSERT OVERWRITE TABLE o VALUES (3, 'b')")
    both(pair, "START TRANSACTION")
    both(pair, "INSERT INTO m (id) VALUES (10)")
    both(pair, "UPDATE m SET v = 'changed' WHERE id = 10 OR id = 1")
    both(pair, "INSERT INTO m (id) VALUES (11)")
    both(pair, "COMMIT")
    both(pair, "START TRANSACTION")
    both(pair, "INSERT INTO m (id) VALUES (12)")
    both(pair, "ROLLBACK")
    assert direct_writes == [2, 1, 1, 2, 2, 1, 1, 1, 1]
    check_same_files(pair, "m")
    check_same_files(pair, "o")
    for session in pair:
        session.execute("INSERT INTO m (id, v) VALUES (?, ?)", [20, "p"])
        session.execute("INSERT INTO m (id) SELECT :id", {"id": 21})
    check_same_files(pair, "m")
    assert len(direct_writes) == 11


WRONG: Mapping[str, dict[str, object]] = {
    "INSERT INTO e VALUES (NULL, 'a', 1)": {},
    "INSERT INTO e VALUES (1, 'a')": {},
    "INSERT INTO e VALUES (1, 'a', -1)": {},
    "INSERT INTO e VALUES (1, true, 1)": {},
    "INSERT INTO e SELECT * FROM {frame}": {"frame": pa.table({"x": [1]})},
    "INSERT INTO e (id, v) SELECT id, w FROM {frame}": {"frame": pa.table({"id": [1], "v": ["a"]})},
    "INSERT INTO e SELECT * FROM {other}": {},
}


def test_errors_are_the_same_and_nothing_is_written(pair: tuple[Session, Session]) -> None:
    both(pair, f"CREATE TABLE e (id int NOT NULL, v string, n int, CHECK (n > 0)) {ACID}")
    for statement, frames in WRONG.items():
        errors = []
        for session in pair:
            try:
                session.execute(statement, frames=frames)
            except AcidSqlError as error:
                errors.append(str(error))
            else:
                errors.append("")
        assert errors[0] == errors[1], statement
    check_same_files(pair, "e")


@pytest.mark.ci
def test_values_about_which_there_are_two_opinions_go_to_spark(
    pair: tuple[Session, Session], direct_writes: list[int]
) -> None:
    both(pair, f"CREATE TABLE w (i tinyint, d decimal(5,2), s string, t timestamp, k date) {ACID}")
    for values in ("300, 1, 'a'", "1, 1.005, 'a'", "'x', 1, 'a'", "1.5, 1, 'a'", "1, 1, 1.50", "1, 99999, 'a'"):
        both(pair, f"INSERT INTO w (i, d, s) VALUES ({values})")
    both(pair, "INSERT INTO w (t, k) VALUES (timestamp '1960-01-01 00:00:00.5', date '1400-01-01')")
    both(pair, "INSERT INTO w (s) VALUES (1), ('a')")
    assert direct_writes == []
    check_same_files(pair, "w")


def test_settings_and_checks_leave_a_statement_to_spark(session: Session, direct_writes: list[int]) -> None:
    session.execute(f"CREATE TABLE t (id int, v int, CHECK (v > 0)) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 1)")
    fails("CONSTRAINT_VIOLATED", lambda: session.execute("INSERT INTO t VALUES (1, 0)"))
    session.execute(f"CREATE TABLE u (id int) {ACID}")
    session.execute("CREATE TABLE plain (id int) STORED AS ORC")
    session.execute("INSERT INTO plain VALUES (1)")
    assert direct_writes == []
    session.execute("SET acidsql.driver.write.max.bytes=0")
    taken = session._engines.steering.taken = []
    session.execute("INSERT INTO u VALUES (1)")
    assert len(taken) == 1


def test_an_overwrite_without_spark_does_not_hide_what_others_committed(session: Session, open_session: Any) -> None:
    session.execute(f"CREATE TABLE t (id int, v string) {ACID}")
    session.execute("START TRANSACTION")
    session.execute("SELECT * FROM t")
    open_session().execute("INSERT INTO t VALUES (1, 'other')")
    fails("WRITE_CONFLICT", lambda: session.execute("INSERT OVERWRITE TABLE t VALUES (2, 'mine')"))
    assert [tuple(row) for row in session.sql("SELECT * FROM t").collect()] == [(1, "other")]


def test_parameters_are_stored_as_spark_stores_them(pair: tuple[Session, Session], direct_writes: list[int]) -> None:
    both(pair, f"CREATE TABLE a (i bigint, d decimal(20,3), f double, s string, b boolean, k date, t timestamp) {ACID}")
    rows: list[list[object]] = [
        [2**40, Decimal("1.5"), 0.1, "x'\\", True, date(2024, 1, 1), datetime(2024, 1, 1, 1, 2, 3, 456)],
        [None] * 7,
        [-1, Decimal("-12345.678"), -0.0, "", False, date(1582, 10, 15), datetime(2262, 1, 1, 23, 59, 59, 999999)],
    ]
    for session in pair:
        for row in rows:
            session.execute("INSERT INTO a VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    assert direct_writes == [1, 1, 1]
    check_same_files(pair, "a")


def test_what_pandas_puts_for_a_missing_value_in_dicts_is_null(session: Session) -> None:
    session.execute(
        "CREATE TABLE missing (i int, s string, d double) STORED AS ORC TBLPROPERTIES('transactional'='true')"
    )
    nan = float("nan")
    session.insert("missing", [{"i": nan, "s": nan, "d": 1.5}, {"i": 2, "s": "b", "d": nan}])
    rows = session.read_arrow("missing").read_all().to_pylist()
    assert rows[0] == {"i": None, "s": None, "d": 1.5}
    assert (rows[1]["i"], rows[1]["s"], rows[1]["d"] != rows[1]["d"]) == (2, "b", True)
