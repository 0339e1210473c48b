"""Tables of a Hive Metastore by name, as Thrift structs with the metastore's `id` of the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, Final

from pymetastore.hive_metastore import ttypes as t

from acidsql.metastore.hive import thrift_idl as idl
from acidsql.metastore.hive import thrift_tables as mapped
from acidsql.metastore.hive.thrift_connection import HiveConnections

_BATCH: Final = 500
"""The most tables or partitions in one call."""


def stored_table(hive: HiveConnections, database: str, name: str) -> Any:
    """The table or view, or None."""
    request = idl.GetTableRequest(
        dbName=database,
        tblName=name,
        catName=mapped.CATALOG,
        capabilities=_ALL_KINDS,
        processorCapabilities=list(idl.CAPABILITIES),
        processorIdentifier=idl.IDENTIFIER,
    )
    try:
        return hive.ask(lambda c: idl.get_table(c, request), t.NoSuchObjectException)
    except t.NoSuchObjectException:
        return None


def stored_tables(hive: HiveConnections, database: str, names: Sequence[str]) -> Iterator[Any]:
    """Those of the tables and views that exist, none if the database does not. One call for each batch."""
    for some in batches(names):
        request = idl.GetTablesRequest(
            dbName=database,
            tblNames=some,
            catName=mapped.CATALOG,
            capabilities=_ALL_KINDS,
            processorCapabilities=list(idl.CAPABILITIES),
            processorIdentifier=idl.IDENTIFIER,
        )
        with suppress(t.UnknownDBException):
            yield from hive.ask(partial(idl.get_tables, request=request), t.UnknownDBException) or ()


def batches(items: Sequence[Any]) -> Iterator[list[Any]]:
    rest = iter(items)
    while some := list(islice(rest, _BATCH)):
        yield some


_ALL_KINDS: Final = t.ClientCapabilities([t.ClientCapability.INSERT_ONLY_TABLES])
