"""The embedded metastore of a session, for tests that act on it directly."""

from __future__ import annotations

from acidsql.metastore.session_metastore import SessionMetastore
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from acidsql.session import Session


def store_of(session: Session) -> SqliteMetastore:
    catalog = session.catalog
    assert isinstance(catalog, SessionMetastore)
    assert isinstance(catalog.shared, SqliteMetastore)
    return catalog.shared
