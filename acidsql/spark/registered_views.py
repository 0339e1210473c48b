"""Tables of acidsql as temporary views of the user's Spark session, which plain `spark.sql` and `spark.table` read.

A view reads a table function whose rows acidsql gives when Spark analyzes a query: the live rows at that moment. Spark
keeps the text of a temporary view that SQL has made, and analyzes it again for each query.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.quoting import name_sql, sql_string
from acidsql.snapshot.read_view import QuerySnapshot
from acidsql.spark.catalyst import sessions
from acidsql.spark.catalyst.table_functions import RunningAnalysis, define_table_function, drop_table_function
from acidsql.spark.session.jvm_loss import SPARK_ERRORS, is_lost

_STORES_PLANS: Final = "spark.sql.legacy.storeAnalyzedPlanForView"
"""Setting: whether Spark keeps a view's plan instead of its text. The view would keep the rows of the moment in which
it was made."""


class RegisteredViews:
    """The views that a session of acidsql has made in one Spark session."""

    def __init__(self, spark: SparkSession, rows: Callable[[str, QuerySnapshot], DataFrame]) -> None:
        """`rows` gives the rows of a table, at the snapshot of a query of which other tables may have been read."""
        self.spark = spark
        self._rows = rows
        self._function = f"acidsql_{uuid.uuid4().hex[:12]}"
        self._names: set[str] = set()
        self._analysis = RunningAnalysis(spark)
        self._snapshots = threading.local()

    def define(self, views: Mapping[str, str]) -> None:
        """Makes or replaces temporary views, each with the table that it reads.

        Raises INVALID_PARAMETER where the Spark session has a temporary view of such a name that acidsql has not made,
        or keeps plans of views; and the errors of a query on the table.
        """
        if str(self.spark.conf.get(_STORES_PLANS)).lower() == "true":
            reason = f"the views would keep the rows of now, because the setting {_STORES_PLANS} is true"
            raise AcidSqlError(Condition.INVALID_PARAMETER, name="spark", reason=reason)
        known = sessions.temporary_views(self.spark) - self._names
        for view in views:
            if view.lower() in known:
                reason = f"the Spark session has another temporary view of the name {view}"
                hint = f"Drop it, or give the table another name: register(other_name={views[view]!r})."
                raise AcidSqlError(Condition.INVALID_PARAMETER, name="tables", reason=reason, hint=hint)
        if not self._names:
            define_table_function(self.spark, self._function, self._rows_for_spark)
        for view, table in views.items():
            self._names.add(view.lower())
            query = f"SELECT * FROM {self._function}({sql_string(table)})"
            sessions.run_sql(self.spark, f"CREATE OR REPLACE TEMPORARY VIEW {name_sql(view)} AS {query}")

    def drop(self) -> None:
        """Drops the views. Does nothing if the JVM is gone."""
        if not self._names or is_lost(self.spark.sparkContext):
            return
        with suppress(*SPARK_ERRORS):
            sessions.drop_views(self.spark, self._names)
            drop_table_function(self.spark, self._function)
        self._names.clear()

    def _rows_for_spark(self, table: str) -> DataFrame:
        """Called by Spark's analyzer. The tables of one query are read at one snapshot."""
        if not self._analysis.is_same():
            self._snapshots.of_query = QuerySnapshot()
        try:
            return self._rows(table, self._snapshots.of_query)
        except AcidSqlError as error:  # Spark shows the traceback with the error
            raise error.with_traceback(None) from None
