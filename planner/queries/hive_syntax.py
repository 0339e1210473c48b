"""Rewrites syntax of Hive that Spark's parser refuses or reads differently."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.dialect import span_of
from acidsql.planner.expressions.item_names import name_unnamed_columns
from acidsql.planner.queries.quantified_subqueries import rewrite_quantifiers

_HINT: Final = "Put the LATERAL VIEW into a subquery: FROM (SELECT .. FROM t LATERAL VIEW ..) x JOIN .."


def rewrite_syntax(tree: exp.Query) -> None:
    """Rewrites a query in place. Raises LATERAL_VIEW_WITH_JOIN and NOT_YET_SUPPORTED."""
    _refuse_joins_of_laterals(tree)
    name_unnamed_columns(tree)
    rewrite_quantifiers(tree)
    _sample_buckets(tree)


def _refuse_joins_of_laterals(tree: exp.Query) -> None:
    """Refuses a JOIN behind a LATERAL VIEW, as Hive does (SemanticAnalyzer.processJoin): Spark's grammar has laterals
    behind the joins only, where a FULL or RIGHT JOIN would lose its rows without a match."""
    for query in tree.find_all(exp.Select):
        laterals = [span for lateral in query.args.get("laterals") or () if (span := span_of(lateral)) is not None]
        joins = [span for join in query.args.get("joins") or () if (span := span_of(join)) is not None]
        late = [join for join in joins if any(lateral.start < join.start for lateral in laterals)]
        if late:
            raise AcidSqlError(Condition.LATERAL_VIEW_WITH_JOIN, span=late[0], hint=_HINT)


def _sample_buckets(tree: exp.Query) -> None:
    """Rewrites TABLESAMPLE (BUCKET x OUT OF y ON rand()) in place: one row in y, by chance.

    Raises NOT_YET_SUPPORTED for samples of columns and of the buckets of a table: Hive takes the rows with certain
    hashes, and Spark would take rows by chance.
    """
    for sample in tree.find_all(exp.TableSample):
        out_of = sample.args.get("bucket_denominator")
        if out_of is None:
            continue
        column = sample.args.get("bucket_field")
        if not (isinstance(column, exp.Anonymous) and column.name.lower() == "rand"):
            feature = "TABLESAMPLE (BUCKET x OUT OF y) without ON rand()"
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=span_of(sample), feature=feature)
        percent = 100 / int(out_of.name)
        for key in ("bucket_numerator", "bucket_denominator", "bucket_field"):
            sample.set(key, None)
        sample.set("percent", exp.Literal.number(f"{percent:.9f}"))
