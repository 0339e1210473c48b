"""The notebooks run from top to bottom, in a kernel of this very interpreter."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def kernel_of_this_python(directory: Path) -> AsyncKernelManager:
    """A kernel that runs `sys.executable`, whatever kernels the machine has under the name python3."""
    spec = directory / "kernels" / "this-python"
    spec.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(
        json.dumps({"argv": command, "display_name": "this Python", "language": "python"})
    )
    specs = KernelSpecManager(kernel_dirs=[str(spec.parent)], ensure_native_kernel=False)
    return AsyncKernelManager(kernel_name="this-python", kernel_spec_manager=specs)


def read(path: Path) -> NotebookNode:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    assert isinstance(notebook, NotebookNode)
    return notebook


@pytest.mark.full
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path: Path, tmp_path: Path) -> None:
    notebook = read(path)
    client = NotebookClient(
        notebook, km=kernel_of_this_python(tmp_path), timeout=180, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    failed = [output for cell in notebook.cells for output in cell.get("outputs", ()) if output.output_type == "error"]
    assert failed == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert cells
    assert [(cell.outputs, cell.execution_count) for cell in cells] == [([], None)] * len(cells)
