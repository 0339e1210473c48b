"""Makes Hive's meaning of expressions explicit where it depends on types and Spark's meaning differs.

Each module holds the rules of one topic. `apply_rules` runs them from the inside out, so that a rule sees operands that
already have Hive's meaning. A rule returns the new expression, or None where Spark computes the same as Hive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from sqlglot import exp

from acidsql.planner.expressions.expression_types import ExpressionTypes
from acidsql.planner.expressions.item_names import keep_name
from acidsql.planner.expressions.typed_rules.casts import cast_in_hive
from acidsql.planner.expressions.typed_rules.comparisons import comparison_in_hive
from acidsql.planner.expressions.typed_rules.conditions import convert_conditions
from acidsql.planner.expressions.typed_rules.frame_texts import convert_joins
from acidsql.planner.expressions.typed_rules.functions import function_in_hive
from acidsql.planner.expressions.typed_rules.mask_arguments import mask_in_hive
from acidsql.planner.expressions.typed_rules.null_order import order_nulls
from acidsql.planner.expressions.typed_rules.numbers import number_in_hive
from acidsql.planner.expressions.typed_rules.set_operations import convert_columns
from acidsql.planner.expressions.typed_rules.star_arguments import expand_stars

Rule: TypeAlias = Callable[[exp.Expr, ExpressionTypes], exp.Expr | None]

_RULES: Final[tuple[Rule, ...]] = (number_in_hive, cast_in_hive, comparison_in_hive, function_in_hive, mask_in_hive)


def apply_rules(tree: exp.Query, types: ExpressionTypes, settings: Mapping[str, str]) -> None:
    """Rewrites the expressions of a query in place. Its output columns keep their names."""
    order_nulls(tree, settings)
    expand_stars(tree, types)
    for node in reversed(list(tree.walk())):
        for rule in _RULES:
            new = rule(node, types)
            if new is not None:
                keep_name(node)
                types.put(new, types.of(node))
                node.replace(new)
                break
    convert_conditions(tree, types)
    convert_columns(tree, types)
    convert_joins(tree, types)
