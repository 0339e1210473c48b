"""The metastores that the contract is tried on: SQLite's, the same one in a session, and Hive's of two versions, which
all tests of a process share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import pytest

from acidsql.errors import AcidSqlError
from acidsql.metastore.catalog import DEFAULT_DATABASE
from acidsql.metastore.client import Metastore
from acidsql.metastore.registry import open_hive
from acidsql.metastore.session_metastore import SessionMetastore
from acidsql.metastore.sqlite.sqlite_metastore import SqliteMetastore
from tests.interop.hive3_metastore import Hive3Metastore
from tests.interop.hive_client import Hive
from tests.interop.shared_table import DATABASE as INTEROP
from tests.metastore import tables
from tests.metastore.clock import Clock, given_clock
from tests.metastore.differences import DIFFERENCES, NOT_ON_HIVE_3

_STORES: Final = (
    "sqlite",
    pytest.param("session", marks=pytest.mark.nightly),
    pytest.param("hive", marks=[pytest.mark.hive, pytest.mark.timeout(1500)]),
)
_HIVE_3: Final = pytest.param("hive3", marks=[pytest.mark.hive, pytest.mark.nightly, pytest.mark.timeout(1500)])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "store" in metafunc.fixturenames and not hasattr(metafunc.module, "store"):  # which is its own metastore
        without = metafunc.module.__name__.rpartition(".")[2] in NOT_ON_HIVE_3
        metafunc.parametrize("store", _STORES if without else (*_STORES, _HIVE_3), indirect=True)


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Metastore]:
    """A metastore with nothing in it but the database `default`, no open transaction and no lock."""
    opened = _shared(request) if request.param in DIFFERENCES else _sqlite(tmp_path)
    opened = SessionMetastore(opened) if request.param == "session" else opened
    with closing(opened):
        monkeypatch.setattr(tables, "WAREHOUSE", opened.database(DEFAULT_DATABASE).location)
        yield opened


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the embedded metastores of this process."""
    return given_clock(monkeypatch)


def _sqlite(directory: Path) -> Metastore:
    return SqliteMetastore(directory / ".acidsql" / "metastore.db", str(directory))


def _shared(request: pytest.FixtureRequest) -> Metastore:
    """Starts the metastore for the first test that asks."""
    name = request.param
    test = request.node.name.replace(f"[{name}]", "").replace(f"{name}-", "").replace(f"-{name}", "")
    differences = DIFFERENCES[name]
    reason = differences.get(test) or differences.get(test.partition("[")[0])
    if reason is not None:
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    running = request.getfixturevalue(name)
    assert isinstance(running, Hive | Hive3Metastore)
    opened = open_hive(running.metastore_uri)
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
