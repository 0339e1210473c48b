"""What was read from a table, and is given back as a frame, is recognized: upserts by each column update every row, and
change no value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from acidsql import dbapi
from acidsql.session import Session, connect
from tests.answers import counts, rows

COLUMNS: Final = {
    "k": "int",
    "ti": "tinyint",
    "si": "smallint",
    "bi": "bigint",
    "de": "decimal(20,3)",
    "s": "string",
    "c": "char(5)",
    "v": "varchar(6)",
    "b": "boolean",
    "d": "date",
    "ts": "timestamp",
    "bin": "binary",
    "f": "float",
    "x": "double",
    "a": "array<string>",
    "st": "struct<n:int,t:char(3)>",
}
KEYS: Final = ("k", "ti", "si", "bi", "de", "s", "c", "v", "d", "ts", "bin", "f", "x", "pc")
"""Columns whose values differ from row to row. An upsert by BOOLEAN or by nested values finds several rows."""
_ROWS: Final = (
    "SELECT 1, 1Y, 1S, 1L, 1.5, 'a', 'ab', 'a ', true, date '2024-02-29', timestamp '2024-02-29 01:02:03.000004',"
    " unhex('00ff'), cast(0.1 as float), 0.1D, array('x ', NULL),"
    " named_struct('n', 1, 't', cast('q' as char(3))), 'p1'",
    "SELECT 2, -128Y, -1S, 9007199254740993L, -1.250, 'a ', 'abcde', '', false, date '0001-01-01',"
    " timestamp '1969-12-31 23:59:59', unhex(''), cast(16777216 as float), 1e300D, array(), NULL, 'p2'",
    "SELECT 3, 127Y, 3S, -1L, 0, '\u017b\\n', '', ' ', NULL, date '1582-10-15', timestamp '2024-02-29 01:02:03',"
    " unhex('61'), cast(-2.5 as float), -2.5D, NULL, NULL, ''",
)
"""The values of CHAR are stored without blanks at their end; those of VARCHAR and STRING keep them."""

READERS: Final[dict[str, Callable[[Session], object]]] = {
    "Arrow": lambda session: session.read_arrow("t").read_all(),
    "pandas": lambda session: session.read_arrow("t").read_all().to_pandas(),
    "pandas of Arrow types": lambda session: session.read_arrow("t").read_all().to_pandas(types_mapper=_arrow_dtype),
    "a table's frame": lambda session: session.table("t"),
    "a query's frame": lambda session: session.sql("SELECT * FROM t"),
    "pandas of Spark": lambda session: session.table("t").toPandas(),
    "dicts": lambda session: [row.asDict() for row in session.table("t").collect()],
    "a cursor's rows": lambda session: _dicts(session),
}


def _arrow_dtype(kind: pa.DataType) -> object:
    import pandas as pd  # type: ignore[import-untyped]

    return pd.ArrowDtype(kind)


def _dicts(session: Session) -> list[dict[str, Any]]:
    with dbapi.connect(session.warehouse, spark=session.spark) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT * FROM t")
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@pytest.fixture(scope="module", name="db")
def _db(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    place = tmp_path_factory.mktemp("back")
    with connect(place / "warehouse", spark=spark) as session:
        declared = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        session.execute(f"CREATE TRANSACTIONAL TABLE t ({declared}) PARTITIONED BY (pc char(4))")
        session.execute(f"INSERT INTO t PARTITION (pc) {' UNION ALL '.join(_ROWS)}")
        yield session


@pytest.mark.ci
@pytest.mark.parametrize("reader", READERS)
def test_an_upsert_of_what_was_read_updates_every_row(db: Session, reader: str) -> None:
    _check(db, reader, ["c"])


@pytest.mark.nightly
@pytest.mark.parametrize("reader", READERS)
def test_an_upsert_by_each_column_updates_every_row(db: Session, reader: str) -> None:
    _check(db, reader, KEYS)


def _check(db: Session, reader: str, keys: Sequence[str]) -> None:
    before = rows(db, "SELECT * FROM t ORDER BY k")
    found = {}
    for key in keys:
        db.execute("START TRANSACTION")
        done = db.upsert("t", READERS[reader](db), on=[key])
        found[key] = (done.updated, done.inserted)
        assert rows(db, "SELECT * FROM t ORDER BY k") == before, key
        db.execute("ROLLBACK")
    assert found == dict.fromkeys(keys, (3, 0))


QUERIES: Final = (
    "SELECT count(*) FROM t JOIN {f} ON t.c = f.c",
    "SELECT count(*) FROM t JOIN (SELECT c AS other FROM {f}) f ON f.other <=> t.c",
    "SELECT count(*) FROM t JOIN {f} USING (c)",
    "SELECT count(*) FROM {f} JOIN t USING (pc, c)",
    "SELECT count(*) FROM t WHERE c IN (SELECT c FROM {f})",
    "SELECT count(*) FROM t WHERE (k, c) IN (SELECT k, c FROM {f})",
    "SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM {f} WHERE f.pc = t.pc)",
    "SELECT count(*) FROM t, {f} WHERE t.c BETWEEN f.c AND f.c",
    "WITH w AS (SELECT c FROM {f} UNION ALL SELECT c FROM {f}) SELECT count(DISTINCT t.k) FROM t JOIN w ON w.c = t.c",
    "SELECT count(*) FROM t LEFT ANTI JOIN (SELECT 'no' AS c) n ON n.c = t.c",
)


def test_text_of_a_frame_beside_a_char_is_compared_without_blanks(db: Session) -> None:
    frame = db.table("t")
    frame.createOrReplaceTempView("view_of_t")
    for query in QUERIES:
        assert rows(db, query, f=frame) == [(3,)], query
        of_view = query.replace("{f}", "view_of_t AS f")
        assert rows(db, of_view) == [(3,)], of_view


def test_text_of_a_column_keeps_its_blanks_beside_a_char(db: Session) -> None:
    db.execute("CREATE TABLE texts STORED AS ORC AS SELECT concat(c, '  ') AS c, k FROM t")
    assert rows(db, "SELECT count(*) FROM t JOIN texts ON t.c = texts.c") == [(0,)]


def test_the_builder_of_merge_and_a_delete_recognize_the_rows(db: Session) -> None:
    db.execute("START TRANSACTION")
    frame = db.read_arrow("t").read_all()
    assert (
        db.merge("t", frame, on="target.c = source.c AND target.pc = source.pc")
        .when_matched()
        .delete()
        .execute()
        .deleted
        == 3
    )
    db.execute("ROLLBACK")
    db.execute("START TRANSACTION")
    assert counts(db, "DELETE FROM t WHERE c NOT IN (SELECT c FROM {f})", f=frame) == (0, 0, 0, 0)
    db.execute("ROLLBACK")
