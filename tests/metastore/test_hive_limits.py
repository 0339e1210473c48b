"""How many transactions may be open at once in a Hive Metastore."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.metastore.hive.hive_metastore import HiveMetastore
from acidsql.metastore.hive.service_uri import parse_address
from tests.interop.hive_client import Hive

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

LIMIT = 10
SETTINGS = {
    "metastore.max.open.txns": str(LIMIT),
    "metastore.count.open.txns.interval": "100ms",
    "metastore.housekeeping.threads.on": "true",
}
"""What is open is counted by a thread of the housekeeping's."""


@pytest.fixture
def store() -> Iterator[HiveMetastore]:
    root = Path(tempfile.mkdtemp(prefix="acidsql-limited-"))
    try:
        with Hive(root, SETTINGS) as hive, HiveMetastore(parse_address(hive.metastore_uri)) as opened:
            yield opened
    finally:
        shutil.rmtree(root)


def refusal(store: HiveMetastore) -> AcidSqlError:
    """Of the next transaction that is one too many."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            store.open_txn()
        except AcidSqlError as error:
            return error
        time.sleep(0.02)
    raise AssertionError("the metastore opens as many as are asked for")


def test_too_many_open_transactions_are_the_same_error_as_on_the_embedded_metastore(store: HiveMetastore) -> None:
    error = refusal(store)
    assert error.condition == "TOO_MANY_TRANSACTIONS"
    assert error.getMessageParameters() == {"limit": str(LIMIT)}
    for txn in store.transactions():
        store.abort(txn.id)
    time.sleep(1)
    store.abort(store.open_txn())
