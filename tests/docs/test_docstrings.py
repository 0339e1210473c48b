"""The examples in the docstrings of the public API run, and every public function has one."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest
from pyspark.sql import SparkSession

import acidsql
import acidsql.dbapi.dbapi_connection
import acidsql.dbapi.dbapi_cursor
from acidsql import connection, dbapi, streaming
from acidsql import session as session_module
from acidsql.dbapi.dbapi_connection import Connection
from acidsql.dbapi.dbapi_cursor import Cursor
from acidsql.frame_api import frame_statements, merge_builder, merge_clauses
from acidsql.frame_api.frame_statements import FrameStatements
from acidsql.frame_api.merge_builder import MergeBuilder
from acidsql.ingest import stream as stream_module
from acidsql.ingest.stream import Stream
from acidsql.session import Session

MODULES: tuple[ModuleType, ...] = (
    acidsql,
    connection,
    session_module,
    frame_statements,
    merge_builder,
    merge_clauses,
    stream_module,
    streaming,
    acidsql.dbapi.dbapi_connection,
    acidsql.dbapi.dbapi_cursor,
)
OF_CURSORS = {"run", "run_many", "require_open"}
"""What a connection has for its cursors alone."""
PART_OF_PEP_249 = {"setinputsizes", "setoutputsize"}


def examples(module: ModuleType) -> list[doctest.DocTest]:
    found = doctest.DocTestFinder(exclude_empty=True).find(module, module.__name__)
    return [example for example in found if example.examples and "._" not in example.name]


@pytest.fixture
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of the examples, in which `warehouse` is a relative path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ACIDSQL_WAREHOUSE", str(tmp_path / "warehouse"))
    return tmp_path / "warehouse"


@pytest.fixture
def default_session() -> Iterator[None]:
    """The examples of `run_sql` open the default session; it must not outlive them."""
    before, connection._default = connection._default, None
    yield
    opened, connection._default = connection._default, before
    if opened is not None:
        opened.close()


@pytest.mark.ci
@pytest.mark.usefixtures("default_session")
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_examples_run(module: ModuleType, spark: SparkSession, warehouse: Path) -> None:
    assert examples(module)
    for number, example in enumerate(examples(module)):
        with acidsql.connect(warehouse / str(number), spark=spark) as session:
            session.execute("CREATE TRANSACTIONAL TABLE employee (id int, name string, salary int)")
            session.execute("INSERT INTO employee VALUES (2, 'Tom', 7500), (3, 'Kate', 6000), (4, 'Mary', 9000)")
            example.globs = {"acidsql": acidsql, "dbapi": dbapi, "spark": spark, "session": session}
            with closing(dbapi.connect(warehouse / str(number), spark=spark)) as books:
                example.globs |= {"connection": books, "cursor": books.cursor()}
                if module is stream_module:
                    example.globs["stream"] = session.stream("employee", id="orders")  # the session closes it
                assert doctest.DocTestRunner(verbose=False).run(example).failed == 0, example.name


def test_every_public_function_has_an_example() -> None:
    with_example = {example.name for module in MODULES for example in examples(module)}
    for kind in (Session, FrameStatements, MergeBuilder, Stream, Connection, Cursor):
        for name, member in vars(kind).items():
            is_call = isinstance(member, property) or inspect.isfunction(member)
            is_stub = kind is FrameStatements and vars(Session).get(name) is not None
            if is_call and not is_stub and not name.startswith("_") and name not in PART_OF_PEP_249 | OF_CURSORS:
                assert any(found.endswith(f"{kind.__name__}.{name}") for found in with_example), (kind, name)
    functions = ("connection.connect", "connection.default_session", "run_sql", "streaming.append", "streaming.merge")
    assert {f"acidsql.{name}" for name in functions} <= with_example
    assert "acidsql.dbapi.dbapi_connection.connect" in with_example
