"""NumPy arrays and scalars of Arrow arrays hold what pyarrow's own conversions give."""

from __future__ import annotations

import math
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidsql.values.numpy_arrays import bits, mask_array, number_array, scalar, stored_mask, stored_numbers

INTEGERS = {kind: 2 ** (kind.bit_width - 1) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())}
SCALARS: list[tuple[object, Any]] = [
    (None, pa.int32()),
    (None, pa.decimal128(5, 2)),
    (True, pa.bool_()),
    (False, pa.bool_()),
    ("", pa.string()),
    ("Grüße", pa.string()),
    (b"\x00\xff", pa.binary()),
    (-1, pa.int8()),
    (2**63 - 1, pa.int64()),
    (0.1, pa.float32()),
    (-0.0, pa.float64()),
    (Decimal("-12345678901234567890123456789012345.678"), pa.decimal128(38, 3)),
    (Decimal("1E+3"), pa.decimal128(6, 2)),
    (Decimal("9" * 38), pa.decimal128(38, 0)),
    (Decimal("-" + "9" * 38), pa.decimal128(38, 0)),
]


@pytest.mark.parametrize(("value", "kind"), SCALARS)
def test_a_scalar_is_the_one_of_pyarrow(value: object, kind: pa.DataType) -> None:
    expected = pa.scalar(value, kind)
    assert scalar(value, kind).equals(expected)
    assert str(scalar(value, kind)) == str(expected)


def test_days_and_microseconds_are_dates_and_times() -> None:
    assert str(scalar(-719162, pa.date32())) == "0001-01-01"
    assert str(scalar(-1, pa.timestamp("us"))) == "1969-12-31 23:59:59.999999"


@pytest.mark.parametrize("kind", INTEGERS)
def test_a_number_outside_its_type_has_no_scalar(kind: pa.DataType) -> None:
    assert scalar(-INTEGERS[kind], kind).as_py() == -INTEGERS[kind]
    with pytest.raises(OverflowError):
        scalar(INTEGERS[kind], kind)


def test_a_decimal_keeps_all_its_digits_or_has_no_scalar() -> None:
    with pytest.raises(OverflowError):
        scalar(Decimal(1000), pa.decimal128(5, 2))
    with pytest.raises(ValueError, match="more digits behind the point"):
        scalar(Decimal("1.005"), pa.decimal128(5, 2))


@given(st.lists(st.one_of(st.none(), st.booleans())), st.integers(0, 9), st.data())
def test_masks_of_slices(values: list[bool | None], start: int, data: st.DataObject) -> None:
    length = data.draw(st.integers(0, 20))
    array = pa.array(values, pa.bool_()).slice(min(start, len(values)), length)
    valid = array.is_valid()
    assert stored_mask(valid).tolist() == valid.to_pylist()
    assert mask_array(stored_mask(valid)).equals(valid)
    known = [value for value in array.to_pylist() if value is not None]
    assert stored_mask(array.drop_null()).tolist() == known


@given(st.lists(st.integers(-128, 127)), st.integers(0, 5), st.sampled_from(list(INTEGERS)))
def test_numbers_of_slices(values: list[int], start: int, kind: pa.DataType) -> None:
    array = pa.array(values, kind).slice(min(start, len(values)))
    found = stored_numbers(array)
    assert found.tolist() == array.to_pylist()
    assert number_array(found, kind).equals(array)


def test_numbers_of_other_types() -> None:
    assert stored_numbers(pa.array([1.5, math.inf], pa.float32())).tolist() == [1.5, math.inf]
    assert stored_numbers(pa.array([200], pa.uint8())).tolist() == [200]
    assert stored_numbers(pa.array([19000], pa.int32()).view(pa.date32())).tolist() == [19000]
    assert stored_numbers(pa.array([], pa.timestamp("us"))).tolist() == []
    with_nulls = number_array(np.array([1, 2, 3]), pa.int64(), bits(np.array([True, False, True])), 1)
    assert with_nulls.to_pylist() == [1, None, 3]


FILL = """
import sys
from acidsql import connect
with connect(sys.argv[1]) as session:
    session.execute("CREATE TABLE t (id int, v string) PARTITIONED BY (p int) STORED AS ORC"
                    " TBLPROPERTIES ('transactional'='true')")
    session.execute("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 2)")
"""
READ = """
import sys
from acidsql import connect
with connect(sys.argv[1]) as session:
    where = "id IN (2, 7) OR v = 'c' OR id % 5 = 4 OR p > 9"
    print(sorted(session.execute(f"SELECT * FROM t WHERE {where}", rows_only=True).rows()))
    print(sum(1 for _ in session.execute("SELECT v FROM t CHANGES FROM VERSION 1", rows_only=True).rows()))
    print("pandas" in sys.modules)
"""


def test_a_query_without_spark_does_not_import_pandas(tmp_path: Path) -> None:
    for script, told in ((FILL, []), (READ, ["[(2, 'b', 1), (3, 'c', 2)]", "3", "False"])):
        command = [sys.executable, "-c", script, str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == told
