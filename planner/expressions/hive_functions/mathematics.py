"""Functions of numbers (UDFSqrt, UDFLog, UDFPosMod, UDFFloorCeilBase and others): NULL where Spark has NaN."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from acidsql.planner.expressions.hive_functions.template import Rule, call, filled, number_of, template


def _positive_modulo(arguments: list[exp.Expr]) -> exp.Expr:
    """PMOD by a negative number is negative in Hive: ((a % b) + b) % b."""
    divisor = number_of(arguments[1])
    if divisor is not None and divisor >= 0:
        return call("pmod", *arguments)
    return filled("IF(b < 0, ((a % b) + b) % b, pmod(a, b))", {"a": arguments[0], "b": arguments[1]})


RULES: Final[dict[tuple[str, int], Rule]] = {
    ("sqrt", 1): template("a", "IF(CAST(a AS DOUBLE) < 0, NULL, sqrt(a))"),
    **{(name, 1): template("a", f"IF(abs(CAST(a AS DOUBLE)) > 1, NULL, {name}(a))") for name in ("asin", "acos")},
    ("log", 2): template("b a", "IF(CAST(b AS DOUBLE) <= 1, NULL, log(b, a))"),
    ("pmod", 2): _positive_modulo,
    ("width_bucket", 4): template("a b c d", "int(width_bucket(a, b, c, d))"),
}
