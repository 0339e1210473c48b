"""CREATE DATABASE, ALTER DATABASE and DROP DATABASE."""

from __future__ import annotations

from acidsql.ddl.ownership import Ownership
from acidsql.ddl.plan_run import PlanRun
from acidsql.planner.ddl.ddl_plan import RedefineDatabase, RegisterDatabase, RemoveDatabase


def register(step: RegisterDatabase, run: PlanRun) -> None:
    """Raises DATABASE_ALREADY_EXISTS, LOCATION_TAKEN."""
    database = step.database
    for location in filter(None, (database.location, database.managed_location)):
        run.ownership.require_for_database(database.name, location, step.span)
    with run.new_directory(database.location):
        run.metastore.create_database(database)


def redefine(step: RedefineDatabase, run: PlanRun) -> None:
    """Raises DATABASE_NOT_FOUND, LOCATION_TAKEN."""
    old, new = step.database, step.new
    for location in {new.location, new.managed_location} - {old.location, old.managed_location, None}:
        run.ownership.require_for_database(new.name, str(location), step.span)
    run.metastore.alter_database(step.new)


def remove(step: RemoveDatabase, run: PlanRun) -> None:
    """A directory that still holds files stays: they belong to no table.

    Raises DATABASE_NOT_FOUND, DATABASE_NOT_EMPTY, CANNOT_DROP_DEFAULT_DATABASE.
    """
    database = step.database
    run.require_open()
    run.metastore.drop_database(database.name)
    for location in filter(None, (database.location, database.managed_location)):
        if Ownership(run.metastore, run.files).is_empty(location):
            run.delete(location)
