"""`acidsql doctor`: what is wrong with tables, and what mends it, as text or as JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from acidsql.compactor.diagnosis import Finding
from acidsql.errors import visible
from acidsql.session import Session


def print_findings(session: Session, names: Sequence[str], *, as_json: bool, reads_files: bool) -> bool:
    """Prints what is wrong with the tables, without names with all tables. Returns whether nothing is.

    Raises what `Session.doctor` raises.
    """
    is_sound = True
    for name in names or session.table_names():
        found = session.doctor(name, reads_files=reads_files)
        is_sound = is_sound and not found
        text = "".join(_json_line(one) if as_json else _lines(one) for one in found)
        if not found and not as_json:
            text = f"{name}: nothing is wrong\n"
        sys.stdout.write(visible(text, tabs=True))
    sys.stdout.flush()
    return is_sound


def _lines(finding: Finding) -> str:
    remedies = "".join(f"    {remedy}\n" for remedy in finding.remedies)
    return f"{finding.place}: {finding.text} ({finding.rule})\n{remedies}"


def _json_line(finding: Finding) -> str:
    fields = {"rule": finding.rule, "place": finding.place, "text": finding.text, "remedies": list(finding.remedies)}
    return f"{json.dumps(fields)}\n"
