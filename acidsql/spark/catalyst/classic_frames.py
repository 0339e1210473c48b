"""PySpark's class of frames that run in a JVM of this process, which pyspark.sql.DataFrame stands for."""

from __future__ import annotations

from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame

__all__ = ["ClassicFrame"]
