"""Private names of Spark stand in acidsql/spark/catalyst alone, and a Spark that lacks one is refused by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import acidsql
from acidsql.errors import AcidSqlError
from acidsql.spark.catalyst import names
from acidsql.spark.catalyst.gateway import jvm
from acidsql.spark.catalyst.names import COMMON_CLASSES, SparkClass, missing_names
from acidsql.spark.catalyst.sessions import define_view, define_view_by_command
from acidsql.spark.catalyst.shims import SHIMS, require_names, shim_of
from tests.answers import fails

_ROOT = Path(acidsql.__file__).parent
_CATALYST = _ROOT / "spark" / "catalyst"
_NAMES_OF_CLASSES = ("names.py", "shims.py", "driver_log.py")
"""The modules of catalyst/ that name classes of Spark."""

_OF_SPARK = re.compile(
    r"_j(df|sc|vm|c|conf|sparkSession|reader|write|writer|rdd|map|seq|catalog)|_sc|_gateway|_gateway_client"
    r"|_instantiatedSession|_activeSession|_active_spark_context"
)
"""Attributes of PySpark's objects that are not public."""
_OF_JVM = re.compile(r"(queryExecution|sessionState|cloneSession|executedPlan|optimizedPlan|ofRows|newHadoopConf)")
"""Methods of Spark's private JVM classes that acidsql calls."""
_TEXTS_OF_PLANS = re.compile(r"(treeString|explainString|formattedNode|simpleStringWithNodeId|verboseString)")
"""Methods that give a plan as text: none may decide anything, for a string literal is part of the text."""
_MODULES = re.compile(r"py4j\.(?!protocol$)|pyspark\.(core|java_gateway|sql\.(classic|connect|utils))(\.|$)")
_PRIVATE_JAVA = re.compile(r"org\.apache\.spark\b")


def private_uses(tree: ast.AST) -> Iterator[str]:
    """The private names of Spark that a module uses; docstrings may mention them."""
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) if _OF_SPARK.fullmatch(name) or _OF_JVM.fullmatch(name):
                yield name
            case ast.Attribute(attr=name) if _TEXTS_OF_PLANS.fullmatch(name):
                yield name
            case ast.Constant(value=str(text)) if id(node) not in documents and _PRIVATE_JAVA.search(text):
                yield text
            case ast.ImportFrom(module=str(module)) if _MODULES.match(module):
                yield module
            case ast.Import(names=modules):
                yield from (alias.name for alias in modules if _MODULES.match(alias.name))
            case ast.Attribute(attr="spark", value=ast.Attribute(attr="apache")):
                yield "org.apache.spark"
            case _:
                pass


def test_no_module_outside_of_catalyst_uses_a_private_name_of_spark() -> None:
    found = {
        f"{path.relative_to(_ROOT)}: {name}"
        for path in _ROOT.rglob("*.py")
        if _CATALYST not in path.parents
        for name in private_uses(ast.parse(path.read_text()))
    }
    assert not found


@pytest.mark.parametrize(
    "code",
    [
        "frame._jdf.count()",
        "spark._jsparkSession",
        "context._jsc.sc()",
        "spark._jvm.java",
        "column._jc",
        "SparkContext._gateway.proc",
        "session.sessionState().conf()",
        "plan.treeString()",
        "java.org.apache.spark.sql.execution",
        "name = 'org.apache.spark.sql.internal.SQLConf'",
        "from py4j.java_gateway import JavaClass",
        "from pyspark.sql.classic.dataframe import DataFrame",
        "import pyspark.sql.connect.session",
    ],
)
def test_a_private_name_is_found(code: str) -> None:
    assert list(private_uses(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    ["self._jobs.append(1)", '"""Like org.apache.spark.sql.Row."""', "from py4j.protocol import Py4JError", "x.jobs"],
)
def test_a_public_name_is_not_found(code: str) -> None:
    assert not list(private_uses(ast.parse(code)))


def test_inside_of_catalyst_classes_are_named_in_the_lists_that_are_checked_at_the_start() -> None:
    for path in _CATALYST.glob("*.py"):
        if path.name not in _NAMES_OF_CLASSES:
            assert "org.apache.spark" not in path.read_text(), path
    listed = {value for value in vars(names).values() if isinstance(value, SparkClass)}
    assert listed == set(COMMON_CLASSES)


def test_this_spark_has_all_names(spark: SparkSession) -> None:
    java: Any = spark._jvm
    assert missing_names(java, shim_of(spark.version).classes) == {}


def test_a_class_or_a_member_that_is_missing_is_named(spark: SparkSession) -> None:
    java: Any = spark._jvm
    unknown = SparkClass("org.apache.spark.sql.NoSuchClass", ("new/1",))
    changed = SparkClass(shim_of(spark.version).dataset.name, ("ofRows/2", "ofRows/9", "new/77", "NO_FIELD"))
    missing = missing_names(java, (unknown, changed, names.PLATFORM))
    of_dataset = [f"{changed.name}.{member}" for member in ("ofRows/9", "new/77", "NO_FIELD")]
    assert missing == {unknown: [unknown.name], changed: of_dataset}
    with pytest.raises(AcidSqlError) as caught:
        require_names("4.9.0", missing)
    assert caught.value.condition == "SPARK_NOT_SUPPORTED"
    assert "Spark 4.9.0 is not supported: it lacks org.apache.spark.sql.NoSuchClass" in str(caught.value)
    assert "3.5 and 4.0 to 4.3" in str(caught.value)


def test_a_missing_name_that_has_a_public_substitute_is_no_error() -> None:
    require_names("4.9.0", {SHIMS[-1].view_helper: ["createTemporaryViewRelation/9"]})


@pytest.mark.parametrize("version", ["3.4.4", "2.4.8", "unknown"])
def test_a_spark_that_is_too_old_is_refused(version: str) -> None:
    error = fails("SPARK_NOT_SUPPORTED", lambda: shim_of(version))
    assert version in str(error)


def test_each_version_has_the_newest_shim_that_is_not_newer_than_it() -> None:
    chosen = {
        version: shim_of(version)
        for version in ("3.5.9", "4.0.0", "4.1.4", "4.2.1", "4.3.0", "4.10.0", "5.0.0-SNAPSHOT")
    }
    assert [shim.first for shim in chosen.values()] == [(3, 5), (4, 0)] + [(4, 1)] * 2 + [(4, 3)] * 3
    assert [shim.first for shim in SHIMS] == sorted(shim.first for shim in SHIMS)


def test_the_shim_is_chosen_once_for_a_jvm(spark: SparkSession) -> None:
    assert jvm(spark).shim is shim_of(spark.version)
    assert jvm(spark.newSession()) is jvm(spark)


def test_a_view_that_is_defined_by_public_methods_equals_that_of_private_ones(spark: SparkSession) -> None:
    frame = spark.range(3).selectExpr("id", "'Join' AS text")
    one, other = spark.newSession(), spark.newSession()
    define_view(one, "v", frame)
    define_view_by_command(other, "v", frame)
    assert one.table("v").collect() == other.table("v").collect() == frame.collect()
    assert one.table("v").schema == other.table("v").schema
