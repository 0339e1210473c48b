"""SHOW FUNCTIONS and DESCRIBE FUNCTION."""

from __future__ import annotations

from acidsql.planner.expressions.hive_functions.function_list import REFUSED
from acidsql.planner.expressions.hive_functions.rule_table import REWRITTEN
from acidsql.session import Session


def shown(session: Session, sql: str) -> list[str]:
    return [str(row[0]) for row in session.execute(sql).rows()]


def test_show_functions_lists_what_queries_can_call(session: Session) -> None:
    session.spark.udf.register("plus_one", lambda n: n + 1, "int")
    try:
        names = shown(session, "SHOW FUNCTIONS")
    finally:
        session.spark.sql("DROP TEMPORARY FUNCTION IF EXISTS plus_one")
    assert names == sorted(set(names))
    assert {"abs", "field", "mask_first_n", "+", "between", "plus_one"} | REWRITTEN <= set(names)
    assert not REFUSED.keys() & set(names)
    assert shown(session, "SHOW FUNCTIONS LIKE 'mask_show%'") == ["mask_show_first_n", "mask_show_last_n"]
    assert shown(session, "SHOW FUNCTIONS LIKE upper") == ["upper"]
    assert shown(session, "SHOW FUNCTIONS LIKE 'xyzzy*'") == []


def test_describe_function_gives_the_usage_and_extended_gives_more(session: Session) -> None:
    [usage] = shown(session, "DESCRIBE FUNCTION abs")
    assert usage.startswith("abs(expr) - Returns the absolute value")
    extended = shown(session, "DESCRIBE FUNCTION EXTENDED ABS")
    assert extended[0] == usage
    assert "Examples:" in extended
    assert extended[-1] == "Function type:BUILTIN"


def test_describe_function_names_what_differs_from_spark(session: Session) -> None:
    assert (
        shown(session, "DESCRIBE FUNCTION trim")[-1]
        == "Where Spark's result differs from Hive's, acidsql gives Hive's."
    )
    assert shown(session, "DESCRIBE FUNCTION floor_month") == [
        "floor_month is a function of Hive, which acidsql computes with functions of Spark."
    ]
    [refused] = shown(session, "DESCRIBE FUNCTION compute_stats")
    assert refused.startswith("Function 'compute_stats' of Hive is not supported by acidsql. count, min")


def test_an_unknown_function_is_no_error(session: Session) -> None:
    assert shown(session, "DESCRIBE FUNCTION uper") == ["Function 'uper' does not exist. Did you mean upper or user?"]
    assert shown(session, "DESCRIBE FUNCTION '+'") == ["+ is an operator."]
    assert shown(session, "DESC FUNCTION `a b`") == ["Function 'a b' does not exist."]
