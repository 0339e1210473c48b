"""The notebooks, and what only a kernel shows: progress, an interrupt, completion. All run in one kernel."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from tests.frontends.notebook_runs import NOTEBOOKS, client_of, executed, kernel_of_this_python, read, shown


@pytest.fixture(scope="module")
def kernel() -> Iterator[KernelManager]:
    """One kernel for all tests of this file: Spark starts once."""
    with kernel_of_this_python() as running:
        yield running


@pytest.fixture
def client(kernel: KernelManager) -> Iterator[BlockingKernelClient]:
    with client_of(kernel) as connected:
        yield connected


@pytest.mark.nightly
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_stored_with_it(path: Path, kernel: KernelManager) -> None:
    assert shown(executed(path, kernel)) == shown(read(path)), "run `make notebooks` and look at what has changed"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_with_its_outputs(path: Path) -> None:
    notebook = read(path)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    failed = [any(output.output_type == "error" for output in cell.outputs) for cell in cells]
    assert failed == ["raises-exception" in cell.metadata.get("tags", ()) for cell in cells]
    assert any("display: flex" in str(output) for cell in cells for output in cell.outputs), "there is no picture"
    assert str(Path.home()) not in path.read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------------------ a kernel


def messages(client: BlockingKernelClient, request: str, until: str) -> list[dict[str, Any]]:
    """The messages about a cell up to one of the type `until`."""
    found: list[dict[str, Any]] = []
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        try:
            message = client.get_iopub_msg(timeout=1)
        except Empty:
            continue
        if message["parent_header"].get("msg_id") == request:
            found.append(message)
            is_idle = message["msg_type"] == "status" and message["content"]["execution_state"] == "idle"
            if message["msg_type"] == until or is_idle:
                return found
    raise AssertionError(f"no {until} came")


@pytest.mark.nightly
def test_a_running_statement_shows_its_progress_and_an_interrupt_ends_it_without_a_trace(
    kernel: KernelManager, client: BlockingKernelClient, tmp_path: Path
) -> None:
    client.execute(f"%load_ext acidsql\n%acidsql --warehouse {tmp_path} SELECT count(*) FROM range(5)", reply=True)
    slow = client.execute(
        "%acidsql SELECT count(*) FROM range(3000000) a JOIN range(3000000) b ON a.id % 7 <> b.id % 5"
    )
    (progress,) = [m for m in messages(client, slow, "display_data") if m["msg_type"] == "display_data"]
    assert progress["content"]["data"]["text/plain"].startswith("Running for ")
    kernel.interrupt_kernel()
    rest = messages(client, slow, "status")
    (error,) = [m["content"] for m in rest if m["msg_type"] == "error"]
    assert "The statement was cancelled." in error["traceback"]
    assert "Traceback" not in "".join(error["traceback"])
    last = [m["content"] for m in rest if m["msg_type"] == "update_display_data"][-1]
    assert last["transient"] == progress["content"]["transient"]
    assert last["data"] == {"text/plain": "", "text/html": ""}


@pytest.mark.nightly
def test_the_kernel_completes_statements(client: BlockingKernelClient, tmp_path: Path) -> None:
    create = "CREATE TABLE visit (page string, seconds int) STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    client.execute(f"%load_ext acidsql\n%acidsql --warehouse {tmp_path} {create}", reply=True)
    text = "%%acidsql\nUPDATE visit SET se"
    reply = client.complete(text, len(text), reply=True, timeout=60)["content"]
    assert reply["matches"][0] == "seconds"
    assert text[reply["cursor_start"] : reply["cursor_end"]] == "se"
