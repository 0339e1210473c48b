"""The builders of INSERT, multi-insert, UPDATE, DELETE, MERGE and LOAD DATA."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar import clauses
from acidsql.grammar.create_table import with_clauses
from acidsql.grammar.statement_reader import Leaf, Node
from acidsql.grammar.statements import (
    Assignment,
    CreateTable,
    Default,
    Delete,
    Insert,
    InsertDirectory,
    LoadData,
    Merge,
    MergeAction,
    MergeClause,
    MergeDelete,
    MergeInsert,
    MergeUpdate,
    MultiInsert,
    Name,
    Query,
    RestoreTable,
    TableName,
    Update,
    Value,
    Values,
    When,
)


def query(node: Node, source: str) -> Query:
    return Query(source, clauses.query(node.leaf("QUERY")))


def insert(node: Node, source: str) -> Insert | InsertDirectory:
    """Adds the CTEs before INSERT to its query, outside the query's own CTEs."""
    ctes = _ctes(node)
    directory = node.maybe("insert_directory")
    if directory is not None:
        query = _with(clauses.query(node.leaf("QUERY")), ctes)
        return InsertDirectory(source, _output(directory, source), query, directory.has("local"))
    rows = node.maybe_leaf("ROWS")
    if rows is None:
        return _insert(node.node("insert_into"), source, _with(clauses.query(node.leaf("QUERY")), ctes))
    if ctes is not None:
        raise AcidSqlError(
            Condition.PARSE_SYNTAX_ERROR,
            span=node.leaf("CTES").span,
            message="Syntax error: WITH needs a query after INSERT, not VALUES",
        )
    assert isinstance(rows.island, Values)
    return _insert(node.node("insert_into"), source, rows.island)


def _insert(node: Node, source: str, rows: Values | exp.Query) -> Insert:
    columns = node.maybe("columns")
    return Insert(
        source,
        clauses.target(node),
        rows,
        columns=clauses.names(columns) if columns else None,
        partition=clauses.partition_of(node),
        overwrite=node.has("overwrite"),
        if_not_exists=node.has("if_not_exists"),
        evolves=node.has("schema_evolution"),
    )


def _output(node: Node, source: str) -> CreateTable:
    """The files of INSERT OVERWRITE DIRECTORY. Without a clause they are text, as in Hive."""
    name = TableName(None, clauses.string(node), node.leaf("STRING").span)
    output = CreateTable(source, name, external=True)
    declared = with_clauses(output, node)
    return replace(output, file_format="textfile") if declared == output else declared


def _ctes(node: Node) -> exp.With | None:
    leaf = node.maybe_leaf("CTES")
    if leaf is None:
        return None
    assert isinstance(leaf.island, exp.With)
    return leaf.island


def _with(query: exp.Query, outer: exp.With | None) -> exp.Query:
    if outer is None:
        return query
    inner = query.args.get("with_")
    if isinstance(inner, exp.With):
        outer.set("expressions", [*outer.expressions, *inner.expressions])
    query.set("with_", outer)
    return query


def multi_insert(node: Node, source: str) -> MultiInsert:
    for branch in node.nodes("branch"):
        if branch.has("insert_directory"):
            feature = "INSERT OVERWRITE DIRECTORY in a statement with FROM before INSERT"
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=branch.node("insert_directory").span, feature=feature)
    branches = tuple(
        _insert(branch.node("insert_into"), branch.span.text, clauses.query(branch.leaf("QUERY")))
        for branch in node.nodes("branch")
    )
    return MultiInsert(source, clauses.tree(node.leaf("FROM_SOURCE")), branches, _ctes(node))


def update(node: Node, source: str) -> Update:
    return Update(
        source,
        clauses.target(node),
        _alias(node),
        _assignments(node.node("assignments")),
        _where(node),
        _ctes(node),
    )


def delete(node: Node, source: str) -> Delete:
    return Delete(source, clauses.target(node), _alias(node), _where(node), _ctes(node))


def _alias(node: Node) -> Name | None:
    alias = node.maybe("alias")
    return clauses.name(alias.node("name")) if alias else None


def _where(node: Node) -> exp.Expression | None:
    where = node.maybe("where")
    return clauses.tree(where.leaf("EXPR")) if where else None


def _assignments(node: Node) -> tuple[Assignment, ...]:
    return tuple(
        Assignment(_column(part.node("column_path")), _value(part.node("value"))) for part in node.nodes("assignment")
    )


def _column(path: Node) -> Name:
    """The column of `col`, `t.col` or `db.t.col`, with the place of the whole path."""
    return Name(clauses.names(path)[-1].value, path.span)


def _value(node: Node) -> Value:
    (leaf,) = node.parts
    assert isinstance(leaf, Leaf)
    return Default(leaf.span) if leaf.kind == "DEFAULT" else clauses.tree(leaf)


def merge(node: Node, source: str) -> Merge:
    on = node.leaf("EXPR")
    return Merge(
        source,
        clauses.target(node),
        _alias(node),
        clauses.tree(node.leaf("RELATION")),
        clauses.tree(on),
        tuple(_clause(part) for part in node.nodes("when")),
        _ctes(node),
        on.span,
        evolves=node.has("schema_evolution"),
    )


def _clause(node: Node) -> MergeClause:
    condition = node.maybe_leaf("EXPR")
    action = node.nodes("merge_update", "merge_delete", "merge_insert")[0]
    return MergeClause(_when(node), clauses.tree(condition) if condition else None, _action(action), node.span)


def _when(node: Node) -> When:
    if node.has("matched"):
        return When.MATCHED
    return When.NOT_MATCHED if node.has("not_matched") else When.NOT_MATCHED_BY_SOURCE


def _action(node: Node) -> MergeAction:
    if node.rule == "merge_delete":
        return MergeDelete()
    if node.rule == "merge_update":
        assignments = node.maybe("assignments")
        return MergeUpdate(_assignments(assignments) if assignments else None)
    if node.has("star"):
        return MergeInsert(None, None)
    paths = node.maybe("insert_paths")
    columns = tuple(_column(path) for path in paths.nodes("column_path")) if paths else None
    return MergeInsert(columns, tuple(_value(value) for value in node.nodes("value")))


def load_data(node: Node, source: str) -> LoadData:
    declared = node.maybe("loaded_format")
    input_format, serde = (leaf.text for leaf in declared.leaves("STRING")) if declared else (None, None)
    return LoadData(
        source,
        clauses.string(node),
        clauses.target(node),
        local=node.has("local"),
        overwrite=node.has("overwrite_word"),
        partition=clauses.partition_of(node),
        input_format=input_format,
        serde=serde,
    )


def restore_table(node: Node, source: str) -> RestoreTable:
    """Raises NOT_YET_SUPPORTED for a PARTITION clause."""
    partition = node.maybe("partition")
    if partition is not None:
        feature = "RESTORE of single partitions"
        hint = "INSERT OVERWRITE TABLE t PARTITION (..) SELECT .. FROM t VERSION AS OF n WHERE .. restores a partition."
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=partition.span, feature=feature, hint=hint)
    restored = node.node("restored_version")
    word, point = restored.node("restored_by").parts[0].span.text.upper(), clauses.tree(restored.leaf("OPERAND"))
    version = exp.Version(this=word, kind="AS OF", expression=point)
    version.meta["start"], version.meta["end"] = restored.span.start, restored.span.end - 1
    return RestoreTable(source, clauses.target(node), version)
