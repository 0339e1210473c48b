"""Tables that Hive wrote, read without Spark: the rows, row IDs and files that Hive reads, or an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from acidsql.arrow.python_values import StructValue, python_rows
from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from tests.selection import core
from tests.support.golden_cases import (
    GoldenRow,
    GoldenTable,
    Json,
    golden_tables,
    recorded,
    sorted_golden_rows,
    sorted_rows,
)

NEEDS_SPARK = {
    "all_types/t": "Reading a time before 1677",
    "insert_only_orc_types/t": "Reading a time before 1677",
    "orc_in_new_york/t": "Reading a time before 1677",
    "timestamps_at_1970/t": "Reading a time before 1677",
    "schema_evolution_nested/t": "Reading struct<a:int",
    "schema_evolution_types/t": "Reading float as string",
}
TABLES = [table for table in golden_tables() if table.is_recorded]


def is_text(table: GoldenTable) -> bool:
    return "OrcSerde" not in table.serde and "Parquet" not in table.serde


READABLE = [t for t in TABLES if t.id not in NEEDS_SPARK and not is_text(t)]


def noted(value: object) -> Json:
    """A value in the notation of the recorded rows."""
    match value:
        case StructValue():
            return {name: noted(item) for name, item in zip(value.__fields__, value, strict=True)}
        case list():
            return [noted(item) for item in value]
        case dict():
            return sorted(([noted(k), noted(v)] for k, v in value.items()), key=json.dumps)
        case _:
            return recorded(value)


def rows_of(
    session: Session, table: str, columns: list[str] | None = None, where: str | None = None
) -> list[tuple[object, ...]]:
    scanned = session._dispatch.read_arrow(table, columns, where)
    return list(python_rows(scanned, scanned.kinds))


@pytest.mark.parametrize("golden", core(READABLE, lambda t: t.is_core), ids=lambda t: t.id)
def test_rows_row_ids_and_files_are_those_that_hive_reads(golden: GoldenTable, tmp_path: Path) -> None:
    with connect(tmp_path / "warehouse", metastore=f"sqlite:///{tmp_path}/m.db") as session:
        table = golden.adopt(session, tmp_path)
        names = [name for name, _ in (*golden.columns, *golden.partition_columns)]
        found = [dict(zip(names, map(noted, row), strict=True)) for row in rows_of(session, table)]
        assert sorted_rows(found) == sorted_rows(golden.expected())
        expected = golden.expected_row_ids()
        if expected is not None:
            rows = rows_of(session, table, ["row__id", "input__file__name", *names])
            root = f"{tmp_path / golden.case / golden.name}/"
            with_ids = [
                GoldenRow(tuple(i), str(f).split(root)[1], dict(zip(names, map(noted, row), strict=True)))  # type: ignore[arg-type]
                for i, f, *row in rows
            ]
            assert sorted_golden_rows(with_ids) == sorted_golden_rows(expected)
        assert not session._engine.is_running


def test_what_pyarrow_cannot_read_as_spark_does_is_an_error_that_names_the_way_out(tmp_path: Path) -> None:
    with connect(tmp_path / "warehouse", metastore=f"sqlite:///{tmp_path}/m.db") as session:
        for golden in TABLES:
            if golden.id not in NEEDS_SPARK and not is_text(golden):
                continue
            table = golden.adopt(session, tmp_path)
            with pytest.raises(AcidSqlError) as raised:
                session.read_arrow(table)
            assert raised.value.condition == "NOT_YET_SUPPORTED"
            assert NEEDS_SPARK.get(golden.id, "stored as textfile") in str(raised.value)
            assert "session.sql" in str(raised.value)
        assert not session.metrics() or not [t for t in session._metastore.transactions() if t.is_open]
