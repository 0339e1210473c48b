"""The calls that replace tables, views and partitions of a Hive Metastore, in Hive 3 and in Hive 4."""

from __future__ import annotations

from collections.abc import Sequence
from operator import methodcaller
from typing import Any

from pymetastore.hive_metastore import ttypes as t

from acidsql.acid.table import Relation, Table
from acidsql.metastore.hive import thrift_idl as idl
from acidsql.metastore.hive import thrift_tables as mapped
from acidsql.metastore.hive.thrift_connection import HiveConnections
from acidsql.metastore.hive.thrift_write_ids import WriteState


def alter_relation(
    hive: HiveConnections, old: Relation, found: Any, environment: Any, state: WriteState | None = None
) -> None:
    """Hive 3 takes no state: it keeps no statistics of a transactional table as accurate beside a writer."""
    if hive.is_hive_3:
        hive.tell(lambda c: c.alter_table_with_environment_context(old.database, old.name, found, environment))
        return
    request = idl.AlterTableRequest(
        catName=mapped.CATALOG,
        dbName=old.database,
        tableName=old.name,
        table=found,
        environmentContext=environment,
        writeId=-1 if state is None else state.write_id,
        validWriteIdList=None if state is None else state.valid.to_text(),
        processorCapabilities=list(idl.CAPABILITIES),
        processorIdentifier=idl.IDENTIFIER,
    )
    hive.tell(lambda c: c.alter_table_req(request))


def alter_partitions(hive: HiveConnections, table: Table, found: Sequence[Any], state: WriteState | None) -> None:
    for partition in found:
        if state is not None:
            partition.writeId = state.write_id
    if hive.is_hive_3:
        given = (table.database, table.name, found, mapped.environment())
        if found:
            hive.ask(methodcaller("alter_partitions_with_environment_context", *given))
        return
    request = t.AlterPartitionsRequest(
        catName=mapped.CATALOG,
        dbName=table.database,
        tableName=table.name,
        partitions=found,
        environmentContext=mapped.environment(),
        writeId=-1 if state is None else state.write_id,
        validWriteIdList=None if state is None else state.valid.to_text(),
    )
    if found:
        hive.ask(methodcaller("alter_partitions_req", request))
