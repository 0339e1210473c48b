"""INSERT OVERWRITE DIRECTORY: the rows of a query as files of a directory that no table owns."""

from __future__ import annotations

import datetime
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from acidsql.session import Session
from tests.answers import fails, files_below

_VALUES = (
    "SELECT CAST(1 AS tinyint), 2, true, 0.1D, 'x\"é/', CAST('bin' AS binary), date '0001-01-01',"
    " timestamp '2024-02-29 12:34:56.5', 1.50, CAST('ab' AS varchar(3)), CAST('a' AS char(3)), NULL,"
    " array(1, NULL), map('k', 1), named_struct('x', 1, 'y', CAST(NULL AS string))"
)


def text(directory: Path) -> str:
    return "".join(path.read_text() for path in sorted(directory.iterdir()) if path.name.startswith("0"))


def test_the_files_are_text_with_hives_separators_if_no_clause_says_otherwise(session: Session, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = session.execute(f"INSERT OVERWRITE LOCAL DIRECTORY '{out}' {_VALUES}")
    assert text(out) == (
        '1\x012\x01true\x010.1\x01x"é/\x01Ymlu\x010001-01-01\x012024-02-29 12:34:56.5\x011.5\x01ab\x01a  \x01\\N'
        "\x011\x02\\N\x01k\x031\x011\x02\\N\n"
    )
    assert files_below(out) == ["000000_0"]
    assert done.counts is not None
    assert done.counts.inserted == 1
    separated = "ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' NULL DEFINED AS '' STORED AS TEXTFILE"
    session.execute(f"INSERT OVERWRITE DIRECTORY '{out}' {separated} SELECT 1, NULL, 'a'")
    assert text(out) == "1,,a\n"
    session.execute(f"INSERT OVERWRITE DIRECTORY '{out}' STORED AS JSONFILE SELECT 1 AS a, date '2024-02-29', array(2)")
    assert text(out) == '{"_col0":1,"_col1":"2024-02-29","_col2":[2]}\n'
    csv = "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde'"
    session.execute(f"INSERT OVERWRITE DIRECTORY '{out}' {csv} SELECT 1, 'a,b'")
    assert text(out) == '"1","a,b"\n'
    assert files_below(out) == ["000000_0"]


def test_orc_and_parquet_files_have_columns_by_place(session: Session, tmp_path: Path) -> None:
    session.execute("CREATE TABLE t (id int, day date) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO t VALUES (1, date '2024-02-29'), (2, NULL)")
    session.execute("DELETE FROM t WHERE id = 2")
    directory = f"DIRECTORY '{tmp_path}/orc' STORED AS ORC"
    session.execute(f"WITH c AS (SELECT * FROM t) INSERT OVERWRITE {directory} SELECT * FROM c")
    (found,) = (tmp_path / "orc").glob("0*")
    expected = {"_col0": [1], "_col1": [datetime.date(2024, 2, 29)]}
    assert orc.ORCFile(str(found)).read().to_pydict() == expected
    session.execute(f"INSERT OVERWRITE DIRECTORY '{tmp_path}/parquet' STORED AS PARQUET SELECT * FROM t")
    (found,) = (tmp_path / "parquet").glob("0*")
    assert pq.read_table(found).to_pydict() == expected


def test_the_old_content_goes_only_after_the_query_has_succeeded(session: Session, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "sub").mkdir(parents=True)
    (out / "000000_0").write_text("old\n")
    (out / "sub" / "f").write_text("old\n")
    (out / "_SUCCESS").write_text("")
    broken = "SELECT assert_true(id < 0) FROM range(3)"
    with pytest.raises(Exception, match="is not true"):
        session.execute(f"INSERT OVERWRITE DIRECTORY '{out}' {broken}")
    assert files_below(out) == ["000000_0", "_SUCCESS", "sub/f"]
    session.execute(f"INSERT OVERWRITE DIRECTORY '{out}' SELECT 5")
    assert text(out) == "5\n"
    assert files_below(out) == ["000000_0", "_SUCCESS"]
    assert not (out / "sub").exists()
    session.execute(f"INSERT OVERWRITE DIRECTORY '{out}' SELECT 5 WHERE false")
    assert files_below(out) == ["_SUCCESS"]


def test_a_directory_of_a_table_a_database_or_the_metastore_is_refused(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE EXTERNAL TABLE e (a int) STORED AS ORC LOCATION '{tmp_path}/mine/e'")
    session.execute(f"CREATE DATABASE d LOCATION '{tmp_path}/db'")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    for path in ("mine/e", "mine/e/x", "mine", "link/e/y", "db", "db/x", "warehouse", "warehouse/new", ""):
        statement = f"INSERT OVERWRITE DIRECTORY '{tmp_path}/{path}' SELECT 1"
        fails("LOCATION_TAKEN", partial(session.execute, statement))
    (tmp_path / "file").write_text("x")
    fails("ILLEGAL_PATH", lambda: session.execute(f"INSERT OVERWRITE DIRECTORY '{tmp_path}/file' SELECT 1"))
    fails("ILLEGAL_PATH", lambda: session.execute("INSERT OVERWRITE DIRECTORY '' SELECT 1"))
    local = "INSERT OVERWRITE LOCAL DIRECTORY 'hdfs://host/x' SELECT 1"
    fails("ILLEGAL_PATH", lambda: session.execute(local))
    avro = f"INSERT OVERWRITE DIRECTORY '{tmp_path}/out' STORED AS AVRO SELECT 1"
    fails("NOT_YET_SUPPORTED", lambda: session.execute(avro))
    assert not (tmp_path / "out").exists()


def test_it_is_explained_and_refused_in_a_transaction(session: Session, tmp_path: Path) -> None:
    session.execute("CREATE TABLE t (a int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    statement = f"INSERT OVERWRITE DIRECTORY '{tmp_path}/out' SELECT a FROM t"
    explained = session.explain(statement)
    assert explained.startswith(f"INSERT OVERWRITE DIRECTORY {tmp_path}/out\n")
    assert "files of the directory" in explained
    session.execute("START TRANSACTION")
    fails("IN_TRANSACTION", lambda: session.execute(statement))
    assert not (tmp_path / "out").exists()
