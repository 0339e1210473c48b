"""The frames that a session returns: a failure in their jobs, whenever these run, is raised as an AcidSqlError.

Such a frame is a PySpark frame of a subclass, so that other frames of the user do not change. Frames that derive from
it (`select`, `filter` ..) are of the subclass too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from types import FunctionType
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, GroupedData

from acidsql.errors import AcidSqlError
from acidsql.spark.catalyst.pyspark_api import TO_ARROW, ClassicFrame
from acidsql.spark.failures import is_of_a_date, told, without_python_form
from acidsql.spark.frames.read_files import ReadFiles, checked_rows
from acidsql.spark.session.jvm_loss import SPARK_ERRORS, lost_by

_ACTIONS: Final = frozenset(
    {"approxQuantile", "checkpoint", "collect", "corr", "count", "cov", "crosstab", "describe", "first"}
    | {"foreach", "foreachPartition", "freqItems", "head", "isEmpty", "localCheckpoint", "show", "summary", "tail"}
    | {"take", "toArrow", "toLocalIterator", "toPandas", "_show_string", "_repr_html_"}
)
"""Methods that run a job. Other methods only analyze a query that the user builds on the frame, and raise PySpark's own
errors: these are about the user's query, not about the statement."""


_CUT_OFF: Final = frozenset({"checkpoint", "localCheckpoint"})
"""Methods whose frames read no files of tables."""


_SHOWN: Final = frozenset({"_repr_html_"})
"""Methods that notebooks call of every frame, and that run a job only if the session evaluates frames eagerly."""


class AnswerFrame(ClassicFrame):
    """A frame with the rows of a statement."""

    _statement: str
    _reads: tuple[ReadFiles, ...]


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The rows of a query: `frame` belongs to the user's session, where the user goes on with it; `private` belongs to
    the session of the statement, and runs with the statement's settings."""

    frame: DataFrame
    private: DataFrame


def answer(frame: DataFrame, statement: str, reads: Sequence[ReadFiles] = ()) -> DataFrame:
    """Makes the frame an AnswerFrame of the statement. `reads` are the files that its jobs open."""
    if type(frame) is ClassicFrame:
        frame.__class__ = AnswerFrame
        frame._statement = statement  # type: ignore[attr-defined]
        frame._reads = tuple(reads)  # type: ignore[attr-defined]
    return frame


def read_by(values: Iterable[object]) -> list[ReadFiles]:
    """The files that those of the values which are AnswerFrames read."""
    return list(dict.fromkeys(read for value in values if isinstance(value, AnswerFrame) for read in value._reads))


def _deriving(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def derived(self: AnswerFrame, *args: Any, **kwargs: Any) -> Any:
        given = method(self, *args, **kwargs)
        if not isinstance(given, DataFrame):
            return _groups(given, self) if type(given) is GroupedData else given
        reads = () if method.__name__ in _CUT_OFF else read_by((self, *args, *kwargs.values()))
        return answer(given, self._statement, reads)

    return derived


class AnswerGroups(GroupedData):
    """The groups of an AnswerFrame (`groupBy`, `cube` ..), whose aggregates are AnswerFrames."""

    _of: AnswerFrame


def _groups(groups: Any, frame: AnswerFrame) -> Any:
    groups.__class__ = AnswerGroups
    groups._of = frame
    return groups


def _aggregating(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def aggregated(self: AnswerGroups, *args: Any, **kwargs: Any) -> Any:
        given = method(self, *args, **kwargs)
        if type(given) is GroupedData:  # pivot
            return _groups(given, self._of)
        return answer(given, self._of._statement, self._of._reads) if isinstance(given, DataFrame) else given

    return aggregated


def _translating(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def translated(self: AnswerFrame, *args: Any, **kwargs: Any) -> Any:
        try:
            if method.__name__ not in _SHOWN:
                _check(self)
            given = method(self, *args, **kwargs)
            if isinstance(given, Iterator):
                return _translated_rows(checked_rows(given, self._reads), self)
            if method.__name__ not in _SHOWN or given is not None:
                _check(self)
        except SPARK_ERRORS as error:
            shown = _told(error, self)
            raise shown from (None if shown is error else error)
        except (ValueError, OverflowError) as error:
            raise (without_python_form(error) if is_of_a_date(error) else error) from error.__cause__
        return given

    return translated


def _translated_rows(rows: Iterator[Any], frame: AnswerFrame) -> Iterator[Any]:
    """The rows of toLocalIterator, whose jobs run while the rows are consumed."""
    try:
        yield from rows
    except SPARK_ERRORS as error:
        shown = _told(error, frame)
        raise shown from (None if shown is error else error)
    except (ValueError, OverflowError) as error:
        raise (without_python_form(error) if is_of_a_date(error) else error) from error.__cause__


def _check(frame: AnswerFrame) -> None:
    """Raises FILE_REPLACED if a job of the frame opens, or may have opened, other files than those of its snapshot."""
    for read in frame._reads:
        read.check()


def _told(error: Exception, frame: AnswerFrame) -> Exception:
    """The error of a frame's action for the user: that its files were replaced, if they were, or Spark's. An error of
    the system that has nothing to do with Spark, such as one of a file that the action was given, stays as it is."""
    with suppress(*SPARK_ERRORS):
        try:
            _check(frame)
        except AcidSqlError as replaced:
            return replaced
    context = frame.sparkSession.sparkContext
    is_of_spark = isinstance(error, PySparkException | Py4JError) or lost_by(error, context)
    return told(error, context, frame._statement) if is_of_spark else error


def _methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    """The methods of PySpark's frame, including inherited ones, and toArrow, which PySpark 3.5 lacks."""
    for name in {*dir(ClassicFrame), TO_ARROW.__name__}:
        method = getattr(ClassicFrame, name, TO_ARROW)
        if isinstance(method, FunctionType) and (name in _ACTIONS or _derives(name)):
            yield name, method


def _derives(name: str) -> bool:
    """Whether a method may return a derived frame. `transform` returns what the user's function returns, which may be
    any frame."""
    return name == "__getitem__" or not (name.startswith("_") or name == "transform")


for _name in dir(GroupedData):
    _method = getattr(GroupedData, _name)
    if isinstance(_method, FunctionType) and not _name.startswith("_"):
        setattr(AnswerGroups, _name, _aggregating(_method))
for _name, _method in _methods():
    setattr(AnswerFrame, _name, _deriving(_translating(_method) if _name in _ACTIONS else _method))
