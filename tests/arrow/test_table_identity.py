"""A table that was made anew under the name, and with the definition, of another one is another table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

import acidsql
from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError
from acidsql.ingest.stream import Stream
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.session import Session
from acidsql.storage.leftovers import is_there
from acidsql.storage.local_files import LocalFiles

CREATE = "CREATE TABLE t (id INT) STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with acidsql.connect(str(tmp_path / "w")) as opened:
        opened.execute(CREATE)
        yield opened


def opened(session: Session) -> SqliteMetastore:
    return SqliteMetastore(Path(session.warehouse) / ".acidsql" / "metastore.db", session.warehouse)


def files_of(_: str) -> LocalFiles:
    return LocalFiles()


def make_anew(session: Session) -> Table:
    """Renames t to t_old, and makes a table t with its definition, of the same second too."""
    old = session.catalog.table("default", "t")
    session.execute("ALTER TABLE t RENAME TO t_old")
    session.execute(CREATE)
    with opened(session) as store:
        new = store.table("default", "t")
        store.alter_table(new, replace(new, created=old.created))
        assert store.table("default", "t") == old
    return old


def values(session: Session, table: str) -> list[int]:
    return sorted(row["id"] for row in session.read_arrow(table).read_all().to_pylist())


@pytest.mark.parametrize("size", [1, 10])
def test_a_stream_does_not_go_on_in_a_new_table_of_the_name(session: Session, size: int) -> None:
    stream = session.stream("t", id="s", batch_size=size)
    stream.write([{"id": 1}], offset=1)
    stream.commit()
    make_anew(session)
    with pytest.raises(AcidSqlError, match="TABLE_CHANGED"):
        commit(stream)
    with suppress(AcidSqlError):
        stream.close()
    assert values(session, "t") == []
    assert values(session, "t_old") == [1]
    with session.stream("t_old", id="s") as old, session.stream("t", id="s") as new:
        assert (old.committed_offset, new.committed_offset) == (1, None)


def commit(stream: Stream) -> None:
    stream.write([{"id": 2}], offset=2)
    stream.commit()


def test_the_files_of_a_dead_writer_are_not_looked_for_in_a_new_table_of_the_name(session: Session) -> None:
    old = make_anew(session)
    with opened(session) as store:
        assert not is_there(store, old, files_of)


def test_a_definition_is_not_replaced_in_a_new_table_of_the_name(session: Session) -> None:
    old = make_anew(session)
    with opened(session) as store:
        with pytest.raises(AcidSqlError, match="TABLE_CHANGED"):
            store.alter_table(old, replace(old, comment="c"))
        found = store.table("default", "t_old")
        store.alter_table(found, replace(found, name="t_older"))
        assert store.table("default", "t_older").id == old.id


def test_an_aborted_writer_removes_nothing_of_another_table_in_the_directory_of_its_own(session: Session) -> None:
    location = session.catalog.table("default", "t").location
    with acidsql.connect(session.warehouse) as other:
        session.execute("START TRANSACTION")
        session.execute("INSERT INTO t VALUES (1)")
        other.execute(f"ABORT TRANSACTIONS {session.transaction_id}")
        other.execute("DROP TABLE t")
        other.execute(CREATE.replace("TABLE t", "TABLE u").replace("TBL", f"LOCATION '{location}' TBL"))
        other.execute("INSERT INTO u VALUES (2)")
        with suppress(AcidSqlError):
            session.execute("ROLLBACK")
        assert values(other, "u") == [2]
        with opened(session) as store:
            missing = replace(store.table("default", "u"), name="t", location=f"{location}/../t/")
            assert not is_there(store, missing, files_of)
            assert is_there(store, replace(missing, location=f"{location}2"), files_of)
