"""Which versions of Spark a test needs. A test of what Spark 3.5 or 4.0 lacks is marked with `needs_spark` alone."""

from __future__ import annotations

from typing import Final, TypeVar

import pyspark
import pytest

Case = TypeVar("Case")
SPARK_VERSION: Final = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
"""Major and minor version."""


def needs_spark(major: int, minor: int, what: str) -> pytest.MarkDecorator:
    """Skips a test on older versions of Spark, which lack `what`. docs/install.md lists all of it."""
    return pytest.mark.skipif((major, minor) > SPARK_VERSION, reason=f"needs Spark {major}.{minor}: {what}")


def needs_no_spark(major: int, minor: int, what: str) -> pytest.MarkDecorator:
    """Skips a test of how acidsql does without `what` on the versions of Spark that have it."""
    return pytest.mark.skipif((major, minor) <= SPARK_VERSION, reason=f"Spark {major}.{minor} has {what}")


def since_spark(major: int, minor: int, *cases: Case) -> tuple[Case, ...]:
    """Cases of a parametrized test that need a version of Spark; none on an older one."""
    return () if (major, minor) > SPARK_VERSION else cases
