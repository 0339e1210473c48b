"""Random histories on random tables (types, partitions, buckets), against a model in plain Python."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from acidsql.session import Session, connect
from acidsql.spark import spread
from tests.spark.acid_files import check_file, event_files, key_of
from tests.spark.histories import Model, Row, random_schema

ACID_COLUMNS = "operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,currentTransaction:bigint"
_LENGTHS = [50] * 4 + [25] * 28
"""Statements of each history: the longer one is, the more deltas each of its statements reads."""
_OF_SPARK = 8
"""One history in so many is written by Spark, which takes three times as long, the others by the driver; and every
other one of these as if the data were much."""
_BETWEEN_READS = 4
"""How many statements run before the table is read: the model says what each must have counted."""


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    place = tmp_path_factory.mktemp("histories")
    with connect(place / "warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark) as opened:
        yield opened


def run_history(session: Session, seed: int, statements: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        if seed % (2 * _OF_SPARK) == 0:
            patched.setattr(spread, "MUCH", 0)
        _run_history(session, seed, statements)


def _run_history(session: Session, seed: int, statements: int) -> None:
    r = random.Random(seed)
    by_driver = seed % _OF_SPARK != 0
    session.execute(f"SET acidsql.driver.write.max.bytes={by_driver << 20}")
    model = Model(random_schema(r), r, f"h{seed}", since_1970=by_driver)
    session.execute(f"CREATE TABLE {model.table} {model.schema.ddl}")
    history: list[str] = [model.schema.ddl]
    ids: dict[int, Row] = {}
    used: set[Row] = set()
    touched: set[int] = set()
    for number in range(1, statements + 1):
        step = model.step()
        history.append(step.sql)
        done = session.execute(step.sql).counts
        if step.counts is not None:
            assert done is not None
            assert (done.updated, done.deleted, done.inserted) == step.counts, history
        touched |= step.touched
        if number % _BETWEEN_READS == 0 or number == statements:
            ids = checked(session, model, ids, touched, used, history)
            touched.clear()
    check_files(Path(session.catalog.table("default", model.table).location), model)


def checked(
    session: Session, model: Model, before: dict[int, Row], touched: set[int], used: set[Row], history: list[str]
) -> dict[int, Row]:
    """Reads the table: the model's rows, each once; a row that nothing touched has the row ID that it had, and no row
    ID ever names another row."""
    found = session.sql(f"SELECT row__id, * FROM {model.table}").collect()
    read = {row[1]: plain(tuple(row[2:])) for row in found}
    assert len(read) == len(found), history
    expected = {key: shown(row, model) for key, row in model.rows.items()}
    assert read == expected, history
    ids: dict[int, Row] = {row[1]: tuple(row[0]) for row in found}
    assert len(set(ids.values())) == len(ids), history
    assert {k: i for k, i in ids.items() if k not in touched} == {k: i for k, i in before.items() if k not in touched}
    fresh = {i for k, i in ids.items() if before.get(k) != i}
    assert not fresh & used, history
    used |= fresh
    return ids


def check_files(root: Path, model: Model) -> None:
    """Reads all files with pyorc: each keeps the rules of the format, and the rows that live are the model's."""
    names = ("k", *model.schema.names[: len(model.schema.names) - model.schema.keys])
    types = ("int", *(kind.type for kind in model.schema.kinds))
    row = ",".join(f"{name}:{kind}" for name, kind in zip(names, types, strict=False))
    schema = f"struct<{ACID_COLUMNS},row:struct<{row}>>"
    living: list[int] = []
    for directory in {path.parent.parent for path in root.rglob("bucket_*")}:
        files = event_files(directory)
        for file in files:
            check_file(file, schema)
        base = max((int(path.name.removeprefix("base_")) for path in directory.glob("base_*")), default=0)
        seen = [f for f in files if f.write_id > base or f.directory == f"base_{base:07d}"]
        dead = {key_of(event) for f in seen if f.is_delete for event in f.events}
        born = {key_of(event): event[5] for f in seen if not f.is_delete for event in f.events}
        living += [new[0] for key, new in born.items() if key not in dead and new is not None]
    assert sorted(living) == sorted(model.rows)


def shown(row: Row, model: Model) -> Row:
    """What is read of a row: NULL in a partition column of text is Hive's name for it."""
    first = len(row) - model.schema.keys
    texts = [kind.type == "string" for kind in model.schema.kinds]
    return tuple(
        "__HIVE_DEFAULT_PARTITION__" if value is None and i >= first and texts[i] else value
        for i, value in enumerate(row)
    )


def plain(value: Any) -> Any:
    """Structs as tuples, as the model has them."""
    match value:
        case tuple():
            return tuple(plain(v) for v in value)
        case list():
            return [plain(v) for v in value]
        case _:
            return value


@pytest.mark.parametrize(("seed", "statements"), list(enumerate(_LENGTHS)))
def test_a_random_history_leaves_the_rows_of_the_model_under_their_row_ids(
    tables: Session, seed: int, statements: int
) -> None:
    run_history(tables, seed, statements)


@pytest.mark.soak
@pytest.mark.timeout(36000)
def test_thousands_of_statements_leave_the_rows_of_the_model(tables: Session) -> None:
    for seed in range(1000, 1100):
        run_history(tables, seed, 60)
