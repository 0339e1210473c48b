"""TABLESAMPLE (BUCKET x OUT OF y ON rand()): one row in y, by chance."""

from __future__ import annotations

from sqlglot import exp

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.dialect import span_of


def sample_buckets(tree: exp.Query) -> None:
    """Rewrites the samples of a query in place. Raises NOT_YET_SUPPORTED for samples of columns and of the buckets of a
    table: Hive takes the rows with certain hashes, and Spark would take rows by chance."""
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
