"""MERGE with a small source: the target's rows that match none of its keys are left out before the join.

The keys are broadcast, so that rows of the target are dropped where they are read instead of being shuffled and sorted
for the join. That reads the source a second time, so it must give the same rows again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

from acidsql.planner.plan import KEYS, Narrowing
from acidsql.snapshot.scan_binding import BoundScan
from acidsql.spark.catalyst.repeatable_queries import is_repeatable
from acidsql.spark.catalyst.size_estimates import SMALL, leaf_bytes, leaf_sizes
from acidsql.spark.engine import StatementSpark

_LEAST: Final = 1024 * 1024
"""Bytes of a target for which it is worth it."""
_MUCH: Final = 4
"""How many times the source's bytes these must be."""


def narrow(
    spark: StatementSpark, narrowing: Narrowing, target: Sequence[BoundScan], args: Mapping[str, object]
) -> None:
    """Defines the view of the target's scan anew, where it is worth it and right."""
    size = sum(f.file.length for b in target for part in b.parts for f in part.data_files)
    if size < _LEAST:
        return
    try:
        keys = spark.sql(narrowing.keys, args)
    except AnalysisException:
        return  # the statement's own query says what is wrong, and where
    of_source = leaf_bytes(leaf_sizes(keys))
    if of_source > SMALL or of_source * _MUCH > size or not is_repeatable(keys):
        return
    spark.define_view(KEYS, F.broadcast(keys))
    spark.define_view(narrowing.view, spark.sql(narrowing.rows))
