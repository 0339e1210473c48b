"""Translation of Spark's exceptions into AcidSqlErrors, with their place in the statement."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import DataFrame, Row

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.fragment_places import place_of_call, place_of_fragment
from acidsql.interrupts import interruptible
from acidsql.planner.analysis_errors import explained
from acidsql.planner.sql_errors import find_raised
from acidsql.spark.catalyst.file_relations import unreadable_file
from acidsql.spark.catalyst.pyspark_api import name_of_error, parameters_of_error, places_of_error
from acidsql.spark.instants import instants_as_microseconds, python_row
from acidsql.spark.session.jobs import JobGroup, job_description, job_group
from acidsql.spark.session.jvm_loss import SPARK_ERRORS, gone, lost_by
from acidsql.spark.spark_types import in_wall_clock_time
from acidsql.storage.file_identity import file_replaced

if TYPE_CHECKING:
    from pyspark import SparkContext

_UNRESOLVED: Final = ("UNRESOLVED_COLUMN", "UNRESOLVED_FIELD", "FIELD_NOT_FOUND", "UNRESOLVED_STAR")
_FULL: Final = re.compile(r".*(?:No space left on device|Disk quota exceeded).*")
_FULL_ERRORS: Final = (errno.ENOSPC, errno.EDQUOT)
_STACK: Final = "java.lang.StackOverflowError"
_TOO_DEEP: Final = "The statement is too long or too deep for Spark's stack"
_DEEPER: Final = "Split it, or start Spark with spark.driver.extraJavaOptions=-Xss64m."
_OTHER_PYTHON: Final = re.compile(
    r"ModuleNotFoundError: No module named '(?P<module>[\w.]+)'|\[PYTHON_VERSION_MISMATCH\][^\n]*"
)
"""What a Python worker of Spark says that runs another Python than the driver, or one without its packages."""
_NO_DATE: Final = re.compile(r"\b(?:year|date value|ordinal|timestamp)\b.*(?:out of range|must be >= 1)")
"""What Python says of a date or time that its datetime cannot hold."""
_VIEW: Final = re.compile(r"`?([A-Za-z0-9_]+)@(?:\d+|frame)`?")
_PATTERN: Final = re.compile(r"java\.util\.regex\.PatternSyntaxException: ([^\n]*?)(?: near index \d+)?\n([^\n]*)")
_CLASS: Final = re.compile(r"^(?:(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error)(?:\([\w.$]+\))?: )+")
_IO_ERROR: Final = "java.io.IOException"
_INODE: Final = re.compile(r'inode="([^"]+)"')
"""How HDFS names the path of an error."""
_TAG: Final = re.compile(r"^\[([A-Z_0-9.]+)\] ")
_SHOWN_QUERY: Final = re.compile(r"== SQL \(line 1, position \d+\) ==\n([^\n]*)\n( *)\^")
_ORDER_OF_NULLS: Final = re.compile(r" NULLS (?:FIRST|LAST)$")
"""What the planner adds to a key of ORDER BY."""
_RECURSIVE: Final = re.compile(r"\bWITH\s+RECURSIVE\b", re.IGNORECASE)
_LINE_NOISE: Final = re.compile(r";\s*line \d+ pos \d+.*|\s*SQLSTATE: \w+", re.DOTALL)


def told(error: Exception, context: SparkContext, text: str) -> AcidSqlError:
    """The error of a call of Spark for the user: that the JVM is gone, or what `translate` makes of it."""
    return gone(context) if lost_by(error, context) else translate(error, text)


def translate(error: Exception, text: str) -> AcidSqlError:
    """The AcidSqlError of an exception that Spark raised for the statement `text`.

    An error that acidsql itself raised inside the job is returned unchanged.
    """
    raised = find_raised(str(error))
    if raised is not None:
        return raised
    if (unreadable := unreadable_file(str(error))) is not None:
        return file_replaced(*unreadable)
    if isinstance(error, OSError):
        return _of_system(error)
    if full := _FULL.search(str(error)):
        return AcidSqlError(Condition.DISK_FULL, detail=full[0].strip())
    if _STACK in str(error):
        return AcidSqlError(Condition.QUERY_FAILED, message=_TOO_DEEP, hint=_DEEPER)
    if "Python worker" in str(error) and (other := _OTHER_PYTHON.search(str(error))):
        return _of_other_python(other)
    if isinstance(error, PySparkException):
        return _of_spark(error, text)
    if isinstance(error, Py4JJavaError) and (of_files := _of_file_system(error)) is not None:
        return of_files
    message = _java_message(error)
    if (tag := _TAG.match(_CLASS.sub("", message))) and (known := explained(tag[1], {})):
        return known
    if malformed := _PATTERN.match(message):
        message = f"'{malformed[2]}' is not a valid regular expression: {malformed[1]}"
    return AcidSqlError(Condition.QUERY_FAILED, message=_first_lines(_CLASS.sub("", message)))


def fetch(frame: DataFrame, text: str, limit: int | None) -> Iterator[tuple[object, ...]]:
    """The rows of a query, at most `limit`, as Python values. A failure in its job is raised as an AcidSqlError.
    Instants become wall-clock times in the session's time zone, while PySpark uses the time zone of the Python process.

    Raises KeyboardInterrupt, after its jobs were cancelled.
    """
    return _fetched(frame, text, limit, in_wall_clock_time, tuple)


def fetch_with_instants(frame: DataFrame, text: str, limit: int | None) -> Iterator[tuple[object, ...]]:
    """The rows as `fetch` gives them, but with each instant as a datetime in the time zone UTC."""
    return _fetched(frame, text, limit, instants_as_microseconds, python_row(frame.schema))


def _fetched(
    frame: DataFrame,
    text: str,
    limit: int | None,
    prepared: Callable[[DataFrame], DataFrame],
    python_values: Callable[[Row], tuple[object, ...]],
) -> Iterator[tuple[object, ...]]:
    context = frame.sparkSession.sparkContext
    try:
        # The thread that feeds a local iterator starts in here, so its jobs belong to the group too.
        with (
            interruptible(_no_job),
            job_group(context, job_description(text, "SELECT")) as jobs,
            interruptible(jobs.cancel),
        ):
            frame = prepared(frame)
            rows = iter(
                frame.limit(limit).collect() if limit is not None else frame.toLocalIterator(prefetchPartitions=True)
            )
        while (row := _next(rows, jobs, python_values)) is not None:
            yield row
    except SPARK_ERRORS as error:
        raise told(error, context, text) from error


def fetch_pandas(frame: DataFrame, text: str) -> object:
    """The rows of a query as a frame of pandas. A failure in its job is raised as an AcidSqlError."""
    context = frame.sparkSession.sparkContext
    try:
        with job_group(context, "SELECT") as jobs, interruptible(jobs.cancel):
            return frame.toPandas()
    except SPARK_ERRORS as error:
        raise told(error, context, text) from error


def _no_job() -> None:
    """Cancels nothing, while no job of the query can be running."""


def _next(
    rows: Iterator[Row], jobs: JobGroup, python_values: Callable[[Row], tuple[object, ...]]
) -> tuple[object, ...] | None:
    try:
        with interruptible(jobs.cancel):
            row = next(rows, None)
        return None if row is None else python_values(row)
    except KeyboardInterrupt:
        jobs.cancel()
        raise
    except (ValueError, OverflowError) as error:
        raise without_python_form(error) from error


def is_of_a_date(error: ValueError | OverflowError) -> bool:
    """Whether Python raised the error because a date or time lies outside of its years."""
    return _NO_DATE.search(str(error)) is not None


def without_python_form(error: Exception) -> AcidSqlError:
    """The error of a query one of whose values Python cannot hold."""
    hint = "Python has the years 1 to 9999; select the value as CAST(.. AS STRING)."
    return AcidSqlError(Condition.QUERY_FAILED, message=f"a value has no Python form: {error}", hint=hint)


def _of_other_python(found: re.Match[str]) -> AcidSqlError:
    workers = os.environ.get("PYSPARK_PYTHON", "the first python3 of the search path")
    fault = f"has no module {found['module']}" if found["module"] else "is of another version than the driver's"
    message = f"the Python of Spark's workers ({workers}) {fault}"
    hint = f"Start Spark with PYSPARK_PYTHON={sys.executable}, or with another Python that has the driver's packages."
    return AcidSqlError(Condition.QUERY_FAILED, message=message, hint=hint)


def _of_system(error: OSError) -> AcidSqlError:
    """DISK_FULL, or STORAGE_FAILED with the path and the system's reason."""
    place = error.filename2 or error.filename or "the file system"
    if error.errno in _FULL_ERRORS:
        return AcidSqlError(Condition.DISK_FULL, detail=f"{error.strerror}: {place}")
    return AcidSqlError(Condition.STORAGE_FAILED, path=place, reason=error.strerror or str(error))


def _of_file_system(error: Py4JJavaError) -> AcidSqlError | None:
    """STORAGE_FAILED for an error of one of Hadoop's file systems; None for another error."""
    kind = error.java_exception.getClass()
    while kind is not None and str(kind.getName()) != _IO_ERROR:
        kind = kind.getSuperclass()
    if kind is None:
        return None
    message = str(error.java_exception.getMessage() or error.java_exception)
    reason = _first_lines(_CLASS.sub("", message).partition(";")[0])
    path = _INODE.search(message)
    return AcidSqlError(Condition.STORAGE_FAILED, path=path[1] if path else "the file system", reason=reason)


def _of_spark(error: PySparkException, text: str) -> AcidSqlError:
    condition = name_of_error(error) or ""
    parameters = parameters_of_error(error)
    if condition.startswith(_UNRESOLVED):
        name = parameters.get("objectName") or parameters.get("fieldName") or parameters.get("targetString") or ""
        place = next(_places(error, text), None)
        return _unresolved_column(name, parameters.get("proposal", ""), text, place)
    if condition == "AMBIGUOUS_REFERENCE":
        name, candidates = _plain(parameters.get("name", "")), _plain(parameters.get("referenceNames", ""))
        span = find_word(name, text)
        return AcidSqlError(Condition.AMBIGUOUS_COLUMN, span=span, column=name, candidates=candidates.strip("[]"))
    if condition.startswith("TABLE_OR_VIEW_NOT_FOUND"):
        name = _plain(parameters.get("relationName", ""))
        return AcidSqlError(Condition.TABLE_NOT_FOUND, span=find_word(name, text), table=name, suggestion="")
    if isinstance(error, ParseException) and _RECURSIVE.search(text):
        return AcidSqlError(Condition.NOT_YET_SUPPORTED, feature="WITH RECURSIVE, which Spark has from 4.1 on,")
    known = explained(condition, {key: _VIEW.sub(r"\1", value) for key, value in parameters.items()})
    if known is not None:
        return _placed(known, error, text)
    message = _TAG.sub("", _first_lines(_VIEW.sub(r"\1", str(error))))
    refused = isinstance(error, AnalysisException | ParseException)  # raised before anything ran
    return AcidSqlError(Condition.UNRESOLVED_QUERY if refused else Condition.QUERY_FAILED, message=message)


def _unresolved_column(name: str, proposal: str, text: str, place: Span | None) -> AcidSqlError:
    wrong = _plain(name)
    near = [_plain(p) for p in proposal.split(",") if p.strip() and ":" not in p]
    tail = f" Did you mean {' or '.join(near[:3])}?" if near else ""
    span = place or find_word(wrong, text) or find_word(wrong.rpartition(".")[2], text)
    return AcidSqlError(Condition.COLUMN_NOT_FOUND, span=span, column=wrong, suggestion=tail)


def _placed(known: AcidSqlError, error: PySparkException, text: str) -> AcidSqlError:
    """The error with its place in the statement: the place that Spark reports, or that of the name in the error."""
    parameters = parameters_of_error(error) | known.getMessageParameters()
    expression = parameters.get("sqlExpr", parameters.get("expression", ""))
    function = parameters.get("function", parameters.get("functionName"))
    bare = expression.strip(" '\"")
    bare = bare[1:-1] if bare.startswith("(") and bare.endswith(")") else bare
    found = (
        *_places(error, text),
        place_of_call(_plain(function), text) if function else None,
        place_of_fragment("", bare, text),
    )
    span = next((place for place in found if place is not None), None)
    return known if span is None else known.with_span(span)


def _places(error: PySparkException, text: str) -> Iterator[Span | None]:
    """The places in the statement that Spark names. A place that covers the whole query, or a call in Python, does not
    count."""
    for summary, start, fragment in places_of_error(error):
        shown = _SHOWN_QUERY.search(summary)
        if shown is not None and start > 0:
            before = shown[1][: len(shown[2])].removeprefix("...")
            yield place_of_fragment(before, _ORDER_OF_NULLS.sub("", fragment), text)


def _plain(name: str) -> str:
    """A name without backticks: `` `t`.`c` `` as t.c."""
    return name.strip().replace("`", "")


def find_word(name: str, text: str) -> Span | None:
    """The first place of a name in a statement, outside of strings, ignoring case and quotes."""
    if not name:
        return None
    parts = (re.escape(p) for p in name.split("."))
    wanted = r"`?\s*\.\s*`?".join(parts)
    pattern = re.compile(
        rf"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|--[^\n]*|(?<![\w`.])(`?{wanted}`?)(?![\w`])", re.IGNORECASE
    )
    for found in pattern.finditer(text):
        if found.group(1):
            return Span(text, found.start(1), found.end(1))
    return None


def _java_message(error: Exception) -> str:
    if isinstance(error, Py4JJavaError):
        cause = error.java_exception
        while cause.getCause() is not None:
            cause = cause.getCause()
        return str(cause)
    return f"{type(error).__name__}: {error}"


def _first_lines(message: str) -> str:
    """The message without Spark's plans, contexts and stack traces."""
    head = re.split(r"\n\s*(?:== SQL|'?\w+ \[|at \w|Driver stacktrace|\+- )", message, maxsplit=1)[0]
    return _LINE_NOISE.sub("", head).strip().rstrip(";")[:2000]
