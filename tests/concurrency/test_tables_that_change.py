"""Another session renames, drops or replaces a table between the planning of a statement and its locks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError
from acidsql.metastore.lock_components import LockComponent
from acidsql.metastore.locks import DEFAULT_PATIENCE, Patience
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.session import Session
from tests.selection import every

ACID = "TBLPROPERTIES ('transactional'='true')"
KINDS = {
    "plain": "CREATE TABLE t (id int, v string) STORED AS ORC",
    "transactional": f"CREATE TABLE t (id int, v string) STORED AS ORC {ACID}",
    "partitioned": f"CREATE TABLE t (id int) PARTITIONED BY (v string) STORED AS ORC {ACID}",
}
READING = {
    "a query": "SELECT count(*), max(v) FROM t",
    "a query without Spark": "SELECT * FROM t",
    "INSERT": "INSERT INTO target SELECT id, v FROM t",
    "INSERT OVERWRITE": "INSERT OVERWRITE TABLE target SELECT id, v FROM t",
    "UPDATE": "UPDATE target SET v = 'u' WHERE id IN (SELECT id FROM t)",
    "MERGE": "MERGE INTO target x USING t ON x.id = t.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN"
    " INSERT VALUES (t.id, t.v)",
    "CREATE TABLE AS": f"CREATE TABLE c STORED AS ORC {ACID} AS SELECT * FROM t",
}
CHANGES = {
    "renamed": ["ALTER TABLE t RENAME TO u"],
    "dropped": ["DROP TABLE t"],
    "replaced": ["DROP TABLE t", "CREATE TABLE t (id bigint, other int) STORED AS ORC"],
    "altered": ["ALTER TABLE t ADD COLUMNS (n int)"],
}


@pytest.fixture
def other(open_session: Callable[[], Session]) -> Session:
    return open_session()


@pytest.fixture
def before_the_locks(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Runs statements in another session once, just before the next statement asks for its locks."""

    def arrange(session: Session, *steps: str) -> None:
        lock = SqliteMetastore.lock

        def act_and_lock(
            store: SqliteMetastore,
            txn: TxnId,
            components: Sequence[LockComponent],
            *,
            patience: Patience = DEFAULT_PATIENCE,
        ) -> bool:
            monkeypatch.setattr(SqliteMetastore, "lock", lock)
            for step in steps:
                session.execute(step)
            return lock(store, txn, components, patience=patience)

        monkeypatch.setattr(SqliteMetastore, "lock", act_and_lock)

    return arrange


def with_tables(session: Session, kind: str) -> None:
    session.execute(KINDS[kind])
    session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    session.execute(f"CREATE TABLE target (id int, v string) STORED AS ORC {ACID}")
    session.execute("INSERT INTO target VALUES (1, 'x')")


@pytest.mark.ci
@pytest.mark.parametrize(
    ("kind", "reading", "change"),
    every(
        3,
        [
            *((kind, "a query", change) for kind in KINDS for change in CHANGES),
            *(
                (kind, reading, "renamed")
                for kind in ("plain", "partitioned")
                for reading in READING
                if reading != "a query"
            ),
        ],
    ),
)
def test_a_statement_does_not_read_a_table_that_is_not_the_one_that_it_was_planned_for(
    session: Session,
    other: Session,
    before_the_locks: Callable[..., None],
    kind: str,
    reading: str,
    change: str,
) -> None:
    with_tables(session, kind)
    before_the_locks(other, *CHANGES[change])
    with pytest.raises(AcidSqlError) as caught:
        list(session.execute(READING[reading]).rows())
    assert caught.value.condition in ("TABLE_CHANGED", "TABLE_NOT_FOUND")
    assert list(session.execute("SELECT * FROM target").rows()) == [(1, "x")]
    assert session.catalog.find_table("default", "c") is None


@pytest.mark.parametrize("kind", KINDS)
def test_read_arrow_does_not_read_a_renamed_table(
    session: Session, other: Session, before_the_locks: Callable[..., None], kind: str
) -> None:
    with_tables(session, kind)
    before_the_locks(other, "ALTER TABLE t RENAME TO u")
    with pytest.raises(AcidSqlError) as caught:
        session.read_arrow("t").read_all()
    assert caught.value.condition in ("TABLE_CHANGED", "TABLE_NOT_FOUND")


@pytest.mark.ci
@pytest.mark.parametrize(
    "change", ["ALTER TABLE t SET TBLPROPERTIES ('note'='n', 'comment'='c')", "INSERT INTO t VALUES (3, 'c')"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_statement_reads_a_table_whose_rows_are_stored_as_before(
    session: Session,
    other: Session,
    before_the_locks: Callable[..., None],
    kind: str,
    change: str,
) -> None:
    with_tables(session, kind)
    before_the_locks(other, change)
    rows = 3 if change.startswith("INSERT") else 2
    assert len(list(session.execute("SELECT id, count(*) FROM t GROUP BY id").rows())) == rows
