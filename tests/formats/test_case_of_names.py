"""Files of other writers, whose column names differ from the table's in case."""

from __future__ import annotations

from pathlib import Path

import pyorc
import pytest
from pyspark.sql import Row, SparkSession

from acidsql.session import Session
from tests.selection import core
from tests.support.acid_files import event_files

ROWS = [Row(id=1, s=Row(a=2, b=[Row(c="x")])), Row(id=3, s=Row(a=None, b=None)), Row(id=4, s=None)]
COLUMNS = "id int, s struct<a:int,b:array<struct<c:string>>>"
LOWER = "id:int,s:struct<a:int,b:array<struct<c:string>>>"
CAPITALS = "ID:int,S:struct<A:int,B:array<struct<C:string>>>"
INSERT = (
    "INSERT INTO t SELECT 1, named_struct('a', 2, 'b', array(named_struct('c', 'x'))) UNION ALL"
    " SELECT 3, named_struct('a', CAST(NULL AS INT), 'b', CAST(NULL AS array<struct<c:string>>)) UNION ALL"
    " SELECT 4, CAST(NULL AS struct<a:int,b:array<struct<c:string>>>)"
)
ACID = ["operation", "originalTransaction", "bucket", "rowId", "currentTransaction"]
TYPES = ["int", "bigint", "int", "bigint", "bigint"]


def rewritten(table: Path, names: list[str], columns: str) -> None:
    """Rewrites the events of the table's only file under other names."""
    (file,) = event_files(table)
    acid = ",".join(f"{name}:{kind}" for name, kind in zip(names, TYPES, strict=True))
    with (table / file.directory / file.name).open("wb") as written:
        writer = pyorc.Writer(written, f"struct<{acid},row:struct<{columns}>>")
        writer.writerows(file.events)
        writer.close()
    for check_sum in table.rglob(".*.crc"):
        check_sum.unlink()


@pytest.mark.ci
@pytest.mark.parametrize("names", core([ACID, [name.lower() for name in ACID]], lambda names: names != ACID))
@pytest.mark.parametrize("columns", [LOWER, CAPITALS])
def test_acid_files_are_read_whatever_the_case_of_their_names(
    session: Session, tmp_path: Path, names: list[str], columns: str
) -> None:
    session.execute(f"CREATE TRANSACTIONAL TABLE t ({COLUMNS})")
    session.execute(INSERT)
    rewritten(tmp_path / "warehouse" / "t", names, columns)
    assert session.sql("SELECT * FROM t ORDER BY id").collect() == ROWS
    assert session.sql("SELECT sum(s.a), count(s), count(*), sum(row__id.rowid) FROM t").collect() == [(2, 2, 3, 3)]
    assert session.sql("SELECT s.b.c FROM t WHERE S.A = 2").collect() == [(["x"],)]
    session.execute("DELETE FROM t WHERE id = 4")
    session.execute("UPDATE t SET id = 5 WHERE s.a IS NULL")
    expected = [ROWS[0], Row(id=5, s=ROWS[1].s)]
    assert session.sql("SELECT * FROM t ORDER BY id").collect() == expected
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    assert session.sql("SELECT * FROM t ORDER BY id").collect() == expected


@pytest.mark.ci
@pytest.mark.parametrize("file_format", core(["orc", "parquet"], lambda name: name == "orc"))
@pytest.mark.parametrize("properties", ["", " TBLPROPERTIES ('transactional'='true')"])
def test_plain_files_are_read_whatever_the_case_of_their_names(
    session: Session, spark: SparkSession, tmp_path: Path, file_format: str, properties: str
) -> None:
    if properties and file_format == "parquet":
        properties = properties.replace(")", ", 'transactional_properties'='insert_only')")
    spark.createDataFrame(ROWS, CAPITALS).coalesce(1).write.format(file_format).save(str(tmp_path / "files"))
    session.execute(f"CREATE TABLE t ({COLUMNS}) STORED AS {file_format}{properties}")
    session.execute(f"LOAD DATA LOCAL INPATH '{tmp_path / 'files'}' INTO TABLE t")
    assert session.sql("SELECT * FROM t ORDER BY id").collect() == ROWS
    assert session.sql("SELECT sum(s.a), count(s), count(*) FROM t WHERE Id > 0").collect() == [(2, 2, 3)]
