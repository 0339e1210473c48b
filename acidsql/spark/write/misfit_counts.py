"""The misfits of a statement (planner/misfits.py), counted by the query that writes its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from acidsql.acid.hive_types import parse_type
from acidsql.planner.misfits import Misfit, MisfitTest, combined, misfit_tests
from acidsql.planner.plan import WritePlan
from acidsql.spark.catalyst.observations import Observation
from acidsql.spark.catalyst.sessions import adopt
from acidsql.spark.engine import StatementSpark
from acidsql.spark.spark_types import hive_type_name, with_known_nulls


class MisfitCounts:
    """The misfits among the rows of a plan, as one run of its query counts them.

    `rows` are the plan's rows with columns for the tests. Where no value can be a misfit they are as they were given.
    """

    def __init__(self, spark: StatementSpark, rows: DataFrame, plan: WritePlan, settings: Mapping[str, str]) -> None:
        self._table = plan.target.qualified
        self._tests = _tests(rows, plan, settings)
        self._observation: Observation | None = None
        self.rows = rows
        if self._tests:
            tested = rows.withColumns({_name(i): F.expr(test.misfit) for i, test in enumerate(self._tests)})
            counts = {f"count{i}": F.count(F.col(f"`{_name(i)}`")) for i in range(len(self._tests))}
            examples = {f"example{i}": F.min(F.col(f"`{_name(i)}`")) for i in range(len(self._tests))}
            self._observation = Observation(adopt(tested, spark.storage), {**counts, **examples})
            self.rows = adopt(self._observation.rows, spark.query).drop(*map(_name, range(len(self._tests))))

    def expect_in(self, spark: SparkSession) -> None:
        """Says that the query may run in this session, a copy of the statement's storage session."""
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


def _tests(rows: DataFrame, plan: WritePlan, settings: Mapping[str, str]) -> Sequence[MisfitTest]:
    kinds = {f.name: hive_type_name(with_known_nulls(f.dataType)) for f in rows.schema.fields} if plan.values else {}
    places = {column.name: i for i, column in enumerate(plan.target.all_columns)}
    known = [(v, kinds[v.name]) for v in sorted(plan.values, key=lambda v: places.get(v.column.name, 0))]
    return [test for value, kind in known if kind for test in misfit_tests(value, parse_type(kind), settings)]


def _name(number: int) -> str:
    return f":misfit{number}"
