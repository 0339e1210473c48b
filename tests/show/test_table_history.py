"""DESCRIBE HISTORY: the versions of a table, what made them, and whether they can still be read."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from acidsql.acid.write_ids import WriteId
from acidsql.session import Session
from acidsql.snapshot.earlier_versions import History
from acidsql.snapshot.readable_versions import ReadableVersions
from acidsql.snapshot.table_history import directories
from acidsql.snapshot.version import Version
from tests.answers import fails, rows
from tests.support.golden_cases import golden_tables

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
MERGE = (
    "MERGE INTO t USING (SELECT 1 AS id, 'm' AS v UNION ALL SELECT 9, 'n') s ON t.id = s.id"
    " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
)


def history(session: Session, table: str = "t", limit: str = "") -> list[tuple[object, ...]]:
    """Version, operation and counts, from the oldest one on."""
    found = rows(session, f"DESCRIBE HISTORY {table}{limit}")
    return [(int(str(r[0])), *r[3:7]) for r in reversed(found)]


@pytest.mark.ci
@pytest.mark.parametrize("may_use_arrow", [True, False], ids=["arrow", "spark"])
def test_each_statement_is_a_version_with_its_counts(session: Session, tmp_path: Path, may_use_arrow: bool) -> None:
    session._engines.steering.may_use_arrow = may_use_arrow
    session.execute(f"CREATE TABLE t {ACID} AS SELECT 1 AS id, 'a' AS v")
    session.execute("INSERT INTO t VALUES (2, 'b'), (3, 'c')")
    session.execute("UPDATE t SET v = 'x' WHERE id > 1")
    session.execute("UPDATE t SET v = 'x' WHERE id > 100")
    session.execute("DELETE FROM t WHERE id = 3")
    session.execute(MERGE)
    session.execute("START TRANSACTION")
    session.execute("INSERT INTO t VALUES (4, 'd')")
    session.execute("INSERT INTO t VALUES (5, 'd')")
    session.execute("DELETE FROM t WHERE id < 5")
    session.execute("COMMIT")
    session.execute("START TRANSACTION")
    session.execute("INSERT INTO t VALUES (6, 'd')")
    session.execute("ROLLBACK")
    (tmp_path / "in.txt").write_text("7\x01e\n")
    session.execute("CREATE TABLE text (id int, v string) STORED AS TEXTFILE")
    session.execute(f"LOAD DATA LOCAL INPATH '{tmp_path}/in.txt' INTO TABLE text")
    session.execute("INSERT OVERWRITE TABLE t SELECT * FROM text")
    session.execute("TRUNCATE TABLE t")
    session.execute("FROM text INSERT INTO t SELECT * INSERT INTO t SELECT id + 1, v")
    assert history(session) == [
        (1, "CREATE TABLE AS SELECT", "1", "0", "0"),
        (2, "INSERT", "2", "0", "0"),
        (3, "UPDATE", "0", "2", "0"),
        (4, "UPDATE", "0", "0", "0"),
        (5, "DELETE", "0", "0", "1"),
        (6, "MERGE", "1", "1", "0"),
        (7, "INSERT, DELETE", "2", "0", "3"),
        (9, "OVERWRITE", "1", "0", None),
        (10, "TRUNCATE", "0", "0", None),
        (11, "INSERT", "2", "0", "0"),
    ]
    assert [r[0] for r in rows(session, "DESCRIBE HISTORY t LIMIT 2")] == ["11", "10"]
    assert [r[8] for r in rows(session, "DESCRIBE HISTORY t LIMIT 3")] == ["true", "true", "false"]
    assert {r[9] for r in rows(session, "DESC HISTORY default.t")} == {"metastore"}


@pytest.mark.ci
def test_loads_partitions_and_streams_are_versions(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE TABLE t (id int) PARTITIONED BY (p string) {ACID}")
    (tmp_path / "in.txt").write_text("7\n8\n")
    load = "INPUTFORMAT 'org.apache.hadoop.mapred.TextInputFormat' SERDE"
    serde = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
    session.execute(f"LOAD DATA LOCAL INPATH '{tmp_path}/in.txt' INTO TABLE t PARTITION (p='a') {load} '{serde}'")
    session.execute("INSERT INTO t PARTITION (p) VALUES (1, 'a'), (2, 'b')")
    session.execute("ALTER TABLE t DROP PARTITION (p='b')")
    with session.stream("t", commit_rows=2, batch_size=3) as stream:
        stream.write([(3, "a"), (4, "a")])
        stream.write([(5, "c"), (6, "c")])
    assert history(session) == [
        (1, "LOAD", "2", "0", "0"),
        (2, "INSERT", "2", "0", "0"),
        (3, "DROP PARTITION", None, None, None),
        (4, "STREAM", "2", "0", "0"),
        (5, "STREAM", "2", "0", "0"),
        (6, "STREAM", "0", "0", "0"),
    ]
    session.execute("ALTER TABLE t PARTITION (p='a') COMPACT 'minor' AND WAIT")
    assert history(session)[-1] == (6, "COMPACTION MINOR", None, None, None)


def test_what_is_readable_is_what_a_reader_accepts(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID[:-1]}, 'transactional_properties'='insert_only')")
    for number in range(6):
        session.execute(f"INSERT INTO t VALUES ({number})")
        if number in (1, 4):
            kind = "major" if number == 1 else "minor"
            session.execute(f"ALTER TABLE t COMPACT '{kind}' AND WAIT")
    store, files = session._metastore, session._files.of
    table, txns = store.table("default", "t"), store.valid_txns()
    now = store.valid_write_ids(table, txns)
    readable = ReadableVersions.of((d.name for d in directories(store, files, table)), table, now, txns, ())
    listing = files(table.location).list_below(files(table.location).resolve(table.location))
    accepted = [2, 5, 6]
    for version in map(WriteId, range(now.high_watermark + 1)):
        assert (version in readable) == (version in accepted)
        check = partial(History(Version(version), table, now, txns, None).passed_over, listing, ())
        if version in accepted:
            check()
        else:
            fails("NOT_ENOUGH_HISTORY", check)
    assert {r[0]: r[8] for r in rows(session, "DESCRIBE HISTORY t")}["4"] == "false"


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("aborted_open", "1 INSERT true, 3 WRITE true, 5 INSERT true"),
        ("insert_only_orc", "1 INSERT false, 2 INSERT false, 4 INSERT false, 5 OVERWRITE true, 6 INSERT true"),
        ("truncate", "1 INSERT false, 2 TRUNCATE true, 3 INSERT true"),
        (
            "major_compacted.before_clean",
            "1 INSERT false, 2 INSERT false, 3 WRITE false, 4 DELETE true, 4 COMPACTION MAJOR true",
        ),
        ("minor_compacted.after_clean", "4 COMPACTION MINOR true"),
    ],
)
def test_directories_tell_of_writes_that_nobody_has_recorded(
    case: str, expected: str, session: Session, tmp_path: Path
) -> None:
    (golden,) = (table for table in golden_tables() if table.case == case)
    name = golden.adopt(session, tmp_path)
    found = rows(session, f"DESCRIBE HISTORY {name}")
    assert ", ".join(f"{r[0]} {r[3]} {r[8]}" for r in reversed(found)) == expected
    assert {r[9] for r in found} == {"directory"}
    session.execute(f"TRUNCATE TABLE {name}")
    assert [r[3] for r in rows(session, f"DESCRIBE HISTORY {name}")][:2] == ["TRUNCATE", found[0][3]]


@pytest.mark.ci
@pytest.mark.parametrize("may_use_arrow", [True, False], ids=["arrow", "spark"])
def test_the_files_of_acidsql_tell_what_wrote_them(session: Session, tmp_path: Path, may_use_arrow: bool) -> None:
    session._engines.steering.may_use_arrow = may_use_arrow
    session.execute(f"CREATE TABLE s (id int, v string) {ACID}")
    session.execute("INSERT INTO s VALUES (1, 'a'), (2, 'b')")
    session.execute("UPDATE s SET v = 'x' WHERE id = 1")
    with session.stream("s", commit_rows=1, batch_size=2) as stream:
        stream.write([(3, "c")])
        stream.write([(4, "d")])
    session.execute("START TRANSACTION")
    session.execute("INSERT INTO s VALUES (5, 'e')")
    session.execute("DELETE FROM s WHERE id = 2")
    session.execute("COMMIT")
    session.execute("INSERT OVERWRITE TABLE s SELECT id, v FROM s")
    recorded = rows(session, "DESCRIBE HISTORY s")
    (tmp_path / "warehouse" / "s").rename(tmp_path / "moved")
    located = ACID.replace("TBL", f"LOCATION '{tmp_path}/moved' TBL")
    session.execute(f"CREATE TABLE t (id int, v string) {located}")
    told = rows(session, "DESCRIBE HISTORY t")
    assert [(r[0], r[3]) for r in told] == [
        ("6", "OVERWRITE"),
        ("5", "INSERT, DELETE"),
        ("4", "STREAM"),
        ("3", "STREAM"),
        ("2", "UPDATE"),
        ("1", "INSERT"),
    ]
    assert {(r[7], r[9]) for r in told} == {(recorded[0][7], "file")}
    of_streams = ("3", "4")  # whose transactions share a file
    kept = {r[0]: r[2] for r in recorded if r[0] not in of_streams}
    assert {r[0]: r[2] for r in told if r[2] is not None} == kept
    assert all(str(one[1]) <= str(other[1]) for one, other in zip(told, recorded, strict=True) if one[2] is not None)


def test_views_plain_tables_and_unknown_names_are_refused(session: Session) -> None:
    session.execute("CREATE TABLE plain (id int)")
    session.execute("CREATE VIEW v AS SELECT * FROM plain")
    fails("NOT_A_TABLE", lambda: session.execute("DESCRIBE HISTORY v"))
    fails("INVALID_PARAMETER", lambda: session.execute("DESCRIBE HISTORY plain"))
    fails("TABLE_NOT_FOUND", lambda: session.execute("DESCRIBE HISTORY nothing"))
    session.execute("CREATE TABLE history (mine int)")
    assert [row[0] for row in session.execute("DESCRIBE history").rows()] == ["mine"]
    session.execute(f"CREATE TEMPORARY TABLE temporary (id int) {ACID}")
    session.execute("INSERT INTO temporary VALUES (1)")
    assert history(session, "temporary") == [(1, "INSERT", None, None, None)]
