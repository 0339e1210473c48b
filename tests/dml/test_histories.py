"""Random histories on random tables (types, partitions, buckets), on every write path, against a model in plain
Python."""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pyspark.sql import SparkSession

from acidsql.planner import write_strategy
from acidsql.planner.write_strategy import ByDriver, InEachTask, InPlace, Shuffled, StrategyKind
from acidsql.session import Session, connect
from acidsql.snapshot import key_ranges
from acidsql.spark import target_pruning
from acidsql.spark.scan import source_keys
from acidsql.spark.scan.deletes import cache
from acidsql.spark.write import driver_write
from acidsql.statements.results import ScanResult
from acidsql.storage.file_systems import is_local
from tests.support.acid_files import check_file, event_files, key_of
from tests.support.histories import Model, Row, random_schema

_LOG = logging.getLogger(__name__)
"""Says which strategies a history took: `pytest --log-cli-level=INFO`."""
ACID_COLUMNS = "operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,currentTransaction:bigint"
_BETWEEN_READS = 4
"""How many statements run before the table is read: the model says what each must have counted."""


@dataclass(frozen=True, slots=True)
class WritePath:
    """How a history is written: the strategy that is taken wherever it is possible, and attributes of modules that
    decide on what else there is more than one way to do.

    `compacts`: before half of the statements the table is compacted, so that no bucket has two files. `direct`: what
    needs no Spark runs without it.
    """

    preferred: StrategyKind | None
    driver_bytes: int = 0
    patches: tuple[tuple[ModuleType, str, int], ...] = ()
    compacts: bool = False
    direct: bool = False


_SOURCE_IS_BROADCAST = (
    *((source_keys, "_LEAST", 0), (source_keys, "_MUCH", 0)),
    *((target_pruning, "_LARGE", 0), (key_ranges, "_MANY_PARTITIONS", 0), (key_ranges, "_MOST_RANGES", 2)),
)
_DELETES_ARE_JOINED = ((cache, "_READ_HERE", -1),)
_DELETES_ARE_SHUFFLED = ((write_strategy, "MOST_DELETES_BY_DRIVER", -1),)
PATHS = {
    "without spark": WritePath(None, 1 << 20, direct=True),
    "chosen": WritePath(None, 1 << 20),
    "by driver": WritePath(ByDriver, 1 << 20),
    "compiled": WritePath(ByDriver, 1 << 20, ((driver_write, "LITTLE", -1), *_SOURCE_IS_BROADCAST)),
    "in place": WritePath(InPlace, compacts=True),
    "spread": WritePath(InEachTask),
    "spread and shuffled": WritePath(InEachTask, 0, (*_DELETES_ARE_SHUFFLED, *_DELETES_ARE_JOINED)),
    "shuffled": WritePath(Shuffled, 0, _SOURCE_IS_BROADCAST),
    "shuffled and joined": WritePath(Shuffled, 0, _DELETES_ARE_JOINED),
}
SHORT = (
    ("without spark", 5),
    ("chosen", 0),
    ("by driver", 1),
    ("in place", 2),
    ("shuffled", 4),
    *(
        pytest.param(*history, marks=pytest.mark.nightly)
        for history in (("compiled", 3), ("spread", 7), ("spread and shuffled", 1), ("shuffled and joined", 6))
    ),
)
"""The histories of the shortest run: on each path one with a table for which its strategy is possible."""


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    place = tmp_path_factory.mktemp("histories")
    with connect(place / "warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark) as opened:
        yield opened


def run_history(session: Session, seed: int, statements: int, path: str) -> Counter[StrategyKind]:
    """The strategies of its statements, without those of plain INSERTs, which are always written in each task."""
    with pytest.MonkeyPatch.context() as patched:
        for module, name, value in PATHS[path].patches:
            patched.setattr(module, name, value)
        steering = session._engines.steering
        patched.setattr(steering, "preferred", PATHS[path].preferred)
        patched.setattr(steering, "taken", None if PATHS[path].direct else [])
        _run_history(session, seed, statements, path)
        taken = steering.taken or []
    return Counter(type(s) for s in taken if not isinstance(s, InEachTask) or s.deletes_follow)


def _run_history(session: Session, seed: int, statements: int, path: str) -> None:
    r = random.Random(seed)
    session.execute(f"SET acidsql.driver.write.max.bytes={PATHS[path].driver_bytes}")
    table = f"h{seed}_{path.replace(' ', '_')}"
    model = Model(random_schema(r), r, table, since_1970=PATHS[path].driver_bytes > 0 and seed % 4 > 0)
    session.execute(f"CREATE TABLE {model.table} {model.schema.ddl}")
    history: list[str] = [f"seed {seed}, {path}", model.schema.ddl]
    ids: dict[int, Row] = {}
    used: set[Row] = set()
    touched: set[int] = set()
    for number in range(1, statements + 1):
        if PATHS[path].compacts and number % 2 == 0:
            compact(session, model)
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
    location = session.catalog.table("default", model.table).location
    if not PATHS[path].compacts and is_local(location):
        check_files(Path(location), model)


def compact(session: Session, model: Model) -> None:
    """Compacts the table: one file per bucket in each partition, and the same row IDs."""
    partitions = [""]
    if model.schema.keys:
        listed = (str(row[0]) for row in session.execute(f"SHOW PARTITIONS {model.table}").rows())
        named = (part.split("/") for part in listed if "%" not in part and "__HIVE" not in part)
        quoted = ([item.replace("=", "='", 1) + "'" for item in part] for part in named)
        partitions = [f"PARTITION ({', '.join(items)})" for items in quoted]
    for partition in partitions:
        session.execute(f"ALTER TABLE {model.table} {partition} COMPACT 'major' AND WAIT")


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
    without_ids = session.sql(f"SELECT * FROM {model.table}").collect()  # decodes what the footers do not tell
    assert {row[0]: plain(tuple(row[1:])) for row in without_ids} == expected, history
    assert len(without_ids) == len(found), history
    scanned = session.execute(f"SELECT row__id, * FROM {model.table}", rows_only=True)
    is_here = session._files.needs_hadoop(str(session.warehouse)) is None
    assert isinstance(scanned, ScanResult) == is_here  # without Spark
    assert sorted(map(repr, map(plain, scanned.rows()))) == sorted(map(repr, map(plain, map(tuple, found)))), history
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
        case bytes():
            return bytearray(value)
        case _:
            return value


@pytest.mark.ci
@pytest.mark.parametrize(("path", "seed"), SHORT)
def test_a_short_random_history_leaves_the_rows_of_the_model_on_every_path(
    tables: Session, path: str, seed: int
) -> None:
    taken = run_history(tables, seed, 6, path)
    _LOG.info("seed %s, %s: %s", seed, path, taken)
    preferred = PATHS[path].preferred
    assert preferred is None or taken[preferred]


@pytest.mark.nightly
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 8))])
def test_a_random_history_leaves_the_rows_of_the_model_under_their_row_ids(
    tables: Session, seed: int, path: str
) -> None:
    taken = run_history(tables, 100 + seed, 12 if seed == 0 else 25, path)
    _LOG.info("seed %s, %s: %s", 100 + seed, path, taken)


@pytest.mark.soak
@pytest.mark.timeout(36000)
def test_thousands_of_statements_leave_the_rows_of_the_model(tables: Session) -> None:
    for seed in range(1000, 1100):
        for path in PATHS:
            run_history(tables, seed, 60, path)
