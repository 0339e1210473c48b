"""What CREATE TABLE leaves open, as Hive's settings decide it: the file format and the kind of the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from acidsql.acid.csv_format import CSV_SERDE, csv_format
from acidsql.acid.json_format import JSON_SERDE
from acidsql.acid.table import TRANSACTIONAL, TRANSACTIONAL_PROPERTIES
from acidsql.acid.text_format import SERDES, text_format
from acidsql.acid.text_serdes import OTHER_SERDES
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.statements import CreateTable
from acidsql.planner.ddl.ddl_settings import default_format, makes_acid, makes_insert_only

_EXTERNAL: Final = "external"
_FORMATS_OF_CLASSES: Final = {
    "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat": "orc",
    "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat": "parquet",
    "org.apache.hadoop.mapred.TextInputFormat": "textfile",
}
"""The formats of STORED AS INPUTFORMAT, which Hive's SHOW CREATE TABLE writes."""
_JSON: Final = "jsonfile"
"""The format of STORED AS that stands for text with JsonSerDe."""


def with_defaults(statement: CreateTable, settings: Mapping[str, str]) -> CreateTable:
    """The statement with its file format, and with the properties of the kind of table that it makes.

    Raises NOT_YET_SUPPORTED for a format or SerDe that acidsql cannot read, INVALID_TABLE_PROPERTIES.
    """
    return _with_kind(with_file_format(_with_external(statement), settings), settings)


def _with_external(statement: CreateTable) -> CreateTable:
    """TBLPROPERTIES ('EXTERNAL'='TRUE') is another spelling of CREATE EXTERNAL TABLE (MetaStoreUtils.isExternal)."""
    named = [value for key, value in statement.properties if key.lower() == _EXTERNAL]
    left = tuple((key, value) for key, value in statement.properties if key.lower() != _EXTERNAL)
    return replace(statement, properties=left, external=statement.external or [*named, ""][0].lower() == "true")


# ------------------------------------------------------------------------------------------------ file format


def with_file_format(statement: CreateTable, settings: Mapping[str, str]) -> CreateTable:
    """The statement with its file format, and with the SerDe of a format of STORED AS that stands for one.

    Raises NOT_YET_SUPPORTED.
    """
    file_format = _format(statement, settings)
    if file_format == _JSON:
        row_format = () if statement.delimited else statement.row_format
        serde = statement.serde or JSON_SERDE
        statement = replace(statement, delimited=False, row_format=row_format, serde=serde)
        file_format = "textfile"
    if file_format not in SERDES:
        raise _not_read(statement, f"STORED AS {file_format.upper()}")
    if statement.serde in OTHER_SERDES and file_format == "textfile":
        return _with_serde(replace(statement, file_format=file_format))
    if statement.serde not in (None, SERDES[file_format]):
        raise _not_read(statement, f"ROW FORMAT SERDE '{statement.serde}' of a table stored as {file_format}")
    if file_format == "textfile":
        text_format(dict(statement.row_format))
    return replace(statement, file_format=file_format)


def _with_serde(statement: CreateTable) -> CreateTable:
    """The columns of a table with OpenCSVSerde are all STRING, whatever types the statement gives them, as in Hive."""
    if statement.serde != CSV_SERDE:
        return statement
    csv_format(dict(statement.row_format))
    return replace(statement, columns=tuple(replace(column, type="string") for column in statement.columns))


def _format(statement: CreateTable, settings: Mapping[str, str]) -> str:
    """The format of STORED AS, else that of the SerDe, else the default one.

    ROW FORMAT without STORED AS makes a text table, as it does in Hive with Hive's default format. The setting does not
    matter there, because a row format means nothing in the other formats.
    """
    if statement.file_format is not None:
        return statement.file_format
    if statement.storage_class is not None:
        if statement.storage_class not in _FORMATS_OF_CLASSES:
            raise _not_read(statement, f"STORED AS INPUTFORMAT '{statement.storage_class}'")
        return _FORMATS_OF_CLASSES[statement.storage_class]
    if statement.serde is not None or statement.delimited:
        return next((name for name, serde in SERDES.items() if serde == statement.serde), "textfile")
    return default_format(settings, external=statement.external)


def _not_read(statement: CreateTable, feature: str) -> AcidSqlError:
    hint = f"acidsql reads tables stored as {', '.join(sorted((*SERDES, _JSON)))}."
    return AcidSqlError(Condition.NOT_YET_SUPPORTED, span=statement.table.span, feature=feature, hint=hint)


# ------------------------------------------------------------------------------------------------ kind of table


def _with_kind(statement: CreateTable, settings: Mapping[str, str]) -> CreateTable:
    """The kind of the table by the rules of Hive 4's SemanticAnalyzer.validateAndAddDefaultProperties.

    The property `transactional` decides if it is set. Without it, a table that is to be transactional is full ACID if
    it is stored as ORC and not sorted, and insert-only otherwise. External tables stay plain, and so do temporary ones
    whose statement does not say TRANSACTIONAL.
    """
    keys = {key.lower() for key, _ in statement.properties}
    if TRANSACTIONAL in keys:
        return statement
    if TRANSACTIONAL_PROPERTIES in keys:
        if statement.transactional:
            return statement
        message = f"Cannot specify {TRANSACTIONAL_PROPERTIES} without {TRANSACTIONAL}"
        raise AcidSqlError(Condition.INVALID_TABLE_PROPERTIES, span=statement.table.span, message=message)
    if statement.external:
        return statement
    acid = makes_acid(settings) and not statement.temporary
    insert_only = makes_insert_only(settings) and not statement.temporary
    can_be_acid = statement.file_format == "orc" and not statement.sort_columns
    if can_be_acid and (acid or statement.transactional):
        return _transactional(statement, "default")
    if insert_only or statement.transactional:
        return _transactional(statement, "insert_only")
    return statement


def _transactional(statement: CreateTable, kind: str) -> CreateTable:
    added = ((TRANSACTIONAL, "true"), (TRANSACTIONAL_PROPERTIES, kind))
    return replace(statement, properties=(*statement.properties, *added))
