"""Writes docs/reference/settings.md from acidsql.statements.settings.KNOWN: `python -m docs.scripts.settings_page`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from acidsql.durations import DURATION
from acidsql.statements.settings import KNOWN, Known

PAGE: Final = Path(__file__).parents[1] / "reference" / "settings.md"

_COMPACTION: Final = ("hive.compactor.", "metastore.compactor.")
_INTRODUCTION: Final = """# Settings

<!-- Generated from acidsql/statements/settings.py by `make docs-pages`: do not edit. -->

`SET key=value` changes a setting of the session, `SET key` shows one, and `SET` shows all of them.
[SET](../sql/set.md) describes the statement. The command line takes settings as `--hiveconf key=value`.

Keys and values are not case-sensitive. A duration is a number with one of the units `ms`, `s`, `min`, `h` and `d`.
Hive 4's new names of the compactor settings (`metastore.compactor.*`) are accepted as well.

All other settings of Hive are stored and shown, but they have no effect. Unknown `acidsql.*` and `hive.txn.*` settings
raise `UNKNOWN_SETTING`. Settings that begin with `spark.` go to Spark: see
[Spark settings](../sql/set.md#spark-settings).
"""


def page() -> str:
    """The whole page."""
    statements = {name: known for name, known in KNOWN.items() if not name.startswith(_COMPACTION)}
    compaction = {name: known for name, known in KNOWN.items() if name.startswith(_COMPACTION)}
    compactor_note = (
        "The compaction service reads these settings from its own session: `acidsql compactor --hiveconf key=value`."
        " A table can have thresholds of its own, see"
        " [Compaction](../operations/compaction.md#when-a-table-is-compacted)."
    )
    return "\n".join(
        [
            _INTRODUCTION,
            "## Statements, locks and transactions\n",
            *_table(statements),
            "",
            "## Compaction\n",
            f"{compactor_note}\n",
            *_table(compaction),
            "",
        ]
    )


def _table(settings: dict[str, Known]) -> list[str]:
    rows = [
        f"| `{name}` | {_values(known)} | `{known.default}` | {known.meaning} |" for name, known in settings.items()
    ]
    return ["| Setting | Values | Default | Meaning |", "|---|---|---|---|", *rows]


def _values(known: Known) -> str:
    if isinstance(known.values, re.Pattern):
        return "duration" if known.values is DURATION else "number"
    return ", ".join(f"`{value}`" for value in known.values)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
