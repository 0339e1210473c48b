"""Statements as methods: each is held against its SQL on a table like its own: counts, rows and row IDs."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from decimal import Decimal

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import acidsql
from acidsql.frame_api.merge_clauses import MergeClauses
from acidsql.session import Session, connect
from acidsql.spark.catalyst.pyspark_api import frame_of_arrow
from acidsql.statements.results import Counts
from tests.answers import counts, fails, rows

COLUMNS = "(id int, name string DEFAULT 'none', salary decimal(10,2)) PARTITIONED BY (d string, h int)"
VALUES = "VALUES (1, 'Ann', 10.5, 'a', 1), (2, 'Bob', 20, 'a', 2), (3, 'Eve', NULL, 'b', 1)"
NEW = {
    "H": [2, 5, 1],
    "id": [2, 9, 3],
    "salary": [Decimal("21.00"), None, Decimal("1.25")],
    "d": ["a", "c", "b"],
    "Name": ["Rob", "Zoe", None],
}
DICTS = [dict(zip(NEW, values, strict=True)) for values in zip(*NEW.values(), strict=True)]


class Streamed:
    """Rows that only Arrow's stream interface gives, as a frame of polars does: with views of strings."""

    def __init__(self, table: pa.Table) -> None:
        views = [c.cast(pa.string_view()) if pa.types.is_string(c.type) else c for c in table.columns]
        self._table = pa.Table.from_arrays(views, names=table.column_names)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


FRAMES: dict[str, Callable[[SparkSession], object]] = {
    "spark": lambda spark: frame_of_arrow(spark, pa.table(NEW)),
    "pandas": lambda _: pd.DataFrame(NEW),
    "stream": lambda _: Streamed(pa.table(NEW)),
    "table": lambda _: pa.table(NEW),
    "batch": lambda _: pa.RecordBatch.from_pydict(NEW),
    "reader": lambda _: pa.table(NEW).to_reader(),
    "dicts": lambda _: DICTS,
}


@pytest.fixture(scope="module")
def db(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    place = tmp_path_factory.mktemp("frames")
    with connect(place / "warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark) as session:
        yield session


@pytest.fixture
def tables(db: Session) -> tuple[str, str]:
    """Two equal tables, one for a method and one for its SQL."""
    for name in ("one", "other"):
        db.sql(f"DROP TABLE IF EXISTS {name}")
        db.sql(f"CREATE TRANSACTIONAL TABLE {name} {COLUMNS}")
        db.sql(f"INSERT INTO {name} {VALUES}")
    return "one", "other"


def same(db: Session, tables: tuple[str, str], found: Counts, wanted: tuple[int, ...]) -> None:
    """The method did to the first table what the SQL did to the second one."""
    assert found.as_row() == wanted
    one, other = (sorted(rows(db, f"SELECT row__id, * FROM {name}"), key=repr) for name in tables)
    assert one == other


# ------------------------------------------------------------------------------------------------ frames


@pytest.mark.ci
@pytest.mark.parametrize(
    "kind",
    ["pandas", "stream", "dicts", *(pytest.param(k, marks=pytest.mark.nightly) for k in ("spark", "table", "batch"))],
)
def test_a_frame_of_each_kind_is_inserted_by_the_names_of_its_columns(
    db: Session, spark: SparkSession, tables: tuple[str, str], kind: str
) -> None:
    done = db.insert("one", FRAMES[kind](spark))
    sql = "INSERT INTO other (h, id, salary, d, name) SELECT H, id, salary, d, Name FROM {new}"
    same(db, tables, done, counts(db, sql, new=FRAMES["table" if kind == "dicts" else kind](spark)))


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["reader", "dicts"])
def test_a_frame_of_each_kind_can_be_read_twice_by_one_statement(db: Session, spark: SparkSession, kind: str) -> None:
    query = "SELECT count(*) FROM {f} a JOIN {f} b ON a.id = b.id"
    assert rows(db, query, f=FRAMES[kind](spark)) == [(3,)]


@pytest.mark.ci
def test_static_partitions_and_overwrites_are_those_of_the_sql(db: Session, tables: tuple[str, str]) -> None:
    new = pa.table({"id": [4], "h": [1]})
    done = db.insert("default.ONE", new, partition={"d": "a"})
    same(db, tables, done, counts(db, "INSERT INTO other PARTITION (d = 'a', h) (id, h) SELECT id, h FROM {n}", n=new))
    done = db.insert("one", [{"id": 5}], partition={"D": "a", "h": 1}, overwrite=True)
    sql = "INSERT OVERWRITE TABLE other PARTITION (d = 'a', h = 1) (id) VALUES (5)"
    same(db, tables, done, counts(db, sql))
    assert rows(db, "SELECT id, name FROM one WHERE d = 'a' AND h = 1") == [(5, "none")]
    done = db.insert("one", [], partition={"d": "a", "h": 2}, overwrite=True)
    assert done == Counts(0, 0, 0, 0)
    assert rows(db, "SELECT count(*) FROM one WHERE h = 2") == [(0,)]
    for value in ("${warehouse}", "it's `x`\\", datetime.date(2026, 1, 2)):
        db.insert("one", [{"id": 6}], partition={"d": value, "h": 1})
        assert rows(db, "SELECT d FROM one WHERE d = :d AND id = 6", {"d": str(value)}) == [(str(value),)]


def test_dicts_take_the_types_of_the_table(db: Session) -> None:
    db.sql(
        "CREATE TRANSACTIONAL TABLE typed (i tinyint, c char(3), x decimal(5,1), d date, at timestamp, b binary,"
        " l array<int>, m map<string,int>, s struct<x:int,y:string>, f float)"
    )
    full: dict[str, object] = {
        "s": {"y": "z", "x": 1},
        "m": {"k": None},
        "l": [1, None],
        "b": b"\x00",
        "at": datetime.datetime(2026, 1, 2, 3, 4, 5, 6),
        "d": datetime.date(1, 1, 1),
        "x": Decimal("7.5"),
        "c": "abcd",
        "i": 7,
        "f": 0.5,
    }
    assert db.insert("typed", [full, {"i": None}, {"x": Decimal(1)}], strict=False).inserted == 3
    first, *others = sorted(rows(db, "SELECT * FROM typed"), key=lambda row: row[0] is None)
    assert first == (7, "abc", *(full[name] for name in ("x", "d", "at", "b", "l", "m")), (1, "z"), 0.5)
    assert {row[2] for row in others} == {None, Decimal("1.0")}
    moved = pa.table({"s": [{"y": "z", "x": 1}]})
    for call in (lambda: db.insert("typed", moved), lambda: db.upsert("typed", moved, on="s")):
        assert "column s from struct<y:string,x:bigint>" in str(fails("INCOMPATIBLE_TYPE", call))
    misnamed = fails("INCOMPATIBLE_TYPE", lambda: db.insert("typed", [{"s": {"x": 1, "z": "z"}}]))
    assert "x:bigint,z:string" in str(misnamed)
    assert db.insert("typed", [{"s": {"x": 2}}, {"s": {"X": 3, "Y": "y"}}]).inserted == 2
    assert rows(db, "SELECT s.x, s.y FROM typed WHERE s.x > 1 ORDER BY 1") == [(2, None), (3, "y")]
    # What Hive's store assignment converts is converted, as from VALUES.
    db.insert("typed", [{"i": "8", "c": 5, "d": "2026-01-02"}, {"i": "x"}], strict=False)
    assert rows(db, "SELECT c, d FROM typed WHERE i = 8") == [("5  ", datetime.date(2026, 1, 2))]
    assert "type str" in str(fails("INVALID_RECORD", lambda: db.insert("typed", [{"i": 1}, {"i": "x"}], strict=False)))


def test_columns_that_do_not_fit_are_errors_before_anything_is_written(db: Session, tables: tuple[str, str]) -> None:
    before = rows(db, "SELECT row__id, * FROM one")
    unknown = fails("INSERT_COLUMN_NOT_FOUND", lambda: db.insert("one", pd.DataFrame({"idd": [1], "h": [1]})))
    assert "'idd'" in str(unknown)
    assert "The frame's columns are idd, h." in str(unknown)
    wrong = fails("INCOMPATIBLE_TYPE", lambda: db.insert("one", pa.table({"id": [datetime.date(2026, 1, 1)]})))
    assert "column id from date to int" in str(wrong)
    hostile = pa.table({"id`) SELECT 1; DROP TABLE one; --": [1]})
    fails("INSERT_COLUMN_NOT_FOUND", lambda: db.insert("one", hostile))
    fails("DUPLICATE_COLUMN", lambda: db.insert("one", pd.DataFrame([[1, 2]], columns=["id", "ID"])))
    fails("DUPLICATE_COLUMN", lambda: db.merge("one", pa.table([[1], [2]], ["id", "id"]), on="true"))
    fails("INSERT_COLUMN_NOT_FOUND", lambda: db.insert("one", [{"id": 1, "d": "x"}], partition={"d": "x", "h": 1}))
    fails("PARTITION_COLUMN_UNKNOWN", lambda: db.insert("one", [{"id": 1}], partition={"x": 1}))
    fails("TABLE_NOT_FOUND", lambda: db.insert("none", [{"id": 1}]))
    fails("TABLE_NOT_FOUND", lambda: db.insert("none.`; DROP TABLE one`", [{"id": 1}]))
    fails("UNRESOLVED_QUERY", lambda: db.insert("one", {"id": [1]}))
    fails("INVALID_RECORD", lambda: db.insert("one", [(1, "x")]))
    fails("INVALID_PARAMETER", lambda: db.insert("one", pd.DataFrame()))
    fails("INVALID_PARAMETER", lambda: db.insert("one", [{"id": 1}], partition={"d": ["x"], "h": 1}))
    fails("INVALID_PARAMETER", lambda: db.insert("one", [{"id": 1}], partition="d"))  # type: ignore[arg-type]
    fails("PARTITION_VALUE_TYPE", lambda: db.insert("one", [{"id": 1}], partition={"d": "x", "h": "one"}))
    indexed = pd.DataFrame({"name": ["x"]}, pd.Index([1], name="id"))
    assert "reset_index()" in str(fails("INVALID_PARAMETER", lambda: db.insert("one", indexed)))
    grouped = pd.DataFrame(NEW).groupby(["id", "d"]).max()
    assert "reset_index()" in str(fails("INVALID_PARAMETER", lambda: db.sql("SELECT * FROM {f}", f=grouped)))
    assert rows(db, "SELECT row__id, * FROM one") == before


# ------------------------------------------------------------------------------------------------ update, delete, merge


@pytest.mark.ci
def test_update_and_delete_are_their_sql(db: Session, tables: tuple[str, str]) -> None:
    args = {"names": ["Ann", "Eve"], "more": Decimal(1)}
    done = db.update("one", {"salary": "salary + :more", "name": "DEFAULT"}, where="name IN (:names) -- x", args=args)
    sql = "UPDATE other SET salary = salary + :more, name = DEFAULT WHERE name IN (:names)"
    same(db, tables, done, counts(db, sql, args))
    assert done == Counts(2, 2, 0, 0)
    same(db, tables, db.update("one", {"H": "h + 1"}), counts(db, "UPDATE other SET h = h + 1"))
    same(db, tables, db.delete("one", "id = 2 OR id = 7"), counts(db, "DELETE FROM other WHERE id = 2 OR id = 7"))
    same(db, tables, db.delete("one"), counts(db, "DELETE FROM other"))


@pytest.mark.ci
def test_upsert_is_its_merge(db: Session, tables: tuple[str, str]) -> None:
    done = db.upsert("one", pd.DataFrame(NEW), on=["ID", "d"])
    sql = (
        "MERGE INTO other t USING {new} s ON t.id = s.id AND t.d = s.d"
        " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    same(db, tables, done, counts(db, sql, new=pd.DataFrame(NEW)))
    assert done == Counts(3, 2, 0, 1)


EVERY = (
    MergeClauses()
    .when_matched("source.id = 2")
    .delete()
    .when_matched("source.name IS NULL -- no name")
    .update({"name": "concat(target.name, '!')", "salary": "DEFAULT"})
    .when_matched()
    .update_all()
    .when_not_matched("source.id > 8")
    .insert({"id": "source.id", "name": "DEFAULT", "d": "'n'", "h": "1"})
    .when_not_matched()
    .insert_all()
    .when_not_matched_by_source("target.h = 1")
    .update({"h": "target.h + 10"})
    .when_not_matched_by_source()
    .delete()
)
EVERY_SQL = """MERGE INTO other AS target USING {new} AS source ON target.id = source.id
WHEN MATCHED AND source.id = 2 THEN DELETE
WHEN MATCHED AND source.name IS NULL THEN UPDATE SET name = concat(target.name, '!'), salary = DEFAULT
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED AND source.id > 8 THEN INSERT (id, name, d, h) VALUES (source.id, DEFAULT, 'n', 1)
WHEN NOT MATCHED THEN INSERT *
WHEN NOT MATCHED BY SOURCE AND target.h = 1 THEN UPDATE SET h = target.h + 10
WHEN NOT MATCHED BY SOURCE THEN DELETE"""


@pytest.mark.ci
def test_the_builder_has_every_clause_of_the_sql_and_never_changes(db: Session, tables: tuple[str, str]) -> None:
    start = db.merge("one", DICTS, on="target.id = source.id")
    merge = start
    for clause in EVERY.clauses:
        merge = merge.followed_by(clause)
    same(db, tables, merge.execute(), counts(db, EVERY_SQL, new=pa.table(NEW)))
    assert (start.clauses, len(merge.clauses)) == ((), 7)
    assert start.when_matched().delete() == start.when_matched().delete() != start
    positional = start.when_not_matched().insert(["source.id", "'p'", "NULL", "'d'", "3"])
    assert "INSERT VALUES (source.id, 'p', NULL, 'd', 3)" in positional.sql()
    assert positional.execute().inserted == rows(db, "SELECT count(*) FROM one WHERE name = 'p'")[0][0]
    assert rows(db, f"EXPLAIN {merge.sql()}")


@pytest.mark.ci
def test_the_clauses_of_a_builder_are_clauses_of_a_streaming_merge(db: Session, tables: tuple[str, str]) -> None:
    source = frame_of_arrow(db.spark, pa.table(NEW))
    sink = acidsql.streaming.merge("one", "target.id = source.id", "cdc", clauses=EVERY, session=db)
    sink(source, 0)
    counts(db, EVERY_SQL, new=source)
    same(db, tables, Counts(0, 0, 0, 0), (0, 0, 0, 0))


@pytest.mark.ci
def test_errors_of_merge_name_columns_and_keys_of_the_frame(db: Session, tables: tuple[str, str]) -> None:
    before = rows(db, "SELECT row__id, * FROM one")
    twice = [*DICTS, DICTS[0]]
    repeated = fails("CARDINALITY_VIOLATION", lambda: db.upsert("one", twice, on="id"))
    assert "The frame has several rows with the key id = 2." in str(repeated)
    merge = db.merge("one", twice, on="target.d = source.d AND target.id <=> source.ID").when_matched().delete()
    assert "the key d = 'a', id = 2." in str(fails("CARDINALITY_VIOLATION", merge.execute))
    missing = fails("COLUMN_NOT_FOUND", lambda: db.upsert("one", [{"id": 1, "name": "x"}], on="id"))
    assert "The frame's columns are id, name." in str(missing)
    fails("COLUMN_NOT_FOUND", lambda: db.upsert("one", DICTS, on="key"))
    no_key = fails("COLUMN_NOT_FOUND", lambda: db.upsert("one", [{"key": 1}], on=["key"]))
    assert "target.key" in str(no_key)
    fails("INVALID_PARAMETER", lambda: db.upsert("one", DICTS, on=[]))
    start = db.merge("one", DICTS, on="target.id = source.id")
    fails("COLUMN_NOT_FOUND", start.when_matched("source.x = 1").delete().execute)
    fails("MERGE_UNCONDITIONAL_NOT_LAST", merge.when_matched().update_all().execute)
    fails("MERGE_CLAUSE_ORDER", merge.when_not_matched().insert_all().when_matched().delete().execute)
    fails("INVALID_PARAMETER", db.merge("one", DICTS, on="true").execute)
    assert rows(db, "SELECT row__id, * FROM one") == before


def test_a_text_is_one_expression_of_the_statement(db: Session, tables: tuple[str, str]) -> None:
    before = rows(db, "SELECT row__id, * FROM one")
    merge = db.merge("one", DICTS, on="target.id = source.id")
    wrong: list[Callable[[], object]] = [
        lambda: db.update("one", {"id": "1, name = 'x'"}),
        lambda: db.update("one", {"id": "1 WHERE id = 1"}),
        lambda: db.update("one", {}),
        lambda: db.update("one", {"id": 5}),  # type: ignore[dict-item]  # that is the error
        lambda: db.delete("one", ""),
        merge.when_matched("true THEN DELETE WHEN MATCHED").delete().execute,
        merge.when_matched().update({"id": "1, name = 'x'"}).execute,
        db.merge("one", DICTS, on="true WHEN MATCHED THEN DELETE").when_not_matched().insert_all().execute,
        lambda: merge.when_not_matched().insert("source.id"),
    ]
    for call in wrong:
        fails("INVALID_PARAMETER", call)
    for call in (lambda: db.delete("one", "true; DROP TABLE one"), lambda: db.update("one", {"id": "("})):
        fails("PARSE_SYNTAX_ERROR", call)
    fails("SET_COLUMN_NOT_FOUND", lambda: db.update("one", {"id` = 1, `name": "2"}))
    assert rows(db, "SELECT row__id, * FROM one") == before


def test_methods_are_statements_of_a_transaction(db: Session, tables: tuple[str, str]) -> None:
    with db.transaction():
        db.insert("one", DICTS)
        db.delete("one", "id = 9")
    assert db.last_result is not None
    assert rows(db, "SELECT count(*) FROM one") == [(5,)]
    db.sql("START TRANSACTION")
    db.delete("one")
    fails("COLUMN_NOT_FOUND", lambda: db.delete("one", "x = 1"))
    assert db.transaction_id is None, "as in SQL, an error rolls back"
    assert rows(db, "SELECT count(*) FROM one") == [(5,)]


# ------------------------------------------------------------------------------------------------ IN (:ids)


@pytest.mark.ci
def test_a_list_is_a_value_of_in(db: Session, tables: tuple[str, str]) -> None:
    def found(condition: str, value: object) -> list[object]:
        return [row[0] for row in rows(db, f"SELECT id FROM one WHERE {condition} ORDER BY id", {"v": value})]

    for ids in ([1, 3], (1, 3), {1, 3}, range(1, 4, 2), pa.array([1, 3]), pd.Series([1, 3]), [1, Decimal("3.0"), None]):
        assert found("id IN (:v)", ids) == [1, 3]
    assert found("id IN (:v, 2)", [3]) == [2, 3]
    assert found("id NOT IN (:v)", [3]) == [1, 2]
    assert found("id NOT IN (:v)", [3, None]) == []
    assert (found("id IN (:v)", []), found("id NOT IN (:v)", [])) == ([], [1, 2, 3])
    assert found("salary IN (:v)", [Decimal("10.5")]) == [1]
    assert found("name IN (:v) AND array_contains(:v, name)", ["Bob", "it's ${x}"]) == [2]
    assert rows(db, "SELECT NULL IN (?), 1 IN (?), 2 IN (?)", [[], [1, None], [1, None]]) == [(False, True, None)]
    when = [datetime.datetime(2026, 1, 2, 3)]
    assert rows(db, "SELECT TIMESTAMP '2026-01-02 03:00:00' IN (?)", [when]) == [(True,)]
    assert rows(db, "SELECT DATE '2026-01-02' IN (?)", [[datetime.date(2026, 1, 2)]]) == [(True,)]
    fails("INVALID_PARAMETER", lambda: found("id IN (:v)", [1, "x"]))
    fails("INVALID_PARAMETER", lambda: found("id IN (:v)", [True, 1]))
    assert counts(db, "UPDATE one SET name = 'u' WHERE id IN (?)", [[1, 2]]) == (2, 2, 0, 0)
    assert counts(db, "DELETE FROM one WHERE id IN (:v)", {"v": []}) == (0, 0, 0, 0)
    assert counts(db, "DELETE FROM one WHERE d IN (:v)", {"v": ["b", "x"]}) == (1, 0, 1, 0)


def test_columns_of_an_arrow_table_may_have_the_same_values(db: Session) -> None:
    db.execute("CREATE TRANSACTIONAL TABLE same (a int, b int)")
    assert db.insert("same", pa.table({"a": [1, 2], "b": [1, 2]})).inserted == 2
    assert sorted(rows(db, "SELECT * FROM same")) == [(1, 1), (2, 2)]
    fails("DUPLICATE_COLUMN", lambda: db.insert("same", pa.table([[1], [2]], names=["a", "A"])))
