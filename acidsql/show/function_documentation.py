"""SHOW FUNCTIONS and DESCRIBE FUNCTION: what a query can call, Spark's functions and those that acidsql adds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.statements import TableName
from acidsql.planner.expressions.function_names import nearest_functions
from acidsql.planner.expressions.hive_functions.function_list import REFUSED
from acidsql.planner.expressions.hive_functions.rule_table import REWRITTEN
from acidsql.spark.engine import Engine
from acidsql.spark.function_texts import function_names, function_text

_NAME: Final = re.compile(r"\w+")


def known_functions(engine: Engine) -> frozenset[str]:
    """The names of the functions and operators that a query can use."""
    return (function_names(engine) | REWRITTEN) - REFUSED.keys()


def check_function_name(name: TableName, engine: Engine) -> None:
    """Raises INVALID_PYTHON_FUNCTION where a temporary function cannot have this name.

    Hive lets a temporary function hide a built-in one. acidsql refuses that, because the rules about Hive's functions
    apply to all calls of their names.
    """
    if name.database is not None:
        message = "Temporary function cannot be created with a qualified name."
        raise AcidSqlError(Condition.INVALID_PYTHON_FUNCTION, span=name.span, message=message)
    built_in = (function_names(engine) | REWRITTEN | REFUSED.keys()) - engine.running.temporary_functions()
    if name.name in built_in:
        message = f"{name.name} is a built-in function, which a temporary function cannot hide"
        raise AcidSqlError(Condition.INVALID_PYTHON_FUNCTION, span=name.span, message=message)


def function_lines(name: str, engine: Engine, *, extended: bool) -> Iterator[str]:
    """The lines of DESCRIBE FUNCTION. As in Hive, an unknown function is not an error."""
    if name in REFUSED:
        yield f"Function '{name}' of Hive is not supported by acidsql. {REFUSED[name]}".rstrip()
        return
    of_spark = function_names(engine)
    if name not in of_spark | REWRITTEN:
        yield f"Function '{name}' does not exist.{nearest_functions(name)}"
        return
    if name not in of_spark:
        yield f"{name} is a function of Hive, which acidsql computes with functions of Spark."
        return
    if not _NAME.fullmatch(name):
        yield f"{name} is an operator."
        return
    text = function_text(engine, name)
    yield from text.usage or [f"There is no documentation for function '{name}'"]
    if name in REWRITTEN:
        yield "Where Spark's result differs from Hive's, acidsql gives Hive's."
    if extended:
        yield from text.details
        if text.java_class is not None:
            yield f"Function class:{text.java_class}"
        yield f"Function type:{'TEMPORARY' if name in engine.running.temporary_functions() else 'BUILTIN'}"
