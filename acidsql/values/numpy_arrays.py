"""NumPy arrays of Arrow arrays, and Arrow arrays and scalars of NumPy arrays and Python values.

`pa.array`, `pa.scalar`, `fill_null` and `to_numpy` import pandas if it is installed. That takes 0.2 s, the fifth part
of a short query in a process of its own. These functions read and write the buffers of the arrays.
"""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_EXACT: Final = Context(prec=80)


def number_array(numbers: NDArray[Any], kind: pa.DataType, validity: pa.Buffer | None = None, nulls: int = 0) -> Any:
    """The numbers as an array of a type that stores them."""
    stored = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(kind, len(numbers), [validity, stored], nulls)


def mask_array(mask: NDArray[np.bool_]) -> Any:
    """The mask as an array of BOOLEANs."""
    return pa.Array.from_buffers(pa.bool_(), len(mask), [None, bits(mask)], 0)


def bits(mask: NDArray[np.bool_]) -> pa.Buffer:
    """The mask as the bits of a validity buffer."""
    return pa.py_buffer(np.packbits(mask, bitorder="little"))


def stored_numbers(array: Any) -> NDArray[Any]:
    """The numbers that an array of integers, floats, dates or times stores, without a copy. A NULL is any number."""
    kind = array.type
    name = "float" if pa.types.is_floating(kind) else "uint" if pa.types.is_unsigned_integer(kind) else "int"
    dtype = np.dtype(f"{name}{kind.bit_width}")
    if not len(array):
        return np.zeros(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype)[array.offset : array.offset + len(array)]


def stored_mask(array: Any) -> NDArray[np.bool_]:
    """The values of an array of BOOLEANs without NULLs."""
    if not len(array):
        return np.zeros(0, np.bool_)
    content = np.frombuffer(array.buffers()[1], np.uint8)
    start, stop = array.offset, array.offset + len(array)
    unpacked = np.unpackbits(content[start // 8 : (stop + 7) // 8], bitorder="little")
    return unpacked[start % 8 : start % 8 + len(array)].view(np.bool_)


def scalar(value: object, kind: pa.DataType) -> Any:
    """A value as a scalar of a type: None, a bool, a number, days or microseconds since 1970, a text, or bytes. Raises
    OverflowError for a number that the type cannot hold, and ValueError for digits behind those of a DECIMAL type.

    >>> scalar(7, pa.int32()), scalar("é", pa.string()), scalar(Decimal("-1.5"), pa.decimal128(5, 2))
    (<pyarrow.Int32Scalar: 7>, <pyarrow.StringScalar: 'é'>, <pyarrow.Decimal128Scalar: Decimal('-1.50')>)
    """
    return pa.nulls(1, kind)[0] if value is None else _one(value, kind)[0]


def _one(value: Any, kind: pa.DataType) -> Any:
    if pa.types.is_boolean(kind):
        return mask_array(np.full(1, value, np.bool_))
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        content = value.encode() if isinstance(value, str) else value
        offsets = pa.py_buffer(np.array([0, len(content)], np.int32))
        return pa.Array.from_buffers(kind, 1, [None, offsets, pa.py_buffer(content)])
    if pa.types.is_decimal128(kind):
        exact = Decimal(value).scaleb(kind.scale, _EXACT)
        units = int(exact)
        if units != exact:
            raise ValueError(f"{value} has more digits behind the point than {kind}")
        if abs(units) >= 10**kind.precision:  # of an int: abs() of a Decimal has 28 digits
            raise OverflowError(f"{value} has more digits than {kind}")
        return _one_number(units, kind)
    if pa.types.is_floating(kind):
        return number_array(np.array([value], f"float{kind.bit_width}"), kind)
    return _one_number(value, kind)


def _one_number(number: int, kind: pa.DataType) -> Any:
    content = number.to_bytes(kind.bit_width // 8, "little", signed=True)
    return pa.Array.from_buffers(kind, 1, [None, pa.py_buffer(content)])
