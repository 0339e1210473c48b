"""A statement run without Spark and with it, in sessions with tables of their own."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.orc as orc

from acidsql.session import Session
from acidsql.statements.results import Counts

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"


def both(pair: tuple[Session, Session], statement: str, **frames: object) -> Counts | None:
    """Runs a statement in both ways; the counts, which are the same."""
    found = [session.execute(statement, frames=frames) for session in pair]
    assert found[0].counts == found[1].counts
    assert found[0].write_ids == found[1].write_ids
    return found[0].counts


def files(session: Session, table: str) -> dict[str, Any]:
    """The rows with their row IDs in each file, its footer's properties, and the names of files without rows."""
    root = session.catalog.table("default", table).location
    store = session._files.of(root)
    found: dict[str, Any] = {}
    for path in sorted(file.path for file in store.list_below(root).files):
        if path.endswith(("_orc_acid_version", "_metadata_acid")):
            found[path] = store.read(f"{root}/{path}")
        else:
            file = orc.ORCFile(pa.BufferReader(store.read(f"{root}/{path}")))
            metadata = {k: v for k, v in (file.metadata or {}).items() if k.startswith(b"hive.")}
            fields = [(f.name, str(f.type).partition("\n")[0]) for f in file.schema]
            found[path] = file.read().to_pylist(), metadata, file.compression, fields
    return found


def check_same_files(pair: tuple[Session, Session], table: str) -> None:
    of_direct, of_spark = (files(session, table) for session in pair)
    assert of_direct.keys() == of_spark.keys()
    for path, content in of_spark.items():
        assert of_direct[path] == content, path


def drop_on_both(pair: tuple[Session, Session], table: str) -> None:
    both(pair, f"DROP TABLE IF EXISTS {table}")
