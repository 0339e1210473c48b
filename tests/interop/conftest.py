"""One Hive for all tests of the process."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.hive_client import Hive
from tests.interop.shared_table import DATABASE


@pytest.fixture(scope="session")
def hive() -> Iterator[Hive]:
    """A running Hive 4.0.1, empty but for the database that the tests share. Skips where it cannot be had."""
    root = Path(tempfile.mkdtemp(prefix="acidsql-hive-"))
    try:
        with Hive(root) as running:
            running.run(f"CREATE DATABASE {DATABASE}")
            yield running
    finally:
        shutil.rmtree(root)
