"""The Spark jobs of one statement as a group: named, and ended with the statement."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from pyspark import SparkContext

from acidsql.spark.catalyst.scheduler import cancel_job_group, has_running_tasks
from acidsql.spark.jvm_loss import SPARK_ERRORS, is_lost, lost_by

_END_SECONDS: Final = 30.0
"""How long a statement that failed waits for its tasks to notice."""
_PROPERTIES: Final = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


@dataclass(frozen=True, slots=True)
class JobGroup:
    """A statement's Spark jobs, by the ID that Spark knows them by."""

    context: SparkContext
    id: str
    is_lost: Callable[[BaseException], bool]
    """Whether an error came because the JVM is gone, and with it the jobs."""

    def end(self) -> None:
        """Ends the jobs of a statement that failed or was interrupted, those too that it is about to start, and waits
        for their tasks: none may write behind the removal of the statement's files."""
        with self._unless_lost():
            cancel_job_group(self.context, self.id)
            deadline = time.monotonic() + _END_SECONDS
            while has_running_tasks(self.context, self.id) and time.monotonic() < deadline:
                time.sleep(0.02)

    def cancel(self) -> None:
        """Cancels them, those too that are about to start."""
        with self._unless_lost():
            cancel_job_group(self.context, self.id)

    def set_properties(self, properties: Mapping[str, str | None]) -> None:
        """Sets the thread's local properties again."""
        with self._unless_lost():
            for key, value in properties.items():
                self.context.setLocalProperty(key, value)  # type: ignore[arg-type]

    @contextmanager
    def _unless_lost(self) -> Iterator[None]:
        """Of a JVM that is gone no job is left."""
        try:
            yield
        except SPARK_ERRORS as error:
            if not self.is_lost(error):
                raise
        except AttributeError:
            if not is_lost(self.context):
                raise


@contextmanager
def job_group(
    context: SparkContext, description: str, is_lost: Callable[[BaseException], bool] | None = None
) -> Iterator[JobGroup]:
    """The group of all jobs that this thread, or one that it makes, starts inside; they end when it is interrupted."""
    group = JobGroup(context, f"acidsql-{uuid.uuid4()}", is_lost or (lambda error: lost_by(error, context)))
    before = {key: context.getLocalProperty(key) for key in _PROPERTIES}
    context.setJobGroup(group.id, description, interruptOnCancel=False)
    try:
        yield group
    except KeyboardInterrupt:
        group.end()
        raise
    finally:
        group.set_properties(before)
