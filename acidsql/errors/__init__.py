"""The exception that acidsql raises. `conditions` is the table of its conditions, `spans` has the places in statements
that it points to and the carets under them, `visible_text` makes control characters visible.

Import `AcidSqlError`, `Condition` and `Span` from here. The package imports nothing of acidsql but `similar_names`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from acidsql.errors.conditions import Condition
from acidsql.errors.spans import Span
from acidsql.errors.visible_text import visible, visible_json
from acidsql.similar_names import similar_names

__all__ = ["AcidSqlError", "Condition", "Span", "suggestion", "visible", "visible_json"]

_LONGEST_MESSAGE: Final = 4000
"""How many characters of a message an error shows."""


class AcidSqlError(Exception):
    """The exception that acidsql raises.

    `condition` is the name of the error's condition, `sqlstate` its SQLSTATE, and `hive_code` Hive's error code or
    None. `span` is the place in the statement, or None, and `hint` says what to do ("" if there is no hint).
    """

    def __init__(
        self, condition: Condition, /, *, span: Span | None = None, hint: str = "", **parameters: object
    ) -> None:
        self._condition = condition
        self._parameters = {name: str(value) for name, value in parameters.items()}
        self.span = span
        self.hint = hint
        self.message = condition.value.template.format(**self._parameters)
        super().__init__(str(self))

    @classmethod
    def of(
        cls, condition: Condition, parameters: Mapping[str, str], *, span: Span | None = None, hint: str = ""
    ) -> AcidSqlError:
        """Makes an error from a mapping of parameters."""
        named: dict[str, Any] = dict(parameters)
        return cls(condition, span=span, hint=hint, **named)

    @property
    def condition(self) -> str:
        """The name of the condition, for example TABLE_NOT_FOUND."""
        return self._condition.name

    @property
    def sqlstate(self) -> str:
        """The SQLSTATE, five characters."""
        return self._condition.value.sqlstate

    @property
    def hive_code(self) -> int | None:
        """Hive's code for this error, or None."""
        return self._condition.value.hive_code

    def with_span(self, span: Span) -> AcidSqlError:
        """The same error with a place. An error that has one keeps it."""
        if self.span is not None:
            return self
        return AcidSqlError.of(self._condition, self._parameters, span=span, hint=self.hint)

    def with_hint(self, hint: str) -> AcidSqlError:
        """The same error with a further sentence in its hint."""
        return AcidSqlError.of(self._condition, self._parameters, span=self.span, hint=f"{self.hint} {hint}".strip())

    def moved(self, source: str, offset: int) -> AcidSqlError:
        """The same error with its place moved by `offset` characters, in the longer text `source`."""
        assert self.span is not None
        return self.placed(Span(source, self.span.start + offset, self.span.end + offset))

    def placed(self, span: Span) -> AcidSqlError:
        """The same error with this place instead of the one that it has."""
        return AcidSqlError.of(self._condition, self._parameters, span=span, hint=self.hint)

    # -- PySpark's getters
    def getCondition(self) -> str:
        return self.condition

    getErrorClass = getCondition

    def getSqlState(self) -> str:
        return self.sqlstate

    def getMessageParameters(self) -> dict[str, str]:
        return dict(self._parameters)

    def getMessage(self) -> str:
        return self.message

    def getQueryContext(self) -> list[Span]:
        """The place as a list of at most one Span, the counterpart of PySpark's QueryContext."""
        return [self.span] if self.span is not None else []

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int | None = None) -> str:
        """The error as it is shown: with its code, the line of the statement with carets under the place, and the hint.
        `width` is that of the screen, which cuts longer lines of the statement around the place."""
        code = f" [Error {self.hive_code}]" if self.hive_code else ""
        lines = [f"[{self.condition}]{code} {_shown(self.message)}"]
        if self.span is not None:
            lines.append(self.span.caret_block(width))
        if self.hint:
            lines.append(f"Hint: {_shown(self.hint)}")
        return "\n".join(lines)


def _shown(message: str) -> str:
    """A message cut to a readable length, with its control characters escaped: it may quote text or values."""
    clipped = message if len(message) <= _LONGEST_MESSAGE else message[:_LONGEST_MESSAGE] + "..."
    return visible(clipped.expandtabs(4))


def suggestion(wrong: str, known: list[str] | tuple[str, ...]) -> str:
    """The end of a "not found" message, which names similar names or those that exist.

    >>> suggestion("salry", ["id", "name", "salary"])
    ' Did you mean salary?'
    """
    near = similar_names(wrong.lower(), known)
    if near:
        return f" Did you mean {' or '.join(near)}?"
    shown = ", ".join(known[:10])
    return f" (there is {shown}{', ...' if len(known) > 10 else ''})" if known else ""
