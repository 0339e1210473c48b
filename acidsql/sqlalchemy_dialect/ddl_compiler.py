"""The compiler of SQLAlchemy's DDL to Hive's CREATE TABLE with its clauses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import exc, schema
from sqlalchemy.sql.compiler import DDLCompiler

from acidsql.sqlalchemy_dialect.statement_compiler import string_literal

TABLE_OPTIONS: Final[Mapping[str, Any]] = {
    "partitioned_by": (),
    "clustered_by": (),
    "buckets": None,
    "stored_as": "ORC",
    "location": None,
    "transactional": None,
    "properties": None,
}
"""The options of a Table, each with the prefix `acidsql_`, and their defaults."""

_KEYS: Final[Mapping[type, str]] = {
    schema.PrimaryKeyConstraint: "pk",
    schema.UniqueConstraint: "uq",
    schema.ForeignKeyConstraint: "fk",
}


class AcidSqlDdlCompiler(DDLCompiler):
    """Compiles CREATE TABLE and other DDL. Keys are declared, but nothing enforces them, as in Hive."""

    def visit_create_column(self, create: Any, first_pk: bool = False, **kw: Any) -> str | None:
        """A regular column; a partition column stands in PARTITIONED BY."""
        column = create.element
        if column.name in _names(column.table, "partitioned_by"):
            return None
        return str(super().visit_create_column(create, first_pk=first_pk, **kw))  # type: ignore[no-untyped-call]

    def get_column_specification(self, column: schema.Column[Any], **kwargs: Any) -> str:
        text = super().get_column_specification(column, **kwargs)
        if column.identity is not None:
            raise exc.CompileError("Hive has no identity columns")
        if column.comment is not None:
            text += f" COMMENT {string_literal(column.comment)}"
        return text

    def post_create_table(self, table: schema.Table) -> str:
        return "".join(f"\n{clause}" for clause in self._clauses(table))

    def _clauses(self, table: schema.Table) -> Iterator[str]:
        options = table.dialect_options["acidsql"]
        if table.comment is not None:
            yield f"COMMENT {string_literal(table.comment)}"
        partitioned = _names(table, "partitioned_by")
        if partitioned:
            columns = ", ".join(self._partition_column(table.c[name]) for name in partitioned)
            yield f"PARTITIONED BY ({columns})"
        clustered = ", ".join(map(self.preparer.quote, _names(table, "clustered_by")))
        if clustered:
            yield f"CLUSTERED BY ({clustered}) INTO {int(options['buckets'])} BUCKETS"
        yield f"STORED AS {options['stored_as']}"
        if options["location"] is not None:
            yield f"LOCATION {string_literal(options['location'])}"
        properties = _properties(options)
        if properties:
            pairs = (f"{string_literal(key)}={string_literal(value)}" for key, value in properties.items())
            yield f"TBLPROPERTIES ({', '.join(pairs)})"

    def _partition_column(self, column: schema.Column[Any]) -> str:
        kind = self.dialect.type_compiler_instance.process(column.type, type_expression=column)
        comment = "" if column.comment is None else f" COMMENT {string_literal(column.comment)}"
        return f"{self.preparer.format_column(column)} {kind}{comment}"

    def define_constraint_preamble(self, constraint: Any, **kw: Any) -> str:
        """CONSTRAINT and a name. A key has one in any case: the catalog keeps no key without a name."""
        text = super().define_constraint_preamble(constraint, **kw)
        kind = _KEYS.get(type(constraint))
        if text or kind is None:
            return text
        name = "_".join([kind, constraint.table.name, *(column.name for column in constraint.columns)])
        return f"CONSTRAINT {self.preparer.quote(name)} "

    def define_constraint_deferrability(self, constraint: Any) -> str:
        """Said of each key: it is declared and not checked."""
        return " DISABLE NOVALIDATE"

    def define_constraint_cascades(self, constraint: Any) -> str:
        return ""

    def visit_check_constraint(self, constraint: Any, **kw: Any) -> str:
        text = self.sql_compiler.process(constraint.sqltext, include_table=False, literal_binds=True)
        return f"{self.define_constraint_preamble(constraint)}CHECK ({text})"

    visit_column_check_constraint = visit_check_constraint

    def visit_create_index(
        self, create: Any, include_schema: bool = False, include_table_schema: bool = True, **kw: Any
    ) -> str:
        raise exc.CompileError("Hive has no indexes: leave index=True out (in pandas: to_sql(.., index=False))")

    def visit_drop_schema(self, drop: Any, **kw: Any) -> str:
        words = ["DROP SCHEMA", *(["IF EXISTS"] if drop.if_exists else []), self.preparer.quote_schema(drop.element)]
        return " ".join([*words, *(["CASCADE"] if drop.cascade else [])])

    def visit_set_table_comment(self, create: Any, **kw: Any) -> str:
        table = self.preparer.format_table(create.element)
        return f"ALTER TABLE {table} SET TBLPROPERTIES ('comment'={string_literal(create.element.comment)})"

    def visit_drop_table_comment(self, drop: Any, **kw: Any) -> str:
        return f"ALTER TABLE {self.preparer.format_table(drop.element)} SET TBLPROPERTIES ('comment'='')"


def _names(table: schema.Table | None, option: str) -> tuple[str, ...]:
    if table is None:
        return ()
    given: str | Sequence[str] = table.dialect_options["acidsql"][option]
    return (given,) if isinstance(given, str) else tuple(given)


def _properties(options: Mapping[str, Any]) -> dict[str, str]:
    """The table's properties. A table stored as ORC is transactional unless the options say otherwise."""
    wanted = options["transactional"]
    transactional = str(options["stored_as"]).upper() == "ORC" if wanted is None else bool(wanted)
    given = {str(key): str(value) for key, value in (options["properties"] or {}).items()}
    return ({"transactional": "true"} if transactional else {}) | given
