"""Spans of OpenTelemetry: one for each statement, in the caller's context, and one for each of its phases.

The names of attributes are those of OpenTelemetry's conventions for databases, and `acidsql.*` for what these lack.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from acidsql.tracing import Phase

if TYPE_CHECKING:
    from opentelemetry import trace
    from opentelemetry.util.types import AttributeValue

_TRACER: Final = "acidsql"
_PROVIDER_VARIABLE: Final = "OTEL_PYTHON_TRACER_PROVIDER"
"""With this variable OpenTelemetry makes a provider by itself, when it is first asked for one."""
_CONVENTIONS: Final = {
    "database": "db.namespace",
    "operation": "db.operation.name",
    "statement": "db.query.text",
    "error": "error.type",
}


@dataclass(frozen=True, slots=True)
class Span:
    """The span of a running statement."""

    tracer: trace.Tracer
    span: trace.Span

    def phase(self, name: Phase) -> AbstractContextManager[object]:
        """Opens the span of a phase inside."""
        opened: AbstractContextManager[object] = self.tracer.start_as_current_span(
            f"acidsql.{name.value}", record_exception=False, set_status_on_exception=False
        )
        return opened

    def finish(self, values: Mapping[str, object]) -> None:
        """Notes what the statement did: the values of its record in the log."""
        from opentelemetry.trace import StatusCode

        if not self.span.is_recording():
            return
        operation = values.get("operation")
        if isinstance(operation, str):
            self.span.update_name(operation)
        self.span.set_attributes(dict(_attributes(values)))
        if "error" in values:
            self.span.set_status(StatusCode.ERROR, str(values["error"]))


def statement_span() -> AbstractContextManager[Span] | None:
    """Opens the span of a statement as the current one. None if nobody in this process can have asked for spans: the
    application has not imported OpenTelemetry."""
    if "opentelemetry.trace" not in sys.modules and _PROVIDER_VARIABLE not in os.environ:
        return None
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return _opened(trace.get_tracer(_TRACER))


@contextmanager
def _opened(tracer: trace.Tracer) -> Iterator[Span]:
    from opentelemetry.trace import SpanKind

    with tracer.start_as_current_span(
        "acidsql.statement",
        kind=SpanKind.CLIENT,
        attributes={"db.system.name": "acidsql"},
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        yield Span(tracer, span)


def _attributes(values: Mapping[str, object]) -> Iterator[tuple[str, AttributeValue]]:
    for name, value in values.items():
        if name in ("time", "event", "pid", "seconds", "phases"):
            continue
        if isinstance(value, Mapping):
            yield from ((f"acidsql.{name}.{key}", one) for key, one in value.items())
        elif isinstance(value, str | int | float):
            yield _CONVENTIONS.get(name, f"acidsql.{name}"), value
