"""The progress of a statement in a notebook: a line and a bar, which its result replaces."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from IPython.core.interactiveshell import InteractiveShell

from acidsql.frontends import cell_progress
from acidsql.frontends.cell_progress import progress_shown
from acidsql.frontends.cell_results import EMPTY
from acidsql.frontends.html_results import html_progress
from acidsql.session import Session


def test_a_bar_needs_several_tasks() -> None:
    assert html_progress("3 s, 1 of 4 tasks", 1, 4).count('<progress value="1" max="4"') == 1
    assert "<progress" not in html_progress("3 s", 0, 1)
    assert "a &lt; b" in html_progress("a < b", 0, 0)


@pytest.mark.ci
def test_a_cell_shows_the_tasks_of_a_running_job_and_then_nothing(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job waits for a file that is made when its bar was shown."""
    monkeypatch.setattr(cell_progress, "_SHOWN_AFTER", 0.05)
    monkeypatch.setattr(cell_progress, "_SHOWN_EVERY", 0.05)
    told = tmp_path / "told"
    outputs: list[tuple[str, dict[str, str]]] = []
    seen = threading.Event()

    class Place:
        def display(self, data: dict[str, str], raw: bool) -> None:
            self._note("display", data)

        def update(self, data: dict[str, str], raw: bool) -> None:
            self._note("update", data)

        def _note(self, kind: str, data: dict[str, str]) -> None:
            outputs.append((kind, data))
            if "<progress" in data["text/html"]:
                told.touch()
                seen.set()

    def waiting(_: Any) -> Any:
        import os
        import time

        while not os.path.exists(told):
            time.sleep(0.05)
        return ()

    monkeypatch.setattr(cell_progress, "DisplayHandle", Place)
    shell = cast("InteractiveShell", SimpleNamespace(kernel=object()))
    with progress_shown(session, shell):
        session.spark.sparkContext.parallelize(range(4), 4).mapPartitions(waiting).count()
    assert seen.is_set()
    kinds = [kind for kind, _ in outputs]
    assert kinds[:1] == ["display"]
    assert set(kinds[1:]) == {"update"}
    assert any('max="4"' in data["text/html"] and "of 4 tasks" in data["text/plain"] for _, data in outputs)
    assert outputs[-1][1] == EMPTY
    assert session.running_tasks() == (0, 0)
