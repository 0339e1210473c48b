"""Writes docs/operations/tested-components.md from tested_components.py: `python -m docs.scripts.tested_page`.

Where a test runs is read from its marks, so the page cannot say something else.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from docs.scripts.tested_components import COMPONENTS, Component, Kind, Shown

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "operations" / "tested-components.md"

_CI: Final = "CI"
_NIGHTLY: Final = "`make test-all`"
_CLUSTER: Final = "`make test-cluster`"
_SOAK: Final = "`make soak`"
_ON_CLUSTER: Final = "Standalone cluster"
"""The component on which files run again that `make test-cluster` names."""
_NOT_TESTED: Final = "not tested"
_INTRODUCTION: Final = """# What is tested on which component

<!-- Generated from docs/scripts/tested_components.py by `make docs-pages`: do not edit. -->

Which kinds of statements run on which component in the tests, and where the tests run: in CI (`make test-ci`), by
`make test-all` each night, by `make test-cluster`, or by `make soak`. "refused" stands for one clear error before
anything is written. The sections below name the tests, and what they inject. Nothing is mocked.
"""


def page() -> str:
    """The whole page."""
    lines = [_INTRODUCTION, _row("Component", *(kind.value for kind in Kind)), "|---" * (1 + len(Kind)) + "|"]
    lines += [_row(_link(one), *(_summary(one, kind) for kind in Kind)) for one in COMPONENTS]
    for component in COMPONENTS:
        lines += ["", *_section(component)]
    return "\n".join(lines) + "\n"


def marks(test: str) -> frozenset[str]:
    """The marks of a test and of its file, without those of single parameters. Raises KeyError where there is no such
    test."""
    file, _, name = test.partition("::")
    return _marks_of_file(file)[name]


@cache
def _marks_of_file(file: str) -> dict[str, frozenset[str]]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    shared = {mark for node in tree.body if _is_pytestmark(node) for mark in _named(ast.unparse(node))}
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    return {
        one.name: frozenset(shared | {mark for decorator in one.decorator_list for mark in _of_decorator(decorator)})
        for one in functions
    }


def _is_pytestmark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"


def _named(text: str) -> Iterator[str]:
    return iter(re.findall(r"pytest\.mark\.(\w+)", text))


def _of_decorator(decorator: ast.expr) -> Iterator[str]:
    """Those of parametrize belong to single parameters."""
    names = list(_named(ast.unparse(decorator)))
    return iter(names[:1])


def _where(component: Component, test: str) -> str:
    found = marks(test)
    if "cluster" in found or (component.name == _ON_CLUSTER and _runs_again(test)):
        return _CLUSTER
    if "soak" in found:
        return _SOAK
    return _NIGHTLY if "nightly" in found else _CI


def _runs_again(test: str) -> bool:
    """Whether `make test-cluster` names the test's file."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^test-cluster: .*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    return test.partition("::")[0] in recipe


def _summary(component: Component, kind: Kind) -> str:
    shown = component.shown.get(kind, ())
    places = {_where(component, one.test) for one in shown}
    text = ", ".join(place for place in (_CI, _NIGHTLY, _CLUSTER, _SOAK) if place in places)
    refused = [one.is_refused for one in shown]
    if any(refused):
        return f"refused: {text}" if all(refused) else f"in part refused: {text}"
    return text or _NOT_TESTED


def _section(component: Component) -> list[str]:
    lines = [f"## {component.name}", "", component.what, "", _row("Kind", "Test", "Runs in"), "|---|---|---|"]
    for kind in Kind:
        lines += _rows(component, kind, component.shown.get(kind, ()))
    return lines


def _rows(component: Component, kind: Kind, shown: Sequence[Shown]) -> list[str]:
    if not shown:
        return [_row(kind.value, _NOT_TESTED, "")]
    return [
        _row(
            f"{kind.value}: {one.injected or 'refused'}" if one.injected or one.is_refused else kind.value,
            f"`{one.test}`",
            _where(component, one.test),
        )
        for one in shown
    ]


def _link(component: Component) -> str:
    return f"[{component.name}](#{re.sub(r'[^a-z0-9 -]', '', component.name.lower()).replace(' ', '-')})"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
