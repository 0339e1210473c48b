"""Aggregate functions (GenericUDAFPercentileApprox, GenericUDAFPercentileCont and others)."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from acidsql.planner.expressions.hive_functions.template import Rule, call, filled, template

_BINS: Final = "10000"
# The value at which the histogram's counts reach the quantile, between two of its points (NumericHistogram.quantile).
# The state is (value of the last bin, count up to it, result).
_QUANTILE: Final = (
    "aggregate(h, named_struct('x', CAST(NULL AS DOUBLE), 'n', 0D, 'r', CAST(NULL AS DOUBLE)), (s, b) -> named_struct("
    "'x', CAST(b.x AS DOUBLE), 'n', s.n + b.y, 'r', CASE WHEN s.r IS NOT NULL THEN s.r"
    " WHEN (s.n + b.y) / aggregate(h, 0D, (t, c) -> t + c.y) < p THEN NULL WHEN s.x IS NULL THEN CAST(b.x AS DOUBLE)"
    " ELSE s.x + (p * aggregate(h, 0D, (t, c) -> t + c.y) - s.n) * (b.x - s.x) / b.y END), s -> s.r)"
)


def _percentile_approx(arguments: list[exp.Expr]) -> exp.Expr:
    """Hive interpolates in a histogram, which is exact for as many values as it has bins; Spark returns a value."""
    value, quantile = arguments[0], arguments[1]
    bins = arguments[2] if len(arguments) > 2 else exp.Literal.number(_BINS)
    histogram = call("histogram_numeric", exp.cast(value, exp.DataType.Type.DOUBLE), bins)
    if isinstance(quantile, exp.Anonymous) and quantile.name.lower() == "array":
        sql = f"element_at(transform(array(v), h -> transform(q, p -> {_QUANTILE})), 1)"
    else:
        sql = f"element_at(transform(array(v), h -> element_at(transform(array(q), p -> {_QUANTILE}), 1)), 1)"
    return filled(sql, {"v": histogram, "q": quantile})


RULES: Final[dict[tuple[str, int], Rule]] = {
    **{(name, 1): template("a", "stddev_pop(a)") for name in ("stddev", "std")},
    ("variance", 1): template("a", "var_pop(a)"),
    ("approx_distinct", 1): template("a", "approx_count_distinct(a)"),
    ("percentile_cont", 2): template("a p", "percentile(a, p)"),
    ("percentile_disc", 2): template("a p", "percentile_disc(p) WITHIN GROUP (ORDER BY a)"),
    ("histogram_numeric", 2): template("a n", "histogram_numeric(CAST(a AS DOUBLE), n)"),
    ("percentile_approx", 2): _percentile_approx,
    ("percentile_approx", 3): _percentile_approx,
}
