"""The adapter: what dbt asks of the catalog, and what its macros ask of acidsql."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.acidsql.column import AcidSqlColumn
from dbt.adapters.acidsql.connections import AcidSqlConnectionManager
from dbt.adapters.acidsql.relation import AcidSqlRelation
from dbt.adapters.acidsql.seeds import arrow_table
from dbt.adapters.acidsql.table_layout import Layout
from dbt.adapters.base import AdapterConfig, BaseRelation, ConstraintSupport, available
from dbt.adapters.contracts.relation import RelationType
from dbt.adapters.sql import SQLAdapter
from dbt_common.contracts.constraints import ConstraintType
from dbt_common.exceptions import CompilationError

from acidsql.acid.table import Table, View
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.quoting import sql_string
from acidsql.grammar.variable_substitution import without_variables

if TYPE_CHECKING:
    import agate

    from acidsql.session import Session

_CATALOG: Final = (
    "table_database",
    "table_schema",
    "table_name",
    "table_type",
    "table_comment",
    "table_owner",
    "column_name",
    "column_index",
    "column_type",
    "column_comment",
)


@dataclass
class AcidSqlConfig(AdapterConfig):
    """The configuration of a model beyond dbt's own."""

    partitioned_by: str | list[str] | None = None
    clustered_by: str | list[str] | None = None
    buckets: int | None = None
    file_format: str | None = None
    """`orc` (the default), `parquet`, `textfile` or `jsonfile`."""
    kind: str | None = None
    """`acid`, `insert_only` or `plain`. The default is `acid` for ORC and `plain` for other formats."""
    tblproperties: dict[str, str] | None = None
    merge_update_columns: list[str] | None = None
    merge_exclude_columns: list[str] | None = None


class AcidSqlAdapter(SQLAdapter):
    """Runs models as statements of acidsql, in the process of dbt."""

    ConnectionManager = AcidSqlConnectionManager
    Relation = AcidSqlRelation
    Column = AcidSqlColumn
    AdapterSpecificConfigs = AcidSqlConfig

    CONSTRAINT_SUPPORT: Final = {
        ConstraintType.check: ConstraintSupport.ENFORCED,
        ConstraintType.not_null: ConstraintSupport.ENFORCED,
        ConstraintType.unique: ConstraintSupport.NOT_ENFORCED,
        ConstraintType.primary_key: ConstraintSupport.NOT_ENFORCED,
        ConstraintType.foreign_key: ConstraintSupport.NOT_ENFORCED,
    }

    @classmethod
    def date_function(cls) -> str:
        return "current_timestamp()"

    @classmethod
    def quote(cls, identifier: str) -> str:
        return "`" + str(identifier).replace("`", "``") + "`"

    def valid_incremental_strategies(self) -> list[str]:
        return ["append", "merge", "delete+insert", "insert_overwrite", "microbatch"]

    # -- types of seeds

    @classmethod
    def convert_text_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "string"

    @classmethod
    def convert_number_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        import agate

        return "double" if agate_table.aggregate(agate.MaxPrecision(col_idx)) else "bigint"

    @classmethod
    def convert_integer_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "bigint"

    @classmethod
    def convert_datetime_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "timestamp"

    @classmethod
    def convert_time_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "string"

    # -- the catalog

    @property
    def _session(self) -> Session:
        handle = self.connections.get_thread_connection().handle
        session: Session = handle.session
        return session

    def list_schemas(self, database: str | None) -> list[str]:
        return [found.name for found in self._session.catalog.databases()]

    def check_schema_exists(self, database: str | None, schema: str) -> bool:
        return schema.lower() in self.list_schemas(database)

    def list_relations_without_caching(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        schema = str(schema_relation.schema).lower()
        if not self.check_schema_exists(None, schema):
            return []
        catalog = self._session.catalog
        views = set(catalog.views(schema))
        return [
            self.Relation.create(
                schema=schema, identifier=name, type=RelationType.View if name in views else RelationType.Table
            )
            for name in catalog.tables(schema)
        ]

    @available.parse_none
    def get_relation(self, database: Any, schema: str, identifier: str) -> BaseRelation | None:
        """The relation, or None. `database` is nothing, or what Jinja makes of a node that has none."""
        found: BaseRelation | None = super().get_relation(None, schema, identifier)
        return found

    def get_columns_in_relation(self, relation: BaseRelation) -> list[AcidSqlColumn]:
        found = self._found(relation)
        return [] if found is None else [AcidSqlColumn(column.name, column.type) for column in found.all_columns]

    def _found(self, relation: BaseRelation) -> Table | View | None:
        try:
            return self._session.catalog.find(str(relation.schema).lower(), str(relation.identifier).lower())
        except AcidSqlError as error:
            if error.condition == Condition.DATABASE_NOT_FOUND.name:
                return None
            raise

    def _get_one_catalog(
        self, information_schema: Any, schemas: Iterable[str], used_schemas: frozenset[tuple[str, str]]
    ) -> agate.Table:
        from dbt_common.clients.agate_helper import table_from_data_flat

        rows: list[dict[str, Any]] = []
        for schema in schemas:
            for relation in self.list_relations_without_caching(self.Relation.create(schema=schema)):
                rows.extend(self._catalog_rows(relation))
        return table_from_data_flat(rows, list(_CATALOG))

    def _catalog_rows(self, relation: BaseRelation) -> list[dict[str, Any]]:
        found = self._found(relation)
        if found is None:  # another process has dropped it
            return []
        kind = "view" if isinstance(found, View) else "table"
        common = (None, found.database, found.name, kind, found.comment, found.owner)
        return [
            dict(zip(_CATALOG, (*common, column.name, index, column.type, column.comment), strict=True))
            for index, column in enumerate(found.all_columns, start=1)
        ]

    # -- for macros

    @available.parse(lambda *a, **k: False)
    def can_overwrite(self, relation: BaseRelation, columns: list[AcidSqlColumn], config: Any) -> bool:
        """Whether INSERT OVERWRITE of all rows makes the table what CREATE TABLE .. AS would make of it.

        It then replaces the rows in one transaction, and no reader misses the table. A partitioned table is left out,
        because INSERT OVERWRITE keeps partitions for which there are no rows; a plain one, because it is not atomic.
        """
        found = self._found(relation)
        if not isinstance(found, Table) or not found.is_transactional or found.partition_columns:
            return False
        wanted = [(column.name.lower(), column.dtype) for column in columns]
        return [(c.name, c.type) for c in found.columns] == wanted and Layout.of(config).is_that_of(found)

    @available.parse(lambda *a, **k: "")
    def table_clauses(self, config: Any) -> str:
        """The clauses of CREATE TABLE after the columns."""
        return Layout.of(config).clauses()

    @available.parse(lambda *a, **k: [])
    def partition_columns(self, relation: BaseRelation) -> list[str]:
        """The names of the partition columns of a table that exists."""
        found = self._found(relation)
        return [column.name for column in found.partition_columns] if isinstance(found, Table) else []

    @available.parse(lambda *a, **k: None)
    def load_seed(self, relation: BaseRelation, rows: agate.Table) -> None:
        """Replaces the rows of a table by those of a seed, in one transaction if the table is transactional."""
        found = self._found(relation)
        if not isinstance(found, Table):
            raise CompilationError(f"{relation} is not a table that a seed can be loaded into")
        types = {column.name: column.type for column in found.all_columns}
        with self.connections.exception_handler(f"dbt seed {relation}"):
            self._session.insert(f"{found.database}.{found.name}", arrow_table(rows, types), overwrite=True)

    @available.parse(lambda *a, **k: "")
    def string_literal(self, text: str) -> str:
        """A text as a literal of Hive, in which a backslash escapes, and in which `${..}` is no variable."""
        return without_variables(sql_string(str(text)))
