"""The examples of a documentation page, and how the tests run them.

The blocks of a page run from top to bottom in one session on an empty warehouse:

- `sql` blocks run as a script, `python` blocks in one namespace, `ipython` blocks cell by cell. Other languages do not
  run.
- A `text` block that directly follows is the exact output of the block: the rows of each statement as the shell prints
  them, or what Python prints. Where it begins with `[`, the block must fail with this error.
- `<!-- sql ... -->` and `<!-- python ... -->` are blocks that readers do not see. They prepare tables and files.
- `/data/` in a page stands for a directory of the test, and `/golden/` for tests/golden.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from IPython.core.interactiveshell import InteractiveShell

from acidsql.errors import AcidSqlError
from acidsql.frontends.render import Format
from acidsql.frontends.script import rendered
from acidsql.session import Session
from acidsql.statements.results import QueryResult, RowsResult

GOLDEN: Final = Path(__file__).parent / "golden"
RUNNING: Final = ("sql", "python", "ipython")

_BLOCK: Final = re.compile(
    r"^(?P<indent> *)```(?P<language>\w+)[^\n]*\n(?P<text>.*?)^(?P=indent)```$"
    r"|^<!-- (?P<hidden>sql|python)\n(?P<setup>.*?)^-->$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block, or a hidden one: its language, its text, and the line of the page that it begins at."""

    language: str
    text: str
    line: int
    is_followed: bool = False
    """Whether nothing but blank lines stands between it and the next block."""


def blocks(page: str) -> list[Block]:
    """The blocks of a page in order."""
    found = list(_BLOCK.finditer(page))
    starts = [*(match.start() for match in found), len(page)][1:]
    return [
        Block(
            match["language"] or match["hidden"],
            _without_indent(match["text"], match["indent"]) if match["language"] else match["setup"],
            page.count("\n", 0, match.start()) + 1,
            not page[match.end() : start].strip() and bool(match["language"]),
        )
        for match, start in zip(found, starts, strict=True)
    ]


def _without_indent(text: str, indent: str) -> str:
    return re.sub(rf"^{indent}", "", text, flags=re.MULTILINE)


@dataclass(slots=True)
class PageRunner:
    """Runs the blocks of one page. `place` is the reader's directory, the warehouse lies in it."""

    session: Session
    place: Path
    namespace: dict[str, Any] = field(default_factory=dict)

    def run(self, page: str) -> Iterator[tuple[Block, str, str | None]]:
        """Each block that runs, what it gave, and what the page says about it (None: nothing)."""
        self.namespace["session"] = self.session
        found = blocks(page)
        with _own_notebook():
            for block, following in zip(found, [*found, None][1:], strict=True):
                if block.language in RUNNING:
                    has_output = following is not None and block.is_followed and following.language == "text"
                    says = following.text if following is not None and has_output else None
                    yield block, self._output(block, may_fail=says is not None and says.startswith("[")), says

    def _output(self, block: Block, *, may_fail: bool) -> str:
        text = block.text.replace("/data/", f"{self.place}/data/").replace("/golden/", f"{GOLDEN}/")
        match block.language:
            case "sql":
                given = self._run_sql(text, may_fail=may_fail)
            case "python":
                given = self._run_python(text)
            case _:
                given = self._run_cells(text)
        return given.replace(f"{self.place}/data/", "/data/").replace(str(self.place), "")

    def _run_sql(self, text: str, *, may_fail: bool) -> str:
        given: list[str] = []
        try:
            for result in self.session.script(text):
                if isinstance(result, QueryResult | RowsResult):
                    given += rendered(result, result.rows(), Format.TABLE)
        except AcidSqlError as error:
            if not may_fail:
                raise
            given.append(f"{error}\n")
        return "".join(given)

    def _run_python(self, text: str) -> str:
        written = io.StringIO()
        with redirect_stdout(written):
            exec(compile(text, "<page>", "exec"), self.namespace)
        return written.getvalue()

    def _run_cells(self, text: str) -> str:
        shell = InteractiveShell.instance()
        written = io.StringIO()
        with redirect_stdout(written):
            for cell in text.split("\n\n"):
                shell.run_cell(cell).raise_error()  # type: ignore[no-untyped-call]
        self.namespace["cells"] = dict(shell.user_ns)
        return written.getvalue()


@contextmanager
def _own_notebook() -> Iterator[None]:
    """IPython and a default session of one page: its blocks of cells are one notebook."""
    InteractiveShell.clear_instance()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("acidsql.connection._default", None)
        try:
            yield
        finally:
            InteractiveShell.clear_instance()
