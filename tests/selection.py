"""Which cases of a parametrized test run in `make test`; the others are marked `full`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")


def core(cases: Iterable[Case], is_core: Callable[[Case], bool]) -> list[Any]:
    """Parameters of a test: those that are not core run in `make test-all` and CI only.

    >>> [getattr(case, "marks", "core") for case in core([1, 2], lambda case: case == 1)]
    ['core', (Mark(name='full', args=(), kwargs={}),)]
    """
    return [case if is_core(case) else pytest.param(case, marks=pytest.mark.full) for case in cases]
