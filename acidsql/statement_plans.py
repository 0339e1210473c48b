"""Plans of a session's statements: gathers the facts that the planner needs, and explains plans as text."""

from __future__ import annotations

from collections.abc import Mapping

from acidsql.ddl.plan_runner import Ddl
from acidsql.ddl.table_lookup import TableLookup
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar import statements as s
from acidsql.grammar.table_names import table_names
from acidsql.metastore.client import DEFAULT_DATABASE
from acidsql.planner.create_as import column_names, column_types, plan_create_as, plan_create_query
from acidsql.planner.ddl_explain import explain_ddl
from acidsql.planner.ddl_plan import DDL_STATEMENTS
from acidsql.planner.explain import explain, explain_locks
from acidsql.planner.lock_requests import on_partitions
from acidsql.planner.plan import Facts, Plan, Shortcuts, WritePlan
from acidsql.planner.statement_planner import plan_statement
from acidsql.spark.engine import Engine
from acidsql.spark.executor import Executor, Request
from acidsql.spark.frames import column_types as column_types_of_frame


class StatementPlans:
    """Plans queries, DML and CREATE TABLE .. AS in the session's current database."""

    def __init__(
        self, engine: Engine, executor: Executor, ddl: Ddl, lookup: TableLookup, settings: Mapping[str, str]
    ) -> None:
        """`settings` are the session's; each plan reads their current values."""
        self.database = DEFAULT_DATABASE
        """The current database: that of table names without one."""
        self.shortcuts = Shortcuts()
        """Which reads a plan may skip."""
        self._engine = engine
        self._executor = executor
        self._ddl = ddl
        self._lookup = lookup
        self._settings = settings

    def plan(self, statement: s.Statement, request: Request | None = None) -> Plan:
        """The plan of a statement; the frames that it names are those of the request.

        Raises NOT_YET_SUPPORTED for a statement that has no plan, and what the planner raises.
        """
        match statement:
            case s.Query() | s.Insert() | s.MultiInsert() | s.Update() | s.Delete() | s.Merge():
                return plan_statement(statement, self._facts(statement, request))
            case s.CreateTable() if statement.query is not None:
                return self.plan_create(statement, Request(statement.source, {}, {}))
            case _:
                raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=f"EXPLAIN {first_words(statement)}")

    def plan_create(self, statement: s.CreateTable, request: Request) -> WritePlan:
        """The plan of CREATE TABLE .. AS. Spark analyzes the query for the types of its columns."""
        facts = self._facts(statement, request)
        query = plan_create_query(statement, facts)
        columns = self._executor.columns(query, request)
        names = column_names([name for name, _ in columns])
        types = column_types(statement, [kind for _, kind in columns])
        table = self._ddl.declared(statement, self.database, list(zip(names, types, strict=True)))
        return plan_create_as(statement, table, query, names, facts)

    def explain(self, statement: s.Statement, *, locks: bool = False) -> str:
        """The plan of a statement as text or, with `locks`, the locks that it takes. Opens no transaction."""
        if isinstance(statement, DDL_STATEMENTS) and not _has_query(statement):
            ddl_plan = self._ddl.plan(statement, self.database)
            return explain_locks(ddl_plan.locks) if locks else explain_ddl(ddl_plan)
        plan = self.plan(statement)
        return explain_locks(on_partitions(plan, self._lookup.metastore.partitions)) if locks else explain(plan)

    def _facts(self, statement: s.Statement, request: Request | None) -> Facts:
        """The tables that the statement names; for an unknown name also temporary views, and similar names for the
        error."""
        tables = {}
        unknown = []
        for name in table_names(statement):
            table = self._lookup.find(name, self.database)
            if table is None:
                unknown.append(name.name)
            else:
                tables[table.qualified] = table
        views = self._engine.temporary_views() if unknown else frozenset[str]()
        similar = tuple(self._lookup.metastore.tables(self.database)) if unknown else ()
        relations = {view: self._engine.column_types(view) for view in unknown if view in views}
        if request is not None:
            relations |= {f"{{{name}}}": column_types_of_frame(frame) for name, frame in request.frames.items()}
        return Facts(self.database, tables, views, self._settings, similar, self.shortcuts, relations)


def first_words(statement: s.Statement) -> str:
    """The first two words of a statement, as its name in messages."""
    return " ".join(statement.source.split()[:2]).upper().rstrip(";")


def _has_query(statement: s.Statement) -> bool:
    """Whether the statement is CREATE TABLE .. AS, which is planned as a write."""
    return isinstance(statement, s.CreateTable) and statement.query is not None
