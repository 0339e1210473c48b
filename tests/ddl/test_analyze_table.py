"""ANALYZE TABLE: true numbers of rows and files, which the next write marks as out of date."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError
from acidsql.metastore.basic_statistics import ACCURATE_STATISTICS, STATISTICS_STATE
from acidsql.metastore.catalog import Partition
from acidsql.metastore.client import Metastore
from acidsql.metastore.transactions import Transactions
from acidsql.planner.ddl.ddl_plan import CollectStatistics, DdlPlan
from acidsql.planner.lock_requests import exclusive_lock
from acidsql.session import Session
from acidsql.spark.table_analysis import TableAnalysis
from acidsql.statements.results import Done
from acidsql.storage.local_files import LocalFiles

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
STATE = "COLUMN_STATS_ACCURATE"


def statistics(session: Session, table: str, *partition: str | None) -> Mapping[str, str]:
    return session.catalog.statistics(session.catalog.table("default", table), partition)


def is_accurate(session: Session, table: str, *partition: str | None) -> bool:
    return statistics(session, table, *partition).get(STATISTICS_STATE) == ACCURATE_STATISTICS


@pytest.mark.ci
def test_the_rows_and_files_of_an_acid_table_are_counted(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    assert statistics(session, "t") == {}
    session.execute("INSERT INTO t VALUES (1), (2), (3)")
    session.execute("DELETE FROM t WHERE id = 2")
    session.execute("ANALYZE TABLE t COMPUTE STATISTICS")
    found = statistics(session, "t")
    sizes = [path.stat().st_size for path in Path(session.warehouse, "t").glob("*/bucket_*")]
    assert found == {
        "numRows": "2",
        "numFiles": str(len(sizes)),
        "totalSize": str(sum(sizes)),
        STATE: '{"BASIC_STATS":"true"}',
    }
    assert next(iter(session.execute("EXPLAIN ANALYZE TABLE t COMPUTE STATISTICS").rows())) == (
        "ANALYZE TABLE default.t",
    )
    shown = list(session.execute("DESCRIBE FORMATTED t").rows())
    assert ("", "numRows", "2") in shown
    assert ("", STATE, '{"BASIC_STATS":"true"}') in shown


@pytest.mark.ci
@pytest.mark.parametrize(
    "write",
    [
        "INSERT INTO t VALUES (4)",
        "DELETE FROM t WHERE id = 1",
        "UPDATE t SET v = 1",
        "MERGE INTO t USING (SELECT 9 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (s.id, 0)",
        "TRUNCATE TABLE t",
        "INSERT OVERWRITE TABLE t SELECT 1, 1",
    ],
)
def test_a_write_makes_the_statistics_out_of_date(session: Session, write: str) -> None:
    session.execute(f"CREATE TABLE t (id int, v int) {ACID}")
    session.execute("INSERT INTO t (id) VALUES (1), (2)")
    session.execute("ANALYZE TABLE t COMPUTE STATISTICS")
    assert is_accurate(session, "t")
    session.execute(write.replace("VALUES (4)", "VALUES (4, 0)"))
    assert not is_accurate(session, "t")
    session.execute("ANALYZE TABLE t COMPUTE STATISTICS NOSCAN")
    assert not is_accurate(session, "t")
    [(count,)] = session.execute("SELECT count(*) FROM t").rows()
    session.execute("ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS id")
    assert (is_accurate(session, "t"), statistics(session, "t")["numRows"]) == (True, str(count))


@pytest.mark.ci
def test_partitions_have_statistics_of_their_own(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int) PARTITIONED BY (p int, q string) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 1, 'a'), (2, 1, 'a'), (3, 2, 'b/c'), (4, NULL, NULL)")
    session.execute("ALTER TABLE t ADD PARTITION (p = 3, q = 'none')")
    session.execute("ANALYZE TABLE t PARTITION (p, q) COMPUTE STATISTICS")
    rows_of = {p.values: statistics(session, "t", *p.values) for p in partitions(session)}
    assert {values: of["numRows"] for values, of in rows_of.items()} == {
        ("1", "a"): "2",
        ("2", "b/c"): "1",
        (None, None): "1",
        ("3", "none"): "0",
    }
    assert all(is_accurate(session, "t", *values) for values in rows_of)
    session.execute("INSERT INTO t VALUES (5, 2, 'b/c')")
    stale = {values for values in rows_of if not is_accurate(session, "t", *values)}
    assert stale == {("2", "b/c")}
    session.execute("ANALYZE TABLE t PARTITION (p = 2) COMPUTE STATISTICS")
    assert statistics(session, "t", "2", "b/c")["numRows"] == "2"
    shown = list(session.execute("DESCRIBE FORMATTED t PARTITION (p = 2, q = 'b/c')").rows())
    assert ("", "numRows", "2") in shown
    session.execute("ALTER TABLE t PARTITION (p = 2, q = 'b/c') RENAME TO PARTITION (p = 4, q = 'x')")
    assert not is_accurate(session, "t", "4", "x")
    with pytest.raises(AcidSqlError) as caught:
        session.execute("ANALYZE TABLE t PARTITION (p = 7) COMPUTE STATISTICS")
    assert caught.value.condition == "PARTITION_NOT_FOUND"


def partitions(session: Session) -> list[Partition]:
    return list(session.catalog.partitions(session.catalog.table("default", "t")))


def test_a_partition_that_is_spelled_otherwise_has_its_rows_counted(session: Session) -> None:
    session.execute("CREATE TABLE t (id int) PARTITIONED BY (p int) STORED AS ORC")
    session.execute("INSERT INTO t VALUES (1, 1), (2, 1)")
    table, directory = session.catalog.table("default", "t"), Path(session.warehouse, "t")
    (directory / "p=1").rename(directory / "p=01")
    session.catalog.drop_partitions(table, [("1",)])
    session.catalog.add_partitions(table, [Partition(("01",), str(directory / "p=01"))])
    session.execute("ANALYZE TABLE t COMPUTE STATISTICS")
    assert (statistics(session, "t", "01")["numRows"], is_accurate(session, "t", "01")) == ("2", True)
    session.catalog.add_partitions(table, [Partition(("1",), str(directory / "p=1"))])
    session.execute("ANALYZE TABLE t COMPUTE STATISTICS")
    assert not is_accurate(session, "t", "01")


def test_a_plain_table_has_statistics_until_it_is_written_or_moved(session: Session, tmp_path: Path) -> None:
    session.execute("CREATE TABLE t (id string) STORED AS TEXTFILE")
    (tmp_path / "in").write_text("a\nb\n")
    session.execute("ANALYZE TABLE t COMPUTE STATISTICS")
    assert statistics(session, "t") == {
        "numRows": "0",
        "numFiles": "0",
        "totalSize": "0",
        STATE: '{"BASIC_STATS":"true"}',
    }
    session.execute(f"LOAD DATA LOCAL INPATH '{tmp_path}/in' INTO TABLE t")
    assert not is_accurate(session, "t")
    session.execute("ANALYZE TABLE t COMPUTE STATISTICS")
    assert (statistics(session, "t")["numRows"], statistics(session, "t")["totalSize"]) == ("2", "4")
    session.execute("INSERT INTO t VALUES ('c')")
    assert not is_accurate(session, "t")
    session.execute("ANALYZE TABLE t COMPUTE STATISTICS")
    session.execute(f"ALTER TABLE t SET LOCATION '{tmp_path}/other'")
    assert not is_accurate(session, "t")


def test_a_write_during_the_count_is_counted_too(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    table = session.catalog.table("default", "t")
    plan = DdlPlan("ANALYZE TABLE", (exclusive_lock("default", "t"),), (CollectStatistics(table),))
    to_write: list[int] = []

    def count_and_write(counted: Table) -> Mapping[tuple[str | None, ...], int]:
        [(found,)] = session.execute(f"SELECT count(*) FROM {counted.qualified}").rows()
        if to_write:
            session.execute(f"INSERT INTO t VALUES ({to_write.pop()})")
        return {(): int(str(found))}

    transactions = Transactions(cast(Metastore, session.catalog))
    analysis = TableAnalysis(transactions, lambda location: LocalFiles(), count_and_write)
    to_write += [1, 2]
    analysis.run(plan)
    assert (statistics(session, "t")["numRows"], is_accurate(session, "t")) == ("2", True)
    to_write += range(20)
    analysis.run(plan)
    assert not is_accurate(session, "t")


def test_what_cannot_be_analyzed_is_refused(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    session.execute("CREATE VIEW v AS SELECT id FROM t")
    for statement, condition, code in (
        ("ANALYZE TABLE v COMPUTE STATISTICS", "ANALYZE_VIEW", 10091),
        ("ANALYZE TABLE t PARTITION (p = 1) COMPUTE STATISTICS", "NOT_PARTITIONED", 10241),
        ("ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS nothing", "COLUMN_NOT_FOUND", 10002),
        ("ANALYZE TABLE nothing COMPUTE STATISTICS", "TABLE_NOT_FOUND", 10001),
    ):
        with pytest.raises(AcidSqlError) as caught:
            session.execute(statement)
        assert (caught.value.condition, caught.value.hive_code) == (condition, code)


def test_given_statistics_are_stored_and_never_called_true(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    session.execute(f"CREATE TABLE p (id int) PARTITIONED BY (a int, b string) {ACID}")
    session.execute("INSERT INTO p VALUES (1, 1, 'x'), (2, 1, 'y'), (3, 2, 'x')")
    session.execute("ANALYZE TABLE t COMPUTE STATISTICS")
    session.execute("ALTER TABLE t UPDATE STATISTICS SET ('numRows'='1000', 'rawDataSize'='-1')")
    assert statistics(session, "t") == {"numRows": "1000", "rawDataSize": "-1", "numFiles": "0", "totalSize": "0"}
    assert ("", "numRows", "1000") in list(session.execute("DESCRIBE FORMATTED t").rows())
    session.execute("ALTER TABLE p PARTITION (a = 1) UPDATE STATISTICS SET ('numRows'='7')")
    assert [statistics(session, "p", a, b).get("numRows") for a, b in (("1", "x"), ("1", "y"), ("2", "x"))] == [
        "7",
        "7",
        None,
    ]
    session.execute("ANALYZE TABLE t COMPUTE STATISTICS")
    assert statistics(session, "t")["numRows"] == "0"
    assert is_accurate(session, "t")
    session.execute("CREATE TEMPORARY TABLE own (id int)")
    session.execute("ALTER TABLE own UPDATE STATISTICS SET ('numRows'='3')")
    assert ("", "numRows", "3") in list(session.execute("DESCRIBE FORMATTED own").rows())


def test_statistics_of_columns_are_not_kept(session: Session) -> None:
    session.execute(f"CREATE TABLE p (id int) PARTITIONED BY (a int) {ACID}")
    session.execute("ALTER TABLE p ADD PARTITION (a = 1)")
    for column in ("FOR COLUMN id", "FOR id"):
        text = f"ALTER TABLE p PARTITION (a = 1) UPDATE STATISTICS {column} SET ('numDVs'='5', 'avgColLen'='1.1')"
        done = session.execute(text)
        assert isinstance(done, Done)
        assert done.note == "Nothing was changed: acidsql keeps no statistics of columns."
    assert statistics(session, "p", "1") == {}


@pytest.mark.parametrize(
    ("statement", "condition", "message"),
    [
        (
            "UPDATE STATISTICS SET ('numFiles'='1')",
            "ALTER_REFUSED",
            "AlterTable UpdateStats numFiles failed because the only valid keys are numRows and rawDataSize",
        ),
        ("UPDATE STATISTICS SET ('numRows'='many')", "ALTER_REFUSED", "AlterTable numRows failed with value many"),
        (
            "UPDATE STATISTICS SET ('numRows'='9223372036854775808')",
            "ALTER_REFUSED",
            "AlterTable numRows failed with value 9223372036854775808",
        ),
        ("PARTITION (a = 1) UPDATE STATISTICS SET ('numRows'='1')", "NOT_PARTITIONED", None),
        ("UPDATE STATISTICS FOR COLUMN none SET ('numDVs'='5')", "COLUMN_NOT_FOUND", None),
    ],
)
def test_statistics_that_break_a_rule_are_refused(
    session: Session, statement: str, condition: str, message: str | None
) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    with pytest.raises(AcidSqlError) as caught:
        session.execute(f"ALTER TABLE t {statement}")
    assert caught.value.condition == condition
    assert message in (None, caught.value.message)
    assert statistics(session, "t") == {}


def test_statistics_are_given_to_partitions_that_exist(session: Session) -> None:
    session.execute(f"CREATE TABLE p (id int) PARTITIONED BY (a int) {ACID}")
    for place, condition in (("", "ALTER_REFUSED"), ("PARTITION (a = 1)", "PARTITION_NOT_FOUND")):
        with pytest.raises(AcidSqlError) as caught:
            session.execute(f"ALTER TABLE p {place} UPDATE STATISTICS SET ('numRows'='1')")
        assert caught.value.condition == condition
