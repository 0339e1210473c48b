"""One seed: tables, changes to them, queries over them, comparisons across types."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

from pyspark.sql import SparkSession

from acidsql.session import connect
from tests.fuzz.comparisons import check_comparisons
from tests.fuzz.dml import Changes
from tests.fuzz.oracles import Oracles, shortcuts_on_little
from tests.fuzz.tables import random_table
from tests.fuzz.world import Finding, World, random_path

_MOST_ROWS = 150
"""A table of more rows gets no further ones."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much one seed does."""

    changes: int
    queries: int
    rounds: int = 1
    comparisons: int = 0


def run_seed(spark: SparkSession, seed: int, size: Size, tell: Callable[[Finding], None] = lambda _: None) -> World:
    """Makes the seed's tables, changes and queries. Deterministic but for row IDs."""
    place = tempfile.mkdtemp(prefix="acidsql-fuzz-")
    session = connect(f"{place}/warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark)
    try:
        world = World(session, spark, seed, tell)
        _fill(world, random.Random(f"{seed} tables"))
        with shortcuts_on_little() if seed % 4 else nullcontext():
            for number in range(size.rounds):
                _change(world, random.Random(f"{seed} changes {number}"), size.changes)
                _query(world, spark, random.Random(f"{seed} queries {number}"), size.queries)
            if size.comparisons:
                check_comparisons(world, random.Random(f"{seed} comparisons"), size.comparisons)
        return world
    finally:
        session.close()
        shutil.rmtree(place, ignore_errors=True)


def _fill(world: World, r: random.Random) -> None:
    tables = [random_table(r, f"t{n}") for n in range(2)]
    made = Changes(r, tables)
    for number, table in enumerate(tables):
        live = world.create(table)
        batches = r.sample(range(8), r.randint(2, 4))
        world.fill(live, [made.values(number, batch) for batch in batches])
        if r.random() < 0.3:
            world.compact(live, r.choice(("minor", "major")))


def _change(world: World, r: random.Random, count: int) -> None:
    made = Changes(r, [live.table for live in world.lives])
    for _ in range(count):
        target = r.choice((0, 0, 1))
        if r.random() < 0.1:
            world.compact(world.lives[target], r.choice(("minor", "major")))
        elif len(world.lives[target].rows) > _MOST_ROWS:
            world.apply(made.delete(target), random_path(r))
        elif r.random() < 0.4:
            world.apply(made.simple(target), None)
        else:
            world.apply(made.change(target), random_path(r))


def _query(world: World, spark: SparkSession, r: random.Random, count: int) -> None:
    if not count:
        return
    oracles = Oracles(world, spark, r)
    for _ in range(count):
        oracles.check()
