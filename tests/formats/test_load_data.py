"""LOAD DATA: files become files of a table unchanged, or the statement fails and they stay in their place."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc, parquet

from acidsql.acid.hive_types import parse_type
from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError
from acidsql.metastore.lock_components import LockComponent, Operation
from acidsql.metastore.locks import Patience
from acidsql.session import Session
from acidsql.storage.footer_cache import read_file_tail
from acidsql.storage.local_files import LocalFiles
from acidsql.storage.orc.column_types import hive_columns
from tests.answers import files_below, rows
from tests.support.golden_cases import GOLDEN, golden_tables, read_golden_rows, sorted_golden_rows

ACID = "TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"


def write_orc(path: Path, ids: list[int], names: tuple[str, str] = ("id", "v")) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    orc.write_table(pa.table({names[0]: pa.array(ids, pa.int32()), names[1]: [f"v{i}" for i in ids]}), str(path))
    return path


@pytest.fixture
def acid(session: Session) -> Session:
    session.execute(f"CREATE TABLE t (id int, v string) STORED AS ORC {ACID}")
    return session


def table_of(tmp_path: Path) -> Path:
    return tmp_path / "warehouse/t"


# ------------------------------------------------------------------------------------------------ transactional tables


def test_loaded_rows_have_the_row_ids_and_files_that_hive_gives(session: Session, tmp_path: Path) -> None:
    """tests/golden/load_data/case.sql, with the file that Hive loaded."""
    golden = next(t for t in golden_tables() if t.id == "load_data/t")
    loaded = GOLDEN / "load_data/warehouse/t/base_0000004/000000_0"
    session.execute(f"CREATE TABLE t (id int, name string) STORED AS ORC {ACID}")
    session.execute("INSERT INTO t VALUES (0, 'first')")
    first = write_orc(tmp_path / "in/some.orc", [1, 2, 3], ("id", "name"))
    session.execute(f"LOAD DATA INPATH '{first}' INTO TABLE t")
    session.execute("UPDATE t SET name = 'u' WHERE id = 2")
    assert rows(session, "SELECT row__id, * FROM t ORDER BY id") == [
        ((1, 536870912, 0), 0, "first"),
        ((2, 536870912, 0), 1, "v1"),
        ((3, 536870912, 0), 2, "u"),
        ((2, 536870912, 2), 3, "v3"),
    ]
    shutil.copyfile(loaded, tmp_path / "in/again")
    result = session.execute(f"LOAD DATA INPATH '{tmp_path}/in/again' OVERWRITE INTO TABLE t")
    assert (result.operation, result.counts and result.counts.inserted, result.write_ids) == (
        "LOAD DATA",
        2,
        {"default.t": 4},
    )
    session.execute("DELETE FROM t WHERE id = 5")
    expected = golden.expected_row_ids()
    assert expected
    assert sorted_golden_rows(read_golden_rows(session, "t", table_of(tmp_path))) == sorted_golden_rows(expected)
    assert files_below(table_of(tmp_path))[:2] == [
        "base_0000004/000000_0",
        "delete_delta_0000003_0000003_0000/_orc_acid_version",
    ]
    assert files_below(tmp_path / "in") == []


def test_local_files_are_copied_and_numbered_in_their_order(acid: Session, tmp_path: Path) -> None:
    for name, ids in {"b.orc": [2], "a.orc": [1], "_SUCCESS": [9], ".hidden": [9]}.items():
        write_orc(tmp_path / "in" / name, ids)
    acid.execute(f"LOAD DATA LOCAL INPATH 'file://{tmp_path}/in/' INTO TABLE t")
    acid.execute(f"LOAD DATA LOCAL INPATH '{tmp_path}/in/*.orc' INTO TABLE t")
    assert files_below(table_of(tmp_path)) == [
        f"delta_000000{n}_000000{n}_0000/00000{b}_0" for n in (1, 2) for b in (0, 1)
    ]
    found = rows(acid, "SELECT id, row__id.writeid, row__id.bucketid FROM t ORDER BY row__id")
    assert found == [(1, 1, 536870912), (2, 1, 536936448), (1, 2, 536870912), (2, 2, 536936448)]
    assert len(files_below(tmp_path / "in")) == 4


def test_files_are_loaded_into_one_partition_new_or_old(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE TABLE t (id int, v string) PARTITIONED BY (p int) STORED AS ORC {ACID}")
    session.execute(f"ALTER TABLE t ADD PARTITION (p=2) LOCATION '{tmp_path}/far'")
    for path, partition in [("one", "p='01'"), ("two", "p=2"), ("three", "p=1")]:
        write_orc(tmp_path / path, [1, 2])
        session.execute(f"LOAD DATA INPATH '{tmp_path}/{path}' INTO TABLE t PARTITION ({partition})")
    write_orc(tmp_path / "four", [4])
    session.execute(f"LOAD DATA INPATH '{tmp_path}/four' OVERWRITE INTO TABLE t PARTITION (p=1)")
    assert rows(session, "SELECT id, p FROM t ORDER BY p, id") == [(4, 1), (1, 2), (2, 2)]
    assert files_below(tmp_path / "far") == ["delta_0000002_0000002_0000/000000_0"]
    write_orc(tmp_path / "five", [5])
    for clause, condition in {
        "": "PARTITION_REQUIRED",
        "PARTITION (p)": "PARTITION_REQUIRED",
        "PARTITION (q=1)": "PARTITION_COLUMN_UNKNOWN",
    }.items():
        fails(session, tmp_path, f"LOAD DATA INPATH '{tmp_path}/five' INTO TABLE t {clause}", condition)


def test_loaded_files_have_the_buckets_of_their_names(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE TABLE t (id int, v string) CLUSTERED BY (id) INTO 2 BUCKETS STORED AS ORC {ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')")
    buckets = buckets_of_rows(session)
    assert set(buckets.values()) == {0, 1}
    for number in (0, 1):
        write_orc(tmp_path / f"in/00000{number}_0", [i for i, b in buckets.items() if b == number])
    session.execute(f"LOAD DATA INPATH '{tmp_path}/in' OVERWRITE INTO TABLE t")
    session.execute("UPDATE t SET v = 'u' WHERE id = 3")
    assert buckets_of_rows(session) == buckets
    for name, said in {"data.orc": "The file name is invalid", "000002_0": "has 2 buckets"}.items():
        file = write_orc(tmp_path / f"bad/{name}", [1])
        assert said in fails(session, tmp_path, f"LOAD DATA INPATH '{file}' INTO TABLE t", "INVALID_PATH").message
    write_orc(tmp_path / "twice/000001_0", [1])
    write_orc(tmp_path / "twice/000001_0_copy_1", [1])
    fails(session, tmp_path, f"LOAD DATA INPATH '{tmp_path}/twice' INTO TABLE t", "INVALID_PATH")


def buckets_of_rows(session: Session) -> dict[int, int]:
    found = session.sql("SELECT id, row__id.bucketid FROM t").collect()
    return {row["id"]: row["bucketid"] >> 16 & 0xFFF for row in found}


# ------------------------------------------------------------------------------------------------ other kinds of table


def test_insert_only_tables_keep_the_names_of_loaded_files(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE TABLE t (id int, v string) STORED AS PARQUET {INSERT_ONLY}")
    content = pa.table({"id": pa.array([1, 2], pa.int32()), "v": ["a", None]})
    parquet.write_table(content, tmp_path / "data.parquet")
    session.execute(f"LOAD DATA LOCAL INPATH '{tmp_path}/data.parquet' INTO TABLE t")
    session.execute(f"LOAD DATA INPATH '{tmp_path}/data.parquet' OVERWRITE INTO TABLE t")
    assert files_below(table_of(tmp_path)) == ["base_0000002/data.parquet", "delta_0000001_0000001_0000/data.parquet"]
    assert rows(session, "SELECT * FROM t ORDER BY id") == [(1, "a"), (2, None)]


@pytest.mark.parametrize("compressed", [False, True])
def test_lines_of_loaded_text_are_counted_and_read(session: Session, tmp_path: Path, compressed: bool) -> None:
    session.execute(f"CREATE TABLE t (id int, v string) STORED AS TEXTFILE {INSERT_ONLY}")
    text = b"1\x01a\n2\x01\\N"
    path = tmp_path / ("lines.gz" if compressed else "lines")
    path.write_bytes(gzip.compress(text) if compressed else text)
    result = session.execute(f"LOAD DATA INPATH '{path}' INTO TABLE t")
    assert result.counts is not None
    assert result.counts.inserted == 2
    assert rows(session, "SELECT * FROM t ORDER BY id") == [(1, "a"), (2, None)]


def test_loading_adds_files_to_a_plain_table_or_replaces_them(session: Session, tmp_path: Path) -> None:
    session.execute("CREATE TABLE t (id int, v string) STORED AS ORC")
    for number in (1, 2):
        write_orc(tmp_path / "in/data.orc", [number])
        session.execute(f"LOAD DATA INPATH '{tmp_path}/in/data.orc' INTO TABLE t")
    assert files_below(table_of(tmp_path)) == ["data.orc", "data_copy_1.orc"]
    assert rows(session, "SELECT id FROM t ORDER BY id") == [(1,), (2,)]
    write_orc(tmp_path / "in/data.orc", [3])
    result = session.execute(f"LOAD DATA LOCAL INPATH '{tmp_path}/in' OVERWRITE INTO TABLE t")
    assert (result.txn_id, result.write_ids) == (None, {})
    assert rows(session, "SELECT id FROM t") == [(3,)]
    assert len(files_below(table_of(tmp_path))) == 1


# ------------------------------------------------------------------------------------------------ what is refused


def fails(session: Session, tmp_path: Path, statement: str, condition: str) -> AcidSqlError:
    """Checks that the statement fails at its place and changes no file and no partition."""
    before = files_below(tmp_path), session.catalog.partitions(session.catalog.table("default", "t"))
    with pytest.raises(AcidSqlError) as caught:
        session.execute(statement)
    assert caught.value.condition == condition, str(caught.value)
    assert caught.value.span is not None
    assert (files_below(tmp_path), session.catalog.partitions(session.catalog.table("default", "t"))) == before
    return caught.value


def test_paths_without_files_are_refused(acid: Session, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write_orc(tmp_path / "nested/sub/data.orc", [1])
    error = fails(acid, tmp_path, f"LOAD DATA INPATH '{tmp_path}/missing' INTO TABLE t", "INVALID_PATH")
    assert error.hive_code == 10027
    assert error.span is not None
    assert error.span.text == f"{tmp_path}/missing"
    fails(acid, tmp_path, f"LOAD DATA LOCAL INPATH '{tmp_path}/empty' INTO TABLE t", "INVALID_PATH")
    fails(acid, tmp_path, f"LOAD DATA LOCAL INPATH '{tmp_path}/empty/*' INTO TABLE t", "INVALID_PATH")
    nested = fails(acid, tmp_path, f"LOAD DATA INPATH '{tmp_path}/nested' INTO TABLE t", "INVALID_PATH")
    assert "source contains directory" in nested.message
    fails(acid, tmp_path, "LOAD DATA LOCAL INPATH 'hdfs://nn/x' INTO TABLE t", "ILLEGAL_PATH")
    assert "LOCAL" in fails(acid, tmp_path, "LOAD DATA INPATH 'hdfs://nn/x' INTO TABLE t", "ILLEGAL_PATH").hint


def test_files_of_an_acid_table_are_refused(acid: Session, tmp_path: Path) -> None:
    acid.execute("INSERT INTO t VALUES (1, 'a')")
    file = table_of(tmp_path) / "delta_0000001_0000001_0000/bucket_00000"
    copied = tmp_path / "copy.orc"
    shutil.copyfile(file, copied)
    for path in (file, copied):
        error = fails(acid, tmp_path, f"LOAD DATA INPATH '{path}' INTO TABLE t", "LOAD_ACID_FILE")
        assert error.hive_code == 10413


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"id": pa.array([1], pa.int64()), "v": ["a"]}, "its column 1 (id bigint) cannot be read as id int"),
        ({"v": ["a"], "id": pa.array([1], pa.int32())}, "its column 1 (v string) stands where the table has id"),
        ({"a": pa.array([1], pa.int32()), "b": ["a"], "c": ["a"]}, "it has 3 columns, and default.t has 2"),
    ],
)
def test_orc_files_with_other_columns_are_refused(
    acid: Session, tmp_path: Path, columns: dict[str, object], said: str
) -> None:
    orc.write_table(pa.table(columns), str(tmp_path / "data.orc"))
    error = fails(acid, tmp_path, f"LOAD DATA INPATH '{tmp_path}/data.orc' INTO TABLE t", "LOAD_FORMAT")
    assert said in error.message
    assert "INSERT .. SELECT" in error.hint


def test_files_of_another_format_are_refused(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE TABLE t (id int, v string) STORED AS ORC {ACID}")
    write_orc(tmp_path / "data.orc", [1])
    parquet.write_table(pa.table({"other": [1]}), tmp_path / "data.parquet")
    (tmp_path / "data.csv").write_text("1,a\n")
    (tmp_path / "nothing").write_bytes(b"")
    for name in ("data.parquet", "data.csv", "nothing"):
        fails(session, tmp_path, f"LOAD DATA INPATH '{tmp_path}/{name}' INTO TABLE t", "LOAD_FORMAT")
    session.execute("DROP TABLE t")
    session.execute(f"CREATE TABLE t (id int) STORED AS TEXTFILE {INSERT_ONLY}")
    for name in ("data.parquet", "data.orc"):
        fails(session, tmp_path, f"LOAD DATA INPATH '{tmp_path}/{name}' INTO TABLE t", "LOAD_FORMAT")
    session.execute("DROP TABLE t")
    session.execute(f"CREATE TABLE t (id int) STORED AS PARQUET {INSERT_ONLY}")
    for name in ("data.parquet", "data.orc", "data.csv"):
        fails(session, tmp_path, f"LOAD DATA INPATH '{tmp_path}/{name}' INTO TABLE t", "LOAD_FORMAT")


def test_narrower_types_and_fewer_columns_are_read(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE TABLE t (id bigint, v varchar(9), w int) STORED AS ORC {ACID}")
    write_orc(tmp_path / "data.orc", [1])
    session.execute(f"LOAD DATA INPATH '{tmp_path}/data.orc' INTO TABLE t")
    assert rows(session, "SELECT * FROM t") == [(1, "v1", None)]


def test_a_footer_of_hive_has_the_type_of_each_column() -> None:
    golden = next(t for t in golden_tables() if t.id == "all_types/t")
    path = sorted(golden.directory.glob("delta_*/bucket_*"))[0]
    tail = read_file_tail(LocalFiles(), str(path), os.path.getsize(path))
    columns = dict(hive_columns(tail))
    row = columns["row"]
    assert str(row) == f"struct<{','.join(f'{n}:{parse_type(k)}' for n, k in golden.columns)}>"


# ------------------------------------------------------------------------------------------------ what goes wrong


def test_a_load_creates_a_partition_again_that_was_dropped_while_it_waited(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.execute(f"CREATE TABLE t (id int, v string) PARTITIONED BY (p int) STORED AS ORC {ACID}")
    session.execute("ALTER TABLE t ADD PARTITION (p=1)")
    metastore = session._metastore
    lock = metastore.lock

    def lock_after_a_drop(txn: TxnId, components: Sequence[LockComponent], *, patience: Patience) -> bool:
        monkeypatch.setattr(metastore, "lock", lock)
        session.execute("ALTER TABLE t DROP PARTITION (p=1)")
        return lock(txn, components, patience=patience)

    monkeypatch.setattr(metastore, "lock", lock_after_a_drop)
    file = write_orc(tmp_path / "data.orc", [7])
    session.execute(f"LOAD DATA INPATH '{file}' INTO TABLE t PARTITION (p=1)")
    assert rows(session, "SELECT id, p FROM t") == [(7, 1)]


def test_a_load_that_fails_at_its_commit_keeps_the_files_in_their_place(
    acid: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    acid.execute("INSERT INTO t VALUES (1, 'a')")
    file = write_orc(tmp_path / "data.orc", [2])
    metastore = acid._metastore
    commit = metastore.commit

    def interrupted(txn: int) -> None:
        assert "base_0000002/000000_0" in files_below(table_of(tmp_path))
        raise KeyboardInterrupt

    monkeypatch.setattr(metastore, "commit", interrupted)
    before = files_below(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        acid.execute(f"LOAD DATA INPATH '{file}' OVERWRITE INTO TABLE t")
    monkeypatch.setattr(metastore, "commit", commit)
    assert files_below(tmp_path) == before
    assert rows(acid, "SELECT id FROM t") == [(1,)]
    assert {lock.component.operation for lock in metastore.locks()} <= {Operation.SELECT}  # of the frame just read
    acid.execute(f"LOAD DATA INPATH '{file}' INTO TABLE t")
    assert rows(acid, "SELECT id FROM t ORDER BY id") == [(1,), (2,)]
    assert not file.exists()
