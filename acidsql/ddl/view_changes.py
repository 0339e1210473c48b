"""The steps of CREATE VIEW, ALTER VIEW and DROP VIEW. A view has no files: each step is one change of the catalog."""

from __future__ import annotations

import time
from dataclasses import replace

from acidsql.ddl.plan_run import PlanRun
from acidsql.errors import AcidSqlError
from acidsql.planner.ddl.ddl_plan import RegisterView, RemoveView, ReplaceView


def register(step: RegisterView, run: PlanRun) -> None:
    """Raises TABLE_ALREADY_EXISTS, DATABASE_NOT_FOUND."""
    try:
        run.metastore.create_view(replace(step.view, created=int(time.time())))
    except AcidSqlError as error:
        raise (error.with_span(step.span) if step.span else error) from None


def change(step: ReplaceView, run: PlanRun) -> None:
    """Raises TABLE_NOT_FOUND, TABLE_ALREADY_EXISTS, TABLE_CHANGED."""
    run.require_open()
    run.metastore.alter_view(step.view, step.new)


def remove(step: RemoveView, run: PlanRun) -> None:
    """Raises TABLE_NOT_FOUND."""
    run.require_open()
    run.metastore.drop_view(step.view)
