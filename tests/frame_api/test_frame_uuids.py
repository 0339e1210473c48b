"""UUIDs in frames: Arrow stores 16 bytes, and a column of text gets the text."""

from __future__ import annotations

import uuid

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest

from acidsql.session import Session
from acidsql.spark.frames.arrow_frames import with_known_types
from tests.answers import fails

ONE = uuid.UUID("12345678-1234-5678-1234-567812345678")


@pytest.fixture
def table(session: Session) -> Session:
    session.execute("CREATE TABLE t (id int, u string) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    return session


@pytest.mark.skipif(not hasattr(pa, "uuid"), reason="this version of pyarrow has no type for UUIDs")
def test_a_uuid_is_stored_as_its_text(table: Session) -> None:
    table.insert("t", [{"id": 1, "u": ONE}, {"id": 2, "u": None}])
    table.insert("t", pd.DataFrame({"id": [3], "u": [ONE]}))
    table.insert("t", pa.table({"id": [4, 5], "u": pa.array([ONE.bytes, None], pa.uuid())}))
    stored = table.read_arrow("t").read_all().sort_by("id").column("u").to_pylist()
    assert stored == [str(ONE), None, str(ONE), str(ONE), None]
    assert table.upsert("t", [{"id": 9, "u": ONE}], on="u", strict=False).updated == 3


@pytest.mark.skipif(not hasattr(pa, "uuid"), reason="this version of pyarrow has no type for UUIDs")
@pytest.mark.parametrize(
    "kind", [pa.list_(pa.uuid()), pa.struct([("a", pa.uuid())]), pa.map_(pa.string(), pa.uuid())]
)  # fmt: skip
def test_a_uuid_inside_of_another_value_is_refused(table: Session, kind: pa.DataType) -> None:
    error = fails("INVALID_PARAMETER", lambda: table.insert("t", pa.table({"u": pa.nulls(1, kind)})))
    assert "its column u holds UUIDs" in str(error)


def test_other_types_are_read_as_before() -> None:
    kinds = [pa.int32(), pa.list_(pa.int8()), pa.large_list(pa.string()), pa.map_(pa.string(), pa.int32())]
    kinds += [
        pa.struct([("a", pa.list_(pa.date32()))]),
        pa.decimal128(5, 2),
        pa.list_(pa.int8(), 2),
        pa.timestamp("us"),
    ]
    given = pa.table({f"c{number}": pa.nulls(2, kind) for number, kind in enumerate(kinds)})
    assert with_known_types(given).to_pylist() == given.to_pylist()
    encoded = pa.table({"a": pa.array(["x", "y", "x"]).dictionary_encode()})
    assert with_known_types(encoded).column("a").to_pylist() == ["x", "y", "x"]
