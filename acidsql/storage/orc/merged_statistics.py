"""The statistics of an ORC column over two groups of rows, from those of each (orc_proto.ColumnStatistics).

Readers skip stripes and files by statistics, so wrong ones lose rows. What cannot be merged exactly is left out, and
then all of its kind: a reader takes a missing message for unknown values, and a minimum that is missing in a message
for that of no values at all.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from decimal import Context, InvalidOperation
from decimal import Decimal as Number
from typing import Final, TypeAlias

from acidsql.storage.orc.protobuf import BYTES, FIXED64, VARINT, Field, decode, encode, read_varint, varint

_Message: TypeAlias = "Mapping[int, int | bytes]"

# orc_proto.ColumnStatistics
_VALUES: Final = 1
_HAS_NULL: Final = 10
_BYTES_ON_DISK: Final = 11
# orc_proto.IntegerStatistics and its like
_MINIMUM: Final = 1
_MAXIMUM: Final = 2
_SUM: Final = 3
# orc_proto.TimestampStatistics
_MINIMUM_UTC: Final = 3
_MAXIMUM_UTC: Final = 4
_MINIMUM_NANOS: Final = 5
_MAXIMUM_NANOS: Final = 6
_UTC_ONLY: Final = frozenset((_MINIMUM_UTC, _MAXIMUM_UTC, _MINIMUM_NANOS, _MAXIMUM_NANOS))
_FIRST_NANOS: Final = 1
_LAST_NANOS: Final = 1_000_000
"""The nanoseconds of a millisecond, plus one as the fields have them."""
_LONGEST_TEXT: Final = 1024
"""Bytes of a text that a statistic keeps, as in ORC's Java writer (StringStatisticsImpl.MAX_BYTES_RECORDED)."""
_LONGEST_SUM: Final = 38
"""Digits of Hive's longest decimal."""
_EXACT: Final = Context(prec=200, traps=[InvalidOperation])


def merged(one: bytes, other: bytes) -> bytes:
    """The statistics of the values of two groups. Both must count their values, as all writers do."""
    a, b = _message(one), _message(other)
    fields = [Field(_VALUES, VARINT, _int(a[_VALUES]) + _int(b[_VALUES]))]
    for kind, merge in _MERGES.items():
        found = _of_kind(a, b, kind, merge)
        if found is not None:
            fields.append(Field(kind, BYTES, found))
    if _HAS_NULL in a and _HAS_NULL in b:
        fields.append(Field(_HAS_NULL, VARINT, _int(a[_HAS_NULL]) | _int(b[_HAS_NULL])))
    if _BYTES_ON_DISK in a and _BYTES_ON_DISK in b:
        fields.append(Field(_BYTES_ON_DISK, VARINT, _int(a[_BYTES_ON_DISK]) + _int(b[_BYTES_ON_DISK])))
    return encode(sorted(fields, key=lambda f: f.number))


def _of_kind(a: _Message, b: _Message, kind: int, merge: _Merge) -> bytes | None:
    """The message of one kind. A group without values has no influence on it."""
    if not _int(a[_VALUES]):
        return _bytes(b[kind]) if kind in b else None
    if not _int(b[_VALUES]):
        return _bytes(a[kind]) if kind in a else None
    if kind not in a or kind not in b:
        return None
    fields = merge(_message(_bytes(a[kind])), _message(_bytes(b[kind])))
    return None if fields is None else encode(fields)


def _integers(a: _Message, b: _Message) -> list[Field] | None:
    fields = _numbers(a, b)
    if fields is not None and _SUM in a and _SUM in b:
        total = _signed(a[_SUM]) + _signed(b[_SUM])
        if -(1 << 63) <= total < 1 << 63:
            fields.append(Field(_SUM, VARINT, _zigzag(total)))
    return fields


def _numbers(a: _Message, b: _Message) -> list[Field] | None:
    if not _bounded(a, b):
        return None
    low = min(_signed(a[_MINIMUM]), _signed(b[_MINIMUM]))
    high = max(_signed(a[_MAXIMUM]), _signed(b[_MAXIMUM]))
    return [Field(_MINIMUM, VARINT, _zigzag(low)), Field(_MAXIMUM, VARINT, _zigzag(high))]


def _doubles(a: _Message, b: _Message) -> list[Field] | None:
    """A sum that is NaN tells readers that NaN is among the values, and bounds mean nothing then. So bounds stay only
    beside a sum."""
    if not _bounded(a, b) or _SUM not in a or _SUM not in b:
        return None
    bounds = [_double(m[n]) for m in (a, b) for n in (_MINIMUM, _MAXIMUM)]
    if any(map(math.isnan, bounds)):
        return None
    low, high = min(bounds, key=_signed_zero), max(bounds, key=_signed_zero)
    found = {_MINIMUM: low, _MAXIMUM: high, _SUM: _double(a[_SUM]) + _double(b[_SUM])}
    return [Field(number, FIXED64, struct.pack("<d", value)) for number, value in found.items()]


def _texts(a: _Message, b: _Message) -> list[Field] | None:
    if not _bounded(a, b):
        return None
    low = min(_bytes(a[_MINIMUM]), _bytes(b[_MINIMUM]))
    high = max(_bytes(a[_MAXIMUM]), _bytes(b[_MAXIMUM]))
    if max(len(low), len(high)) > _LONGEST_TEXT:
        return None
    return [Field(_MINIMUM, BYTES, low), Field(_MAXIMUM, BYTES, high), *(_sizes(a, b) or ())]


def _booleans(a: _Message, b: _Message) -> list[Field] | None:
    """The number of true values, in a packed list of one."""
    if 1 not in a or 1 not in b:
        return None
    return [Field(1, BYTES, varint(_unpacked(a[1]) + _unpacked(b[1])))]


def _unpacked(value: int | bytes) -> int:
    return value if isinstance(value, int) else read_varint(value, 0)[0]


def _decimals(a: _Message, b: _Message) -> list[Field] | None:
    if not _bounded(a, b):
        return None
    try:
        low = min(_decimal(a[_MINIMUM]), _decimal(b[_MINIMUM]))
        high = max(_decimal(a[_MAXIMUM]), _decimal(b[_MAXIMUM]))
        total = _EXACT.add(_decimal(a[_SUM]), _decimal(b[_SUM])) if _SUM in a and _SUM in b else None
    except InvalidOperation:
        return None
    found = [Field(_MINIMUM, BYTES, f"{low:f}".encode()), Field(_MAXIMUM, BYTES, f"{high:f}".encode())]
    if total is not None and len(total.as_tuple().digits) <= _LONGEST_SUM:
        found.append(Field(_SUM, BYTES, f"{total:f}".encode()))
    return found


def _sizes(a: _Message, b: _Message) -> list[Field] | None:
    """The total length: of texts it is field 3, of bytes field 1."""
    number = _SUM if _SUM in a else 1
    if number not in a or number not in b or isinstance(a[number], bytes):
        return None
    return [Field(number, VARINT, _zigzag(_signed(a[number]) + _signed(b[number])))]


def _times(a: _Message, b: _Message) -> list[Field] | None:
    """Milliseconds, and nanoseconds plus one, which may be missing: then a lower bound has the fewest, an upper one the
    most. Bounds in the writer's time zone, which old writers have beside those of UTC, are not merged."""
    if not all({_MINIMUM_UTC, _MAXIMUM_UTC} <= m.keys() <= _UTC_ONLY for m in (a, b)):
        return None
    lows = [(_signed(m[_MINIMUM_UTC]), _int(m.get(_MINIMUM_NANOS, _FIRST_NANOS))) for m in (a, b)]
    highs = [(_signed(m[_MAXIMUM_UTC]), _int(m.get(_MAXIMUM_NANOS, _LAST_NANOS))) for m in (a, b)]
    (low, low_nanos), (high, high_nanos) = min(lows), max(highs)
    fields = [Field(_MINIMUM_UTC, VARINT, _zigzag(low)), Field(_MAXIMUM_UTC, VARINT, _zigzag(high))]
    if low_nanos > _FIRST_NANOS:
        fields.append(Field(_MINIMUM_NANOS, VARINT, low_nanos))
    if high_nanos < _LAST_NANOS:
        fields.append(Field(_MAXIMUM_NANOS, VARINT, high_nanos))
    return fields


_Merge: TypeAlias = "Callable[[_Message, _Message], list[Field] | None]"
_MERGES: Final[Mapping[int, _Merge]] = {
    2: _integers,
    3: _doubles,
    4: _texts,
    5: _booleans,
    6: _decimals,
    7: _numbers,  # dates
    8: _sizes,
    9: _times,
}
"""The kinds of orc_proto.ColumnStatistics. Others are left out; that of lists and maps is one of them, as ORC's C++
writer counts no elements of a batch without NULLs."""


def _message(data: bytes) -> _Message:
    return {f.number: f.value for f in decode(data)}


def _bounded(a: _Message, b: _Message) -> bool:
    return all(_MINIMUM in m and _MAXIMUM in m for m in (a, b))


def _int(value: int | bytes) -> int:
    assert isinstance(value, int)
    return value


def _bytes(value: int | bytes) -> bytes:
    assert isinstance(value, bytes)
    return value


def _signed(value: int | bytes) -> int:
    number = _int(value)
    return number >> 1 ^ -(number & 1)


def _zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1


def _double(value: int | bytes) -> float:
    (number,) = struct.unpack("<d", _bytes(value))
    return float(number)


def _signed_zero(value: float) -> tuple[float, float]:
    """The order of Java's Double, in which -0.0 is less than 0.0."""
    return value, math.copysign(1, value)


def _decimal(value: int | bytes) -> Number:
    return Number(_bytes(value).decode())
