"""SHOW STREAMS: what is committed of each stream."""

from __future__ import annotations

from typing import Final

from acidsql.metastore.stream_json import offset_to_json
from acidsql.metastore.streams import StreamState

STREAM_COLUMNS: Final = (
    "database",
    "table",
    "stream_id",
    "committed_offset",
    "rows",
    "commits",
    "rows_per_second",
    "last_commit",
    "writer",
)
"""The offset is JSON. The time is milliseconds since 1970. The writer is the live one, if there is one."""


def stream_row(stream: StreamState) -> tuple[str | None, ...]:
    return (
        stream.database,
        stream.table,
        stream.id,
        offset_to_json(stream.offset) if stream.commits else None,
        str(stream.rows),
        str(stream.commits),
        _rows_per_second(stream),
        str(stream.last_commit) if stream.commits else None,
        stream.writer or None,
    )


def _rows_per_second(stream: StreamState) -> str | None:
    """All rows over the time from the first commit to the last one; None for commits of one moment."""
    millis = stream.last_commit - stream.first_commit
    return f"{stream.rows * 1000 / millis:.1f}" if millis > 0 else None
