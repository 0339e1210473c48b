"""acidsql's statements on Hive's own metastore and warehouse: after each of them Hive reads what acidsql reads."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pyorc
import pytest
from pyspark.sql import SparkSession

from acidsql.acid.layout import STAGING_DIRECTORY
from acidsql.errors import AcidSqlError
from acidsql.metastore.hive.hive_metastore import HiveMetastore
from acidsql.metastore.hive.service_uri import parse_address
from acidsql.metastore.lock_components import LockComponent, LockType, Operation
from acidsql.metastore.session_metastore import SessionMetastore
from acidsql.session import Session, connect
from acidsql.snapshot.version_times import committed_at
from acidsql.spark.frames import readers
from tests.interop.hive_client import Hive, HiveRow
from tests.interop.shared_table import hive_rows
from tests.interop.values import assert_same_rows, in_order, rows_of_spark
from tests.metastore.patience import eventually

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

DATABASE: Final = "together"
ACID: Final = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY: Final = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"


@pytest.fixture
def both(hive: Hive, spark: SparkSession) -> Iterator[Both]:
    hive.run(f"DROP DATABASE IF EXISTS {DATABASE} CASCADE", f"CREATE DATABASE {DATABASE}")
    with connect(metastore=hive.metastore_uri, spark=spark) as session:
        yield Both(session, hive)
    hive.run(f"DROP DATABASE IF EXISTS {DATABASE} CASCADE")


class Both:
    """acidsql and Hive on one metastore."""

    def __init__(self, session: Session, hive: Hive) -> None:
        self.session = session
        self.hive = hive
        session.sql(f"USE {DATABASE}")

    def run(self, *statements: str) -> None:
        """By acidsql."""
        for statement in statements:
            self.session.sql(statement)

    def read(self, table: str, columns: str = "row__id, *") -> list[HiveRow]:
        """What both read, without row IDs."""
        mine = rows_of_spark(self.session.sql(f"SELECT {columns} FROM {table}").collect())
        for mode in ("vectorized", "fetch task"):
            assert_same_rows(hive_rows(self.hive, f"{DATABASE}.{table}", columns, mode_name=mode), mine, mode)
        return in_order(row[1:] if columns.startswith("row__id") else row for row in mine)

    def counted(self, table: str) -> list[HiveRow]:
        """count(*), as Hive answers it from statistics where it takes them for right."""
        self.hive.set("hive.compute.query.using.stats=true")
        try:
            return self.hive.rows(f"SELECT count(*) FROM {DATABASE}.{table}")
        finally:
            self.hive.set("hive.compute.query.using.stats=false")


def test_the_employee_story(both: Both) -> None:
    both.run(
        f"CREATE TABLE employee (id int, name string, salary int) {ACID}",
        "INSERT INTO employee VALUES (1, 'Jerry', 5000), (2, 'Tom', 8000), (3, 'Kate', 6000)",
    )
    assert len(both.read("employee")) == 3
    both.run("UPDATE employee SET salary = 7000 WHERE id = 2")
    assert [2, "Tom", 7000] in both.read("employee")
    both.run(
        f"CREATE TABLE raised (id int, name string, salary int) {ACID}",
        "INSERT INTO raised VALUES (2, 'Tom', 7500), (4, 'Mary', 9000)",
        "MERGE INTO employee e USING raised r ON e.id = r.id WHEN MATCHED THEN UPDATE SET salary = r.salary"
        " WHEN NOT MATCHED THEN INSERT VALUES (r.id, r.name, r.salary)",
    )
    assert both.read("employee") == [[1, "Jerry", 5000], [2, "Tom", 7500], [3, "Kate", 6000], [4, "Mary", 9000]]
    both.run("DELETE FROM employee WHERE id = 1")
    assert len(both.read("employee")) == 3
    both.hive.run(
        f"UPDATE {DATABASE}.employee SET salary = salary + 1", f"DELETE FROM {DATABASE}.employee WHERE id = 3"
    )
    assert both.read("employee") == [[2, "Tom", 7501], [4, "Mary", 9001]]
    both.run("UPDATE employee SET salary = 0 WHERE name = 'Mary'", "TRUNCATE TABLE raised")
    assert both.read("employee") == [[2, "Tom", 7501], [4, "Mary", 0]]
    assert both.read("raised") == []


def test_the_history_of_a_table_that_both_write(both: Both) -> None:
    both.run(
        f"CREATE TABLE told (id INT, v STRING) {ACID}",
        "INSERT INTO told VALUES (1, 'a'), (2, 'b')",
        "UPDATE told SET v = 'x' WHERE id = 1",
    )
    both.hive.run(f"INSERT INTO {DATABASE}.told VALUES (3, 'c')", f"DELETE FROM {DATABASE}.told WHERE id = 2")
    with both.session.stream("told", commit_rows=1, batch_size=2) as stream:
        stream.write([(4, "d")])
    assert both.read("told") == [[1, "x"], [3, "c"], [4, "d"]]

    def history() -> list[tuple[object, ...]]:
        return [(r[0], r[3], r[8], r[9]) for r in both.session.sql("DESCRIBE HISTORY told").collect()]

    written = history()
    assert written[-4:] == [
        ("4", "DELETE", "true", "directory"),
        ("3", "INSERT", "true", "directory"),
        ("2", "UPDATE", "true", "file"),
        ("1", "INSERT", "true", "file"),
    ]
    assert {entry[1:] for entry in written[:-4]} == {("STREAM", "true", "file")}
    metastore, files = both.session._metastore, both.session._files.of
    table = metastore.table(DATABASE, "told")
    version, _ = committed_at(metastore, table, datetime.now(UTC), files)
    assert str(version) == written[0][0]
    assert committed_at(metastore, table, datetime(2020, 1, 1, tzinfo=UTC), files)[0] == 0


def test_partitions_are_known_to_both(both: Both) -> None:
    both.run(
        f"CREATE TABLE parted (k int, v string) PARTITIONED BY (p int, q string) {ACID}",
        "INSERT INTO parted VALUES (1, 'a', 1, 'x'), (2, 'b', 1, 'y z/%=:'), (3, 'c', 2, 'x'), (4, 'd', 2, NULL)",
    )
    assert len(both.read("parted")) == 4
    both.hive.run(f"INSERT INTO {DATABASE}.parted PARTITION (p = 3, q = 'h') VALUES (5, 'e')")
    both.run("UPDATE parted SET v = upper(v) WHERE k <> 3", "DELETE FROM parted WHERE k = 1")
    both.run("INSERT OVERWRITE TABLE parted PARTITION (p, q) SELECT k, 'over', p, q FROM parted WHERE k = 2")
    expected: list[HiveRow] = [
        [2, "over", 1, "y z/%=:"],
        [3, "c", 2, "x"],
        [4, "D", 2, "__HIVE_DEFAULT_PARTITION__"],
        [5, "E", 3, "h"],
    ]
    assert both.read("parted") == in_order(expected)
    both.run("ALTER TABLE parted DROP PARTITION (p = 3, q = 'h')", "ALTER TABLE parted ADD PARTITION (p = 9, q = 'n')")
    assert both.read("parted") == in_order(expected[:3])
    shown = {row[0] for row in both.hive.rows(f"SHOW PARTITIONS {DATABASE}.parted")}
    assert {"p=9/q=n", "p=2/q=x"} <= shown
    assert "p=3/q=h" not in shown
    both.run("ALTER TABLE parted PARTITION (p = 2, q = 'x') RENAME TO PARTITION (p = 2, q = 'renamed')")
    assert [3, "c", 2, "renamed"] in both.read("parted")
    both.run("TRUNCATE TABLE parted")
    assert both.read("parted") == []


def test_an_exchanged_partition_is_known_to_both(both: Both) -> None:
    kind = "(k int) PARTITIONED BY (p int) STORED AS ORC TBLPROPERTIES ('transactional'='false')"
    both.run(
        f"CREATE TABLE daily {kind}",
        f"CREATE TABLE archive {kind}",
        "INSERT INTO daily VALUES (1, 1), (2, 2)",
        "ALTER TABLE archive EXCHANGE PARTITION (p = 1) WITH TABLE daily",
    )
    assert both.read("daily", "*") == [[2, 2]]
    assert both.read("archive", "*") == [[1, 1]]
    both.run("INSERT INTO daily VALUES (3, 1)")
    assert both.read("daily", "*") == [[2, 2], [3, 1]]


def test_rows_reach_the_directories_of_many_partitions(both: Both, tmp_path: Path) -> None:
    """More partitions than are requested one by one; one lies elsewhere, and some have odd names."""
    values = ["01", "1", "a%2Fb", "a/b=c", "x y", "É'", "{}[]:*?#^", *map("day {}".format, range(9))]
    both.run(f"CREATE TABLE many (k int, v string) PARTITIONED BY (p string) {ACID}")
    both.run(f"ALTER TABLE many ADD PARTITION (p = 'x y') LOCATION '{tmp_path}/there'")
    both.session.insert("many", [{"k": k, "v": "first", "p": p} for k, p in enumerate(values)])
    both.run(
        "INSERT INTO many SELECT k + 100, 'again', p FROM many",
        "INSERT INTO many PARTITION (p = 'x y') VALUES (300, 'static')",
        "UPDATE many SET v = 'changed' WHERE p IN ('a%2Fb', 'x y') AND k < 100",
        "MERGE INTO many t USING (SELECT k, p FROM many WHERE k < 100 UNION ALL SELECT 500, 'new') s"
        " ON t.k = s.k WHEN MATCHED AND t.p LIKE 'day%' THEN DELETE"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.k, 'm', s.p)",
    )
    expected: list[HiveRow] = []
    for k, p in enumerate(values):
        if not p.startswith("day"):
            expected.append([k, "changed" if p in ("a%2Fb", "x y") else "first", p])
        expected.append([k + 100, "again", p])
    assert both.read("many") == in_order([*expected, [300, "static", "x y"], [500, "m", "new"]])
    assert len(list((tmp_path / "there").glob("delta_*"))) == 4
    assert both.session.read_arrow("many", where="p = 'x y'").read_all().num_rows == 3


@pytest.mark.parametrize("file_format", ["PARQUET", "TEXTFILE"])
def test_insert_only_tables(both: Both, file_format: str) -> None:
    both.run(
        f"CREATE TABLE io (k int, v string) STORED AS {file_format} {INSERT_ONLY}",
        "INSERT INTO io VALUES (1, 'a'), (2, 'b')",
    )
    both.hive.run(f"INSERT INTO {DATABASE}.io VALUES (3, 'c')")
    assert both.read("io", "*") == [[1, "a"], [2, "b"], [3, "c"]]
    both.run("INSERT OVERWRITE TABLE io SELECT k * 10, v FROM io WHERE k > 1")
    assert both.read("io", "*") == [[20, "b"], [30, "c"]]


def test_tables_whose_columns_statements_add_and_widen(both: Both) -> None:
    both.run(
        f"CREATE TABLE grown (k int, v int) PARTITIONED BY (p string) {ACID}",
        "INSERT INTO grown VALUES (1, 10, 'a'), (2, 20, 'b')",
        "MERGE WITH SCHEMA EVOLUTION INTO grown t"
        " USING (SELECT 2 AS k, 1L << 40 AS v, 'new' AS x, 'b' AS p UNION ALL SELECT 3, 30L, 'other', 'c') s"
        " ON t.k = s.k WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        "INSERT WITH SCHEMA EVOLUTION INTO grown PARTITION (p = 'a') (k, y) VALUES (4, true)",
    )
    expected: list[HiveRow] = [
        [1, 10, None, None, "a"],
        [2, 1 << 40, "new", None, "b"],
        [3, 30, "other", None, "c"],
        [4, None, None, True, "a"],
    ]
    assert both.read("grown") == expected
    both.hive.run(f"UPDATE {DATABASE}.grown SET x = 'hive' WHERE k = 1")
    expected[0] = [1, 10, "hive", None, "a"]
    assert both.read("grown") == expected
    both.run(f"CREATE TABLE io (k int) {INSERT_ONLY}", "INSERT INTO io VALUES (1)")
    both.run("INSERT WITH SCHEMA EVOLUTION INTO io SELECT 2, 'x' AS x")
    assert both.read("io", "*") == [[1, None], [2, "x"]]


def test_tables_that_are_created_altered_renamed_loaded_and_dropped(both: Both, tmp_path: Path) -> None:
    both.run(
        f"CREATE TABLE source {ACID} AS SELECT 1 AS k, 'a' AS v UNION ALL SELECT 2, 'b'",
        "ALTER TABLE source ADD COLUMNS (n int COMMENT 'new')",
        "INSERT INTO source VALUES (3, 'c', 30)",
    )
    rows: list[HiveRow] = [[1, "a", None], [2, "b", None], [3, "c", 30]]
    assert both.read("source") == rows
    both.run("ALTER TABLE source RENAME TO renamed", "UPDATE renamed SET n = 0 WHERE n IS NULL")
    assert both.read("renamed") == [[1, "a", 0], [2, "b", 0], [3, "c", 30]]
    assert [row[0] for row in both.hive.rows(f"SHOW TABLES IN {DATABASE}")] == ["renamed"]
    both.run(f"CREATE TABLE source (k int, v string) {ACID}", "INSERT INTO source VALUES (9, 'z')")
    assert both.read("source") == [[9, "z"]]
    both.session.spark.createDataFrame([(7, "loaded")], "k int, v string").coalesce(1).write.orc(str(tmp_path / "f"))
    (file,) = (tmp_path / "f").glob("part-*.orc")
    file.rename(tmp_path / "000000_0")
    both.run(f"LOAD DATA LOCAL INPATH '{tmp_path}/000000_0' INTO TABLE source")
    assert both.read("source") == [[7, "loaded"], [9, "z"]]
    both.run("DROP TABLE renamed", "DROP TABLE source")
    assert both.hive.rows(f"SHOW TABLES IN {DATABASE}") == []
    both.run(f"CREATE TABLE source {ACID} AS SELECT 5 AS k", "INSERT INTO source VALUES (6)")
    assert both.read("source") == [[5], [6]]


def test_plain_tables_are_converted(both: Both) -> None:
    both.run("CREATE TABLE plain (k int, v string) STORED AS ORC", "INSERT INTO plain VALUES (1, 'a'), (2, 'b')")
    assert both.read("plain", "*") == [[1, "a"], [2, "b"]]
    both.run(
        "ALTER TABLE plain SET TBLPROPERTIES ('transactional'='true')",
        "UPDATE plain SET v = 'u' WHERE k = 1",
        "INSERT INTO plain VALUES (3, 'c')",
    )
    assert both.read("plain") == [[1, "u"], [2, "b"], [3, "c"]]


@pytest.mark.nightly
def test_statistics_of_hive_are_not_believed_after_acidsql_wrote(both: Both) -> None:
    both.hive.run(
        f"CREATE TABLE {DATABASE}.counted (k int) {ACID}",
        f"INSERT INTO {DATABASE}.counted VALUES (1), (2)",
        f"CREATE TABLE {DATABASE}.counted_parts (k int) PARTITIONED BY (p int) {ACID}",
        f"INSERT INTO {DATABASE}.counted_parts VALUES (1, 1), (2, 2)",
    )
    assert both.counted("counted") == both.counted("counted_parts") == [[2]]
    both.run("INSERT INTO counted VALUES (3), (4)", "INSERT INTO counted_parts VALUES (3, 2), (4, 3)")
    assert both.counted("counted") == both.counted("counted_parts") == [[4]]
    both.hive.run(f"ANALYZE TABLE {DATABASE}.counted COMPUTE STATISTICS")
    both.run("DELETE FROM counted WHERE k > 1", "UPDATE counted_parts SET p = 7 WHERE k = 1")
    assert both.counted("counted") == [[1]]
    assert both.counted("counted_parts") == [[4]]
    both.run(f"CREATE TABLE made {ACID} AS SELECT 1 AS k")
    assert both.counted("made") == [[1]]
    both.run("ANALYZE TABLE counted COMPUTE STATISTICS", "ANALYZE TABLE counted_parts COMPUTE STATISTICS")
    assert both.counted("counted") == [[1]]
    assert both.counted("counted_parts") == [[4]]
    both.hive.run(f"INSERT INTO {DATABASE}.counted VALUES (5)", f"DELETE FROM {DATABASE}.counted_parts WHERE k = 2")
    assert both.counted("counted") == [[2]]
    assert both.counted("counted_parts") == [[3]]
    both.run("ANALYZE TABLE counted COMPUTE STATISTICS", "INSERT INTO counted VALUES (6), (7)")
    assert both.counted("counted") == [[4]]


def test_a_transaction_of_several_statements_is_seen_as_a_whole(both: Both) -> None:
    both.run(
        f"CREATE TABLE account (id int, balance int) {ACID}",
        f"CREATE TABLE booked (id int, amount int) PARTITIONED BY (day string) {ACID}",
        "INSERT INTO account VALUES (1, 100), (2, 100)",
    )
    both.run(
        "START TRANSACTION",
        "UPDATE account SET balance = balance - 30 WHERE id = 1",
        "INSERT INTO booked VALUES (1, -30, 'mon')",
        "UPDATE account SET balance = balance + 30 WHERE id = 2",
        "INSERT INTO booked VALUES (2, 30, 'mon')",
        "UPDATE booked SET amount = amount * 2",
    )
    assert hive_rows(both.hive, f"{DATABASE}.account", "*") == [[1, 100], [2, 100]]
    both.run("COMMIT")
    assert both.read("account") == [[1, 70], [2, 130]]
    assert both.read("booked") == [[1, -60, "mon"], [2, 60, "mon"]]
    both.run("START TRANSACTION", "DELETE FROM account", "ROLLBACK")
    assert both.read("account") == [[1, 70], [2, 130]]


def test_hive_waits_for_acidsql_and_acidsql_for_hive(both: Both) -> None:
    both.run(f"CREATE TABLE turns (k int, v int) {ACID}", "INSERT INTO turns VALUES (1, 0)")
    held = both.hive.begin(f"{DATABASE}.turns")
    both.run("SET hive.lock.numretries = 2")
    with pytest.raises(AcidSqlError, match=rf"\[txnid:{held.txn}\] of tests@.* holds EXCL_WRITE") as caught:
        both.run("UPDATE turns SET v = 1")
    assert caught.value.condition == "LOCK_TIMEOUT"
    both.hive.abort(held.txn)
    both.run("SET hive.lock.numretries = 100", "START TRANSACTION", "UPDATE turns SET v = v + 1")
    with ThreadPoolExecutor(1) as pool:
        theirs = pool.submit(both.hive.run, f"UPDATE {DATABASE}.turns SET v = v + 10")
        eventually(lambda: any(lock.waiting for lock in both.session._metastore.locks()))
        assert not theirs.done()
        both.run("COMMIT")
        theirs.result(240)
    assert both.read("turns") == [[1, 11]]


def test_a_frame_that_nobody_holds_does_not_hold_up_an_overwrite_of_hive(
    both: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session that sees somebody wait for it collects its garbage; here it never does so in its own time."""
    monkeypatch.setattr(readers, "_IDLE_PAUSE", float("inf"))
    both.run(f"CREATE TABLE shown (k int) {ACID}", "INSERT INTO shown VALUES (1)")
    assert both.session.sql("SELECT k FROM shown").collect() == [(1,)]
    with ThreadPoolExecutor(1) as pool:
        theirs = pool.submit(both.hive.run, f"INSERT OVERWRITE TABLE {DATABASE}.shown SELECT 2")
        theirs.result(240)
    assert both.read("shown") == [[2]]


def test_an_overwrite_that_did_not_see_an_insert_of_hive_is_told_what_is_known_of_it(both: Both) -> None:
    both.run(f"CREATE TABLE looked_at (k int) {ACID}", f"CREATE TABLE replaced (k int) {ACID}")
    both.run("INSERT INTO replaced VALUES (1)", "START TRANSACTION")
    assert list(both.session.execute("SELECT k FROM looked_at").rows()) == []  # the snapshot
    both.hive.run(f"INSERT INTO {DATABASE}.replaced VALUES (2)")
    with pytest.raises(AcidSqlError, match=r"committed by \[txnid:\?,\d+\] u/i") as caught:
        both.run("INSERT OVERWRITE TABLE replaced SELECT 3")
    assert caught.value.condition == "WRITE_CONFLICT"
    assert "write ID only, 2." in caught.value.hint
    assert both.read("replaced") == [[1], [2]]


def test_a_database_is_locked_by_what_makes_tables_in_it_and_by_what_drops_it(both: Both) -> None:
    held = HiveMetastore(parse_address(both.hive.metastore_uri))
    both.run("SET hive.lock.numretries=0")
    statements = {LockType.EXCLUSIVE: f"CREATE TABLE made (k int) {ACID}", LockType.SHARED_READ: "DROP DATABASE gone"}
    both.run("CREATE DATABASE gone", "USE gone")
    for lock_type, statement in statements.items():
        txn = held.open_txn()
        held.lock(txn, [LockComponent("gone", None, lock_type, Operation.NO_TXN)])
        with pytest.raises(AcidSqlError) as caught:
            both.run(statement)
        assert caught.value.condition == "LOCK_TIMEOUT"
        held.commit(txn)
    held.close()
    both.run(statements[LockType.EXCLUSIVE], f"CREATE TABLE too {ACID} AS SELECT 1 AS k", "USE default")
    both.run("DROP DATABASE gone CASCADE")
    assert ["gone"] not in both.hive.rows("SHOW DATABASES")


def test_every_kind_of_write_removes_what_dead_writers_have_staged(both: Both, tmp_path: Path) -> None:
    both.run(f"CREATE TABLE swept (id int, v int) {ACID}", "INSERT INTO swept VALUES (1, 1)")
    with (tmp_path / "more.orc").open("wb") as file, pyorc.Writer(file, "struct<id:int,v:int>") as writer:
        writer.write((2, 2))
    writes = (
        ("START TRANSACTION", "UPDATE swept SET v = 7", "COMMIT"),
        (f"LOAD DATA LOCAL INPATH '{tmp_path}/more.orc' INTO TABLE swept",),
        ("TRUNCATE TABLE swept",),
    )
    for statements in writes:
        dead = dead_staging(both)
        both.run(*statements)
        assert not dead.exists(), statements
    assert both.read("swept") == []


def dead_staging(both: Both) -> Path:
    """The staging directory of a writer whose transaction was aborted."""
    catalog = both.session.catalog
    assert isinstance(catalog, SessionMetastore)
    store = catalog.shared
    assert isinstance(store, HiveMetastore)
    txn = store.open_txn()
    store.abort(txn)
    directory = both.hive.home.warehouse / f"{DATABASE}.db" / "swept" / f"{STAGING_DIRECTORY}_{txn}_9_0"
    directory.mkdir()
    (directory / "part-00000-x.orc").touch()
    return directory


@pytest.mark.nightly
@pytest.mark.parametrize("file_format", ["ORC", pytest.param("PARQUET", marks=pytest.mark.soak), "TEXTFILE"])
def test_a_partitioned_plain_table_is_written_by_both(both: Both, file_format: str) -> None:
    columns = "(id int, c char(4), d decimal(8,2), t timestamp, v varchar(3))"
    both.run(
        f"CREATE TABLE plain {columns} PARTITIONED BY (k string, n int) STORED AS {file_format}",
        "INSERT INTO plain VALUES (1, 'x', 1.50, timestamp '1960-02-29 23:59:58.5', 'abc', '/=% ż', 1),"
        " (2, NULL, NULL, NULL, NULL, NULL, NULL), (3, 'zz', -0.01, timestamp '2024-02-29 12:34:56', '', 'b', 2)",
        "INSERT INTO plain PARTITION (k = 'b', n) VALUES (4, 'y', 2, NULL, 'q', 2), (5, 'y', 2, NULL, 'q', 3)",
    )
    assert [row[0] for row in both.read("plain", "*")] == [1, 2, 3, 4, 5]
    both.hive.run(
        f"INSERT INTO {DATABASE}.plain PARTITION (k = 'b', n = 3) VALUES (6, 'hive', 3, NULL, 'h')",
        f"INSERT OVERWRITE TABLE {DATABASE}.plain PARTITION (k = 'new', n = 7) SELECT id, c, d, t, v"
        f" FROM {DATABASE}.plain WHERE id = 1",
    )
    assert [row[0] for row in both.read("plain", "*")] == [1, 1, 2, 3, 4, 5, 6]
    both.run(
        "INSERT OVERWRITE TABLE plain PARTITION (k, n) SELECT id + 3, c, d, t, v, k, n FROM plain WHERE k = 'b'",
        "TRUNCATE TABLE plain PARTITION (k = 'new')",
    )
    assert [row[0] for row in both.read("plain", "*")] == [1, 2, 6, 7, 8, 9]
    assert both.counted("plain") == [[6]]
