"""The examples of docs/arrow.md for DuckDB, polars and pandas, which run where the package is installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import redirect_stdout
from datetime import date
from decimal import Decimal
from io import StringIO
from itertools import pairwise
from pathlib import Path

import pytest

from acidsql.session import connect
from tests.page_examples import blocks

PAGE = Path(__file__).parents[2] / "docs" / "arrow.md"


def examples() -> Iterator[tuple[str, str]]:
    """The examples with their output."""
    for block, after in pairwise(blocks(PAGE.read_text("utf-8"))):
        if block.language == "py":
            yield block.text, after.text


@pytest.mark.parametrize("package", ["duckdb", "polars", "pandas"])
def test_the_tool_reads_as_the_page_says(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(package, reason=f"{package} is not installed")
    monkeypatch.chdir(tmp_path)
    with connect("warehouse") as session:
        session.execute(
            "CREATE TABLE employee (id INT, name STRING, salary DECIMAL(10,2), hired DATE)"
            " TBLPROPERTIES ('transactional'='true')"
        )
        with session.stream("employee") as stream:
            stream.write([(2, "Tom", Decimal(7500), date(2023, 1, 15)), (3, "Kate", Decimal(6000), date(2024, 9, 1))])
            stream.write([(4, "Mary", Decimal(9000), None)])
    ((text, output),) = [(text, output) for text, output in examples() if f"import {package}\n" in text]
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(text, str(PAGE), "exec"), {})
    assert printed.getvalue() == output
