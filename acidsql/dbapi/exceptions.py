"""The exceptions of PEP 249. Each is an AcidSqlError, with its condition, SQLSTATE, place and hint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from acidsql.errors import AcidSqlError, Condition


class Warning(Exception):  # noqa: A001, N818  the name that PEP 249 prescribes
    """Part of PEP 249. acidsql never raises it."""


class Error(AcidSqlError):
    """The base of the errors of `acidsql.dbapi`."""


class InterfaceError(Error):
    """The connection or the cursor cannot be used: it was closed, or there are no rows to fetch."""


class DatabaseError(Error):
    """The base of the errors of statements."""


class DataError(DatabaseError):
    """A value does not fit: SQLSTATE class 22."""


class OperationalError(DatabaseError):
    """Something that the statement does not control failed: conflicts of transactions, locks, storage, Spark."""


class IntegrityError(DatabaseError):
    """A constraint is violated, or something depends on what is to be dropped."""


class InternalError(DatabaseError):
    """The transaction is not in the state that the statement needs: it was aborted, or has ended."""


class ProgrammingError(DatabaseError):
    """The statement is wrong: its syntax, names, types or place in a transaction."""


class NotSupportedError(DatabaseError):
    """acidsql does not support what the statement asks for."""


_BY_CLASS: Final[Mapping[str, type[Error]]] = {
    "08": OperationalError,  # connection exception
    "0A": NotSupportedError,  # feature not supported
    "21": ProgrammingError,  # cardinality violation
    "22": DataError,  # data exception
    "23": IntegrityError,  # integrity constraint violation
    "24": InterfaceError,  # invalid cursor state
    "25": InternalError,  # invalid transaction state
    "2B": IntegrityError,  # dependent objects still exist
    "3D": ProgrammingError,  # invalid catalog name
    "40": OperationalError,  # transaction rollback
    "42": ProgrammingError,  # syntax error or access rule violation
    "53": OperationalError,  # insufficient resources
    "54": OperationalError,  # program limit exceeded
    "55": OperationalError,  # object not in prerequisite state
    "57": OperationalError,  # operator intervention
    "58": OperationalError,  # system error
}
"""The exception for each class of SQLSTATE, its first two characters."""
_BY_CONDITION: Final[Mapping[Condition, type[Error]]] = {
    Condition.SESSION_CLOSED: InterfaceError,
    Condition.NO_TRANSACTION: ProgrammingError,
    Condition.IN_TRANSACTION: ProgrammingError,
    Condition.READ_ONLY_DATABASE: ProgrammingError,
    Condition.METASTORE_READ_ONLY: OperationalError,
    Condition.INVALID_PARAMETER: ProgrammingError,
    Condition.INVALID_SETTING: ProgrammingError,
    Condition.WRONG_ARGUMENTS: ProgrammingError,
}
"""Conditions that PEP 249 describes otherwise than the class of their SQLSTATE."""


def exception_class(condition: Condition) -> type[Error]:
    """The exception of PEP 249 for a condition.

    >>> exception_class(Condition.TABLE_NOT_FOUND).__name__
    'ProgrammingError'
    """
    return _BY_CONDITION.get(condition) or _BY_CLASS[condition.value.sqlstate[:2]]


def as_dbapi_error(error: AcidSqlError) -> Error:
    """The same error as an exception of PEP 249."""
    if isinstance(error, Error):
        return error
    condition = Condition[error.condition]
    kind = exception_class(condition)
    made = kind.of(condition, error.getMessageParameters(), span=error.span, hint=error.hint)
    assert isinstance(made, Error)
    return made


@contextmanager
def raising_dbapi_errors() -> Iterator[None]:
    """Raises an AcidSqlError of the block as an exception of PEP 249."""
    try:
        yield
    except Error:
        raise
    except AcidSqlError as error:
        raise as_dbapi_error(error) from error
