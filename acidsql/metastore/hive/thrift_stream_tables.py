"""The tables that hold what is committed of each stream in a Hive Metastore.

A commit can set one parameter of one table in the same step (CommitTxnRequest.keyValue, HIVE-20701). An ALTER TABLE
writes back all parameters as its client read them, which would bring back an old offset. So the parameter is not one of
the table that the stream writes: each stream has a table of its own, without rows, that nobody alters. Its name has the
metastore's ID of the table that the stream writes, which outlives a rename and which no later table gets.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import methodcaller
from typing import Any, Final

from pymetastore.hive_metastore import ttypes as t

from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.hive import thrift_idl as idl
from acidsql.metastore.hive import thrift_tables as mapped
from acidsql.metastore.hive.thrift_connection import HiveConnections, Request
from acidsql.metastore.hive.thrift_lookups import stored_table, stored_tables
from acidsql.metastore.stream_json import state_from_json, state_to_json
from acidsql.metastore.streams import StreamState

STREAMS: Final = "acidsql_streams"
"""The database of these tables."""

_STATE: Final = "_meta.acidsql.stream"
"""The parameter that commits set. TxnHandler wants a key that begins with `_meta`."""
_ID: Final = "acidsql.stream.id"
"""The stream's ID as JSON text: a metastore's database may have no room for Unicode."""
_TABLE: Final = "acidsql.stream.table"
"""The name of the table that the stream writes, at its first claim."""
_NAME: Final = re.compile(r"s_(?P<table_id>\d+)_[0-9a-f]{32}")
_CHECKED: Final = "key_values"
"""A table whose parameter shows whether the metastore sets parameters in commits."""
_SEARCH_SECONDS: Final = 300.0
"""How long a table that was not found under any name is not looked for again."""


@dataclass(frozen=True, slots=True)
class StreamTable:
    """The table of a stream as it was read. `id` is the metastore's; `writes` is the name of the table that the stream
    writes."""

    name: str
    id: int
    stream_id: str
    writes: tuple[str, str]
    text: str
    """What is committed."""

    @property
    def written_id(self) -> int:
        return _written_id(self.name)

    def state(self, writer: str = "") -> StreamState:
        return state_from_json(self.text, *self.writes, self.stream_id, writer)

    def key_value(self, new: StreamState) -> Any:
        """What makes a commit set the state."""
        return idl.CommitTxnKeyValue(tableId=self.id, key=_STATE, value=state_to_json(new))


class StreamTables:
    """The tables of the streams, and those of a metastore's tables that have streams."""

    def __init__(self, hive: HiveConnections) -> None:
        self._hive = hive
        self._names: dict[int, tuple[str, str]] = {}
        """The names under which tables were found that have another name than at the first claim of their stream."""
        self._searched: dict[int, float] = {}

    def find(self, table: Table, stream_id: str) -> StreamTable | None:
        """Raises TABLE_NOT_FOUND."""
        return self._read(_name(self._id(table), stream_id), (table.database, table.name))

    def find_or_make(self, table: Table, stream_id: str) -> StreamTable:
        """Raises TABLE_NOT_FOUND; NOT_YET_SUPPORTED where the metastore tells no IDs of tables (Hive 3)."""
        written = (table.database, table.name)
        name = _name(self._id(table), stream_id)
        if (found := self._read(name, written)) is not None:
            return found
        parameters = {
            _ID: json.dumps(stream_id),
            _TABLE: table.qualified,
            _STATE: state_to_json(StreamState(*written, stream_id)),
        }
        self._make(name, f"The offset of a stream of acidsql into {table.qualified}", parameters)
        made = self._read(name, written)
        if made is None:
            raise AcidSqlError(Condition.TABLE_CHANGED, table=table.qualified)
        return made

    def again(self, known: StreamTable) -> StreamTable | None:
        """The table as it is now; None where it was dropped."""
        found = self._read(known.name, known.writes)
        return found if found is not None and found.id == known.id else None

    def all(self) -> Sequence[StreamTable]:
        """Those whose streams write a table that exists."""
        names = list(filter(_NAME.fullmatch, self._all_names()))
        found = [_stream_table(one, self._recorded(one)) for one in stored_tables(self._hive, STREAMS, names)]
        current = self._current({one.written_id: one.writes for one in found})
        known = [replace(one, writes=current[one.written_id]) for one in found if one.written_id in current]
        return sorted(known, key=lambda one: (one.writes, one.stream_id))

    def of(self, database: str, table: str) -> Sequence[str]:
        """The names of the tables of all streams into a table."""
        names = list(filter(_NAME.fullmatch, self._all_names()))
        written = stored_table(self._hive, database, table) if names else None
        return [] if written is None else [name for name in names if _written_id(name) == written.id]

    def forget(self, names: Collection[str]) -> None:
        """Drops tables."""
        for name in names:
            with suppress(t.NoSuchObjectException):
                self._hive.tell(methodcaller("drop_table", STREAMS, name, False), t.NoSuchObjectException)

    # -- whether the metastore can do it

    def check_value(self) -> Any:
        """What makes a commit change the parameter that `checked` returns."""
        if self._stored_check() is None:
            self._make(_CHECKED, "Shows whether the metastore sets parameters in commits", {_STATE: ""})
        found = self._stored_check()
        return idl.CommitTxnKeyValue(tableId=_id_of(found), key=_STATE, value=uuid.uuid4().hex)

    def checked(self) -> str:
        return str(getattr(self._stored_check(), "parameters", {}).get(_STATE, ""))

    def _stored_check(self) -> Any:
        return stored_table(self._hive, STREAMS, _CHECKED)

    # -- calls

    def _all_names(self) -> Sequence[str]:
        return list(self._hive.ask(methodcaller("get_all_tables", STREAMS)))

    def _id(self, table: Table) -> int:
        found = stored_table(self._hive, table.database, table.name)
        if found is None:
            raise AcidSqlError(Condition.TABLE_NOT_FOUND, table=table.qualified, suggestion="")
        return _id_of(found)

    def _read(self, name: str, written: tuple[str, str]) -> StreamTable | None:
        found = stored_table(self._hive, STREAMS, name)
        return None if found is None else _stream_table(found, written)

    def _make(self, name: str, comment: str, parameters: Mapping[str, str]) -> None:
        """Makes a table without files of its own: all have the directory of the database. No error where it exists."""
        database = self._database()
        table = Table(
            STREAMS,
            name,
            (Column("nothing", "string"),),
            mapped.location_from_hive(database.locationUri),
            file_format="textfile",
            properties=parameters,
            external=True,
            comment=comment,
            owner=self._hive.user,
            created=int(time.time()),
        )
        request = idl.CreateTableRequest(
            table=mapped.table_to_hive(table),
            envContext=mapped.environment(),
            processorCapabilities=list(idl.CAPABILITIES),
            processorIdentifier=idl.IDENTIFIER,
        )
        self._created(lambda c: idl.create_table(c, request), lambda: stored_table(self._hive, STREAMS, name))

    def _database(self) -> Any:
        found = self._stored_database()
        if found is None:
            new = idl.Database(name=STREAMS, description="Offsets of acidsql's streams", parameters={})
            self._created(lambda c: c.create_database(new), self._stored_database)
            found = self._stored_database()
        return found

    def _stored_database(self) -> Any:
        try:
            return self._hive.ask(lambda c: idl.get_database(c, STREAMS), t.NoSuchObjectException)
        except t.NoSuchObjectException:
            return None

    def _created(self, create: Request, find: Callable[[], Any]) -> None:
        """Creates what another client may create at the same time: the metastore's database then refuses one of them,
        with an error of its own."""
        try:
            with suppress(t.AlreadyExistsException):
                self._hive.tell(create, t.AlreadyExistsException)
        except AcidSqlError as error:
            if error.condition != Condition.METASTORE_FAILED.name or find() is None:
                raise

    # -- the names of tables that were renamed

    def _recorded(self, found: Any) -> tuple[str, str]:
        known = self._names.get(_written_id(found.tableName))
        database, _, table = found.parameters[_TABLE].partition(".")
        return known or (database, table)

    def _current(self, guesses: Mapping[int, tuple[str, str]]) -> Mapping[int, tuple[str, str]]:
        """The names of the tables with these IDs. Where a guess is wrong, all tables are looked through."""
        current: dict[int, tuple[str, str]] = {}
        for database in {database for database, _ in guesses.values()}:
            names = sorted({table for other, table in guesses.values() if other == database})
            current |= _names_by_id(stored_tables(self._hive, database, names))
        now = time.monotonic()
        missing = {one for one in guesses.keys() - current.keys() if self._searched.get(one, 0.0) <= now}
        if missing:
            found = {one: name for one, name in _names_by_id(self._everything()).items() if one in missing}
            current |= found
            self._names |= found
            self._searched |= dict.fromkeys(missing - found.keys(), now + _SEARCH_SECONDS)
        return {one: name for one, name in current.items() if one in guesses}

    def _everything(self) -> Iterator[Any]:
        for database in self._hive.ask(methodcaller("get_all_databases")):
            yield from stored_tables(self._hive, database, self._hive.ask(methodcaller("get_all_tables", database)))


def _stream_table(found: Any, written: tuple[str, str]) -> StreamTable:
    parameters = found.parameters
    return StreamTable(found.tableName, found.id, json.loads(parameters[_ID]), written, parameters[_STATE])


def _names_by_id(found: Iterator[Any]) -> dict[int, tuple[str, str]]:
    return {one.id: (one.dbName, one.tableName) for one in found}


def _name(table_id: int, stream_id: str) -> str:
    return f"s_{table_id}_{hashlib.sha256(stream_id.encode()).hexdigest()[:32]}"


def _written_id(name: str) -> int:
    found = _NAME.fullmatch(name)
    assert found is not None
    return int(found["table_id"])


def _id_of(found: Any) -> int:
    if found is None or not found.id:
        raise no_key_values()
    return int(found.id)


def no_key_values() -> AcidSqlError:
    feature = "A stream with an ID on a Hive Metastore that sets no parameter in a commit (HIVE-20701; Hive 4 does)"
    return AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=feature)
