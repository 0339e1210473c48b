"""The frames that a session returns: a failure in their jobs, whenever these run, is raised as an AcidSqlError.

Such a frame is a PySpark frame of a subclass, so that other frames of the user do not change. Frames that derive from
it (`select`, `filter` ..) are of the subclass too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from types import FunctionType
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from acidsql.spark.catalyst.classic_frames import ClassicFrame
from acidsql.spark.failures import told
from acidsql.spark.jvm_loss import SPARK_ERRORS, lost_by

_ACTIONS: Final = frozenset(
    {"approxQuantile", "checkpoint", "collect", "corr", "count", "cov", "crosstab", "describe", "first"}
    | {"foreach", "foreachPartition", "freqItems", "head", "isEmpty", "localCheckpoint", "show", "summary", "tail"}
    | {"take", "toArrow", "toLocalIterator", "toPandas", "_show_string", "_repr_html_", "__repr__"}
)
"""Methods that run a job. Other methods only analyze a query that the user builds on the frame, and raise PySpark's own
errors: these are about the user's query, not about the statement."""


class AnswerFrame(ClassicFrame):
    """A frame with the rows of a statement."""

    _statement: str


def answer(frame: DataFrame, statement: str) -> DataFrame:
    """Makes the frame an AnswerFrame of the statement."""
    if type(frame) is ClassicFrame:
        frame.__class__ = AnswerFrame
        frame._statement = statement  # type: ignore[attr-defined]
    return frame


def _deriving(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def derived(self: AnswerFrame, *args: Any, **kwargs: Any) -> Any:
        given = method(self, *args, **kwargs)
        return answer(given, self._statement) if isinstance(given, DataFrame) else given

    return derived


def _translating(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def translated(self: AnswerFrame, *args: Any, **kwargs: Any) -> Any:
        try:
            given = method(self, *args, **kwargs)
        except SPARK_ERRORS as error:
            shown = _told(error, self)
            raise shown from (None if shown is error else error)
        return _translated_rows(given, self) if isinstance(given, Iterator) else given

    return translated


def _translated_rows(rows: Iterator[Any], frame: AnswerFrame) -> Iterator[Any]:
    """The rows of toLocalIterator, whose jobs run while the rows are consumed."""
    try:
        yield from rows
    except SPARK_ERRORS as error:
        shown = _told(error, frame)
        raise shown from (None if shown is error else error)


def _told(error: Exception, frame: AnswerFrame) -> Exception:
    """The error of a frame's action for the user. An error of the system that has nothing to do with Spark, such as one
    of a file that the action was given, stays as it is."""
    context = frame.sparkSession.sparkContext
    is_of_spark = isinstance(error, PySparkException | Py4JError) or lost_by(error, context)
    return told(error, context, frame._statement) if is_of_spark else error


def _methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    """The methods of PySpark's frame, including inherited ones."""
    for name in dir(ClassicFrame):
        method = getattr(ClassicFrame, name)
        if isinstance(method, FunctionType) and (name in _ACTIONS or _derives(name)):
            yield name, method


def _derives(name: str) -> bool:
    """Whether a method may return a derived frame. `transform` returns what the user's function returns, which may be
    any frame."""
    return name == "__getitem__" or not (name.startswith("_") or name == "transform")


for _name, _method in _methods():
    setattr(AnswerFrame, _name, _deriving(_translating(_method) if _name in _ACTIONS else _method))
