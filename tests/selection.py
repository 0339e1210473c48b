"""Which cases of a parametrized test run in `make test`; the others are marked `full`, or `soak` where CI has no time
for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")


def core(cases: Iterable[Case], is_core: Callable[[Case], bool], one_of: int = 1) -> list[Any]:
    """Parameters of a test: of those that are not core, one of so many runs in `make test-all` and CI only, and the
    others in `make soak` only.

    >>> [getattr(case, "marks", "core") for case in core([1, 2], lambda case: case == 1)]
    ['core', (Mark(name='full', args=(), kwargs={}),)]
    """
    marks = (pytest.mark.soak if number % one_of else pytest.mark.full for number in count())
    return [case if is_core(case) else pytest.param(case, marks=next(marks)) for case in cases]
