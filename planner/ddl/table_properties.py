"""SET and UNSET TBLPROPERTIES: a table's definition in, the changed one out, or the reason why not.

The rules are those of org.apache.hadoop.hive.metastore.TransactionalValidationListener and of Hive 4's
AlterTableSetPropertiesOperation: a transactional table stays one, and so does a full ACID table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from acidsql.acid.table import MOVING, TRANSACTIONAL, TRANSACTIONAL_PROPERTIES, Table
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.metastore.history_retention import RETENTION
from acidsql.planner.ddl.ddl_plan import Conversion
from acidsql.planner.ddl.table_definition import ADOPT_WRITE_IDS, check_retention

_EXTERNAL: Final = "external"
_COMMENT: Final = "comment"
_BUCKETING_VERSION: Final = "bucketing_version"
_ACID_KEYS: Final = (TRANSACTIONAL, TRANSACTIONAL_PROPERTIES)


def known_key(key: str) -> str:
    """The key as acidsql keeps it: Hive takes the first four in any case."""
    lower = key.lower()
    return lower if lower in (*_ACID_KEYS, _EXTERNAL, _COMMENT, RETENTION) else key


def with_properties(table: Table, properties: Mapping[str, str], span: Span | None) -> Table:
    """The table with `properties` set. EXTERNAL and COMMENT become attributes of the table.

    Raises INVALID_TABLE_PROPERTIES.
    """
    for key in (ADOPT_WRITE_IDS, MOVING):
        if key in properties:
            raise invalid(f"{key} is not set by ALTER TABLE: only CREATE TABLE takes it", span)
    check_retention(properties, span)
    if _BUCKETING_VERSION in properties:
        _check_buckets(table, properties[_BUCKETING_VERSION], span)
    external = properties[_EXTERNAL].lower() == "true" if _EXTERNAL in properties else table.external
    comment = properties.get(_COMMENT, table.comment)
    new = replace(table, properties=_merged(table, properties), external=external, comment=comment)
    return _with_acid_properties(table, new, span)


def conversion(table: Table, properties: Mapping[str, str]) -> Conversion | None:
    """What `properties` make of the table, if `with_properties` allows them."""
    new = replace(table, properties=_merged(table, properties))
    if new.is_full_acid and not table.is_full_acid:
        return Conversion.FULL_ACID
    if new.is_insert_only and not table.is_transactional:
        return Conversion.INSERT_ONLY
    return None


def without_properties(table: Table, keys: Sequence[str], span: Span | None, *, if_exists: bool) -> Table:
    """The table without the properties `keys`. Raises UNKNOWN_PROPERTY, INVALID_TABLE_PROPERTIES."""
    known = {**table.properties, **({_COMMENT: table.comment} if table.comment else {})}
    for key in keys:
        if key in _ACID_KEYS and table.is_transactional:
            raise _stays_transactional(table, key, span)
        if key == _BUCKETING_VERSION:
            _check_buckets(table, "", span)
        if key not in known and not if_exists:
            raise AcidSqlError(Condition.UNKNOWN_PROPERTY, span=span, property=key, table=table.qualified)
    left = {k: v for k, v in table.properties.items() if k not in keys}
    return replace(table, properties=left, comment=None if _COMMENT in keys else table.comment)


def _merged(table: Table, properties: Mapping[str, str]) -> dict[str, str]:
    kept = {k: v for k, v in table.properties.items() if k.lower() not in _ACID_KEYS or k not in properties}
    return kept | {k: v for k, v in properties.items() if k not in (_EXTERNAL, _COMMENT)}


def invalid(message: str, span: Span | None, hint: str = "") -> AcidSqlError:
    return AcidSqlError(Condition.INVALID_TABLE_PROPERTIES, span=span, message=message, hint=hint)


def _check_buckets(table: Table, version: str, span: Span | None) -> None:
    if table.bucket_columns and table.properties.get(_BUCKETING_VERSION, "") != version:
        raise invalid(f"{_BUCKETING_VERSION} of {table.qualified} cannot change: its rows lie in buckets", span)


def _with_acid_properties(old: Table, new: Table, span: Span | None) -> Table:
    """`new` with `transactional` and `transactional_properties` in the form that the catalog keeps, if `old` may get
    them."""
    value = new.properties.get(TRANSACTIONAL, "false").lower()
    if value not in ("true", "false"):
        raise invalid(f"'transactional' property of TBLPROPERTIES may only have value 'true': {old.qualified}", span)
    if value == "false":
        return _with_plain_properties(old, new, span)
    if old.is_transactional and new.external:
        raise invalid(f"{old.qualified} cannot be converted to external table as it is transactional table.", span)
    kind = new.properties.get(TRANSACTIONAL_PROPERTIES, "default").lower()
    if kind not in ("default", "insert_only"):
        raise invalid(
            f"Invalid transactional properties specified for {old.qualified} with the error unknown value {kind}"
            f" for {TRANSACTIONAL_PROPERTIES}",
            span,
        )
    if old.is_full_acid and kind != "default":
        raise invalid(
            f"TBLPROPERTIES with '{TRANSACTIONAL_PROPERTIES}' cannot be altered after the table is created", span
        )
    return replace(new, properties={**new.properties, TRANSACTIONAL: "true", TRANSACTIONAL_PROPERTIES: kind})


def _with_plain_properties(old: Table, new: Table, span: Span | None) -> Table:
    """`'transactional'='false'` is the same as no such property."""
    if old.is_transactional:
        raise _stays_transactional(old, TRANSACTIONAL, span)
    if TRANSACTIONAL_PROPERTIES in new.properties:
        raise invalid(
            f"Cannot set '{TRANSACTIONAL_PROPERTIES}' to '{new.properties[TRANSACTIONAL_PROPERTIES]}' without"
            f" setting '{TRANSACTIONAL}' to 'true'",
            span,
        )
    return replace(new, properties={k: v for k, v in new.properties.items() if k not in _ACID_KEYS})


def _stays_transactional(table: Table, key: str, span: Span | None) -> AcidSqlError:
    return invalid(
        "Cannot convert an ACID table to non-ACID: TBLPROPERTIES with"
        f" '{key}'='{table.properties.get(key, 'true')}' cannot be unset: {table.qualified}",
        span,
        hint="Make a plain table and fill it with INSERT .. SELECT.",
    )
