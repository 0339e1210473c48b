"""Which cases of a parametrized test run with it; the others are marked `ci`, `nightly` or `soak` (pyproject.toml)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")


def core(
    cases: Iterable[Case],
    is_core: Callable[[Case], bool],
    one_of: int = 1,
    others: pytest.MarkDecorator = pytest.mark.nightly,
) -> list[Any]:
    """Parameters of a test. Of those that are not core, one of so many is marked with `others`, and the rest runs in
    `make soak` only.

    >>> [getattr(case, "marks", "core") for case in core([1, 2], lambda case: case == 1)]
    ['core', (Mark(name='nightly', args=(), kwargs={}),)]
    """
    marks = (pytest.mark.soak if number % one_of else others for number in count())
    return [case if is_core(case) else pytest.param(case, marks=next(marks)) for case in cases]
