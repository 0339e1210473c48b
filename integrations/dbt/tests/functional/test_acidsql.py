"""What is acidsql's own: layouts, tables replaced in place, partitions overwritten, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt, write_file

from acidsql import connect
from acidsql.acid.table import Table

TABLE = "{{ config(materialized='table') }} select 1 as id, 'a' as name"
LAID_OUT = """{{ config(materialized='table', partitioned_by=['day'], clustered_by='id', buckets=2,
  kind='insert_only', tblproperties={'orc.compress': 'ZLIB'}) }} select 1 as id, 'x' as day"""
PARQUET = "{{ config(materialized='table', file_format='parquet') }} select 1 as id"
DAYS = """{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partitioned_by='day') }}
{% if is_incremental() %} select 3 as id, 'b' as day
{% else %} select 1 as id, 'a' as day union all select 2, 'b' {% endif %}"""
GRANTS = "{{ config(materialized='table', grants={'select': ['reader']}) }} select 1 as id"
FAILING = """{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key='id') }}
{% if is_incremental() %} select 1 as id, 'new' as v union all select -1, 'refused'
{% else %} select 1 as id, 'kept' as v {% endif %}"""


class Models:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {f"{name}.sql": text for name, text in self.texts.items()}

    texts: dict[str, str]

    @staticmethod
    def table(project: Any, name: str) -> Table:
        found = project.adapter.config.credentials
        with connect(found.warehouse) as session:
            return session.catalog.table(project.test_schema, name)


class TestLayout(Models):
    texts = {"laid_out": LAID_OUT, "parquet": PARQUET, "acid": TABLE}  # noqa: RUF012

    def test_the_configuration_is_the_layout_of_the_table(self, project: Any) -> None:
        run_dbt(["run"])
        laid_out = self.table(project, "laid_out")
        assert [column.name for column in laid_out.partition_columns] == ["day"]
        assert (laid_out.bucket_columns, laid_out.bucket_count) == (("id",), 2)
        assert laid_out.is_insert_only
        assert laid_out.properties["orc.compress"] == "ZLIB"
        assert self.table(project, "acid").is_full_acid
        parquet = self.table(project, "parquet")
        assert (parquet.file_format, parquet.is_transactional) == ("parquet", False)


class TestReplacedInPlace(Models):
    texts = {"model": TABLE}  # noqa: RUF012

    def test_only_a_change_of_the_columns_makes_a_new_table(self, project: Any) -> None:
        run_dbt(["run"])
        first = self.table(project, "model").created, self.bases(project)
        assert first[1] == []
        run_dbt(["run"])
        assert len(self.bases(project)) == 1  # INSERT OVERWRITE writes a base directory into the same table
        write_file(TABLE.replace("'a' as name", "2 as number"), project.project_root, "models", "model.sql")
        run_dbt(["run"])
        assert [column.name for column in self.table(project, "model").columns] == ["id", "number"]
        assert self.bases(project) == []
        assert project.run_sql("select * from {schema}.model", fetch="all") == [(1, 2)]

    def bases(self, project: Any) -> list[str]:
        return [path.name for path in Path(self.table(project, "model").location).glob("base_*")]


class TestInsertOverwrite(Models):
    texts = {"days": DAYS}  # noqa: RUF012

    def test_only_the_partitions_of_the_query_are_replaced(self, project: Any) -> None:
        run_dbt(["run"])
        run_dbt(["run"])
        rows = project.run_sql("select id, day from {schema}.days order by id", fetch="all")
        assert rows == [(1, "a"), (3, "b")]


class TestGrants(Models):
    texts = {"granted": GRANTS}  # noqa: RUF012

    def test_grants_are_refused(self, project: Any) -> None:
        (result,) = run_dbt(["run"], expect_pass=False).results
        assert "acidsql checks no rights" in str(result.message)


class TestFailure(Models):
    texts = {"failing": FAILING}  # noqa: RUF012

    def test_a_failed_run_leaves_the_rows_and_no_transaction(self, project: Any) -> None:
        run_dbt(["run"])
        project.run_sql("alter table {schema}.failing add constraint positive check (id > 0)")
        (result,) = run_dbt(["run"], expect_pass=False).results
        assert "CONSTRAINT_VIOLATED" in str(result.message)  # by the INSERT, after the DELETE
        assert project.run_sql("select id, v from {schema}.failing", fetch="all") == [(1, "kept")]
        transactions = project.run_sql("show transactions", fetch="all")
        assert [row for row in transactions if "OPEN" in str(row).upper()] == []


class TestDocs(Models):
    texts = {"documented": TABLE}  # noqa: RUF012

    def test_the_catalog_has_the_columns_with_hive_s_types(self, project: Any) -> None:
        run_dbt(["run"])
        run_dbt(["docs", "generate"])
        catalog = json.loads(Path(project.project_root, "target", "catalog.json").read_text())
        columns = catalog["nodes"]["model.test.documented"]["columns"]
        assert {name: column["type"] for name, column in columns.items()} == {"id": "int", "name": "string"}
