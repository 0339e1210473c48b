"""FROM .. INSERT .. INSERT ..: the rows that all branches read, read once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from acidsql.grammar.quoting import name_sql
from acidsql.planner.dml.multi_insert import SCANNED
from acidsql.planner.plan import MultiWritePlan
from acidsql.spark.running_spark import StatementSpark


@contextmanager
def scanned_once(spark: StatementSpark, plan: MultiWritePlan, args: Mapping[str, object]) -> Iterator[None]:
    """Inside, the view SCANNED has the rows of the FROM clause. The first branch reads them, the others reuse them."""
    rows = spark.sql(plan.rows, args)
    if plan.columns is not None:
        rows = rows.select(*_needed(rows, plan.columns, structs=bool(plan.sources)))
    rows = rows.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        spark.define_view(SCANNED, rows)
        yield
    finally:
        rows.unpersist()


def _needed(rows: DataFrame, names: frozenset[str], *, structs: bool) -> list[Column]:
    """The columns that at least one branch names: only these are kept."""
    fields = rows.schema.fields
    if structs:
        return [_needed_fields(f, names) for f in fields]
    # A name may occur twice. Then it is ambiguous, and the branch that uses it raises the error.
    return [_quoted(f.name) for f in fields if f.name.lower() in names] or [F.lit(1).alias(":row")]


def _needed_fields(source: StructField, names: frozenset[str]) -> Column:
    assert isinstance(source.dataType, StructType)
    of_source = source.dataType.names
    kept = [n for n in of_source if n.lower() in names] or of_source[:1]
    return F.struct(*(_quoted(source.name).getField(n).alias(n) for n in kept)).alias(source.name)


def _quoted(name: str) -> Column:
    return F.col(name_sql(name))
