"""Spark's scheduler: the jobs and tasks of a job group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark import SparkContext

from acidsql.spark.catalyst.gateway import jvm_of


def cancel_job_group(context: SparkContext, group: str) -> None:
    """Cancels the jobs of a group, and refuses those that are submitted later, which PySpark's cancelJobGroup lets run.

    The stages that an adaptive plan submits in front of a shuffle are not refused
    (DAGScheduler.handleMapStageSubmitted), and Spark 3.5 refuses nothing. Call this again until the statement has
    ended.
    """
    jvm_of(context).shim.cancel_group(context._jsc.sc(), group)


def has_running_tasks(context: SparkContext, group: str) -> bool:
    """Asks the scheduler itself: the status tracker learns of a new task a moment later."""
    return any(task_set.runningTasks() > 0 and _group(task_set) == group for task_set in _task_sets(context))


def cancelled_tasks(context: SparkContext) -> int:
    """How many tasks still run whose stage was cancelled. Spark asks a task to end, and cannot make it: generated code
    that compares rows looks for the request only between the batches that it reads."""
    return sum(int(task_set.runningTasks()) for task_set in _task_sets(context) if task_set.isZombie())


def _task_sets(context: SparkContext) -> Iterator[Any]:
    """The stages of which a task runs or waits. Pool.getSortedTaskSetQueue leaves out those that were cancelled."""
    scheduler: Any = context._jsc.sc().taskScheduler()
    waiting = [scheduler.rootPool()]
    while waiting:
        schedulable = waiting.pop()
        queue = schedulable.schedulableQueue()  # a stage has none, and a pool has one of stages and other pools
        if queue is None:
            yield schedulable
        else:
            waiting += list(queue.toArray())


def _group(task_set: Any) -> str | None:
    properties = task_set.taskSet().properties()
    return None if properties is None else properties.getProperty("spark.jobGroup.id")
