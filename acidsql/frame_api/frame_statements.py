"""INSERT, UPDATE, DELETE and MERGE as methods of a session.

Each method puts its statement together as text and runs it like any other: the same parser, planner and executor. Names
of tables and columns are quoted, values of partitions are literals, and conditions and values are SQL text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acidsql.acid.object_names import table_of
from acidsql.acid.table import Table
from acidsql.errors import AcidSqlError, Condition, suggestion
from acidsql.frame_api.given_frames import SOURCE, FrameRows, check_fields, given_frame
from acidsql.frame_api.merge_builder import EVOLVING, MergeBuilder, parsed, require_shape, run
from acidsql.frame_api.merge_clauses import assignments_sql, checked_assignments, fragment, names_sql, sql_text
from acidsql.frame_api.partition_clause import partition_clause
from acidsql.grammar.quoting import name_sql
from acidsql.grammar.statements import Delete, Update
from acidsql.metastore.catalog import Catalog
from acidsql.statements.results import Counts, Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class FrameStatements(ABC):
    """The statements of a session that are methods.

    A frame is a DataFrame of Spark or pandas, a table, batch or reader of Arrow, whatever gives its rows by
    `__arrow_c_stream__` (a frame of polars, a relation of DuckDB), or a list of dicts.
    """

    @property
    @abstractmethod
    def database(self) -> str: ...

    @property
    @abstractmethod
    def catalog(self) -> Catalog: ...

    @property
    @abstractmethod
    def spark(self) -> SparkSession: ...

    @abstractmethod
    def substituted(self, sql: str) -> str: ...

    @abstractmethod
    def execute(
        self,
        text: str,
        args: Mapping[str, object] | Sequence[object] | None = None,
        *,
        frames: Mapping[str, object] | None = None,
        strict: bool = False,
        names_key: bool = True,
    ) -> Result: ...

    def insert(
        self,
        table: str,
        frame: Any,
        *,
        partition: Mapping[str, object] | None = None,
        overwrite: bool = False,
        evolve: bool = False,
        strict: bool = True,
    ) -> Counts:
        """INSERT INTO, or INSERT OVERWRITE: adds the rows of a frame to a table.

        The frame's columns go to the table's columns of the same names, in any order and in upper or lower case. Other
        columns of the table get their DEFAULT, else NULL.

        Args:
            table: The table, as `t` or `db.t`.
            frame: The rows.
            partition: The values of partition columns that the frame does not have: the static PARTITION clause.
            overwrite: Whether the rows replace those of the table, or of the partitions that they go to.
            evolve: Whether the table gets the columns that only the frame has, and wider types where the frame has
                them (WITH SCHEMA EVOLUTION).
            strict: Whether a value that does not fit its column, such as a number beyond INT, is refused. Else it is
                stored as Hive stores it: as NULL, wrapped around, or cut.

        Returns:
            The numbers of rows.

        Raises:
            AcidSqlError: INVALID_STORE_VALUE, INSERT_COLUMN_NOT_FOUND, INCOMPATIBLE_TYPE, and the other errors of
                INSERT.

        >>> session.insert("employee", [{"name": "Ann", "id": 7}, {"name": "Bob", "id": 8}])
        Counts(affected=2, updated=0, deleted=0, inserted=2)
        """
        target = _Target.of(table, self)
        given = given_frame(frame, target.table, [name.lower() for name in partition or {}])
        target.check_inserted(given, partition or {}, evolve=evolve)
        columns = names_sql(given.columns)
        into = f"INSERT{EVOLVING if evolve else ''} {'OVERWRITE TABLE' if overwrite else 'INTO'}"
        clause = partition_clause(partition or {}, target.table)
        text = f"{into} {target.sql}{clause} ({columns})\nSELECT {columns} FROM {{{SOURCE}}} AS source"
        return run(self, text, frame=given, strict=strict)

    def upsert(
        self, table: str, frame: Any, on: str | Sequence[str], *, evolve: bool = False, strict: bool = True
    ) -> Counts:
        """MERGE: updates the rows whose keys the frame has, in all columns, and inserts the others.

        Args:
            table: The table, as `t` or `db.t`.
            frame: The rows, which have all columns of the table, unless `evolve` is given.
            on: The columns of the key. As in SQL, a key with a NULL is equal to no other.
            evolve: Whether the table gets the columns that only the frame has, and wider types where the frame has
                them (WITH SCHEMA EVOLUTION). The frame may then lack columns: updated rows keep their values, and
                inserted rows get the DEFAULT, else NULL.
            strict: Whether a value that does not fit its column, such as a number beyond INT, is refused. Else it is
                stored as Hive stores it: as NULL, wrapped around, or cut.

        Returns:
            The numbers of rows.

        Raises:
            AcidSqlError: COLUMN_NOT_FOUND, INVALID_STORE_VALUE, CARDINALITY_VIOLATION for two rows of the frame with
                one key that the table has, and the other errors of MERGE.

        >>> rows = [{"id": 2, "name": "Tom", "salary": 9000}, {"id": 7, "name": "Ann", "salary": 5000}]
        >>> session.upsert("employee", rows, on="id")
        Counts(affected=2, updated=1, deleted=0, inserted=1)
        """
        target = _Target.of(table, self)
        given = given_frame(frame, target.table)
        keys = (on,) if isinstance(on, str) else _listed(on)
        target.check_keys(keys, given)
        equal = " AND ".join(f"target.{name_sql(key)} = source.{name_sql(key)}" for key in keys)
        builder = MergeBuilder(runner=self, table=target.sql, source=given, on=equal, evolve=evolve, strict=strict)
        return builder.when_matched().update_all().when_not_matched().insert_all().execute()

    def update(
        self,
        table: str,
        assignments: Mapping[str, str],
        where: str | None = None,
        args: Mapping[str, object] | None = None,
        *,
        strict: bool = True,
    ) -> Counts:
        """UPDATE: gives columns new values in the rows for which a condition is true.

        Args:
            table: The table, as `t` or `db.t`.
            assignments: The new values of columns, as SQL text.
            where: The condition, as SQL text. Without one, all rows are updated.
            args: The values of `:name` parameters in the texts.
            strict: Whether a value that does not fit its column is refused. Else it is stored as Hive stores it.

        Returns:
            The numbers of rows.

        Raises:
            AcidSqlError: INVALID_STORE_VALUE, and the other errors of UPDATE.

        >>> session.update("employee", {"salary": "salary + 100"}, where="id IN (:ids)", args={"ids": [2, 4]})
        Counts(affected=2, updated=2, deleted=0, inserted=0)
        """
        columns, values = checked_assignments("assignments", assignments)
        target = _Target.of(table, self)
        text = f"UPDATE {target.sql}\nSET {assignments_sql(columns, values)}{_where(where)}"
        statement = parsed(self, text)
        require_shape(
            statement,
            isinstance(statement, Update)
            and len(statement.assignments) == len(columns)
            and (statement.where is None) == (where is None),
        )
        return run(self, text, args, strict=strict)

    def delete(self, table: str, where: str | None = None, args: Mapping[str, object] | None = None) -> Counts:
        """DELETE: deletes the rows for which a condition is true.

        Args:
            table: The table, as `t` or `db.t`.
            where: The condition, as SQL text. Without one, all rows are deleted.
            args: The values of `:name` parameters in the text.

        Returns:
            The numbers of rows.

        Raises:
            AcidSqlError: The errors of DELETE.

        >>> session.delete("employee", where="salary < :least", args={"least": 7000})
        Counts(affected=1, updated=0, deleted=1, inserted=0)
        """
        text = f"DELETE FROM {_Target.of(table, self).sql}{_where(where)}"
        statement = parsed(self, text)
        require_shape(statement, isinstance(statement, Delete) and (statement.where is None) == (where is None))
        return run(self, text, args, strict=False)

    def merge(self, table: str, frame: Any, on: str, *, evolve: bool = False, strict: bool = True) -> MergeBuilder:
        """MERGE: begins a statement that merges a frame into a table. The builder's `execute` runs it.

        Args:
            table: The table, as `t` or `db.t`, which the clauses name as `target`.
            frame: The rows, which the clauses name as `source`.
            on: The condition under which a row of the frame matches a row of the table, as SQL text.
            evolve: Whether the table gets the columns that only the frame has, and wider types where the frame has
                them (WITH SCHEMA EVOLUTION).
            strict: Whether a value that does not fit its column, such as a number beyond INT, is refused. Else it is
                stored as Hive stores it: as NULL, wrapped around, or cut.

        Returns:
            The builder, which is immutable.

        Raises:
            AcidSqlError: UNRESOLVED_QUERY for a value that is not a frame, DUPLICATE_COLUMN, INVALID_PARAMETER.

        >>> rows = [{"id": 2, "salary": 9000}, {"id": 3, "salary": 0}]
        >>> merge = session.merge("employee", rows, on="target.id = source.id")
        >>> merge = merge.when_matched("source.salary = 0").delete()
        >>> merge = merge.when_matched().update({"salary": "source.salary"})
        >>> merge.execute()
        Counts(affected=2, updated=1, deleted=1, inserted=0)
        """
        target = _Target.of(table, self)
        given = given_frame(frame, target.table)
        return MergeBuilder(
            runner=self, table=target.sql, source=given, on=sql_text("on", on), evolve=evolve, strict=strict
        )


def _where(condition: str | None) -> str:
    return "" if condition is None else f"\nWHERE {fragment(sql_text('where', condition))}".rstrip("\n")


# ------------------------------------------------------------------------------------------------ the target


@dataclass(frozen=True, slots=True)
class _Target:
    """The table that a statement writes to; `table` is None where there is none, which is the statement's error."""

    database: str
    name: str
    table: Table | None

    @classmethod
    def of(cls, table: str, statements: FrameStatements) -> _Target:
        database, name = table_of(table, statements.database) if isinstance(table, str) else ("", "")
        if not name:
            raise AcidSqlError(Condition.INVALID_PARAMETER, name="table", reason=f"{table!r} is not a table's name")
        try:
            return cls(database, name, statements.catalog.find_table(database, name))
        except AcidSqlError:  # the statement, which looks again, raises an error with a place
            return cls(database, name, None)

    @property
    def sql(self) -> str:
        """The quoted name."""
        return f"{name_sql(self.database)}.{name_sql(self.name)}"

    def check_inserted(self, frame: FrameRows, partition: Mapping[str, object], *, evolve: bool) -> None:
        """Raises INSERT_COLUMN_NOT_FOUND for a column of the frame that the table does not have and, without `evolve`,
        does not get, or whose value the PARTITION clause gives, and what `check_fields` raises."""
        if self.table is None:
            return
        static = {name.lower() for name in partition}
        known = [name for name in self.table.column_names if name not in static]
        for name in frame.columns:
            if name.lower() not in known and (not evolve or name.lower() in static):
                near = suggestion(name, known)
                hint = f"The partition argument gives the value of {name}." if name.lower() in static else frame.hint
                raise AcidSqlError(
                    Condition.INSERT_COLUMN_NOT_FOUND,
                    column=name,
                    table=self.table.qualified,
                    suggestion=near,
                    hint=hint,
                )
        check_fields(frame, self.table)

    def check_keys(self, keys: Sequence[str], frame: FrameRows) -> None:
        """Raises COLUMN_NOT_FOUND for a key that the frame or the table does not have, INVALID_PARAMETER for none, and
        what `check_fields` raises."""
        if not keys:
            raise AcidSqlError(Condition.INVALID_PARAMETER, name="on", reason="it names no column")
        known = [name.lower() for name in frame.columns]
        for key in keys:
            if key.lower() not in known:
                raise _no_key(f"source.{key}", suggestion(key, known), frame.hint)
            if self.table is not None and key.lower() not in self.table.column_names:
                hint = f"The columns of {self.table.qualified} are {', '.join(self.table.column_names)}."
                raise _no_key(f"target.{key}", suggestion(key, self.table.column_names), hint)
        if self.table is not None:
            check_fields(frame, self.table)


def _no_key(column: str, near: str, hint: str) -> AcidSqlError:
    shown = near if near.startswith(" Did") else ""
    return AcidSqlError(Condition.COLUMN_NOT_FOUND, column=column, suggestion=shown, hint=hint)


def _listed(keys: Sequence[str]) -> tuple[str, ...]:
    """Raises INVALID_PARAMETER for what is no list of names."""
    listed = tuple(keys) if isinstance(keys, Iterable) else (keys,)
    if not all(isinstance(key, str) for key in listed):
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="on", reason=f"{keys!r} is not a list of names of columns")
    return listed
