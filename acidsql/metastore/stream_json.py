"""Offsets of streams, and what is committed of a stream, as JSON text in ASCII."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TypedDict

from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.streams import Offset, StreamState


class _State(TypedDict):
    offset: Offset
    commits: int
    rows: int
    txn: int | None
    first_commit: int
    last_commit: int


def offset_to_json(offset: Offset) -> str:
    """The text of an offset; the keys of objects keep their order. Raises INVALID_PARAMETER for what JSON lacks.

    >>> offset_to_json({"b": [1, 2.5, None], "a": "ü"})
    '{"b": [1, 2.5, null], "a": "\\\\u00fc"}'
    """
    return json.dumps(_plain(offset))


def offset_from_json(text: str) -> Offset:
    found: Offset = json.loads(text)
    return found


def state_to_json(state: StreamState) -> str:
    """What is committed of a stream, without the names of the stream and the description of its writer."""
    stored = _State(
        offset=_plain(state.offset),
        commits=state.commits,
        rows=state.rows,
        txn=state.txn,
        first_commit=state.first_commit,
        last_commit=state.last_commit,
    )
    return json.dumps(stored)


def state_from_json(text: str, database: str, table: str, stream_id: str, writer: str) -> StreamState:
    found: _State = json.loads(text)
    return StreamState(
        database,
        table,
        stream_id,
        offset=found["offset"],
        commits=found["commits"],
        rows=found["rows"],
        txn=None if found["txn"] is None else TxnId(found["txn"]),
        first_commit=found["first_commit"],
        last_commit=found["last_commit"],
        writer=writer,
    )


def _plain(offset: Offset) -> Offset:
    """The offset in the types that `json.loads` returns: what is committed is read back as it was given."""
    match offset:
        case None | bool() | int() | str():
            return offset
        case float():
            if math.isfinite(offset):
                return offset
            raise _invalid(f"JSON has no number {offset}")
        case Mapping():
            for key in offset:
                if not isinstance(key, str):
                    raise _invalid(f"a key of an object in JSON is a string, not {key!r}")
            return {key: _plain(value) for key, value in offset.items()}
        case Sequence() if not isinstance(offset, (bytes, bytearray, memoryview)):
            return [_plain(value) for value in offset]
        case _:
            raise _invalid(f"JSON has no {type(offset).__name__}")


def _invalid(reason: str) -> AcidSqlError:
    hint = "Give a value that JSON can hold: None, a number, a string, a list, or a dict with strings as keys."
    return AcidSqlError(Condition.INVALID_PARAMETER, name="offset", reason=reason, hint=hint)
