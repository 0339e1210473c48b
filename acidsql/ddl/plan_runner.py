"""Runs DDL plans: one transaction that holds the plan's locks, and the steps one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never
from urllib.parse import urlparse

from acidsql.acid.table import Table
from acidsql.ddl import (
    database_changes,
    partition_changes,
    partition_repair,
    property_changes,
    statistics_changes,
    storage_changes,
    table_changes,
    view_changes,
)
from acidsql.ddl.ownership import absolute
from acidsql.ddl.plan_facts import plan_facts, with_absolute_locations
from acidsql.ddl.plan_run import PlanRun
from acidsql.ddl.relocation import finish_move
from acidsql.ddl.table_lookup import TableLookup
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.statements import CreateTable, InsertDirectory
from acidsql.metastore.transactions import Transactions
from acidsql.planner.ddl import ddl_plan as steps
from acidsql.planner.ddl.ddl_plan import DdlPlan, DdlStatement, Step, ViewDefinition
from acidsql.planner.ddl.ddl_planner import plan_ddl
from acidsql.planner.lock_requests import exclusive_lock
from acidsql.storage.file_systems import FilesOf, is_local
from acidsql.storage.session_scratch import SessionScratch


@dataclass(frozen=True, slots=True)
class Ddl:
    """Plans DDL statements and runs their plans.

    `files` gives the file system of a location. `scratch` has the directories of temporary tables. `settings` are the
    session's; each plan reads their current values.
    """

    transactions: Transactions
    warehouse: str
    files: FilesOf
    scratch: SessionScratch
    settings: Mapping[str, str]

    def plan(self, statement: DdlStatement, database: str, definition: ViewDefinition | None = None) -> DdlPlan:
        """The plan of a statement, with `database` as the current one. Changes nothing.

        `definition` is that of the view which the statement defines.

        Raises TABLE_NOT_FOUND, DATABASE_NOT_FOUND, and what else the statement breaks.
        """
        return self._plan(statement, database, definition, TableLookup.waiting(self.transactions, self.files))

    def run(self, statement: DdlStatement, database: str, definition: ViewDefinition | None = None) -> Sequence[str]:
        """Runs a statement, and returns the lines that its steps report. On an error the catalog is as it was.

        The steps come from a second plan, made from the catalog as it is once the first plan's locks are held.
        Raises what `plan` raises, METASTORE_READ_ONLY, CATALOG_MOVED, LOCK_TIMEOUT, TRANSACTION_ABORTED, TABLE_CHANGED,
        and what the steps' runs raise.
        """
        plan = self.plan(statement, database, definition)
        self.transactions.metastore.require_changeable()
        if plan.locks:
            run = self._run_locked(plan, statement, database, definition)
        else:
            run = _run_steps(plan, PlanRun(self.transactions.metastore, self.files, self.scratch))
        for action in run.after_commit:
            action()
        return run.report

    def _run_locked(
        self, plan: DdlPlan, statement: DdlStatement, database: str, definition: ViewDefinition | None
    ) -> PlanRun:
        metastore = self.transactions.metastore
        with self.transactions.run(lambda: plan.locks) as transaction:
            lookup = TableLookup(metastore, lambda table: self._settled(table, plan))
            now = self._plan(statement, database, definition, lookup)
            for lock in now.locks:
                if lock not in plan.locks:
                    # An external table, which needs no lock, was replaced by a managed one.
                    raise AcidSqlError(Condition.TABLE_CHANGED, table=f"{lock.database}.{lock.table}")
            return _run_steps(now, PlanRun(metastore, self.files, self.scratch, transaction))

    def declared(self, statement: CreateTable, database: str, columns: Sequence[tuple[str, str]]) -> Table:
        """The table of CREATE TABLE .. AS (`table_changes.declared`)."""
        run = PlanRun(self.transactions.metastore, self.files, self.scratch)
        return table_changes.declared(statement, database, columns, self.settings, run)

    def output_directory(self, statement: InsertDirectory) -> str:
        """The location that INSERT OVERWRITE DIRECTORY writes to: a path of this machine with LOCAL, and otherwise one
        of the warehouse's file system, unless it names another.

        Raises ILLEGAL_PATH, LOCATION_TAKEN.
        """
        path, span = statement.output.table.name, statement.output.table.span
        if statement.local and not is_local(path):
            reason = 'Destination file system should be "file" if "local" is specified'
            raise AcidSqlError(Condition.ILLEGAL_PATH, span=span, path=path, reason=reason)
        root = urlparse(self.warehouse)
        if not path.strip():
            raise AcidSqlError(Condition.ILLEGAL_PATH, span=span, path=path, reason="it is empty")
        if not statement.local and not urlparse(path).scheme and not is_local(self.warehouse):
            path = f"{root.scheme}://{root.netloc}{path}"
        location = absolute(path)
        files = self.files(location)
        if files.file_size(files.resolve(location)) is not None:
            raise AcidSqlError(Condition.ILLEGAL_PATH, span=span, path=path, reason="it is a file")
        PlanRun(self.transactions.metastore, self.files, self.scratch).ownership.require_for_output(location, span)
        return location

    def _plan(
        self, statement: DdlStatement, database: str, definition: ViewDefinition | None, lookup: TableLookup
    ) -> DdlPlan:
        statement = with_absolute_locations(statement, lookup, database)
        return plan_ddl(statement, plan_facts(statement, lookup, database, self.warehouse, self.settings, definition))

    def _settled(self, table: Table, held: DdlPlan) -> Table:
        """Finishes the move that a process may have died in, if the plan holds the table's lock."""
        if exclusive_lock(table.database, table.name) not in held.locks:
            return table
        return finish_move(self.transactions.metastore, self.files, table)


def _run_steps(plan: DdlPlan, run: PlanRun) -> PlanRun:
    for step in plan.steps:
        _run_step(step, run)
    return run


def _run_step(step: Step, run: PlanRun) -> None:
    match step:
        case steps.RegisterDatabase():
            database_changes.register(step, run)
        case steps.RedefineDatabase():
            database_changes.redefine(step, run)
        case steps.RemoveDatabase():
            database_changes.remove(step, run)
        case steps.RegisterTable():
            table_changes.register(step, run)
        case steps.RemoveTable():
            table_changes.remove(step, run)
        case steps.MoveTable():
            table_changes.move(step, run)
        case steps.AssignLocation():
            table_changes.assign_location(step, run)
        case steps.RedefineColumns():
            table_changes.redefine_columns(step, run)
        case steps.RedefineTable():
            run.metastore.alter_table(step.table, step.new)
        case steps.RedefineStorage():
            storage_changes.redefine(step, run)
        case steps.StoreStatistics():
            statistics_changes.store(step, run)
        case steps.Touch():
            partition_changes.require(step, run)
        case steps.UpdateProperties():
            property_changes.update(step, run)
        case steps.RemoveProperties():
            property_changes.remove(step, run)
        case steps.RegisterPartitions():
            partition_changes.register(step, run)
        case steps.RemovePartitions():
            partition_changes.remove(step, run)
        case steps.RepairPartitions():
            partition_repair.repair(step, run)
        case steps.MovePartition():
            partition_changes.move(step, run)
        case steps.TakePartitions():
            partition_changes.take(step, run)
        case steps.RegisterView():
            view_changes.register(step, run)
        case steps.ReplaceView():
            view_changes.change(step, run)
        case steps.RemoveView():
            view_changes.remove(step, run)
        case steps.EmptyTable() | steps.LoadFiles() | steps.RequestCompaction() | steps.CollectStatistics():
            raise AssertionError(f"{type(step).__name__} is run by a component that reads rows or files")
        case _:
            assert_never(step)
