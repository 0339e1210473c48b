"""SQLAlchemy's tests for dialects. `dialect_requirements` says which of them apply.

Tests that no requirement stands for are left out here, each with its reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sqlalchemy import testing
from sqlalchemy.testing.suite import *  # the tests
from sqlalchemy.testing.suite import ComponentReflectionTest as _ComponentReflectionTest
from sqlalchemy.testing.suite import InsertBehaviorTest as _InsertBehaviorTest
from sqlalchemy.testing.suite import LongNameBlowoutTest as _LongNameBlowoutTest
from sqlalchemy.testing.suite import NameDenormalizeTest as _NameDenormalizeTest
from sqlalchemy.testing.suite import TableViaSelectTest as _TableViaSelectTest

# Hive's names of tables have letters, digits and underscores only, and these tests are about others.
del BizarroCharacterTest, QuotedNameArgumentTest  # noqa: F821
# They compare texts of statements whose names have no quotes; the dialect quotes every name.
del DistinctOnTest, PostCompileParamsTest  # noqa: F821


def _left_out(reason: str) -> Callable[[Any], None]:
    def test(self: Any) -> None:
        testing.config.skip_test(reason)

    return test


_COUNTING: Final = "Hive has no columns that count up"
_LOWER_CASE: Final = "Hive's names of columns are lower-case in the rows of `SELECT *`"
_LOWER_CASE_KEYS: Final = "Hive's names of constraints and of the columns that they name are lower-case"
_DDL: Final = "DDL is refused in a transaction, and these tests drop the view after a query in one"


class ComponentReflectionTest(_ComponentReflectionTest):  # type: ignore[misc]
    test_get_pk_constraint_quoted_name = _left_out(_LOWER_CASE_KEYS)
    test_get_foreign_keys_quoted_name = _left_out(_LOWER_CASE_KEYS)


class InsertBehaviorTest(_InsertBehaviorTest):  # type: ignore[misc]
    test_insert_from_select_autoinc = _left_out(_COUNTING)
    test_no_results_for_non_returning_insert = _left_out(_COUNTING)


class NameDenormalizeTest(_NameDenormalizeTest):  # type: ignore[misc]
    test_cols_driver_cols = _left_out(_LOWER_CASE)


class TableViaSelectTest(_TableViaSelectTest):  # type: ignore[misc]
    test_with_metadata = _left_out(_DDL)
    test_view_dependencies_with_metadata = _left_out(_DDL)


class LongNameBlowoutTest(_LongNameBlowoutTest):  # type: ignore[misc]
    def ix(self, metadata: Any, connection: Any) -> None:
        testing.config.skip_test("Hive has no indexes")
