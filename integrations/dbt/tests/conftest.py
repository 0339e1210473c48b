"""The profile with which dbt's tests run: a warehouse of their own, one Spark for the process."""

from __future__ import annotations

from typing import Any

import pytest

pytest_plugins = ["dbt.tests.fixtures.project"]


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("dbt") / "warehouse")


@pytest.fixture(scope="class")
def dbt_profile_target(warehouse: str) -> dict[str, Any]:
    return {
        "type": "acidsql",
        "warehouse": warehouse,
        "threads": 2,
        "conf": {"spark.master": "local[2]", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"},
    }
