"""Spark's scheduler: the jobs and tasks of a job group."""

from __future__ import annotations

from typing import Any

from pyspark import SparkContext

from acidsql.spark.catalyst.gateway import items


def cancel_job_group(context: SparkContext, group: str) -> None:
    """Cancels the jobs of a group, and those that are about to start. PySpark's cancelJobGroup lets these run."""
    scala_context: Any = context._jsc.sc()
    scala_context.cancelJobGroupAndFutureJobs(group)


def has_running_tasks(context: SparkContext, group: str) -> bool:
    """Asks the scheduler itself: the status tracker learns of a new task a moment later."""
    scheduler: Any = context._jsc.sc().taskScheduler()
    return any(_is_running(task_set, group) for task_set in items(scheduler.rootPool().getSortedTaskSetQueue()))


def _is_running(task_set: Any, group: str) -> bool:
    properties = task_set.taskSet().properties()
    return bool(
        properties is not None and properties.getProperty("spark.jobGroup.id") == group and task_set.runningTasks() > 0
    )
