"""MERGE with a small source, and UPDATE and DELETE with a subquery, read only partitions and files that can have its
keys. The result does not change."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest
from pyspark.sql import SparkSession

from acidsql.arrow.write import merged_rows
from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from acidsql.snapshot import key_ranges, statement_snapshots
from acidsql.snapshot.file_skipping import FileSkipping
from acidsql.spark import target_pruning
from acidsql.spark.scan import table_scan
from tests.answers import rows
from tests.metastore.patience import eventually
from tests.selection import every

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
DELETE = "WHEN MATCHED THEN DELETE"
UPSERT = "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.v{})"
INSERT = "WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.v{})"


KINDS = {
    "by_number": ("int", "CAST(id DIV 10 - 2 AS INT)", "-2", "3"),
    "by_text": ("string", "CONCAT('p ', id DIV 10)", "'p 0'", "'p 5'"),
    "by_day": ("date", "DATE_ADD(DATE '2024-01-01', CAST(id DIV 10 AS INT))", "DATE '2024-01-01'", "DATE '2024-01-06'"),
}
"""The kinds of partitions: their type, the value of a row, and two values in the source."""


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Partitions of ten rows by number, by text and by day, and files of ten rows with neighbouring keys."""
    place = tmp_path_factory.mktemp("pruning")
    with connect(place / "warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark) as opened:
        numbers = "SELECT id k, 'old' v, {} p FROM range(0, 100, 1, 1)"
        for name, (kind, value, *of_source) in KINDS.items():
            opened.execute(f"CREATE TABLE {name} (k bigint, v string) PARTITIONED BY (p {kind}) {ACID}")
            opened.execute(f"INSERT INTO {name} {numbers.format(value)}")
            opened.execute(f"INSERT INTO {name} VALUES (1000, 'null', NULL)")
            opened.execute(f"CREATE TABLE s_{name} (k int, v string, p {kind}) {ACID}")
            one, other = of_source
            values = f"(3, 'new', {one}), (55, 'new', {other}), (1000, 'new', NULL), (56, 'new', {one})"
            opened.execute(f"INSERT INTO s_{name} VALUES {values}")
        opened.execute(f"CREATE TABLE files (k bigint, v string) {ACID}")
        for first in range(0, 100, 10):
            opened.execute(f"INSERT INTO files SELECT id, 'old' FROM range({first}, {first + 10}, 1, 1)")
        opened.execute("INSERT INTO files VALUES (NULL, 'null')")
        yield opened


@pytest.fixture(params=["without Spark's join", "by Spark"])
def read(request: pytest.FixtureRequest, session: Session, monkeypatch: pytest.MonkeyPatch) -> Read:
    monkeypatch.setattr(session._engines.steering, "may_use_arrow", request.param != "by Spark")
    return Read(session, monkeypatch)


class Read:
    """What statements read of their target, in a transaction that is rolled back."""

    def __init__(self, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
        self.session = session
        self.monkeypatch = monkeypatch
        self.partitions: set[tuple[str | None, ...]] = set()
        self.files = 0
        select, of = statement_snapshots.StatementSnapshots._select, merged_rows.TargetRows.of

        def selecting(snapshots: Any, table: Any, read: Any, files: Any, partitions: Sequence[Any]) -> Any:
            self.partitions |= {p.values for p in partitions if not table.name.startswith("s_")}
            return select(snapshots, table, read, files, partitions)

        class Counting(FileSkipping):
            def files(skipping, files: Any) -> Any:  # noqa: N805
                found = super().files(files)
                self.files += len(found) if skipping.scan.is_target else 0
                return found

        def target_rows(*arguments: Any) -> Any:
            found = of(*arguments)
            self.files = 0 if found is None else len(found.prepared.files)
            return found

        monkeypatch.setattr(statement_snapshots.StatementSnapshots, "_select", selecting)
        monkeypatch.setattr(table_scan, "FileSkipping", Counting)
        monkeypatch.setattr(merged_rows.TargetRows, "of", staticmethod(target_rows))

    def after(self, statement: str, table: str, *, prunes: bool) -> tuple[list[tuple[object, ...]], object]:
        """The table after the statement, and its counts."""
        self.monkeypatch.setattr(target_pruning, "_LARGE", 0 if prunes else 1 << 60)
        self.monkeypatch.setattr(key_ranges, "_MANY_PARTITIONS", 1 if prunes else 1 << 60)
        self.session.execute("START TRANSACTION")
        try:
            self.partitions, self.files = set(), 0
            counts = self.session.execute(statement).counts
            partitions, files = set(self.partitions), self.files
            found = sorted(rows(self.session, f"SELECT * FROM {table}"), key=repr)
            self.partitions, self.files = partitions, files
            return found, counts
        finally:
            with suppress(AcidSqlError):  # a failed statement has rolled back
                self.session.execute("ROLLBACK")

    def both(self, statement: str, table: str) -> None:
        """Runs the statement in both ways, with the same result; keeps what it reads with pruning."""
        expected = self.after(statement, table, prunes=False)
        assert self.after(statement, table, prunes=True) == expected
        assert expected[1]


@pytest.mark.ci
@pytest.mark.parametrize("table", KINDS)
@pytest.mark.parametrize("clauses", every(3, [UPSERT.format(", s.p"), DELETE, INSERT.format(", s.p")]))
def test_only_partitions_of_the_source_are_listed(table: str, clauses: str, read: Read) -> None:
    read.both(f"MERGE INTO {table} t USING s_{table} s ON t.p = s.p AND t.k = s.k {clauses}", table)
    assert len(read.partitions) == 2


@pytest.mark.nightly
def test_a_source_without_rows_or_keys_reads_no_partition(read: Read) -> None:
    for rows_of_source in ("k < 0", "p IS NULL"):
        source = f"(SELECT * FROM s_by_number WHERE {rows_of_source}) s"
        on = "t.p = s.p AND t.k = s.k"
        read.both(f"MERGE INTO by_number t USING {source} ON {on} {UPSERT.format(', 7')}", "by_number")
        assert not read.partitions


@pytest.mark.ci
@pytest.mark.parametrize("clauses", every(3, [DELETE, UPSERT.format(""), INSERT.format("")]))
def test_only_files_with_keys_of_the_source_are_read(clauses: str, read: Read) -> None:
    source = "SELECT id k, 'new' v FROM range(28, 33, 1, 1) UNION ALL SELECT NULL, 'new' UNION ALL SELECT 500L, 'new'"
    read.both(f"MERGE INTO files t USING ({source}) s ON t.k = s.k {clauses}", "files")
    assert read.files == 3  # that of the NULL has no bounds


@pytest.mark.ci
@pytest.mark.parametrize(
    "merge",
    every(
        3,
        [
            # Rows of the target that match nothing count.
            f"USING s ON t.p = s.p AND t.k = s.k {DELETE}"
            " WHEN NOT MATCHED BY SOURCE AND t.k = 99 THEN UPDATE SET v = 'x'",
            # What is compared is not the column itself.
            f"USING s ON t.p + 0 = s.p AND t.k = s.k {UPSERT.format(', s.p')}",
            f"USING s ON (t.p = s.p OR t.k = s.k) AND t.k = s.k {UPSERT.format(', s.p')}",
            # NULL equals NULL here, and the partition of NULLs has no other key.
            f"USING s ON t.p <=> s.p AND t.k = s.k {UPSERT.format(', s.p')}",
        ],
    ),
)
def test_all_partitions_are_read_where_others_may_match(merge: str, read: Read) -> None:
    read.both(f"MERGE INTO by_number t {merge.replace('USING s', 'USING s_by_number s')}", "by_number")
    assert len(read.partitions) == 11


@pytest.mark.ci
@pytest.mark.parametrize("change", ["DELETE FROM by_day", "UPDATE by_day SET v = concat(v, 'x')"])
@pytest.mark.parametrize(
    ("where", "partitions"),
    every(
        5,
        [
            ("k > 2 AND p IN (SELECT p FROM s_by_day)", 2),
            ("(p, k) IN (SELECT p, k FROM s_by_day)", 2),
            ("p IN (SELECT p FROM s_by_day) AND by_day.p IN (SELECT p FROM s_by_day WHERE k > 10)", 2),
            ("p IN (SELECT p FROM s_by_day WHERE k = 55)", 1),
            ("p IN (WITH c AS (SELECT max(p) p FROM s_by_day) SELECT p FROM c)", 1),
            # The subquery has no values of its own, or not for all rows.
            ("p IN (SELECT p FROM s_by_day WHERE s_by_day.k = by_day.k)", 11),
            ("p NOT IN (SELECT p FROM s_by_day WHERE p IS NOT NULL)", 11),
            ("p IN (SELECT p FROM s_by_day) OR k = 99", 11),
            ("p IN (SELECT p FROM s_by_day WHERE rand() < 2)", 11),
            ("date_add(p, 1) IN (SELECT p FROM s_by_day)", 11),
        ],
    ),
)
def test_subqueries_of_update_and_delete(
    change: str, where: str, partitions: int, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Read(session, monkeypatch)
    read.both(f"{change} WHERE {where}", "by_day")
    assert len(read.partitions) == partitions


def test_a_source_that_may_change_is_read_once(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session._engines.steering, "may_use_arrow", False)
    read = Read(session, monkeypatch)
    source = "SELECT k, v, p FROM s_by_number WHERE rand() < 2"
    read.both(
        f"MERGE INTO by_number t USING ({source}) s ON t.p = s.p AND t.k = s.k WHEN MATCHED THEN DELETE", "by_number"
    )
    assert len(read.partitions) == 11


@pytest.mark.ci
def test_two_source_rows_for_one_row_are_still_an_error(read: Read) -> None:
    source = "SELECT * FROM s_by_number UNION ALL SELECT 3, 'other', -2"
    with pytest.raises(AcidSqlError, match="Cardinality Violation"):
        read.after(
            f"MERGE INTO by_number t USING ({source}) s ON t.p = s.p AND t.k = s.k {DELETE}", "by_number", prunes=True
        )


@pytest.mark.ci
def test_an_error_of_the_source_is_one_of_the_statement(read: Read) -> None:
    source = "SELECT k, v, CAST(raise_error('boom') AS INT) p FROM s_by_text"
    with pytest.raises(AcidSqlError, match="boom"):
        read.after(f"MERGE INTO by_number t USING ({source}) s ON t.p = s.p {DELETE}", "by_number", prunes=True)


def test_explain_says_it(session: Session) -> None:
    text = session.explain(f"MERGE INTO by_day t USING by_text s ON t.k = s.k AND t.p = to_date(s.p) {DELETE}")
    assert "only partitions, files and stripes with values of k and p that a small source has" in text


def test_a_statement_that_is_cancelled_while_its_source_is_read_ends(read: Read) -> None:
    large = "FROM range(0, 3000000, 1, 2) a CROSS JOIN range(0, 2000000, 1, 2) b WHERE a.id + b.id <> 17"
    source = f"SELECT max(a.id * b.id % 7) k {large}"
    cancelling = threading.Thread(target=cancel_when_running, args=(read.session,))
    cancelling.start()
    with pytest.raises(AcidSqlError, match="cancelled"):
        read.after(
            f"MERGE INTO files t USING ({source}) s ON t.k = s.k WHEN NOT MATCHED THEN INSERT VALUES (s.k, 'new')",
            "files",
            prunes=True,
        )
    cancelling.join()


def cancel_when_running(session: Session) -> None:
    eventually(lambda: session._engine.tasks()[1] > 0)
    session.cancel()
