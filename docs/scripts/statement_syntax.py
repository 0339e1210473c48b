"""Writes acidsql/frontends/statement_syntax.txt, the syntax that `help MERGE` shows, from the pages of docs/sql/.

`python -m docs.scripts.statement_syntax` does it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FILE: Final = ROOT / "acidsql" / "frontends" / "statement_syntax.txt"
_BLOCK: Final = re.compile(r"^```ebnf\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text() -> str:
    """The blocks of syntax in the order of their pages; a line of `--` stands between two."""
    pages = sorted((ROOT / "docs" / "sql").glob("*.md"))
    return "--\n".join(block for page in pages for block in _BLOCK.findall(page.read_text(encoding="utf-8")))


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
