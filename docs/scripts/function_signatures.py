"""Writes acidsql/frontends/function_signatures.txt: the functions that a query can call, with their parameters.

The texts are those of Spark, which must run for it: `python -m docs.scripts.function_signatures`. Functions of
Hive that Spark does not have stand there by their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from acidsql.planner.expressions.hive_functions.function_list import REFUSED
from acidsql.planner.expressions.hive_functions.rule_table import REWRITTEN

FILE: Final = Path(__file__).parents[2] / "acidsql" / "frontends" / "function_signatures.txt"
_SIGNATURE: Final = r"^\s*{}(\([^\n]*?\)) +-"


def lines(spark: SparkSession) -> Iterator[str]:
    """A line for each function: its name, and its parameters in parentheses as far as Spark tells them."""
    java: Any = spark.sparkContext._jvm
    found = dict.fromkeys(REWRITTEN, "")
    for info in java.org.apache.spark.sql.api.python.PythonSQLUtils.listBuiltinFunctionInfos():
        name = info.getName()
        signature = re.search(_SIGNATURE.format(re.escape(name)), info.getUsage() or "", re.MULTILINE)
        found[name] = signature[1] if signature else ""
    for name in sorted(found.keys() - REFUSED.keys()):
        if re.fullmatch(r"[a-z]\w+", name):
            yield f"{name}{found[name]}\n"


if __name__ == "__main__":
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    FILE.write_text("".join(lines(session)), encoding="utf-8")
    session.stop()
