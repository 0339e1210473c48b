"""Plans of a session's statements: gathers the facts that the planner needs, and explains plans as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import indent

from sqlglot import exp

from acidsql.acid.table import Table, View, in_the_way
from acidsql.ddl.plan_facts import altered_view
from acidsql.ddl.plan_runner import Ddl
from acidsql.ddl.table_lookup import TableLookup
from acidsql.engines.statement_engines import StatementEngines
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar import statements as s
from acidsql.grammar.table_names import table_names
from acidsql.metastore.catalog import DEFAULT_DATABASE
from acidsql.planner.as_of import names_a_time
from acidsql.planner.ddl.ddl_explain import explain_ddl
from acidsql.planner.ddl.ddl_plan import DDL_STATEMENTS, ViewDefinition
from acidsql.planner.ddl.view_ddl import check_free
from acidsql.planner.ddl.view_definition import check_query, view_definition
from acidsql.planner.dml.create_as import (
    column_names,
    column_types,
    place_of_column,
    plan_create_as,
    plan_create_query,
)
from acidsql.planner.dml.directory_output import directory_table, plan_insert_directory
from acidsql.planner.dml.load_query import loaded_table, needs_query, plan_load_query
from acidsql.planner.dml.schema_evolution import SourceColumn, columns_of_frame, evolution, source_query
from acidsql.planner.explain import Detail, explain, explain_locks
from acidsql.planner.lock_requests import on_partitions
from acidsql.planner.plan import Facts, Plan, QueryPlan, Shortcuts, WritePlan
from acidsql.planner.queries.macro_expansion import Macro, defined_macro, trial
from acidsql.planner.queries.view_expansion import find_cycle, recursion, tables_of_view, view_query
from acidsql.planner.statement_planner import plan_statement
from acidsql.request import Request
from acidsql.spark.engine import Engine
from acidsql.tracing import Phase, phase


class StatementPlans:
    """Plans queries, DML and CREATE TABLE .. AS in the session's current database."""

    def __init__(
        self, engine: Engine, engines: StatementEngines, ddl: Ddl, lookup: TableLookup, settings: Mapping[str, str]
    ) -> None:
        """`settings` are the session's; each plan reads their current values."""
        self.database = DEFAULT_DATABASE
        """The current database: that of table names without one."""
        self.shortcuts = Shortcuts()
        """Which reads a plan may skip."""
        self._engine = engine
        self._engines = engines
        self._ddl = ddl
        self._lookup = lookup
        self._settings = settings

    def plan(self, statement: s.Statement, request: Request | None = None) -> Plan:
        """The plan of a statement; the frames that it names are those of the request.

        Raises NOT_YET_SUPPORTED for a statement that has no plan, and what the planner raises.
        """
        with phase(Phase.PLAN):
            return self._plan(statement, request)

    def _plan(self, statement: s.Statement, request: Request | None) -> Plan:
        match statement:
            case s.Insert(evolves=True) | s.Merge(evolves=True):
                return self._plan_evolving(statement, request or Request(statement.source, {}, {}))
            case s.Query() | s.Insert() | s.MultiInsert() | s.Update() | s.Delete() | s.Merge() | s.RestoreTable():
                return plan_statement(statement, self._facts(statement, request))
            case s.InsertDirectory():
                return self._plan_directory(statement, request or Request(statement.source, {}, {}))
            case s.CreateTable() if statement.query is not None:
                return self.plan_create(statement, Request(statement.source, {}, {}))
            case _:
                raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=f"EXPLAIN {first_words(statement)}")

    def query_plan(self, query: s.Statement, request: Request | None = None) -> QueryPlan:
        """The plan of a query. Raises what `plan` raises."""
        plan = self.plan(query, request)
        assert isinstance(plan, QueryPlan)
        return plan

    def _plan_evolving(self, statement: s.Insert | s.Merge, request: Request) -> Plan:
        """The plan of a statement WITH SCHEMA EVOLUTION."""
        facts = self._facts(statement, request)
        changes = evolution(statement, facts, self._source_columns(statement, facts, request))
        return plan_statement(statement, facts, changes)

    def _source_columns(self, statement: s.Insert | s.Merge, facts: Facts, request: Request) -> Sequence[SourceColumn]:
        """The columns of the statement's source. Spark analyzes its query, unless it is nothing but a frame."""
        known = columns_of_frame(statement, facts)
        if known is not None:
            return known
        query = source_query(statement)
        found = self._columns(query, plan_create_query(query, facts), request, of_view=True)
        return [SourceColumn(name, kind) for name, kind in found]

    def plan_create(self, statement: s.CreateTable, request: Request) -> WritePlan:
        """The plan of CREATE TABLE .. AS. Spark analyzes the query for the types of its columns."""
        assert statement.query is not None
        with phase(Phase.PLAN):
            facts = self._facts(statement, request)
            query = s.Query(statement.source, statement.query)
            plan = plan_create_query(query, facts)
            columns = self._columns(query, plan, request)
            table = self._ddl.declared(statement, self.database, columns)
            return plan_create_as(statement, table, plan, [name for name, _ in columns], facts)

    def _plan_directory(self, statement: s.InsertDirectory, request: Request) -> WritePlan:
        """The plan of INSERT OVERWRITE DIRECTORY. Spark analyzes the query for the types of its columns."""
        location = self._ddl.output_directory(statement)
        facts = self._facts(statement, request)
        query = s.Query(statement.source, statement.query)
        plan = plan_create_query(query, facts)
        types = [kind for _, kind in self._columns(query, plan, request, of_view=True)]
        table = directory_table(statement, location, types, self._settings)
        return plan_insert_directory(statement, table, plan, facts)

    def loaded(self, statement: s.LoadData, table: Table) -> Table | None:
        """The table that stands for the files of LOAD DATA, if the rows are copied by a query; None if the files become
        files of `table`. Its location is the statement's path."""
        return loaded_table(statement, table, self._facts(statement, None)) if needs_query(statement, table) else None

    def plan_load(self, statement: s.LoadData, loaded: Table) -> WritePlan:
        """The plan of LOAD DATA that copies the rows of `loaded`."""
        return plan_load_query(statement, loaded, self._facts(statement, None))

    def _columns(
        self, query: s.Query, plan: QueryPlan, request: Request, *, of_view: bool = False
    ) -> list[tuple[str, str]]:
        """The names and Hive types of a query's columns. Spark analyzes the query. Raises CREATE_AS_TYPE."""
        try:
            found = self._engines.spark.columns(plan, request, of_view=of_view)
        except AcidSqlError as error:
            if error.condition != Condition.CREATE_AS_TYPE.name:
                raise
            place = place_of_column(query, error.getMessageParameters()["column"])
            raise (error if place is None else error.with_span(place)) from None
        types = column_types(query.tree, [kind for _, kind in found])
        return list(zip(column_names([name for name, _ in found]), types, strict=True))

    def macro(self, statement: s.CreateMacro, request: Request) -> Macro:
        """The macro that the statement defines. Spark analyzes its body, so that a macro that exists can be computed.

        Raises what `defined_macro` raises, and INVALID_FUNCTION and other errors of an expression.
        """
        macro = defined_macro(statement)
        query = s.Query(statement.source, trial(macro))
        self._columns(query, plan_create_query(query, self._facts(query, request)), request, of_view=True)
        return macro

    def view_definition(self, statement: s.CreateView | s.AlterView, request: Request) -> ViewDefinition | None:
        """The definition of the view that the statement defines; None if it defines none.

        Spark analyzes the query, and then the definition as a reader of the view expands it.
        Raises what `plan_query` and `view_definition` raise, RECURSIVE_VIEW, and the errors of a name that is taken.
        """
        match statement:
            case s.CreateView():
                found = self._lookup.find(statement.view, self.database)
                temporary = statement.temporary
                existing = in_the_way(found, temporary=temporary)
                if statement.if_not_exists and existing is not None:
                    return None
                check_free(statement, existing)
                new = View(self._database_of(statement.view), statement.view.name, (), "", "", temporary=temporary)
                return self._defined(new, statement.view, statement.query, statement.text, statement.columns, request)
            case s.AlterView(action=s.ViewQuery() as action):
                view = altered_view(statement, self._lookup, self.database)
                return self._defined(view, statement.view, action.query, action.text, (), request)
            case _:
                return None

    def _defined(
        self,
        view: View,
        name: s.TableName,
        tree: exp.Query,
        text: Span,
        named: Sequence[s.ViewColumn],
        request: Request,
    ) -> ViewDefinition:
        """The definition that the query gives the view, which the statement names `name`."""
        query = s.Query(text.source, tree)
        facts = self._facts(query, request)
        if cycle := find_cycle(table_names(query), view.qualified, facts):
            raise recursion(view.qualified, cycle).with_span(name.span or text)
        check_query(tree, text.source, facts, temporary=view.temporary)
        columns = self._columns(query, plan_create_query(query, facts), request, of_view=True)
        definition = view_definition(name, tree, text, columns, named, facts)
        self._check_readable(replace(view, columns=definition.columns, expanded=definition.expanded), request)
        return definition

    def _check_readable(self, view: View, request: Request) -> None:
        """Raises INVALID_VIEW where the expanded text does not have the view's columns."""
        query = s.Query(view.expanded, view_query(view))
        found = self._columns(query, plan_create_query(query, self._facts(query, request)), request, of_view=True)
        if found != [(column.name, column.type) for column in view.columns]:
            message = (
                f"The query of view {view.qualified} cannot be stored in a form that means the same to every reader"
            )
            hint = "Name the columns instead of writing a star, and give each of them an alias."
            raise AcidSqlError(Condition.INVALID_VIEW, message=message, hint=hint)

    def _database_of(self, name: s.TableName) -> str:
        return name.database or self.database

    def explain(
        self,
        statement: s.Statement,
        *,
        locks: bool = False,
        detail: str | None = None,
        frames: Mapping[str, object] | None = None,
    ) -> str:
        """The plan of a statement as text or, with `locks`, the locks that it takes. Opens no transaction.

        `detail` are the words behind EXPLAIN: EXTENDED shows the Spark SQL too, and FORMATTED the plan of Spark.
        `frames` are those that the statement names, if they are known: they may decide about the engine.
        """
        request = Request(statement.source, {}, frames or {})
        shown = Detail.of(detail)
        if isinstance(statement, s.LoadData):
            target = self._lookup.target(statement.target, self.database, Condition.INSERT_INTO_VIEW)
            loaded = self.loaded(statement, target)
            if loaded is not None:
                return self._explained(request, self.plan_load(statement, loaded), shown, locks=locks)
        if isinstance(statement, DDL_STATEMENTS) and not _has_query(statement):
            definition = None
            if isinstance(statement, s.CreateView | s.AlterView):
                definition = self.view_definition(statement, request)
            ddl_plan = self._ddl.plan(statement, self.database, definition)
            return explain_locks(ddl_plan.locks) if locks else explain_ddl(ddl_plan)
        return self._explained(request, self.plan(statement, request), shown, locks=locks)

    def _explained(self, request: Request, plan: Plan, detail: Detail, *, locks: bool) -> str:
        if locks:
            return explain_locks(on_partitions(plan, self._lookup.metastore.partition_values))
        choice = self._engines.choice(plan, request)
        text = f"{explain(plan, detail)}engine\n  {choice}\n"
        if detail is not Detail.FORMATTED:
            return text
        of_spark = self._engines.spark.spark_plan(plan, request)
        return f"{text}plan of Spark\n{indent(of_spark, '  ')}\n"

    def _facts(self, statement: s.Statement, request: Request | None) -> Facts:
        """The tables and views that the statement names, and those that the views read; for an unknown name also
        temporary views, and similar names for the error."""
        tables: dict[str, Table] = {}
        stored_views: dict[str, View] = {}
        unknown = []
        named = table_names(statement)
        waiting = list(named)
        for name in waiting:
            found = self._lookup.find(name, self.database)
            if isinstance(found, View) and found.qualified not in stored_views:
                stored_views[found.qualified] = found
                waiting += tables_of_view(found)
            elif isinstance(found, Table):
                tables[found.qualified] = found
            elif found is None:
                unknown.append(name.name)
        views = self._engine.temporary_views() if unknown else frozenset[str]()
        similar = tuple(self._lookup.metastore.tables(self.database)) if unknown else ()
        relations = {view: self._engine.running.column_types(view) for view in unknown if view in views}
        if request is not None and request.frames:
            from acidsql.spark.frames.caller_frames import column_types as types_of_frame

            relations |= {f"{{{name}}}": types_of_frame(frame) for name, frame in request.frames.items()}
        settings = self._settings if request is None else request.settings(self._settings)
        zone = self._engine.zone if names_a_time(statement.source) else "UTC"
        return Facts(
            *(self.database, tables, views, settings, similar, self.shortcuts, relations, stored_views, zone),
            has_star_except=self._engine.has_star_except,
        )


def has_plan(statement: s.Statement) -> bool:
    """Whether EXPLAIN shows a plan of the statement."""
    return isinstance(statement, (DDL_STATEMENTS, s.RowStatement, s.InsertDirectory, s.LoadData, s.Explain))


def changes_session(statement: s.Statement) -> bool:
    """Whether a statement changes nothing but its session: settings, variables, database, macros and functions."""
    settings = s.UseDatabase | s.SetSetting | s.SetAutocommit | s.ResetSettings
    return isinstance(statement, settings | s.CreateMacro | s.DropMacro | s.CreateFunction | s.DropFunction)


def first_words(statement: s.Statement) -> str:
    """The first two words of a statement, as its name in messages."""
    return " ".join(statement.source.split()[:2]).upper().rstrip(";")


def _has_query(statement: s.Statement) -> bool:
    """Whether the statement is CREATE TABLE .. AS, which is planned as a write."""
    return isinstance(statement, s.CreateTable) and statement.query is not None
