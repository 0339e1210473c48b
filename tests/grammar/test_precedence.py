"""The operators bind as in Hive 4.0.1: `hive_precedence.tsv` holds the trees of its parser for all pairs of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession
from sqlglot import exp

from acidsql.errors import AcidSqlError
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.parser import parse
from acidsql.grammar.statements import Query

LINES: Final = (Path(__file__).parent / "hive_precedence.tsv").read_text(encoding="utf-8").splitlines()
TREES: Final = dict(line.split("\t") for line in LINES if not line.startswith("#"))
READ: Final = {typed: tree for typed, tree in TREES.items() if tree != "refused"}
BINARY: Final[dict[type[exp.Expr], str]] = {
    exp.BitwiseXor: "^",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "div",
    exp.Add: "+",
    exp.Sub: "-",
    exp.DPipe: "||",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.Like: "like",
    exp.RegexpLike: "rlike",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.NullSafeEQ: "<=>",
    exp.And: "and",
    exp.Or: "or",
}
UNARY: Final[dict[type[exp.Expr], str]] = {exp.Neg: "-", exp.BitwiseNot: "~", exp.Not: "not"}
TESTS: Final = {"isnull": "NULL", "istrue": "TRUE", "isfalse": "FALSE"}


def item_of(typed: str) -> exp.Expr:
    statement = parse(f"SELECT {typed}")
    assert isinstance(statement, Query)
    return statement.tree.selects[0]


def shown(node: exp.Expr) -> str:
    """The tree as in the file."""
    match node:
        case exp.Paren():
            return shown(node.this)
        case exp.Column():
            return node.name
        case exp.NullSafeNEQ():
            return f"(not (<=> {shown(node.this)} {shown(node.expression)}))"
        case exp.Is():
            return f"(is{to_spark(node.expression).lower()} {shown(node.this)})"
        case exp.In():
            return f"(in {' '.join(shown(part) for part in (node.this, *node.expressions))})"
        case exp.Between():
            return f"(between {shown(node.this)} {shown(node.args['low'])} {shown(node.args['high'])})"
        case exp.Neg() | exp.BitwiseNot() | exp.Not():
            return f"({UNARY[type(node)]} {shown(node.this)})"
        case _:
            whole = f"({BINARY[type(node)]} {shown(node.this)} {shown(node.expression)})"
            return f"(not {whole})" if node.args.get("negate") else whole


def with_parentheses(tree: str) -> str:
    """SQL in which parentheses alone say what belongs together."""
    while found := re.search(r"\((\S+) ([^()]+)\)", tree):
        name, parts = found[1], [part.replace("\0", "(").replace("\1", ")") for part in found[2].split(" ")]
        parts = [part.replace("\2", " ") for part in parts]
        if name in TESTS:
            whole = f"{parts[0]} IS {TESTS[name]}"
        elif name == "in":
            whole = f"{parts[0]} IN ({', '.join(parts[1:])})"
        elif name == "between":
            whole = f"{parts[0]} BETWEEN {parts[1]} AND {parts[2]}"
        else:
            whole = f"{parts[0]} {name} {parts[1]}" if len(parts) == 2 else f"{name} {parts[0]}"
        hidden = f"({whole})".replace("(", "\0").replace(")", "\1").replace(" ", "\2")
        tree = tree.replace(found[0], hidden)
    return tree.replace("\0", "(").replace("\1", ")").replace("\2", " ")


def test_each_pair_of_operators_is_read_as_hive_reads_it() -> None:
    differing = {}
    for typed, tree in TREES.items():
        try:
            own = shown(item_of(typed))
        except AcidSqlError:
            own = "refused"
        if own != tree:
            differing[typed] = (own, tree)
    assert differing == {}
    assert (len(TREES), len(READ)) == (1614, 1234)


def test_spark_reads_each_pair_of_operators_as_hive_does(spark: SparkSession) -> None:
    parser = spark._jsparkSession.sessionState().sqlParser()

    def plan(items: list[str]) -> str:
        return str(parser.parsePlan(f"SELECT {', '.join(items)}").toString())

    pairs = list(READ.items())
    for start in range(0, len(pairs), 20):  # Spark writes at most 25 columns of a plan
        several = pairs[start : start + 20]
        own = plan([to_spark(item_of(typed)) for typed, _ in several])
        assert own == plan([with_parentheses(tree) for _, tree in several])


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("false = false IN (true, false)", "FALSE = (FALSE IN (TRUE, FALSE))"),
        ("1 || 2 + 3", "1 || (2 + 3)"),
        ("2 ^ 3 * 4", "(2 ^ 3) * 4"),
        ("a << b + c & d", "a << b + c & d"),
        ("a = EXISTS (SELECT 1)", "a = EXISTS(SELECT 1)"),
    ],
)
def test_parentheses_are_written_where_spark_would_read_another_tree(typed: str, written: str) -> None:
    assert to_spark(item_of(typed)) == written


@pytest.mark.parametrize("typed", ["1 < 2 < 3", "a IN (1) IN (2)", "a IS NULL = b", "a IS NULL IS NULL", "a = NOT b"])
def test_operators_that_hive_does_not_chain_are_refused_with_the_place(typed: str) -> None:
    with pytest.raises(AcidSqlError, match=r"needs parentheses before this operator|an operand is missing") as caught:
        item_of(typed)
    assert caught.value.condition == "PARSE_SYNTAX_ERROR"
    assert caught.value.span is not None
