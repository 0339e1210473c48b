"""CREATE TABLE .. AS: the table exists with all rows of the query, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame

from acidsql.acid.table import Table
from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.session import Session
from tests.selection import every
from tests.support.acid_files import visible_paths

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def source(session: Session) -> Session:
    session.execute(
        "CREATE TABLE s (id INT, c CHAR(4), d DECIMAL(10,2), t TIMESTAMP, a ARRAY<STRUCT<x:INT,y:MAP<STRING,DOUBLE>>>,"
        f" b BINARY, f FLOAT, s SMALLINT) {ACID}"
    )
    session.execute(
        "INSERT INTO s SELECT 1, 'ab', 1.5, timestamp '1969-12-30 23:59:59.5', array(named_struct('x', 1, 'y',"
        " map('k', 2.5))), unhex('00ff'), 0.5, 7 UNION ALL SELECT 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL"
    )
    return session


def rows(session: Session, table: str) -> list[tuple[object, ...]]:
    return sorted((tuple(r) for r in session.sql(f"SELECT * FROM {table}").collect()), key=str)


def unpadded(frame: DataFrame) -> list[list[object]]:
    return sorted(([v.rstrip() if isinstance(v, str) else v for v in r] for r in frame.collect()), key=str)


def types(session: Session, table: str) -> dict[str, str]:
    return {c.name: c.type for c in session.catalog.table("default", table).all_columns}


def location(session: Session, table: str) -> Path:
    return Path(session.catalog.table("default", table).location)


@pytest.mark.ci
def test_the_new_table_has_the_types_and_rows_of_the_query(source: Session) -> None:
    done = source.execute(f"CREATE TABLE t {ACID} AS SELECT * FROM s")
    assert done.operation == "CREATE TABLE AS SELECT"
    assert done.counts is not None
    assert (done.counts.inserted, done.write_ids) == (2, {"default.t": 1})
    assert types(source, "t") == types(source, "s")
    assert rows(source, "t") == rows(source, "s")
    assert visible_paths(location(source, "t"))[:2] == [
        "delta_0000001_0000001_0000/_orc_acid_version",
        "delta_0000001_0000001_0000/bucket_00000",
    ]
    source.execute("UPDATE t SET c = 'zz' WHERE id = 2")
    source.execute("DELETE FROM t WHERE id = 1")
    assert [r[:2] for r in rows(source, "t")] == [(2, "zz  ")]


def test_char_and_varchar_columns_keep_their_types(session: Session) -> None:
    session.execute("CREATE TABLE s (c CHAR(4), v VARCHAR(3), w VARCHAR(5), k CHAR(6), t STRING) STORED AS ORC")
    session.execute("INSERT INTO s VALUES ('ab', 'x', 'wide', 'long c', 'text')")
    query = "SELECT c, v AS named, upper(v) AS upped, coalesce(c, 'x') AS made, t FROM (SELECT * FROM s) q"
    session.execute(f"CREATE TABLE t {ACID} AS {query} WHERE k <> '' LIMIT 5")
    assert list(types(session, "t").values()) == ["char(4)", "varchar(3)", "string", "string", "string"]
    union = "SELECT c, v, c, v FROM s UNION ALL SELECT k, w, t, t FROM s"
    session.execute(f"CREATE TABLE u {ACID} AS SELECT * FROM ({union}) AS q (c, v, c1, v1)")
    assert list(types(session, "u").values()) == ["char(6)", "varchar(5)", "string", "string"]
    assert rows(session, "u") == [("ab    ", "x", "ab", "x"), ("long c", "wide", "text", "text")]
    assert sorted(map(tuple, session.sql(union).collect())) == rows(session, "u")


SIZED = "(id INT, c CHAR(4), f FLOAT)"
CASTS = {
    "SELECT CAST(id AS VARCHAR(1)) AS v, CAST(7 AS CHAR(3)), c FROM s": "varchar(1) char(3) char(4)",
    "SELECT CAST(c AS VARCHAR(2)) AS v, s.*, CAST(id AS CHAR(9)) AS w FROM s": "varchar(2) int char(4) float char(9)",
    "SELECT s.*, reverse(CAST(c AS CHAR(3))) AS u, CAST(id AS CHAR(9)) AS w FROM s": "int char(4) float string char(9)",
    "SELECT CAST(c AS CHAR(2)) AS v FROM s UNION ALL SELECT CAST(id AS CHAR(5)) FROM s": "char(5)",
    "SELECT CAST(c AS CHAR(2)) AS v FROM s UNION ALL SELECT CAST(id AS VARCHAR(1)) FROM s": "string",
    "SELECT CAST(c AS VARCHAR(2)) AS v FROM s UNION SELECT CAST(id AS VARCHAR(1)) FROM s": "varchar(2)",
    "SELECT CAST(c AS CHAR(2)) AS v FROM s UNION ALL SELECT 'text' FROM s": "string",
    "SELECT substr(CAST(c AS CHAR(2)), 1) AS v, CAST(f AS DECIMAL(5,1)) AS d FROM s": "string decimal(5,1)",
}
"""Of a query over a table of SIZED, the types of the columns that CREATE TABLE .. AS gives."""


@pytest.mark.ci
@pytest.mark.parametrize("query", every(3, CASTS))
def test_what_is_cast_to_varchar_or_char_is_a_column_of_that_type(query: str, session: Session) -> None:
    """tests/interop/test_hive_evaluates.py holds Hive to the same."""
    session.execute(f"CREATE TABLE s {SIZED} {ACID}")
    session.execute("INSERT INTO s VALUES (12, 'abc', 0.5), (NULL, NULL, NULL)")
    session.execute(f"CREATE TABLE t {ACID} AS {query}")
    assert " ".join(types(session, "t").values()) == CASTS[query]
    assert unpadded(session.sql("SELECT * FROM t")) == unpadded(session.sql(query))


def test_columns_without_a_name_get_the_names_that_hive_gives(source: Session) -> None:
    source.execute(f"CREATE TABLE t {ACID} AS SELECT id, count(*), max(s) AS `Top`, 'x', id + 1L FROM s GROUP BY id")
    assert types(source, "t") == {"id": "int", "_c1": "bigint", "top": "smallint", "_c3": "string", "_c4": "bigint"}


@pytest.mark.ci
def test_the_new_table_may_be_partitioned_bucketed_insert_only_or_plain(source: Session) -> None:
    for number, rest in enumerate(
        (
            f"PARTITIONED BY (s) {ACID}",
            f"CLUSTERED BY (id) INTO 3 BUCKETS {ACID}",
            "STORED AS PARQUET TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')",
            "STORED AS ORC",
        )
    ):
        source.execute(f"CREATE TABLE t{number} {rest} AS SELECT s, id, f FROM s")
        read = sorted(tuple(r) for r in source.sql(f"SELECT id, f, s FROM t{number}").collect())
        assert read == [(1, 0.5, 7), (2, None, None)]
    assert [str(r[0]) for r in source.execute("SHOW PARTITIONS t0").rows()] == ["s=7", "s=__HIVE_DEFAULT_PARTITION__"]
    assert list(types(source, "t0")) == ["id", "f", "s"]
    source.execute("UPDATE t0 SET s = 8 WHERE id = 1")
    assert [str(r[0]) for r in source.execute("SHOW PARTITIONS t0").rows()][-2:] == [
        "s=8",
        "s=__HIVE_DEFAULT_PARTITION__",
    ]


def test_a_query_without_rows_makes_an_empty_table(source: Session) -> None:
    source.execute(f"CREATE TABLE t {ACID} AS SELECT * FROM s WHERE id > 5")
    assert rows(source, "t") == []
    assert visible_paths(location(source, "t")) == []
    source.execute("INSERT INTO t SELECT * FROM s")
    assert len(rows(source, "t")) == 2


def test_a_column_without_a_type_is_shown_in_its_place(source: Session) -> None:
    for items, name in (("NULL AS x", "x"), ("id, NULL AS `Y`, *", "y")):
        with pytest.raises(AcidSqlError, match=f"creates a column {name} of type") as raised:
            source.execute(f"CREATE TABLE t {ACID} AS SELECT id AS i, {items} FROM s")
        assert raised.value.span is not None
        assert name in raised.value.span.text.lower()
    with pytest.raises(AcidSqlError, match="creates a column _c1 of type void"):
        source.execute(f"CREATE TABLE t {ACID} AS SELECT id, NULL FROM s")


def test_if_not_exists_leaves_an_existing_table_unchanged(source: Session) -> None:
    before = rows(source, "s")
    assert source.execute(f"CREATE TABLE IF NOT EXISTS s {ACID} AS SELECT 1 AS x").counts is None
    assert rows(source, "s") == before


@pytest.mark.ci
@pytest.mark.parametrize(
    ("statement", "message"),
    every(
        3,
        [
            (f"CREATE TABLE s {ACID} AS SELECT 1 AS x", "[TABLE_ALREADY_EXISTS]"),
            (f"CREATE TABLE t {ACID} AS SELECT NULL AS x", "[CREATE_AS_TYPE]"),
            (f"CREATE TABLE t {ACID} AS SELECT id, id FROM s", "[DUPLICATE_COLUMN]"),
            (f"CREATE TABLE t {ACID} AS SELECT nope FROM s", "[COLUMN_NOT_FOUND]"),
            (f"CREATE TABLE t PARTITIONED BY (q) {ACID} AS SELECT id FROM s", "[COLUMN_NOT_FOUND]"),
            (f"CREATE TABLE t {ACID} AS SELECT id, CAST(raise_error('no') AS INT) AS x FROM s", "[QUERY_FAILED]"),
            ("CREATE TABLE t STORED AS ORC AS SELECT id, CAST(raise_error('no') AS INT) AS x FROM s", "[QUERY_FAILED]"),
            (
                "CREATE TABLE t STORED AS PARQUET TBLPROPERTIES ('transactional'='true') AS SELECT 1 AS x",
                "[INVALID_TABLE",
            ),
        ],
    ),
)
def test_a_failed_statement_leaves_neither_table_nor_directory(source: Session, statement: str, message: str) -> None:
    with pytest.raises(AcidSqlError) as raised:
        source.execute(statement)
    assert str(raised.value).startswith(message)
    assert list(source.catalog.tables("default")) == ["s"]
    assert not (location(source, "s").parent / "t").exists()


def test_files_in_the_directory_of_the_new_table_are_not_adopted(source: Session, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "000000_0").write_bytes(b"something")
    with pytest.raises(AcidSqlError, match=r"\[LOCATION_NOT_EMPTY\]"):
        source.execute(f"CREATE TABLE t STORED AS ORC LOCATION '{tmp_path}/there' AS SELECT 1 AS x")
    assert (tmp_path / "there" / "000000_0").read_bytes() == b"something"


def test_another_session_sees_no_table_before_its_rows(
    source: Session, open_session: Callable[[], Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit shows the table, and then its rows are in their places."""
    other = open_session()
    commit_created = SqliteMetastore.commit_created
    seen: list[bool] = []
    there: list[str] = []

    def watched(store: SqliteMetastore, txn: TxnId, table: Table, *more: Any) -> None:
        seen.append(other.catalog.find_table("default", "t") is not None)
        there.extend(visible_paths(Path(table.location)))
        commit_created(store, txn, table, *more)
        seen.append(other.catalog.find_table("default", "t") is not None)

    monkeypatch.setattr(SqliteMetastore, "commit_created", watched)
    source.execute(f"CREATE TABLE t {ACID} AS SELECT 1 AS x")
    assert seen == [False, True]
    assert "delta_0000001_0000001_0000/bucket_00000" in there
    assert rows(other, "t") == [(1,)]
