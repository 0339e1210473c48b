"""What Hive 4 added to the metastore's Thrift interface: pymetastore's generated client knows that of Hive 3.1.

Field numbers and types are those of Hive 4.0.1's hive_metastore.thrift. An older metastore skips the fields that it
does not know, and answers a method that it lacks with TApplicationException.UNKNOWN_METHOD.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from pymetastore.hive_metastore import ttypes as t
from thrift.Thrift import TApplicationException, TMessageType, TType

EXCL_WRITE: Final = 4
"""org.apache.hadoop.hive.metastore.api.LockType.EXCL_WRITE."""
READ_ONLY: Final = 2
"""org.apache.hadoop.hive.metastore.api.TxnType.READ_ONLY."""

CAPABILITIES: Final = (
    "EXTWRITE",
    "EXTREAD",
    "HIVEBUCKET2",
    "HIVEFULLACIDREAD",
    "HIVEFULLACIDWRITE",
    "HIVECACHEINVALIDATE",
    "HIVEMANAGESTATS",
    "HIVEMANAGEDINSERTWRITE",
    "HIVEMANAGEDINSERTREAD",
)
"""What acidsql can do (hive.metastore.client.capabilities): without these the metastore keeps ACID tables to itself."""
IDENTIFIER: Final = "acidsql"


class _Field(NamedTuple):
    """As thrift_spec has it."""

    number: int
    kind: int
    name: str
    detail: Any = None
    default: Any = None


def _text(number: int, name: str) -> _Field:
    return _Field(number, TType.STRING, name, "UTF8")


def _struct(number: int, name: str, kind: Any) -> _Field:
    return _Field(number, TType.STRUCT, name, [kind, None])


def _structs(number: int, name: str, kind: Any) -> _Field:
    return _Field(number, TType.LIST, name, (TType.STRUCT, [kind, None], False))


def _texts(number: int, name: str) -> _Field:
    return _Field(number, TType.LIST, name, (TType.STRING, "UTF8", False))


def _set_fields(self: Any, **values: Any) -> None:
    for field in filter(None, self.thrift_spec):
        setattr(self, field[2], values.pop(field[2], field[4]))
    if values:
        raise TypeError(f"{type(self).__name__} has no field {min(values)}")


def _made(name: str, base: Any, *fields: _Field) -> Any:
    """A Thrift struct: the fields of `base` and those given."""
    spec: list[Any] = list(getattr(base, "thrift_spec", ()))
    for field in fields:
        spec += [None] * (field.number + 1 - len(spec))
        spec[field.number] = tuple(field)
    members = {
        "thrift_spec": tuple(spec),
        "__init__": _set_fields,
        "read": lambda self, protocol: protocol.readStruct(self, self.thrift_spec),
        "write": lambda self, protocol: protocol.writeStruct(self, self.thrift_spec),
    }
    return type(name, (base,), members)


# -- structs of Hive 3.1 that have more fields now

OpenTxnRequest: Final = _made("OpenTxnRequest", t.OpenTxnRequest, _Field(7, TType.I32, "txn_type"))
CommitTxnRequest: Final = _made("CommitTxnRequest", t.CommitTxnRequest, _Field(6, TType.BOOL, "exclWriteEnabled"))
GetTableRequest: Final = _made(
    "GetTableRequest", t.GetTableRequest, _texts(8, "processorCapabilities"), _text(9, "processorIdentifier")
)
AlterTableRequest: Final = _made(
    "AlterTableRequest", t.AlterTableRequest, _texts(8, "processorCapabilities"), _text(9, "processorIdentifier")
)
Database: Final = _made("Database", t.Database, _text(10, "managedLocationUri"))

# -- new structs

CreateTableRequest: Final = _made(
    "CreateTableRequest",
    object,
    _struct(1, "table", t.Table),
    _struct(2, "envContext", t.EnvironmentContext),
    _structs(6, "notNullConstraints", t.SQLNotNullConstraint),
    _structs(7, "defaultConstraints", t.SQLDefaultConstraint),
    _structs(8, "checkConstraints", t.SQLCheckConstraint),
    _texts(9, "processorCapabilities"),
    _text(10, "processorIdentifier"),
)
AllTableConstraintsRequest: Final = _made(
    "AllTableConstraintsRequest", object, _text(1, "dbName"), _text(2, "tblName"), _text(3, "catName")
)
SQLAllTableConstraints: Final = _made(
    "SQLAllTableConstraints",
    object,
    _structs(4, "notNullConstraints", t.SQLNotNullConstraint),
    _structs(5, "defaultConstraints", t.SQLDefaultConstraint),
    _structs(6, "checkConstraints", t.SQLCheckConstraint),
)
_AllTableConstraintsResponse: Final = _made(
    "AllTableConstraintsResponse", object, _struct(1, "allTableConstraints", SQLAllTableConstraints)
)

# -- methods


class _Method(NamedTuple):
    """A method: structs of its arguments and of its outcome, whose field 0 is the answer and all others exceptions."""

    name: str
    arguments: Any
    outcome: Any


def _method(name: str, argument: _Field, answer: _Field | None, *exceptions: Any) -> _Method:
    raised = (_struct(number, f"o{number}", kind) for number, kind in enumerate(exceptions, 1))
    outcome = _made(f"{name}_result", object, *([answer] if answer else []), *raised)
    return _Method(name, _made(f"{name}_args", object, argument), outcome)


_CREATE_TABLE: Final = _method(
    "create_table_req",
    _struct(1, "argument", CreateTableRequest),
    None,
    t.AlreadyExistsException,
    t.InvalidObjectException,
    t.MetaException,
    t.NoSuchObjectException,
)
_GET_DATABASE: Final = _method(
    "get_database",
    _text(1, "argument"),
    _struct(0, "success", Database),
    t.NoSuchObjectException,
    t.MetaException,
)
_GET_ALL_TABLE_CONSTRAINTS: Final = _method(
    "get_all_table_constraints",
    _struct(1, "argument", AllTableConstraintsRequest),
    _struct(0, "success", _AllTableConstraintsResponse),
    t.MetaException,
    t.NoSuchObjectException,
)
_GET_LATEST_TXNID_IN_CONFLICT: Final = _method(
    "get_latest_txnid_in_conflict",
    _Field(1, TType.I64, "argument"),
    _Field(0, TType.I64, "success"),
    t.MetaException,
)


def create_table(client: Any, request: Any) -> None:
    _call(client, _CREATE_TABLE, request)


def get_database(client: Any, name: str) -> Any:
    """With its `managedLocationUri`."""
    return _call(client, _GET_DATABASE, name)


def get_all_table_constraints(client: Any, database: str, table: str) -> Any:
    request = AllTableConstraintsRequest(dbName=database, tblName=table, catName="hive")
    return _call(client, _GET_ALL_TABLE_CONSTRAINTS, request).allTableConstraints


def get_latest_txnid_in_conflict(client: Any, txn: int) -> int:
    """The highest transaction that committed since `txn` was opened and updated or deleted what `txn` does, else 0."""
    return int(_call(client, _GET_LATEST_TXNID_IN_CONFLICT, txn))


def _call(client: Any, method: _Method, argument: Any) -> Any:
    """What a generated method does."""
    out, answers = client._oprot, client._iprot
    out.writeMessageBegin(method.name, TMessageType.CALL, 0)
    method.arguments(argument=argument).write(out)
    out.writeMessageEnd()
    out.trans.flush()
    _, kind, _ = answers.readMessageBegin()
    outcome = TApplicationException() if kind == TMessageType.EXCEPTION else method.outcome()
    outcome.read(answers)
    answers.readMessageEnd()
    if kind == TMessageType.EXCEPTION:
        raise outcome
    for field in filter(None, outcome.thrift_spec):
        if field[0] > 0 and (raised := getattr(outcome, field[2])) is not None:
            raise raised
    return getattr(outcome, "success", None)
