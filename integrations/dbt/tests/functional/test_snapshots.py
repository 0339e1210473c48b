"""dbt's own further tests of snapshots. They change the table that they read by UPDATE and DELETE after they made it by
CREATE TABLE .. AS, so that the profile makes tables transactional."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.adapter.simple_snapshot.test_snapshot import BaseSimpleSnapshot, BaseSnapshotCheck
from dbt.tests.util import relation_from_name


class Transactional:
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target: dict[str, Any]) -> dict[str, Any]:
        return {**dbt_profile_target, "settings": {"metastore.create.as.acid": "true"}}


class TestSnapshot(Transactional, BaseSimpleSnapshot):
    def add_fact_column(self, column: str | None = None, definition: str | None = None) -> None:
        """Hive's ADD COLUMNS has no DEFAULT, which is NULL in dbt's test."""
        fact = relation_from_name(self.project.adapter, "fact")
        kind = (definition or "").removesuffix(" default null")
        self.project.run_sql(f"alter table {fact} add columns ({column} {kind})")


class TestSnapshotCheck(Transactional, BaseSnapshotCheck):
    pass
