"""The metastores that the contract is tried on: SQLite's, the same one in a session, and Hive's, which all tests of a
process share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.metastore.client import DEFAULT_DATABASE, Metastore
from acidsql.metastore.registry import open_hive
from acidsql.metastore.session_metastore import SessionMetastore
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from tests.interop.hive_client import Hive
from tests.interop.shared_table import DATABASE as INTEROP
from tests.metastore import tables
from tests.metastore.differences import DIFFERENCES


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("session", marks=pytest.mark.full),
        pytest.param("hive", marks=[pytest.mark.hive, pytest.mark.timeout(1500)]),
    ]
)
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Metastore]:
    """A metastore with nothing in it but the database `default`, no open transaction and no lock."""
    opened = _hive(request) if request.param == "hive" else _sqlite(tmp_path)
    opened = SessionMetastore(opened) if request.param == "session" else opened
    with closing(opened):
        monkeypatch.setattr(tables, "WAREHOUSE", opened.database(DEFAULT_DATABASE).location)
        yield opened


def _sqlite(directory: Path) -> Metastore:
    return SqliteMetastore(directory / ".acidsql" / "metastore.db", str(directory))


def _hive(request: pytest.FixtureRequest) -> Metastore:
    """Starts Hive for the first test that asks."""
    test = request.node.name.replace("[hive]", "").replace("hive-", "").replace("-hive", "")
    reason = DIFFERENCES.get(test) or DIFFERENCES.get(test.partition("[")[0])
    if reason is not None:
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    hive = request.getfixturevalue("hive")
    assert isinstance(hive, Hive)
    opened = open_hive(hive.metastore_uri)
    clean(opened)
    return opened


def clean(store: Metastore) -> None:
    """Ends all transactions of a shared metastore and drops all tables and databases but those of other tests."""
    for txn in store.transactions():
        if txn.is_open:
            with suppress(AcidSqlError):  # it has just ended
                store.abort(txn.id)
    for stream in store.streams():
        if not stream.writer:  # a process that was killed may have had the claim
            store.release_claim(store.claim_stream(store.table(stream.database, stream.table), stream.id))
    for database in store.databases():
        if database.name != INTEROP:
            for table in store.tables(database.name):
                store.drop_table(database.name, table)
            if database.name != DEFAULT_DATABASE:
                store.drop_database(database.name)
    assert not store.locks()
