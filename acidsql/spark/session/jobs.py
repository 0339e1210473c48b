"""The Spark jobs of one statement as a group, which has a name and ends with the statement."""

from __future__ import annotations

import re
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from py4j.protocol import Py4JError
from pyspark import SparkContext

from acidsql.redaction import clipped, shown_statement
from acidsql.spark.catalyst.pyspark_api import IS_SPARK_35
from acidsql.spark.catalyst.scheduler import cancel_job_group, has_running_tasks
from acidsql.spark.session.jvm_loss import SPARK_ERRORS, is_lost, lost_by

_END_SECONDS: Final = 30.0
"""Seconds that a failed statement waits for its tasks to end."""
_AGAIN_SECONDS: Final = 0.05
_LONGEST: Final = 500
"""Characters of a description."""
_CANCELLED: Final = re.compile(r"SPARK_JOB_CANCELLED|SparkException: Job \d+ cancelled")
"""How Spark 4 and Spark 3.5 name the error of a cancelled job."""
_PROPERTIES: Final = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


@dataclass(frozen=True, slots=True)
class JobGroup:
    """The Spark jobs of a statement, under Spark's ID for the group."""

    context: SparkContext
    id: str
    is_lost: Callable[[BaseException], bool]
    """Tells whether an error was raised because the JVM, and the jobs with it, is gone."""
    ended: threading.Event = field(default_factory=threading.Event)
    """Set when the statement has ended, and starts no job any more."""

    def end(self) -> None:
        """Cancels the jobs of a statement that failed or was interrupted, including jobs that are about to start, and
        waits for their tasks: no task may write after the statement's files are removed."""
        with self._unless_lost():
            deadline = time.monotonic() + _END_SECONDS
            cancel_job_group(self.context, self.id)
            while has_running_tasks(self.context, self.id) and time.monotonic() < deadline:
                time.sleep(0.02)
                cancel_job_group(self.context, self.id)

    def cancel(self) -> None:
        """Cancels the jobs, including most of those that are about to start (`cancel_job_group`). Spark 3.5 does not
        refuse those: there a thread cancels them until the statement has ended."""
        self._cancel()
        if IS_SPARK_35 and not self.ended.is_set():
            threading.Thread(target=self._cancel_again, daemon=True).start()

    def _cancel(self) -> None:
        with self._unless_lost():
            cancel_job_group(self.context, self.id)

    def _cancel_again(self) -> None:
        with suppress(*SPARK_ERRORS):
            while not self.ended.wait(_AGAIN_SECONDS):
                self._cancel()

    def set_properties(self, properties: Mapping[str, str | None]) -> None:
        """Restores local properties of the thread."""
        with self._unless_lost():
            for key, value in properties.items():
                self.context.setLocalProperty(key, value)  # type: ignore[arg-type]

    @contextmanager
    def _unless_lost(self) -> Iterator[None]:
        """Ignores errors of a JVM that is gone: its jobs are gone too."""
        try:
            yield
        except SPARK_ERRORS as error:
            if not self.is_lost(error):
                raise
        except AttributeError:
            if not is_lost(self.context):
                raise


def cancel_all(groups: Iterable[JobGroup]) -> None:
    """Cancels the jobs of several groups, whose JVM may be gone."""
    for group in groups:
        with suppress(Py4JError):  # the JVM is gone, and its jobs with it
            group.cancel()


def job_description(text: str, otherwise: str) -> str:
    """What Spark's UI shows of the jobs of a statement: its text in one line, or `otherwise` where texts are hidden."""
    shown = shown_statement(text, 4 * _LONGEST)
    return otherwise if shown is None else clipped(shown, _LONGEST)


def was_cancelled(error: BaseException) -> bool:
    """Whether Spark raised the error because its job was cancelled. Then the statement must end, although it could go
    on without what the job should have found."""
    return _CANCELLED.search(str(error)) is not None


@contextmanager
def job_group(
    context: SparkContext, description: str, is_lost: Callable[[BaseException], bool] | None = None
) -> Iterator[JobGroup]:
    """The group of all jobs that this thread, or a thread that it makes, starts inside. An interrupt ends them."""
    group = JobGroup(context, f"acidsql-{uuid.uuid4()}", is_lost or (lambda error: lost_by(error, context)))
    before = {key: context.getLocalProperty(key) for key in _PROPERTIES}
    context.setJobGroup(group.id, description, interruptOnCancel=False)
    try:
        yield group
    except KeyboardInterrupt:
        group.end()
        raise
    finally:
        group.ended.set()
        group.set_properties(before)
