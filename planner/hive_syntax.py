"""Rewrites syntax of Hive that Spark's parser refuses or reads differently. Each rule has a module of its own."""

from __future__ import annotations

from sqlglot import exp

from acidsql.planner.bucket_samples import sample_buckets
from acidsql.planner.item_names import name_unnamed_columns
from acidsql.planner.lateral_joins import refuse_joins_of_laterals
from acidsql.planner.quantified_subqueries import rewrite_quantifiers


def rewrite_syntax(tree: exp.Query) -> None:
    """Rewrites a query in place. Raises LATERAL_VIEW_WITH_JOIN."""
    refuse_joins_of_laterals(tree)
    name_unnamed_columns(tree)
    rewrite_quantifiers(tree)
    sample_buckets(tree)
