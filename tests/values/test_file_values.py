"""Arrow arrays of any shape become ORC files that say the same."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pyorc
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import orc

from acidsql.acid.table import Column, Table
from acidsql.values.file_values import storable


@st.composite
def arrays(draw: st.DrawFn, length: int, depth: int = 3) -> Any:
    """An array with NULLs, with values below NULLs, and perhaps a slice of a longer one."""
    before = draw(st.integers(0, 2))
    size = before + length
    shape = draw(
        st.sampled_from(["number", "text", "date", "list", "map", "struct", "struct"] if depth else ["number"])
    )
    mask = pa.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), pa.bool_())
    if shape in ("list", "map"):
        counts = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
        offsets = pa.array(np.cumsum([0, *counts]), pa.int32())
        values = draw(arrays(sum(counts), depth - 1))
        if shape == "list":
            array = pa.ListArray.from_arrays(offsets, values, mask=mask)
        else:
            keys = pa.array(range(sum(counts)), pa.int32())
            kind = pa.map_(pa.int32(), values.type)
            entries = pa.StructArray.from_arrays([keys, values], fields=[kind.key_field, kind.item_field])
            bits = pa.py_buffer(np.packbits(~mask.to_numpy(zero_copy_only=False), bitorder="little"))
            array = pa.Array.from_buffers(kind, size, [bits, offsets.buffers()[1]], children=[entries])
    elif shape == "struct":
        children = [draw(arrays(size, depth - 1)) for _ in range(draw(st.integers(1, 2)))]
        array = pa.StructArray.from_arrays(children, names=["f", "g"][: len(children)], mask=mask)
    else:
        numbers = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))
        kinds = {"number": pa.int32(), "date": pa.date32(), "text": pa.string()}
        found = [str(n) for n in numbers] if shape == "text" else numbers
        array = pa.array(found, kinds[shape], mask=mask.to_numpy(zero_copy_only=False))
    return array.slice(before)


@given(st.integers(1, 6).flatmap(arrays))
def test_an_array_of_any_shape_is_read_back(array: Any) -> None:
    table = Table("default", "t", (Column("a", "int"),), "/t")
    sink = pa.BufferOutputStream()
    orc.write_table(storable(table, pa.table({"a": array})), sink)
    content = sink.getvalue().to_pybytes()
    assert orc.ORCFile(pa.BufferReader(content)).read().column("a").to_pylist() == array.to_pylist()
    reader = pyorc.Reader(io.BytesIO(content), struct_repr=pyorc.StructRepr.DICT)
    assert [r["a"] for r in reader] == [_plain(v, array.type) for v in array.to_pylist()]


def _plain(value: Any, kind: Any) -> Any:
    """The value as pyorc gives it: a map is a dict."""
    if value is None:
        return None
    if pa.types.is_map(kind):
        return {k: _plain(v, kind.item_type) for k, v in value}
    if pa.types.is_list(kind):
        return [_plain(v, kind.value_type) for v in value]
    return {f.name: _plain(value[f.name], f.type) for f in kind} if pa.types.is_struct(kind) else value
