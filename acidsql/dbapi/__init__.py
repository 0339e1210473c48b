"""Python's DB-API 2.0 (PEP 249) for acidsql. Importing this package starts no Java.

>>> from acidsql import dbapi
>>> with dbapi.connect("warehouse") as connection:  # doctest: +SKIP
...     connection.cursor().execute("SELECT name FROM employee WHERE id = :id", {"id": 1}).fetchall()
[('Ada',)]
"""

from __future__ import annotations

from typing import Final

from acidsql.dbapi.dbapi_connection import Connection, connect
from acidsql.dbapi.dbapi_cursor import Cursor
from acidsql.dbapi.exceptions import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,  # noqa: A004  the name that PEP 249 prescribes
)
from acidsql.dbapi.type_objects import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]

apilevel: Final = "2.0"
threadsafety: Final = 2
"""Threads may share a connection, and with it its transaction. A cursor belongs to one thread at a time."""
paramstyle: Final = "named"
