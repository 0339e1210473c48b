"""Which of SQLAlchemy's tests for dialects apply to acidsql, and the reasons why others do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy.testing import exclusions
from sqlalchemy.testing.requirements import SuiteRequirements

_NOT_IN_HIVE: Final[Mapping[str, str]] = {
    "autoincrement_insert": "Hive has no columns that count up",
    "autoincrement_without_sequence": "Hive has no columns that count up",
    "implements_get_lastrowid": "rows have no number that an INSERT returns",
    "duplicate_key_raises_integrity_error": "keys are declared, and nothing enforces them",
    "unique_constraint_reflection": "the tests need unique constraints that are enforced by indexes",
    "index_reflection": "Hive has no indexes",
    "indexes_with_ascdesc": "Hive has no indexes",
    "reflect_indexes_with_ascdesc": "Hive has no indexes",
    "on_update_cascade": "foreign keys are declared, and nothing enforces them",
    "deferrable_fks": "foreign keys are declared, and nothing enforces them",
    "self_referential_foreign_keys": "a foreign key needs a parent table that exists",
    "time": "Hive has no type for a time of day",
    "time_microseconds": "Hive has no type for a time of day",
    "time_implicit_bound": "Hive has no type for a time of day",
    "unusual_column_name_characters": "names of columns contain neither `.` nor `:`",
    "empty_inserts": "INSERT needs at least one value",
    "temp_table_reflect_indexes": "Hive has no indexes",
    "independent_readonly_connections": "there is one isolation level besides AUTOCOMMIT",
    "unicode_ddl": "names of tables have letters of ASCII, digits and underscores",
    "tuple_in_w_empty": "a tuple of no type has no empty set",
}
_ALSO_SUPPORTED: Final = (
    "array_type",
    "autocommit",
    "boolean_col_expressions",
    "comment_reflection",
    "ctes",
    "date_historic",
    "datetime_historic",
    "datetime_literals",
    "datetime_timezone",
    "except_",
    "has_temp_table",
    "intersect",
    "isolation_level",
    "mod_operator_as_percent_sign",
    "nullsordering",
    "order_by_label_with_expression",
    "precision_numerics_enotation_small",
    "precision_numerics_many_significant_digits",
    "reflect_table_options",
    "reflects_pk_names",
    "regexp_match",
    "regexp_replace",
    "schema_create_delete",
    "server_defaults",
    "supports_bitwise_and",
    "supports_bitwise_not",
    "supports_bitwise_or",
    "supports_bitwise_xor",
    "table_ddl_if_exists",
    "temp_table_names",
    "table_value_constructor",
    "timestamp_microseconds",
    "tuple_in",
    "views",
    "window_functions",
)


class Requirements(SuiteRequirements):
    """SQLAlchemy's names for what a database can do."""


def _closed(reason: str) -> property:
    return property(lambda self: exclusions.skip_if(lambda config: True, reason))


for _name, _reason in _NOT_IN_HIVE.items():
    setattr(Requirements, _name, _closed(_reason))
for _name in _ALSO_SUPPORTED:
    setattr(Requirements, _name, property(lambda self: exclusions.open()))
