"""dbt's own tests of what a project has besides models: unit tests, descriptions, query comments, stored failures, `dbt
debug` and `dbt docs generate`."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.adapter.basic.expected_catalog import base_expected_catalog, no_stats
from dbt.tests.adapter.basic.test_docs_generate import BaseDocsGenerate
from dbt.tests.adapter.dbt_debug.test_dbt_debug import BaseDebug
from dbt.tests.adapter.persist_docs.test_persist_docs import (
    BasePersistDocs,
    BasePersistDocsAllColumnsMissing,
    BasePersistDocsColumnMissing,
    BasePersistDocsCommentOnQuotedColumn,
)
from dbt.tests.adapter.query_comment.test_query_comment import (
    BaseEmptyQueryComments,
    BaseMacroArgsQueryComments,
    BaseMacroInvalidQueryComments,
    BaseMacroQueryComments,
    BaseNullQueryComments,
    BaseQueryComments,
)
from dbt.tests.adapter.store_test_failures_tests.basic import (
    StoreTestFailuresAsExceptions,
    StoreTestFailuresAsGeneric,
    StoreTestFailuresAsInteractions,
    StoreTestFailuresAsProjectLevelEphemeral,
    StoreTestFailuresAsProjectLevelOff,
    StoreTestFailuresAsProjectLevelView,
)
from dbt.tests.adapter.store_test_failures_tests.test_store_test_failures import (
    BaseStoreTestFailures,
    BaseStoreTestFailuresLimit,
)
from dbt.tests.adapter.unit_testing.test_case_insensitivity import BaseUnitTestCaseInsensivity
from dbt.tests.adapter.unit_testing.test_invalid_input import BaseUnitTestInvalidInput
from dbt.tests.adapter.unit_testing.test_quoted_reserved_word_column_names import (
    BaseUnitTestQuotedReservedWordColumnNames,
)
from dbt.tests.adapter.unit_testing.test_types import BaseUnitTestingTypes
from dbt.tests.util import run_dbt


class TestUnitTestCaseInsensitivity(BaseUnitTestCaseInsensivity):
    pass


class TestUnitTestInvalidInput(BaseUnitTestInvalidInput):
    pass


class TestUnitTestReservedWords(BaseUnitTestQuotedReservedWordColumnNames):
    pass


class TestUnitTestTypes(BaseUnitTestingTypes):
    @pytest.fixture
    def data_types(self) -> list[list[str]]:
        """Literals of Hive, and what stands for them in the YAML of a unit test."""
        return [
            ["1", "1"],
            ["2.5", "2.5"],
            ["'1'", "1"],
            ["true", "true"],
            ["CAST(7 AS bigint)", "7"],
            ["CAST(1.25 AS decimal(5,2))", "1.25"],
            ["DATE '2020-01-02'", "2020-01-02"],
            ["TIMESTAMP '2013-11-03 00:00:00'", "2013-11-03 00:00:00"],
            [r"'it\'s'", '"it\'s"'],
        ]


class TestPersistDocs(BasePersistDocs):
    pass


class TestPersistDocsColumnMissing(BasePersistDocsColumnMissing):
    pass


class TestPersistDocsAllColumnsMissing(BasePersistDocsAllColumnsMissing):
    pass


class TestPersistDocsCommentOnQuotedColumn(BasePersistDocsCommentOnQuotedColumn):
    pass


class TestQueryComments(BaseQueryComments):
    pass


class TestMacroQueryComments(BaseMacroQueryComments):
    pass


class TestMacroArgsQueryComments(BaseMacroArgsQueryComments):
    pass


class TestMacroInvalidQueryComments(BaseMacroInvalidQueryComments):
    pass


class TestNullQueryComments(BaseNullQueryComments):
    pass


class TestEmptyQueryComments(BaseEmptyQueryComments):
    pass


class TestStoredFailures(BaseStoreTestFailures):
    pass


class TestStoredFailuresLimit(BaseStoreTestFailuresLimit):
    pass


class TestFailuresAsInteractions(StoreTestFailuresAsInteractions):
    pass


class TestFailuresAsProjectLevelOff(StoreTestFailuresAsProjectLevelOff):
    pass


class TestFailuresAsProjectLevelView(StoreTestFailuresAsProjectLevelView):
    pass


class TestFailuresAsProjectLevelEphemeral(StoreTestFailuresAsProjectLevelEphemeral):
    pass


class TestFailuresAsGeneric(StoreTestFailuresAsGeneric):
    pass


class TestFailuresAsExceptions(StoreTestFailuresAsExceptions):
    pass


class TestDebug(BaseDebug):
    def test_the_connection_works(self, project: Any) -> None:
        run_dbt(["debug"])


class TestDocsGenerate(BaseDocsGenerate):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project: Any) -> dict[str, Any]:
        found: dict[str, Any] = base_expected_catalog(
            project,
            role=None,
            id_type="bigint",
            text_type="string",
            time_type="timestamp",
            view_type="view",
            table_type="table",
            model_stats=no_stats(),
        )
        return found
