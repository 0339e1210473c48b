"""The functions that Spark knows, and Spark's texts about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from acidsql.spark.engine import Engine

_USAGE: Final = "Usage: "
_EXTENDED: Final = "Extended Usage:"
_CLASS: Final = "Class: "


@dataclass(frozen=True, slots=True)
class FunctionText:
    """Spark's description of a function: the lines of its usage, further lines, and the class that computes it."""

    usage: Sequence[str]
    details: Sequence[str]
    java_class: str | None


def function_names(engine: Engine) -> frozenset[str]:
    """The names of all functions and operators of Spark, and of the user's session. Starts Spark."""
    rows = engine.running.answer("SHOW ALL FUNCTIONS")
    names = (str(row[0]).rpartition(".")[2] for row in rows)
    return frozenset(name for name in names if name) | engine.running.temporary_functions()


def function_text(engine: Engine, name: str) -> FunctionText:
    """Spark's description of a function in `function_names`."""
    rows = engine.running.answer(f"DESCRIBE FUNCTION EXTENDED `{name}`")
    texts = [str(row[0]) for row in rows]
    usage = _section(texts, _USAGE)
    details = _section(texts, _EXTENDED)
    java_class = next((text.removeprefix(_CLASS) for text in texts if text.startswith(_CLASS)), None)
    return FunctionText(usage, details, java_class)


def _section(texts: Sequence[str], title: str) -> list[str]:
    found = next((text.removeprefix(title) for text in texts if text.startswith(title)), "")
    return [line.strip() for line in found.strip().splitlines() if line.strip() not in ("", "N/A.")]
