"""The ORC reader of Hive 3 (orc-core 1.5.8) reads acidsql's data and delete files as ORC's C++ reader (pyorc) does."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyorc
import pytest

from acidsql.session import Session
from tests.interop.hive_client import HiveRow, Json
from tests.interop.maven import class_path, compiled, java
from tests.interop.typed_rows import COLUMNS, DDL, SPARK_SCHEMA, random_rows
from tests.interop.values import assert_same_rows, in_order, plain, row_of_hive, rows_of_spark, sorted_map
from tests.selection import core

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

_HERE: Final = Path(__file__).parent / "orc15"
_ACID: Final = "operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,currentTransaction:bigint"
_SCHEMA: Final = f"struct<{_ACID},row:struct<{','.join(f'{name}:{t}' for name, t in COLUMNS.items())}>>"


@dataclass(frozen=True, slots=True)
class OrcContent:
    """A file as a reader sees it."""

    schema: str
    stripes: int
    metadata: dict[str, str]
    rows: list[HiveRow]


@pytest.fixture(scope="module")
def orc15() -> list[str]:
    """The command that prints ORC files with orc-core 1.5.8. Skips where it cannot be had."""
    jars = class_path(_HERE / "pom.xml")
    classes = compiled(_HERE / "OrcRows.java", jars)
    opened = ["--add-opens", "java.base/java.nio=ALL-UNNAMED"]  # its Snappy reaches into the package
    return [
        java("java"),
        *opened,
        "-Duser.timezone=UTC",
        "-Dfile.encoding=UTF-8",
        "-cp",
        f"{classes}:{jars}",
        "OrcRows",
    ]


@pytest.mark.parametrize("codec", core(["ZLIB", "SNAPPY", "NONE"], lambda codec: codec == "ZLIB"))
def test_every_type_reads_the_same_in_both_readers(session: Session, orc15: list[str], codec: str) -> None:
    session.sql(
        f"CREATE TABLE t ({DDL}) STORED AS ORC TBLPROPERTIES ('transactional'='true', 'orc.compress'='{codec}',"
        " 'orc.stripe.size'='100000', 'orc.row.index.stride'='1000', 'orc.bloom.filter.columns'='k,s')"
    )
    rows = random_rows(5, 11_000 if codec == "ZLIB" else 500)
    frame = session.spark.createDataFrame(rows, SPARK_SCHEMA).coalesce(1)
    session.sql("INSERT INTO t SELECT * FROM {rows}", rows=frame)
    session.sql("UPDATE t SET s = 'changed', nest = NULL WHERE k % 5 = 0")
    session.sql("DELETE FROM t WHERE k % 4 = 3")
    files = sorted(Path(session.catalog.table("default", "t").location.removeprefix("file://")).rglob("bucket_*"))
    read = dict(zip(files, read_with_orc15(orc15, files), strict=True))
    assert [f"{path.parent.name}/{path.name}" for path in files] == [
        "delete_delta_0000002_0000002_0000/bucket_00000",
        "delete_delta_0000003_0000003_0000/bucket_00000",
        "delta_0000001_0000001_0000/bucket_00000",
        "delta_0000002_0000002_0000/bucket_00000",
    ]
    for path in files:
        expected = read_with_pyorc(path)
        assert read[path].schema == expected.schema == _SCHEMA
        assert (read[path].stripes, read[path].metadata) == (expected.stripes, expected.metadata)
        assert_same_rows(read[path].rows, expected.rows, f"{path.parent.name}/{path.name}")
    inserted = read[files[2]]
    assert inserted.stripes > 1 or codec != "ZLIB"
    found = in_order(list(row[5].values()) for row in inserted.rows if isinstance(row[5], dict))
    assert_same_rows(found, rows_of_spark(frame.collect()), "what was inserted")


def read_with_orc15(command: list[str], files: Sequence[Path]) -> list[OrcContent]:
    done = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = iter(done.stdout.splitlines())
    return [_content(json.loads(next(lines)), lines) for _ in files]


def _content(about: dict[str, Any], lines: Iterator[str]) -> OrcContent:
    rows = [row_of_hive(json.loads(next(lines))) for _ in range(about["rows"])]
    return OrcContent(about["schema"], about["stripes"], about["metadata"], rows)


def read_with_pyorc(path: Path) -> OrcContent:
    with path.open("rb") as file:
        reader = pyorc.Reader(file)
        metadata = {key: value.decode() for key, value in reader.user_metadata.items()}
        schema: Any = reader.schema
        types = [schema[name] for name in schema.fields]
        rows = [[_value(t, v) for t, v in zip(types, row, strict=True)] for row in reader]
        return OrcContent(str(schema), reader.num_of_stripes, metadata, rows)


def _value(orc_type: Any, value: Any) -> Json:
    """A value of pyorc, whose structs are tuples."""
    if value is None:
        return None
    match orc_type:
        case pyorc.Struct():
            return {name: _value(orc_type[name], v) for name, v in zip(orc_type.fields, value, strict=True)}
        case pyorc.Array():
            return [_value(orc_type.type, element) for element in value]
        case pyorc.Map():
            pairs = value.items() if isinstance(value, dict) else value
            return sorted_map([_value(orc_type.key, k), _value(orc_type.value, v)] for k, v in pairs)
        case _:
            return plain(value)
