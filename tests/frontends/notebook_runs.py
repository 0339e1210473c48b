"""Running the notebooks, all in one kernel: for the tests, and to store their outputs (`make notebooks`)."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
_SECONDS = 300
"""How long a cell may take."""
_VOLATILE = re.compile(
    r"\b\d+(?:\.\d+)? (?:s|k?B)\b|/[\w./-]*/acidsql-\w+-\w+|\b1[789]\d{11}\b|\b\d+\.\d\b"
    r"|\b20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?|0x[0-9a-f]+"
)
"""What differs from run to run: seconds, bytes, temporary directories, times, rates, addresses."""
_PADDING = re.compile(r" {2,}|-{2,}")
"""What differs with the length of these in a table of text."""
_FORGET = "get_ipython().extension_manager.loaded.discard('acidsql')\n%reset -f"
_WARM = """import tempfile, acidsql
acidsql.connect(tempfile.mkdtemp()).sql("SELECT count(*) FROM range(3)").collect()"""
"""Starts Spark, so that the times that are stored are not those of its start."""
_RUN_FIELDS = ("execution", "jupyter")


@contextmanager
def kernel_of_this_python() -> Iterator[KernelManager]:
    """A kernel that runs `sys.executable`, whatever kernels the machine has under the name python3."""
    with tempfile.TemporaryDirectory() as directory:
        spec = Path(directory) / "kernels" / "this-python"
        spec.mkdir(parents=True)
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        (spec / "kernel.json").write_text(
            json.dumps({"argv": command, "display_name": "this Python", "language": "python"})
        )
        specs = KernelSpecManager(kernel_dirs=[str(spec.parent)], ensure_native_kernel=False)
        manager = KernelManager(kernel_name="this-python", kernel_spec_manager=specs)
        manager.start_kernel(cwd=str(FOLDER))
        try:
            yield manager
        finally:
            manager.shutdown_kernel(now=True)


@contextmanager
def client_of(kernel: KernelManager) -> Iterator[BlockingKernelClient]:
    """A client of a running kernel, for single cells."""
    client = kernel.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=_SECONDS)
        yield client
    finally:
        client.stop_channels()


def read(path: Path) -> NotebookNode:
    """The notebook in a file."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    assert isinstance(notebook, NotebookNode)
    return notebook


def executed(path: Path, kernel: KernelManager) -> NotebookNode:
    """The notebook with the outputs of a run in this kernel, which has neither variables nor extensions then, and does
    not keep those of the notebook.

    Raises CellExecutionError for a cell that fails without the tag `raises-exception`.
    """
    notebook = read(path)
    for cell in _code(notebook):
        cell.outputs, cell.execution_count = [], None
    _forget(kernel)
    NotebookClient(notebook, km=kernel, timeout=_SECONDS).execute()
    _forget(kernel)
    for number, cell in enumerate(_code(notebook), start=1):
        cell.execution_count = number
        cell.outputs = [one for one in cell.outputs if one.get("data") != {"text/plain": "", "text/html": ""}]
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = number
            output.get("metadata", {}).clear()
        for name in _RUN_FIELDS:
            cell.metadata.pop(name, None)
    return notebook


def _forget(kernel: KernelManager) -> None:
    with client_of(kernel) as client:
        client.execute(_FORGET, reply=True, timeout=_SECONDS)


def shown(notebook: NotebookNode) -> list[str]:
    """The outputs of each cell as text, without what differs from run to run."""
    texts = (json.dumps(cell.outputs, sort_keys=True) for cell in _code(notebook))
    return [_PADDING.sub(" ", _VOLATILE.sub("*", text)) for text in texts]


def _code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def store(paths: list[Path]) -> None:
    """Runs notebooks and stores them with their outputs."""
    with kernel_of_this_python() as kernel:
        with client_of(kernel) as client:
            client.execute(_WARM, reply=True, timeout=_SECONDS)
        for path in paths:
            notebook = executed(path, kernel)
            notebook.metadata.language_info = {"name": "python"}
            nbformat.write(notebook, path)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    store([FOLDER / f"{name}.ipynb" for name in sys.argv[1:]] or NOTEBOOKS)
