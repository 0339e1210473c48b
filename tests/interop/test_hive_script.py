"""A script that was written for Hive runs unchanged in Hive 4.0.1 and in acidsql, on one metastore: the same tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession

from acidsql.grammar.script_splitter import split_script
from acidsql.session import Session, connect
from tests.interop.hive_client import Hive
from tests.interop.values import assert_same_rows, rows_of_acidsql, rows_of_hive

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

SCRIPT: Final = Path(__file__).parent / "scripts" / "retail_warehouse.sql"
TABLES: Final = ("stage_customer", "stage_sale", "customer", "sale", "rejected", "tag_count", "month_report")
DATABASES: Final = ("retail_of_hive", "retail_of_acidsql")


@pytest.fixture
def session(hive: Hive, spark: SparkSession) -> Iterator[Session]:
    clean = ["USE default", *(f"DROP DATABASE IF EXISTS {name} CASCADE" for name in DATABASES)]
    hive.run(*clean)
    with connect(metastore=hive.metastore_uri, spark=spark) as opened:
        yield opened
    hive.run(*clean)


@pytest.mark.nightly
def test_a_script_for_hive_gives_the_same_tables_in_both(hive: Hive, session: Session) -> None:
    of_hive, of_acidsql = DATABASES
    lines = SCRIPT.read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith("--"))  # as Hive's command line strips comments
    hive.run(f"SET hivevar:db={of_hive}", *(piece.text for piece in split_script(text)), "USE default")
    session.sql(f"SET hivevar:db={of_acidsql}")
    for result in session.script(text):
        result.close()
    session.sql("USE default")
    for table in TABLES:
        query = f"SELECT * FROM {{}}.{table}"
        expected = rows_of_hive(hive.rows(query.format(of_hive)))
        assert expected, f"{table}: an empty table proves nothing"
        assert_same_rows(rows_of_acidsql(session, query.format(of_acidsql)), expected, table)
        assert_same_rows(rows_of_hive(hive.rows(query.format(of_acidsql))), expected, f"Hive reads acidsql's {table}")
        assert_same_rows(rows_of_acidsql(session, query.format(of_hive)), expected, f"acidsql reads Hive's {table}")
