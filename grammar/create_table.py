"""The builder of CREATE TABLE: columns, constraints and clauses."""

from __future__ import annotations

from dataclasses import dataclass, replace

from acidsql.acid.table import ConstraintKind
from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar import clauses
from acidsql.grammar.statement_reader import Node
from acidsql.grammar.statements import CheckConstraint, Clustering, ColumnDefinition, CreateTable, Name, NamedConstraint

# The serde properties of ROW FORMAT DELIMITED (org.apache.hadoop.hive.serde.serdeConstants).
_DELIMITERS = {
    "fields": "field.delim",
    "items": "colelction.delim",  # the spelling in Hive
    "map_keys": "mapkey.delim",
    "lines": "line.delim",
    "null_as": "serialization.null.format",
}
_FORMATS = {"SEQUENCEFILE", "TEXTFILE", "RCFILE", "ORC", "PARQUET", "AVRO", "JSONFILE"}


def create_table(node: Node, source: str) -> CreateTable:
    kinds = {kind.span.text.upper() for kind in node.nodes("table_kind")}
    elements = node.maybe("elements")
    like = node.maybe("like_table")
    query = node.maybe_leaf("QUERY")
    table = CreateTable(
        source,
        clauses.target(node),
        columns=tuple(column(part) for part in elements.nodes("column")) if elements else (),
        checks=_checks(elements) if elements else (),
        names=_names(elements) if elements else (),
        if_not_exists=node.has("if_not_exists"),
        external="EXTERNAL" in kinds,
        transactional=not kinds.isdisjoint(("TRANSACTIONAL", "MANAGED")),
        temporary="TEMPORARY" in kinds,
        like=clauses.target(like) if like else None,
        query=clauses.query(query) if query else None,
    )
    table = with_clauses(table, node)
    _check_partition_types(table)
    return table


def with_clauses(table: CreateTable, node: Node) -> CreateTable:
    """The table with the clauses that are parts of the node."""
    for part in node.parts:
        if isinstance(part, Node):
            table = _with_clause(table, part)
    return table


def _check_partition_types(table: CreateTable) -> None:
    """A partition column has its type from the query (CTAS) or from the text."""
    for part in table.partition_columns:
        if not part.type and table.query is None:
            raise AcidSqlError(
                Condition.PARSE_SYNTAX_ERROR,
                span=part.name.span,
                message=f"Syntax error near '{part.name.value}': expected a type after the partition column",
            )


def _with_clause(table: CreateTable, node: Node) -> CreateTable:
    match node.rule:
        case "table_comment":
            return replace(table, comment=clauses.string(node))
        case "partitioned_by":
            return replace(table, partition_columns=tuple(column(p) for p in node.nodes("partition_column")))
        case "clustered_by":
            of = clustering(node.node("clustering"))
            return replace(table, bucket_columns=of.columns, bucket_count=of.count, sort_columns=of.sort_columns)
        case "skewed_by":
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=node.span, feature="SKEWED BY")
        case "delimited":
            return replace(table, delimited=True, row_format=_delimiters(node))
        case "serde":
            return replace(table, serde=clauses.string(node), row_format=clauses.properties_of(node))
        case "stored_as":
            return replace(table, file_format=file_format(node.node("name"), "STORED AS"))
        case "stored_as_classes":
            return replace(table, storage_class=node.leaves("STRING")[0].text)
        case "stored_by":
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=node.span, feature="STORED BY")
        case "location":
            return replace(table, location=clauses.string(node))
        case "table_properties":
            return replace(table, properties=clauses.properties_of(node))
        case _:
            return table


def clustering(node: Node) -> Clustering:
    """CLUSTERED BY (..) [SORTED BY (..)] INTO n BUCKETS."""
    sort_columns = tuple(clauses.name(part.node("name")) for part in node.nodes("sort_column"))
    return Clustering(clauses.names(node.node("columns")), bucket_count(node), sort_columns)


def bucket_count(node: Node) -> int:
    number = node.leaf("NUMBER")
    if not number.text.isdecimal() or not 1 <= int(number.text) < 1 << 31:
        raise _syntax_error(number.span, "the number of buckets is a whole number from 1 to 2147483647")
    return int(number.text)


def file_format(node: Node, words: str) -> str:
    """The format that a name after `words` means: one of org.apache.hadoop.hive.ql.io.StorageFormatFactory's names."""
    name = clauses.name(node)
    if name.value.upper() not in _FORMATS:
        shown = ", ".join(sorted(_FORMATS))
        assert name.span is not None
        raise _syntax_error(name.span, f"expected one of {shown} after {words}")
    return name.value


def _delimiters(node: Node) -> clauses.Properties:
    found: list[tuple[str, str]] = []
    for part in node.parts:
        if isinstance(part, Node):
            strings = part.leaves("STRING")
            found.append((_DELIMITERS[part.rule], strings[0].text))
            found.extend(("escape.delim", escape.text) for escape in strings[1:])
    return tuple(found)


# ------------------------------------------------------------------------------------------------ columns


@dataclass(slots=True)
class _Constraint:
    """A constraint, its name, and the words after it; DISABLE means that Hive does not enforce it."""

    node: Node
    name: Name | None = None
    enabled: bool = True


_KINDS = {
    "not_null": ConstraintKind.NOT_NULL,
    "default": ConstraintKind.DEFAULT,
    "check": ConstraintKind.CHECK,
    "primary_key": ConstraintKind.PRIMARY_KEY,
    "unique_key": ConstraintKind.UNIQUE,
    "references": ConstraintKind.FOREIGN_KEY,
    "foreign_key": ConstraintKind.FOREIGN_KEY,
}


def column(node: Node) -> ColumnDefinition:
    """A column of a table. `type` is empty for a partition column of CREATE TABLE .. AS: the query has its type."""
    type_ = node.maybe_leaf("COLUMN_TYPE")
    name = clauses.name(node.node("name"))
    definition = ColumnDefinition(name, type_.text if type_ else "", type_span=type_.span if type_ else None)
    for constraint in _constraints(tuple(part for part in node.parts if isinstance(part, Node))):
        if constraint.enabled:
            definition = _with_constraint(definition, constraint)
        if constraint.name is not None and not (constraint.enabled and constraint.node.rule == "check"):
            named = _named(constraint.name, constraint.node, (name,), enabled=constraint.enabled)
            definition = replace(definition, names=(*definition.names, named))
    return definition


def _with_constraint(definition: ColumnDefinition, constraint: _Constraint) -> ColumnDefinition:
    node = constraint.node
    match node.rule:
        case "column_comment":
            return replace(definition, comment=clauses.string(node))
        case "not_null":
            return replace(definition, not_null=True)
        case "default":
            return replace(definition, default=clauses.tree(node.leaf("OPERAND")))
        case "check":
            name = constraint.name.value if constraint.name else None
            return replace(definition, check=clauses.tree(node.leaf("EXPR")), check_name=name)
        case _:
            return definition


def _constraints(nodes: tuple[Node, ...]) -> list[_Constraint]:
    found: list[_Constraint] = []
    name: Name | None = None
    for node in nodes:
        if node.rule == "disable" and found:
            found[-1].enabled = False
        elif node.rule in ("enable", "disable", "validate", "flag"):
            if not found or found[-1].node.rule in ("column_comment", "nullable"):
                raise _syntax_error(node.span, "it stands after no constraint")
        elif node.rule == "constraint_name":
            name = clauses.name(node.node("name"))
        elif node.rule != "name":
            found.append(_Constraint(node, name))
            name = None
    return found


def named_constraint(node: Node) -> NamedConstraint:
    """CONSTRAINT name .. of a table, with the name as its first part."""
    name = clauses.name(node.node("constraint_name").node("name"))
    body = next(part for part in node.parts if isinstance(part, Node) and part.rule in _KINDS)
    return _named(name, body, clauses.names(_first_columns(body)), enabled=not node.has("disable"))


def _first_columns(body: Node) -> Node | None:
    columns = body.nodes("columns")
    return columns[0] if columns else None


def _named(name: Name, body: Node, columns: tuple[Name, ...], *, enabled: bool) -> NamedConstraint:
    kind = _KINDS[body.rule]
    is_foreign = kind is ConstraintKind.FOREIGN_KEY
    lists = body.nodes("columns")
    of_parent = lists[-1] if len(lists) == (1 if body.rule == "references" else 2) else None
    return NamedConstraint(
        name,
        kind,
        columns,
        clauses.tree(body.leaf("EXPR")) if kind is ConstraintKind.CHECK else None,
        clauses.target(body) if is_foreign else None,
        clauses.names(of_parent) if is_foreign else (),
        enabled,
    )


def _checks(elements: Node) -> tuple[CheckConstraint, ...]:
    """The enforced CHECK constraints of the table."""
    found = []
    for element in elements.nodes("constraint"):
        check = element.maybe("check")
        if check is not None and not element.has("disable"):
            named = element.maybe("constraint_name")
            name = clauses.name(named.node("name")).value if named else None
            found.append(CheckConstraint(name, clauses.tree(check.leaf("EXPR"))))
    return tuple(found)


def _names(elements: Node) -> tuple[NamedConstraint, ...]:
    """The named constraints of the table that nothing enforces."""
    named = (named_constraint(element) for element in elements.nodes("constraint") if element.has("constraint_name"))
    return tuple(n for n in named if n.kind is not ConstraintKind.CHECK or not n.enabled)


def _syntax_error(span: Span, detail: str) -> AcidSqlError:
    return AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=span, message=f"Syntax error near '{span.text}': {detail}")
