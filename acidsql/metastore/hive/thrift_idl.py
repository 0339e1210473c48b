"""What Hive 4 added to the metastore's Thrift interface: pymetastore's generated client knows that of Hive 3.1.

This is code of our own because no client on PyPI speaks Hive 4: pymetastore 0.4.2 (2025) is generated from Hive 3.1,
hive-metastore-client 1.0.9 (2021) and hmsclient 0.1.1 (2018) are older, and PyIceberg's generated client is private.

Field numbers and types are those of Hive 4.0.1's hive_metastore.thrift. An older metastore skips the fields that it
does not know, and answers a method that it lacks with TApplicationException.UNKNOWN_METHOD.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from pymetastore.hive_metastore import ttypes as t
from thrift.Thrift import TApplicationException, TMessageType, TType

EXCL_WRITE: Final = 4
"""org.apache.hadoop.hive.metastore.api.LockType.EXCL_WRITE."""
READ_ONLY: Final = 2
"""org.apache.hadoop.hive.metastore.api.TxnType.READ_ONLY."""
COMPACTION: Final = 3
"""org.apache.hadoop.hive.metastore.api.TxnType.COMPACTION."""
REBALANCE_COMPACTION: Final = 6
"""org.apache.hadoop.hive.metastore.api.TxnType.REBALANCE_COMPACTION."""
REBALANCE: Final = 3
"""org.apache.hadoop.hive.metastore.api.CompactionType.REBALANCE."""

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
"""The client's capabilities (hive.metastore.client.capabilities). Without them the metastore hides ACID tables."""
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


def _long(number: int, name: str) -> _Field:
    return _Field(number, TType.I64, name)


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
CommitTxnKeyValue: Final = _made("CommitTxnKeyValue", object, _long(1, "tableId"), _text(2, "key"), _text(3, "value"))
"""A parameter of a table, which must exist, and the value that the commit gives it (HIVE-20701)."""
CommitTxnRequest: Final = _made(
    "CommitTxnRequest",
    t.CommitTxnRequest,
    _struct(5, "keyValue", CommitTxnKeyValue),
    _Field(6, TType.BOOL, "exclWriteEnabled"),
)
Table: Final = _made("Table", t.Table, _long(25, "id"))
GetTableRequest: Final = _made(
    "GetTableRequest", t.GetTableRequest, _texts(8, "processorCapabilities"), _text(9, "processorIdentifier")
)
GetTablesRequest: Final = _made(
    "GetTablesRequest", t.GetTablesRequest, _texts(5, "processorCapabilities"), _text(6, "processorIdentifier")
)
AlterTableRequest: Final = _made(
    "AlterTableRequest", t.AlterTableRequest, _texts(8, "processorCapabilities"), _text(9, "processorIdentifier")
)
Database: Final = _made("Database", t.Database, _text(10, "managedLocationUri"))
CompactionRequest: Final = _made(
    "CompactionRequest",
    t.CompactionRequest,
    _text(7, "initiatorId"),
    _text(8, "initiatorVersion"),
    _text(9, "poolName"),
    _Field(10, TType.I32, "numberOfBuckets"),
    _text(11, "orderByClause"),
)
CompactionResponse: Final = _made("CompactionResponse", t.CompactionResponse, _text(4, "errormessage"))
ShowCompactRequest: Final = _made(
    "ShowCompactRequest", t.ShowCompactRequest, _long(1, "id"), _text(7, "state"), _text(9, "order")
)
ShowCompactResponseElement: Final = _made(
    "ShowCompactResponseElement",
    t.ShowCompactResponseElement,
    _text(14, "errorMessage"),
    _long(15, "enqueueTime"),
    _text(16, "workerVersion"),
    _text(17, "initiatorId"),
    _text(18, "initiatorVersion"),
    _long(19, "cleanerStart"),
    _text(20, "poolName"),
    _long(21, "nextTxnId"),
    _long(22, "txnId"),
    _long(23, "commitTime"),
    _long(24, "hightestWriteId"),
)

# -- new structs

CreateTableRequest: Final = _made(
    "CreateTableRequest",
    object,
    _struct(1, "table", t.Table),
    _struct(2, "envContext", t.EnvironmentContext),
    _structs(3, "primaryKeys", t.SQLPrimaryKey),
    _structs(4, "foreignKeys", t.SQLForeignKey),
    _structs(5, "uniqueConstraints", t.SQLUniqueConstraint),
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
    _structs(1, "primaryKeys", t.SQLPrimaryKey),
    _structs(2, "foreignKeys", t.SQLForeignKey),
    _structs(3, "uniqueConstraints", t.SQLUniqueConstraint),
    _structs(4, "notNullConstraints", t.SQLNotNullConstraint),
    _structs(5, "defaultConstraints", t.SQLDefaultConstraint),
    _structs(6, "checkConstraints", t.SQLCheckConstraint),
)
_AllTableConstraintsResponse: Final = _made(
    "AllTableConstraintsResponse", object, _struct(1, "allTableConstraints", SQLAllTableConstraints)
)
_GetTableResult: Final = _made("GetTableResult", object, _struct(1, "table", Table))
_GetTablesResult: Final = _made("GetTablesResult", object, _structs(1, "tables", Table))
CompactionInfoStruct: Final = _made(
    "CompactionInfoStruct",
    object,
    _long(1, "id"),
    _text(2, "dbname"),
    _text(3, "tablename"),
    _text(4, "partitionname"),
    _Field(5, TType.I32, "type"),
    _text(6, "runas"),
    _text(7, "properties"),
    _Field(8, TType.BOOL, "toomanyaborts"),
    _text(9, "state"),
    _text(10, "workerId"),
    _long(11, "start"),
    _long(12, "highestWriteId"),
    _text(13, "errorMessage"),
    _Field(14, TType.BOOL, "hasoldabort"),
    _long(15, "enqueueTime"),
    _long(16, "retryRetention"),
    _text(17, "poolname"),
    _Field(18, TType.I32, "numberOfBuckets"),
    _text(19, "orderByClause"),
)
FindNextCompactRequest: Final = _made(
    "FindNextCompactRequest", object, _text(1, "workerId"), _text(2, "workerVersion"), _text(3, "poolName")
)
_OptionalCompactionInfoStruct: Final = _made(
    "OptionalCompactionInfoStruct", object, _struct(1, "ci", CompactionInfoStruct)
)
_ShowCompactResponse: Final = _made("ShowCompactResponse", object, _structs(1, "compacts", ShowCompactResponseElement))
_AbortCompactionRequest: Final = _made(
    "AbortCompactionRequest", object, _Field(1, TType.LIST, "compactionIds", (TType.I64, None, False))
)
_AbortCompactionResponseElement: Final = _made(
    "AbortCompactionResponseElement", object, _long(1, "compactionId"), _text(2, "status"), _text(3, "message")
)
_AbortCompactResponse: Final = _made(
    "AbortCompactResponse",
    object,
    _Field(
        1, TType.MAP, "abortedcompacts", (TType.I64, None, TType.STRUCT, [_AbortCompactionResponseElement, None], False)
    ),
)

# -- methods


class _Method(NamedTuple):
    """A method: structs of its arguments and of its outcome, whose field 0 is the answer and all others exceptions."""

    name: str
    arguments: Any
    outcome: Any


def _method(name: str, arguments: _Field | Sequence[_Field], answer: _Field | None, *exceptions: Any) -> _Method:
    fields = (arguments,) if isinstance(arguments, _Field) else arguments
    raised = (_struct(number, f"o{number}", kind) for number, kind in enumerate(exceptions, 1))
    outcome = _made(f"{name}_result", object, *([answer] if answer else []), *raised)
    return _Method(name, _made(f"{name}_args", object, *fields), outcome)


_NO_OBJECT: Final = (t.MetaException, t.NoSuchObjectException)

_GET_VERSION: Final = _method("getVersion", (), _text(0, "success"))
_CREATE_TABLE: Final = _method(
    "create_table_req",
    _struct(1, "argument", CreateTableRequest),
    None,
    t.AlreadyExistsException,
    t.InvalidObjectException,
    *_NO_OBJECT,
)
_GET_TABLE: Final = _method(
    "get_table_req", _struct(1, "argument", GetTableRequest), _struct(0, "success", _GetTableResult), *_NO_OBJECT
)
_GET_TABLES: Final = _method(
    "get_table_objects_by_name_req",
    _struct(1, "argument", GetTablesRequest),
    _struct(0, "success", _GetTablesResult),
    t.MetaException,
    t.InvalidOperationException,
    t.UnknownDBException,
)
_GET_DATABASE: Final = _method(
    "get_database",
    _text(1, "argument"),
    _struct(0, "success", Database),
    t.NoSuchObjectException,
    t.MetaException,
)
_ALTER_DATABASE: Final = _method(
    "alter_database",
    (_text(1, "dbname"), _struct(2, "db", Database)),
    None,
    *_NO_OBJECT,
)
_GET_ALL_TABLE_CONSTRAINTS: Final = _method(
    "get_all_table_constraints",
    _struct(1, "argument", AllTableConstraintsRequest),
    _struct(0, "success", _AllTableConstraintsResponse),
    *_NO_OBJECT,
)
_GET_LATEST_TXNID_IN_CONFLICT: Final = _method(
    "get_latest_txnid_in_conflict",
    _long(1, "argument"),
    _long(0, "success"),
    t.MetaException,
)
_COMPACT: Final = _method(
    "compact2", _struct(1, "argument", CompactionRequest), _struct(0, "success", CompactionResponse)
)
_SHOW_COMPACT: Final = _method(
    "show_compact", _struct(1, "argument", ShowCompactRequest), _struct(0, "success", _ShowCompactResponse)
)
_ABORT_COMPACTIONS: Final = _method(
    "abort_Compactions", _struct(1, "argument", _AbortCompactionRequest), _struct(0, "success", _AbortCompactResponse)
)
_FIND_NEXT_COMPACT: Final = _method(
    "find_next_compact2",
    _struct(1, "argument", FindNextCompactRequest),
    _struct(0, "success", _OptionalCompactionInfoStruct),
    t.MetaException,
)
_UPDATE_COMPACTOR_STATE: Final = _method(
    "update_compactor_state", (_struct(1, "compaction", CompactionInfoStruct), _long(2, "txn")), None
)
_COMPACTION: Final = _struct(1, "argument", CompactionInfoStruct)
_MARK_COMPACTED: Final = _method("mark_compacted", _COMPACTION, None, t.MetaException)
_MARK_FAILED: Final = _method("mark_failed", _COMPACTION, None, t.MetaException)
_MARK_REFUSED: Final = _method("mark_refused", _COMPACTION, None, t.MetaException)


def get_version(client: Any) -> str:
    """Hive's version, such as 4.0.1 (fb303, whose methods pymetastore's client does not have)."""
    return str(_call(client, _GET_VERSION))


def create_table(client: Any, request: Any) -> None:
    _call(client, _CREATE_TABLE, request)


def get_table(client: Any, request: Any) -> Any:
    """A table with its `id`, which stays the same for ever; Hive 3 gives none."""
    return _call(client, _GET_TABLE, request).table


def get_tables(client: Any, request: Any) -> Any:
    """Tables with their `id`."""
    return _call(client, _GET_TABLES, request).tables


def get_database(client: Any, name: str) -> Any:
    """The database with its `managedLocationUri`."""
    return _call(client, _GET_DATABASE, name)


def alter_database(client: Any, name: str, database: Any) -> None:
    """Replaces the definition of a database, with its `managedLocationUri`."""
    _call(client, _ALTER_DATABASE, name, database)


def get_all_table_constraints(client: Any, database: str, table: str) -> Any:
    request = AllTableConstraintsRequest(dbName=database, tblName=table, catName="hive")
    return _call(client, _GET_ALL_TABLE_CONSTRAINTS, request).allTableConstraints


def get_latest_txnid_in_conflict(client: Any, txn: int) -> int:
    """The highest transaction that committed since `txn` was opened and updated or deleted what `txn` does, else 0."""
    return int(_call(client, _GET_LATEST_TXNID_IN_CONFLICT, txn))


def compact(client: Any, request: Any) -> Any:
    """A CompactionResponse."""
    return _call(client, _COMPACT, request)


def show_compactions(client: Any, request: Any) -> Any:
    return _call(client, _SHOW_COMPACT, request).compacts


def abort_compactions(client: Any, ids: Sequence[int]) -> Any:
    """AbortCompactionResponseElements by compaction."""
    return _call(client, _ABORT_COMPACTIONS, _AbortCompactionRequest(compactionIds=list(ids))).abortedcompacts


def find_next_compaction(client: Any, request: Any) -> Any:
    """A CompactionInfoStruct, or None."""
    return _call(client, _FIND_NEXT_COMPACT, request).ci


def update_compactor_state(client: Any, compaction: Any, txn: int) -> None:
    _call(client, _UPDATE_COMPACTOR_STATE, compaction, txn)


def mark_compacted(client: Any, compaction: Any) -> None:
    _call(client, _MARK_COMPACTED, compaction)


def mark_failed(client: Any, compaction: Any) -> None:
    _call(client, _MARK_FAILED, compaction)


def mark_refused(client: Any, compaction: Any) -> None:
    _call(client, _MARK_REFUSED, compaction)


def _call(client: Any, method: _Method, *arguments: Any) -> Any:
    """What a generated method does."""
    out, answers = client._oprot, client._iprot
    out.writeMessageBegin(method.name, TMessageType.CALL, 0)
    names = (field[2] for field in filter(None, method.arguments.thrift_spec))
    method.arguments(**dict(zip(names, arguments, strict=True))).write(out)
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
