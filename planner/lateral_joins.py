"""A JOIN behind a LATERAL VIEW, which Hive refuses (SemanticAnalyzer.processJoin).

Spark's grammar has laterals behind the joins only. There, a FULL or RIGHT JOIN would lose its rows without a match.
"""

from __future__ import annotations

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.dialect import span_of

_HINT = "Put the LATERAL VIEW into a subquery: FROM (SELECT .. FROM t LATERAL VIEW ..) x JOIN .."


def refuse_joins_of_laterals(tree: exp.Query) -> None:
    """Raises LATERAL_VIEW_WITH_JOIN."""
    for query in tree.find_all(exp.Select):
        laterals = [span for lateral in query.args.get("laterals") or () if (span := span_of(lateral)) is not None]
        joins = [span for join in query.args.get("joins") or () if (span := span_of(join)) is not None]
        late = [join for join in joins if any(lateral.start < join.start for lateral in laterals)]
        if late:
            raise AcidSqlError(Condition.LATERAL_VIEW_WITH_JOIN, span=late[0], hint=_HINT)
