"""Cursors: statements with parameters, and their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import TracebackType
from typing import Protocol

from acidsql.dbapi.exceptions import InterfaceError, ProgrammingError, raising_dbapi_errors
from acidsql.dbapi.result_rows import ColumnDescription, Row, describe, result_rows, row_count
from acidsql.errors import AcidSqlError, Condition
from acidsql.statements.results import Result


class RunsStatements(Protocol):
    """What a cursor needs of its connection."""

    def require_open(self) -> None: ...

    def run(self, text: str, parameters: Mapping[str, object] | Sequence[object] | None) -> Result: ...

    def run_many(self, text: str, rows: Sequence[Mapping[str, object] | Sequence[object]]) -> Iterator[Result]: ...


class Cursor:
    """Runs statements and fetches their rows. `Connection.cursor` makes cursors.

    The rows of a query are those of the snapshot at the time of `execute`. They are computed while they are fetched.
    The snapshot is held until the last row is fetched, the cursor runs another statement, or it is closed.
    """

    arraysize: int = 1
    """How many rows `fetchmany` fetches by default."""
    lastrowid: None = None
    """Part of PEP 249. Rows of acidsql have no such number."""

    def __init__(self, connection: RunsStatements) -> None:
        self.connection = connection
        self.description: tuple[ColumnDescription, ...] | None = None
        """The columns of the last statement's rows; None if it returned no rows. A type code is a Hive type."""
        self.rowcount = -1
        """How many rows the last statement changed; -1 for a query or a statement that changes no rows."""
        self._closed = False
        self._result: Result | None = None
        self._rows: Iterator[Row] | None = None

    # -- statements

    def execute(self, operation: str, parameters: Mapping[str, object] | Sequence[object] | None = None) -> Cursor:
        """Runs one statement, and returns the cursor itself.

        Args:
            operation: The statement. `:name` stands for a parameter.
            parameters: The values by name; a sequence gives the values of `?`.

        Raises:
            Error: For every error, as the exception of PEP 249 for its condition.

        >>> cursor.execute("UPDATE employee SET salary = :to WHERE id = :id", {"to": 1, "id": 2}).rowcount
        1
        """
        self._begin()
        _check_is_text(operation)
        with raising_dbapi_errors():
            result = self.connection.run(operation, parameters)
            self._result, self.description, self.rowcount = result, describe(result), row_count(result)
            if self.description is not None:
                self._rows = result_rows(result, self.description)
        return self

    def executemany(
        self, operation: str, seq_of_parameters: Iterable[Mapping[str, object] | Sequence[object]]
    ) -> Cursor:
        """Runs a statement once for each set of parameters. `rowcount` is the sum.

        INSERT .. VALUES with one row of parameters is run once for all sets: it is one transaction with one delta
        directory, and all rows or none are inserted.

        Raises:
            Error: As `execute`. A set that lacks a parameter is found before anything runs.

        >>> rows = [{"id": 7, "name": "Ann"}, {"id": 8, "name": "Bob"}]
        >>> cursor.executemany("INSERT INTO employee (id, name) VALUES (:id, :name)", rows).rowcount
        2
        """
        self._begin()
        _check_is_text(operation)
        with raising_dbapi_errors():
            rows = _parameter_sets(seq_of_parameters)
            counts = [row_count(result) for result in self.connection.run_many(operation, rows)]
        self.rowcount = -1 if -1 in counts else sum(counts)
        return self

    def setinputsizes(self, sizes: Sequence[object]) -> None:
        """Part of PEP 249. It does nothing."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Part of PEP 249. It does nothing."""

    # -- rows

    def fetchone(self) -> Row | None:
        """The next row, or None.

        >>> cursor.execute("SELECT name FROM employee WHERE id = 3").fetchone()
        ('Kate',)
        """
        rows = self._open_rows()
        with raising_dbapi_errors():
            row = next(rows, None)
        if row is None:
            self._end_rows()
        return row

    def fetchmany(self, size: int | None = None) -> list[Row]:
        """The next rows, at most `size`, or `arraysize` of them.

        Raises ProgrammingError (INVALID_PARAMETER) for a size that is not a number of rows.

        >>> cursor.execute("SELECT id FROM employee ORDER BY id").fetchmany(2)
        [(2,), (3,)]
        """
        rows, wanted = self._open_rows(), self.arraysize if size is None else size
        if not isinstance(wanted, int) or wanted < 0:
            name = "arraysize" if size is None else "size"
            reason = f"{wanted!r} is not a number of rows"
            raise ProgrammingError(Condition.INVALID_PARAMETER, name=name, reason=reason)
        with raising_dbapi_errors():
            fetched = list(islice(rows, wanted))
        if len(fetched) < wanted:
            self._end_rows()
        return fetched

    def fetchall(self) -> list[Row]:
        """All remaining rows.

        >>> cursor.execute("SELECT id, name FROM employee ORDER BY id LIMIT 2").fetchall()
        [(2, 'Tom'), (3, 'Kate')]
        """
        rows = self._open_rows()
        with raising_dbapi_errors():
            fetched = list(rows)
        self._end_rows()
        return fetched

    def __iter__(self) -> Cursor:
        return self

    def __next__(self) -> Row:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    # -- the end

    def close(self) -> None:
        """Closes the cursor, and lets go of its snapshot. A second call does nothing.

        >>> cursor.close()
        """
        self._forget()
        self._closed = True

    def __enter__(self) -> Cursor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _begin(self) -> None:
        self._require_open()
        self._forget()
        self.rowcount = -1

    def _require_open(self) -> None:
        self.connection.require_open()
        if self._closed:
            raise InterfaceError(Condition.INVALID_CURSOR, reason="it was closed")

    def _open_rows(self) -> Iterator[Row]:
        self._require_open()
        if self._rows is None:
            reason = "no statement was run, or the last one returned no rows"
            raise InterfaceError(Condition.INVALID_CURSOR, reason=reason)
        return self._rows

    def _end_rows(self) -> None:
        """Lets go of the snapshot after the last row. Further fetches give no rows."""
        self._rows = iter(())
        self._release()

    def _forget(self) -> None:
        self.description = self._rows = None
        self._release()

    def _release(self) -> None:
        result, self._result = self._result, None
        if result is not None:
            with raising_dbapi_errors():
                result.close()


def _check_is_text(operation: object) -> None:
    if not isinstance(operation, str):
        reason = f"a statement is a text, not {type(operation).__name__}"
        raise ProgrammingError(Condition.INVALID_PARAMETER, name="operation", reason=reason)


def _parameter_sets(given: object) -> list[Mapping[str, object] | Sequence[object]]:
    """The sets as a list, and each set that is an iterator as a list too. Raises INVALID_PARAMETER."""
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | Mapping):
        reason = f"it is a {type(given).__name__}, not a list of sets of parameters"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="seq_of_parameters", reason=reason)
    return [list(row) if isinstance(row, Iterator) else row for row in given]
