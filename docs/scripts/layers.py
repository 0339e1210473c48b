"""The layers on ARCHITECTURE.md, from the import contracts in pyproject.toml.

python -m docs.scripts.layers writes them.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "ARCHITECTURE.md"
_CONTAINERS: Final = ("acidsql", "acidsql.planner", "acidsql.engines", "acidsql.spark", "acidsql.arrow")
_BLOCK: Final = re.compile(r"(<!-- layers: written by docs/scripts/layers\.py -->\n\n```text\n).*?(```)", re.DOTALL)


def layers() -> str:
    """A line for each package: its modules and packages, those that import before those that are imported."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    by_container = {c["containers"][0]: c["layers"] for c in contracts if c["type"] == "layers"}
    lines = []
    for container in _CONTAINERS:
        text = f"{container}: {' > '.join(by_container[container])}"
        lines += textwrap.wrap(text, 118, subsequent_indent="  ", break_on_hyphens=False)
    return "".join(f"{line}\n" for line in lines)


def page() -> str:
    """ARCHITECTURE.md with the layers as they are now."""
    text = PAGE.read_text(encoding="utf-8")
    return _BLOCK.sub(lambda found: f"{found[1]}{layers()}{found[2]}", text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
