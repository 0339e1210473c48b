"""How many transactions may be open at once in a Hive Metastore."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.metastore.hive.hive_metastore import HiveMetastore
from acidsql.metastore.hive.service_uri import parse_address
from tests.interop.hive_client import Hive
from tests.metastore.patience import eventually

pytestmark = [pytest.mark.hive, pytest.mark.nightly, pytest.mark.timeout(1500)]

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
    refused: list[AcidSqlError] = []

    def is_refused() -> bool:
        try:
            store.open_txn()
        except AcidSqlError as error:
            refused.append(error)
        return bool(refused)

    eventually(is_refused)
    return refused[0]


def opens_one(store: HiveMetastore) -> bool:
    try:
        store.abort(store.open_txn())
    except AcidSqlError:
        return False
    return True


def test_too_many_open_transactions_are_the_same_error_as_on_the_embedded_metastore(store: HiveMetastore) -> None:
    error = refusal(store)
    assert error.condition == "TOO_MANY_TRANSACTIONS"
    assert error.getMessageParameters() == {"limit": str(LIMIT)}
    for txn in store.transactions():
        store.abort(txn.id)
    eventually(lambda: opens_one(store))
