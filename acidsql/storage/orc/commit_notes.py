"""What acidsql leaves in the ORC files of a write about its transaction, for those who ask no metastore.

It is one more item of the files' user metadata, of which Hive reads only those that it knows. A Hive Metastore tells
nobody when a transaction committed, or what it did, so DESCRIBE HISTORY reads it here.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from acidsql.acid.write_ids import StatementId, TxnId
from acidsql.metastore.process_identity import user_name
from acidsql.storage.orc.footer_messages import FOOTER_METADATA
from acidsql.storage.orc.protobuf import decode
from acidsql.storage.orc.tail import Tail

KEY: Final = "acidsql.commit"


@dataclass(frozen=True, slots=True)
class CommitNote:
    """The note of a file. `time` is that of the file's end, which is before the commit, in milliseconds since 1970.
    `txn` is None in the file of a stream, which several transactions share. `is_paired` tells of a file of new rows
    that it has all those of its directory, in the order of the row IDs of the rows that they replace: those that the
    delete_delta of the same write and statement deletes."""

    operation: str
    user: str
    time: int
    txn: TxnId | None
    is_paired: bool = False


def commit_note(
    operation: str, txn: TxnId | None = None, statement_id: StatementId | None = None, *, is_paired: bool = False
) -> Mapping[str, str]:
    """The item of user metadata for a file that is finished now."""
    note: dict[str, object] = {"operation": operation, "user": user_name(), "time": int(time.time() * 1000)}
    if txn is not None:
        note |= {"txn": txn, "statement": statement_id}
    if is_paired:
        note["paired"] = True
    return {KEY: json.dumps(note, separators=(",", ":"))}


def note_of(tail: Tail) -> CommitNote | None:
    """The note in a file; None in the files of others, and where it cannot be read."""
    for item in tail.footer:
        if item.number == FOOTER_METADATA:
            fields = {field.number: field.bytes for field in decode(item.bytes)}
            if fields.get(1) == KEY.encode():
                return _read(fields.get(2, b""))
    return None


def _read(text: bytes) -> CommitNote | None:
    try:
        note = json.loads(text)
        txn = None if note.get("txn") is None else TxnId(int(note["txn"]))
        is_paired = note.get("paired") is True
        return CommitNote(str(note["operation"]), str(note["user"]), int(note["time"]), txn, is_paired)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
