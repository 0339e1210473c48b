"""The misfits of a statement (planner/stored_values/misfits.py), counted by the query that writes its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from acidsql.acid.hive_types import is_complex, parse_type
from acidsql.grammar.quoting import name_sql
from acidsql.planner.plan import WritePlan
from acidsql.planner.stored_values.misfits import Misfit, MisfitTest, combined, misfit_tests, stored_sql
from acidsql.spark.catalyst.observations import Observation
from acidsql.spark.catalyst.pyspark_api import sql_column
from acidsql.spark.catalyst.sessions import adopt
from acidsql.spark.running_spark import StatementSpark
from acidsql.spark.spark_types import hive_types


class MisfitCounts:
    """The misfits among the rows of a plan, as one run of its query counts them.

    `rows` are the plan's rows. Each value that may be a misfit is the one that its column stores already, so that
    Spark converts it once. Where no value can be a misfit they are as they were given.
    """

    def __init__(self, spark: StatementSpark, rows: DataFrame, plan: WritePlan, settings: Mapping[str, str]) -> None:
        self._table = plan.target.qualified
        self._tests, stored = _tests(rows, plan, settings)
        self._observation: Observation | None = None
        self.rows = rows
        if self._tests:
            converted = rows.withColumns({_stored_column(name): sql_column(sql) for name, sql in stored.items()})
            tests = {_test_column(i): sql_column(test.misfit) for i, test in enumerate(self._tests)}
            counts = {f"count{i}": F.count(_column(_test_column(i))) for i in range(len(self._tests))}
            examples = {f"example{i}": F.min(_column(_test_column(i))) for i in range(len(self._tests))}
            tested = adopt(converted.withColumns(tests), spark.storage)
            self._observation = Observation(tested, {**counts, **examples})
            observed = adopt(self._observation.rows, spark.query)
            self.rows = observed.select(
                *(_column(_stored_column(n)).alias(n) if n in stored else _column(n) for n in rows.columns)
            )

    def expect_in(self, spark: SparkSession) -> None:
        """Prepares for a run of the query in this session, a copy of the statement's storage session."""
        if self._observation is not None:
            self._observation.expect_in(spark)

    def found(self) -> tuple[Misfit, ...]:
        """The misfits, after the query has run."""
        values = {} if self._observation is None else self._observation.values()
        return combined(
            Misfit(self._table, test.column, test.outcome, values[f"count{i}"], values[f"example{i}"])
            for i, test in enumerate(self._tests)
            if values.get(f"count{i}")
        )


def _tests(
    rows: DataFrame, plan: WritePlan, settings: Mapping[str, str]
) -> tuple[Sequence[MisfitTest], Mapping[str, str]]:
    """The tests of all values, and SQL for what is stored of those that are tested, by name."""
    kinds = hive_types(rows) if plan.values else {}
    places = {column.name: i for i, column in enumerate(plan.target.all_columns)}
    tests: list[MisfitTest] = []
    stored: dict[str, str] = {}
    for value in sorted(plan.values, key=lambda v: places.get(v.column.name, 0)):
        kind = kinds[value.name]
        if kind is None:
            continue
        source = parse_type(kind)
        found = misfit_tests(value, source, name_sql(_stored_column(value.name)), settings)
        tests += found
        if found and not is_complex(source):
            stored[value.name] = stored_sql(value, source, settings)
    return tests, stored


def _test_column(number: int) -> str:
    return f":misfit{number}"


def _stored_column(name: str) -> str:
    return f":stored {name}"


def _column(name: str) -> Column:
    return F.col(name_sql(name))
