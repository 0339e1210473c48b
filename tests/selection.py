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


def every(step: int, cases: Iterable[Any]) -> list[Any]:
    """Parameters of a test that says the same in many variations: the first and then each `step`-th case runs always,
    the others each night. A tuple has the values of several parameters.

    >>> [getattr(case, "marks", "always") for case in every(2, ["a", "b", "c"])]
    ['always', (Mark(name='nightly', args=(), kwargs={}),), 'always']
    """
    nightly = pytest.mark.nightly
    return [
        case if number % step == 0 else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=nightly)
        for number, case in enumerate(cases)
    ]
