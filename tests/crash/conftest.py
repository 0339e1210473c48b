"""A Hive whose metastore gives up soon on those that are killed, and that can be killed itself."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.hive_client import Hive

TIMEOUT = {
    "metastore.txn.timeout": "20s",
    "metastore.timedout.txn.reaper.start": "1s",
    "metastore.timedout.txn.reaper.interval": "1s",
    "metastore.housekeeping.threads.on": "true",
}
"""Transactions without a heartbeat are aborted soon: what is killed holds its locks no longer than that."""


@pytest.fixture(scope="module")
def mortal() -> Iterator[Hive]:
    """A Hive for these tests alone."""
    root = Path(tempfile.mkdtemp(prefix="acidsql-mortal-"))
    try:
        with Hive(root, TIMEOUT) as running:
            yield running
    finally:
        shutil.rmtree(root)
