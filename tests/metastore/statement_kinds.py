"""One table through a metastore that is reached in a particular way: each kind of statement once."""

from __future__ import annotations

from acidsql.session import Session
from tests.answers import rows


def run_each_kind(session: Session, table: str, owner: str | None = None) -> None:
    """Makes the table, changes it by each kind of statement, reads it, and drops it. `owner` is the user whom the
    metastore must know as its owner."""
    session.execute(f"CREATE TABLE {table} (id int, v string) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    session.execute(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    session.execute(f"UPDATE {table} SET v = 'u' WHERE id = 2")
    session.execute(f"DELETE FROM {table} WHERE id = 3")
    session.execute(
        f"MERGE INTO {table} t USING (VALUES (1), (4)) s(k) ON t.id = s.k"
        " WHEN MATCHED THEN UPDATE SET v = 'm' WHEN NOT MATCHED THEN INSERT VALUES (s.k, 'n')"
    )
    with session.stream(table, id=f"stream of {table}") as stream:
        stream.write([{"id": 5, "v": "s"}], offset=1)
    expected = [(1, "m"), (2, "u"), (4, "n"), (5, "s")]
    assert rows(session, f"SELECT * FROM {table} ORDER BY id") == expected
    session.execute(f"ALTER TABLE {table} COMPACT 'minor' AND WAIT")
    assert rows(session, f"SELECT * FROM {table} ORDER BY id") == expected
    if owner is not None:
        assert session.catalog.table(session.database, table).owner == owner
    session.execute(f"DROP TABLE {table}")
