"""Conversion of tables, partitions and databases between Hive's Thrift structs and acidsql. Makes no calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pymetastore.hive_metastore import ttypes as t

from acidsql.acid.csv_format import CSV_SERDE
from acidsql.acid.partition_names import DEFAULT_PARTITION
from acidsql.acid.storage_classes import STORAGE_CLASSES
from acidsql.acid.table import TRANSACTIONAL, Column, Constraints, PrincipalKind, Relation, Table, View
from acidsql.acid.text_serdes import OTHER_SERDES
from acidsql.metastore.basic_statistics import STATISTICS_STATE
from acidsql.metastore.catalog import Database, Partition, PartitionValues, Place
from acidsql.metastore.hive import thrift_idl as idl

CATALOG: Final = "hive"
MANAGED, EXTERNAL = "MANAGED_TABLE", "EXTERNAL_TABLE"
VIEW, MATERIALIZED_VIEW = "VIRTUAL_VIEW", "MATERIALIZED_VIEW"

_COMMENT: Final = "comment"
_EXTERNAL: Final = "EXTERNAL"
_TRANSLATED: Final = "TRANSLATED_TO_EXTERNAL"
_PURGE: Final = "external.table.purge"
_KEPT_BY_THE_METASTORE: Final = frozenset(
    (
        STATISTICS_STATE,
        "numFiles",
        "numRows",
        "numPartitions",
        "numFilesErasureCoded",
        "rawDataSize",
        "totalSize",
        "transient_lastDdlTime",
        "last_modified_by",
        "last_modified_time",
        "STATS_GENERATED_VIA_STATS_TASK",
        "DO_NOT_UPDATE_STATS",
    )
)
"""Statistics and times. Hive changes them with each write, so they do not count in comparisons of tables."""


_SERDE_PARAMETERS: Final = {"serialization.format": "1"}


# -- locations


def location_from_hive(uri: str) -> str:
    """A local directory as an absolute path: Hadoop's `file:` URIs are not percent-encoded.

    >>> location_from_hive("file:/w/t/p=a%2Fb")
    '/w/t/p=a%2Fb'
    """
    if not uri.startswith("file:"):
        return uri.rstrip("/")
    path = uri.removeprefix("file:").rstrip("/")
    return f"/{path.lstrip('/')}"


def location_to_hive(location: str) -> str:
    """A local directory gets its scheme: the metastore's default may be another file system."""
    return f"file:{location}" if location.startswith("/") else location


# -- databases


def database_from_hive(found: Any, managed_location: str | None) -> Database:
    return Database(
        found.name,
        location_from_hive(found.locationUri),
        found.description or None,
        dict(found.parameters or {}),
        managed_location=managed_location,
        owner=found.ownerName or None,
        owner_kind=owner_kind_from_hive(found.ownerType),
    )


def change_database(found: Any, new: Database, managed_location: str | None) -> None:
    """Applies the properties, the owner and the directories of `new` to the metastore's database. `managed_location` is
    the directory of its ACID tables, which the metastore may only imply."""
    found.parameters = dict(new.properties)
    found.ownerName, found.ownerType = new.owner, owner_kind_to_hive(new.owner_kind)
    if new.location != location_from_hive(found.locationUri):
        found.locationUri = location_to_hive(new.location)
    if new.managed_location is not None and new.managed_location != managed_location:
        found.managedLocationUri = location_to_hive(new.managed_location)


def database_to_hive(database: Database) -> Any:
    return idl.Database(
        name=database.name,
        description=database.comment,
        locationUri=location_to_hive(database.location),
        parameters=dict(database.properties),
        ownerName=database.owner,
        ownerType=owner_kind_to_hive(database.owner_kind),
        catalogName=CATALOG,
        managedLocationUri=None if database.managed_location is None else location_to_hive(database.managed_location),
    )


# -- tables


def table_from_hive(found: Any, constraints: Constraints) -> Table:
    parameters = dict(found.parameters or {})
    translated = parameters.get(_TRANSLATED, "").lower() == "true"
    hidden = {_COMMENT, _EXTERNAL, _TRANSLATED} | ({_PURGE} if translated else set())
    storage = found.sd
    return Table(
        database=found.dbName,
        name=found.tableName,
        columns=_file_columns(storage),
        location=location_from_hive(storage.location or ""),
        partition_columns=_columns_from_hive(found.partitionKeys or ()),
        bucket_columns=tuple(storage.bucketCols or ()),
        bucket_count=storage.numBuckets if storage.numBuckets > 0 else None,
        sort_columns=tuple(order.col for order in storage.sortCols or ()),
        file_format=_file_format(storage),
        row_format=_row_format(storage),
        serde=_other_serde(storage),
        properties={k: v for k, v in parameters.items() if k not in _KEPT_BY_THE_METASTORE | hidden},
        constraints=constraints,
        # A plain table of Hive 4 is external in name only: DROP removes its files (MetastoreDefaultTransformer).
        external=found.tableType == EXTERNAL and not translated,
        comment=parameters.get(_COMMENT),
        owner=found.owner or None,
        created=found.createTime,
        owner_kind=owner_kind_from_hive(found.ownerType),
        id=getattr(found, "id", None) or None,  # Hive 4 tells it, in Hive 3 only the database behind the metastore
    )


def owner_kind_from_hive(kind: int | None) -> PrincipalKind:
    """Hive's default is USER."""
    return PrincipalKind[t.PrincipalType._VALUES_TO_NAMES.get(kind, "USER")]


def owner_kind_to_hive(kind: PrincipalKind) -> int:
    return int(t.PrincipalType._NAMES_TO_VALUES[kind.value])


def table_to_hive(table: Table) -> Any:
    """A new table."""
    return t.Table(
        tableName=table.name,
        dbName=table.database,
        owner=table.owner,
        createTime=table.created,
        lastAccessTime=0,
        retention=0,
        sd=_storage_of(table),
        partitionKeys=_columns_to_hive(table.partition_columns),
        parameters=_parameters(table),
        tableType=EXTERNAL if table.external else MANAGED,
        catName=CATALOG,
        ownerType=owner_kind_to_hive(table.owner_kind),
    )


def place_from_hive(found: Any) -> Place:
    location = "" if found.tableType in (VIEW, MATERIALIZED_VIEW) else location_from_hive(found.sd.location or "")
    return Place(location, (found.dbName, found.tableName), found.tableType == EXTERNAL and not _is_translated(found))


def _is_translated(found: Any) -> bool:
    return str((found.parameters or {}).get(_TRANSLATED, "")).lower() == "true"


def change_table(found: Any, old: Table, new: Table) -> None:
    """Applies the change from `old` to `new` to the metastore's table; everything else in it stays."""
    found.dbName, found.tableName = new.database, new.name
    found.owner, found.ownerType = new.owner, owner_kind_to_hive(new.owner_kind)
    found.sd.cols = _columns_to_hive(new.columns)
    found.partitionKeys = _columns_to_hive(new.partition_columns)
    if new.location != old.location:
        found.sd.location = location_to_hive(new.location)
        if not new.is_transactional:  # the files there are others
            found.parameters.pop(STATISTICS_STATE, None)
    _change_storage(found.sd, old, new)
    parameters = found.parameters
    converted = new.is_transactional and parameters.get(TRANSACTIONAL, "").lower() != "true"
    for key in old.properties.keys() - new.properties.keys():
        parameters.pop(key, None)
    parameters |= new.properties
    parameters.pop(_COMMENT, None)
    if new.comment is not None:
        parameters[_COMMENT] = new.comment
    if converted:
        for key in (_TRANSLATED, _PURGE, _EXTERNAL):
            parameters.pop(key, None)
        found.tableType = MANAGED
    elif new.external != old.external:
        parameters[_EXTERNAL] = str(new.external).upper()
        parameters.pop(_TRANSLATED, None)
        found.tableType = EXTERNAL if new.external else MANAGED


def _change_storage(storage: Any, old: Table, new: Table) -> None:
    """The storage classes, the SerDe properties and the buckets, as far as they differ."""
    if (old.file_format, old.serde) != (new.file_format, new.serde):
        classes = STORAGE_CLASSES[new.file_format]
        storage.inputFormat, storage.outputFormat = classes.input, classes.output
        storage.serdeInfo.serializationLib = new.serde or classes.serde
    if old.row_format != new.row_format:
        left = {k: v for k, v in (storage.serdeInfo.parameters or {}).items() if k not in old.row_format}
        storage.serdeInfo.parameters = {**_SERDE_PARAMETERS, **left, **new.row_format}
    if (old.bucket_columns, old.bucket_count) != (new.bucket_columns, new.bucket_count):
        storage.bucketCols, storage.numBuckets = list(new.bucket_columns), new.bucket_count or -1
    if old.sort_columns != new.sort_columns:
        storage.sortCols = _order(new)


def _order(table: Table) -> list[Any]:
    return [t.Order(col=name, order=1) for name in table.sort_columns]


def _parameters(table: Table) -> dict[str, str]:
    parameters = _with_comment(table)
    if table.external:
        parameters[_EXTERNAL] = "TRUE"
    return parameters


def _with_comment(relation: Relation) -> dict[str, str]:
    return dict(relation.properties) | ({} if relation.comment is None else {_COMMENT: relation.comment})


def _storage_of(table: Table) -> Any:
    storage = STORAGE_CLASSES.get(table.file_format, STORAGE_CLASSES["textfile"])
    return t.StorageDescriptor(
        cols=_columns_to_hive(table.columns),
        location=location_to_hive(table.location),
        inputFormat=storage.input,
        outputFormat=storage.output,
        compressed=False,
        numBuckets=table.bucket_count or -1,
        serdeInfo=t.SerDeInfo(
            serializationLib=table.serde or storage.serde, parameters={**_SERDE_PARAMETERS, **table.row_format}
        ),
        bucketCols=list(table.bucket_columns),
        sortCols=_order(table),
        parameters={},
        storedAsSubDirectories=False,
    )


def _file_format(storage: Any) -> str:
    """The format of STORED AS. A table whose classes differ from Hive's for that format gets a format that acidsql does
    not know."""
    serde = storage.serdeInfo
    if _other_serde(storage) is not None:
        return "textfile"
    for name, known in STORAGE_CLASSES.items():
        if (storage.inputFormat, serde.serializationLib) == (known.input, known.serde):
            return name
    return f"{str(storage.inputFormat).rpartition('.')[2]} with {str(serde.serializationLib).rpartition('.')[2]}"


def _other_serde(storage: Any) -> str | None:
    """The SerDe of a text table, if it is another one than LazySimpleSerDe."""
    serde = storage.serdeInfo.serializationLib
    return str(serde) if storage.inputFormat == STORAGE_CLASSES["textfile"].input and serde in OTHER_SERDES else None


def _file_columns(storage: Any) -> tuple[Column, ...]:
    """The columns of the files. OpenCSVSerde reads texts only, whatever types the catalog has."""
    columns = _columns_from_hive(storage.cols)
    return tuple(replace(c, type="string") for c in columns) if _other_serde(storage) == CSV_SERDE else columns


def _row_format(storage: Any) -> dict[str, str]:
    """The SerDe properties, where they differ from Hive's defaults."""
    parameters = storage.serdeInfo.parameters or {}
    return {k: v for k, v in parameters.items() if _SERDE_PARAMETERS.get(k) != v}


def _columns_from_hive(found: Sequence[Any]) -> tuple[Column, ...]:
    return tuple(Column(c.name, c.type, c.comment or None) for c in found)


def _columns_to_hive(columns: Sequence[Column]) -> list[Any]:
    return [t.FieldSchema(c.name, c.type, c.comment) for c in columns]


# -- views


def view_from_hive(found: Any) -> View:
    parameters = dict(found.parameters or {})
    return View(
        database=found.dbName,
        name=found.tableName,
        columns=_columns_from_hive(found.sd.cols),
        original=found.viewOriginalText or "",
        expanded=found.viewExpandedText or found.viewOriginalText or "",
        partition_columns=_columns_from_hive(found.partitionKeys or ()),
        properties={k: v for k, v in parameters.items() if k not in _KEPT_BY_THE_METASTORE and k != _COMMENT},
        comment=parameters.get(_COMMENT),
        owner=found.owner or None,
        created=found.createTime,
    )


def view_to_hive(view: View) -> Any:
    """A new view, with the storage that Hive's CreateViewOperation gives it: no location and no SerDe class."""
    text = STORAGE_CLASSES["textfile"]
    storage = t.StorageDescriptor(
        cols=_columns_to_hive(view.columns),
        inputFormat=text.input,
        outputFormat=text.output,
        compressed=False,
        numBuckets=-1,
        serdeInfo=t.SerDeInfo(parameters={}),
        bucketCols=[],
        sortCols=[],
        parameters={},
        storedAsSubDirectories=False,
    )
    return t.Table(
        tableName=view.name,
        dbName=view.database,
        owner=view.owner,
        createTime=view.created,
        lastAccessTime=0,
        retention=0,
        sd=storage,
        partitionKeys=_columns_to_hive(view.partition_columns),
        parameters=_with_comment(view),
        viewOriginalText=view.original,
        viewExpandedText=view.expanded,
        tableType=VIEW,
        rewriteEnabled=False,
        catName=CATALOG,
        ownerType=t.PrincipalType.USER,
    )


def change_view(found: Any, old: View, new: View) -> None:
    """Applies the change from `old` to `new` to the metastore's view; everything else in it stays."""
    found.dbName, found.tableName = new.database, new.name
    found.sd.cols = _columns_to_hive(new.columns)
    found.partitionKeys = _columns_to_hive(new.partition_columns)
    found.viewOriginalText, found.viewExpandedText = new.original, new.expanded
    for key in (_COMMENT, *(old.properties.keys() - new.properties.keys())):
        found.parameters.pop(key, None)
    found.parameters |= _with_comment(new)


# -- partitions


def partition_from_hive(values: Sequence[str], location: str) -> Partition:
    return Partition(values_from_hive(values), location_from_hive(location))


def values_from_hive(values: Sequence[str]) -> PartitionValues:
    return tuple(None if value == DEFAULT_PARTITION else value for value in values)


def values_to_hive(values: PartitionValues) -> list[str]:
    return [value or DEFAULT_PARTITION for value in values]


def partition_to_hive(partition: Partition, table: Any) -> Any:
    """A new partition of the metastore's `table`."""
    of_table = table.sd
    storage = t.StorageDescriptor(**{field[2]: getattr(of_table, field[2]) for field in of_table.thrift_spec if field})
    storage.location = location_to_hive(partition.location)
    return t.Partition(
        values=values_to_hive(partition.values),
        dbName=table.dbName,
        tableName=table.tableName,
        createTime=0,
        lastAccessTime=0,
        sd=storage,
        parameters={},
        catName=CATALOG,
    )


def environment(**properties: str) -> Any:
    """The context of a call besides its arguments (org.apache.hadoop.hive.metastore.api.EnvironmentContext)."""
    given: Mapping[str, str] = {"DO_NOT_UPDATE_STATS": "true", **properties}
    return t.EnvironmentContext(dict(given))
