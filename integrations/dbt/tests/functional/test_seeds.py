"""dbt's own further tests of seeds. The bases that create their expectations in PostgreSQL's SQL are left out."""

from __future__ import annotations

from dbt.tests.adapter.simple_seed.test_seed import BaseTestEmptySeed


class TestEmptySeed(BaseTestEmptySeed):
    pass
