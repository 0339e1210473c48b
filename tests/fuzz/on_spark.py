"""Mutated statements that have a plan, run by a session: what fails raises AcidSqlError and leaves no file behind."""

from __future__ import annotations

import random
import re
import threading
import time
import traceback
from pathlib import Path
from typing import Final

from acidsql.errors import AcidSqlError
from acidsql.grammar import statements as s
from acidsql.session import Session
from tests.fuzz.statements import Found, Report, mutated, planned

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS emp (id int, name string, salary int, dept string, head int)
  TBLPROPERTIES ('transactional'='true');
CREATE TABLE IF NOT EXISTS t
  (a int, b string, c double, id int, name string, amount decimal(10,2), d date, ts timestamp)
  TBLPROPERTIES ('transactional'='true');
CREATE TABLE IF NOT EXISTS s (id int, name string, a int, b string, d string) TBLPROPERTIES ('transactional'='true');
CREATE TABLE IF NOT EXISTS parted (id int, name string) PARTITIONED BY (p int, q string)
  TBLPROPERTIES ('transactional'='true');
CREATE TABLE IF NOT EXISTS plain (id int, v string, note string);
"""
ROWS: Final = """
INSERT INTO emp VALUES (1, 'Jerry', 5000, 'x', 1), (2, NULL, 8000, 'y', NULL), (3, 'Kate', NULL, NULL, 2);
INSERT INTO t VALUES
  (1, 'a', 1.5, 1, 'x', 1.25, DATE '2020-01-01', current_timestamp), (2, NULL, NULL, 2, '', NULL, NULL, NULL);
INSERT INTO s VALUES (1, 'x', 1, 'b', 'c'), (4, 'y', NULL, NULL, NULL);
INSERT INTO parted VALUES (1, 'a', 1, 'x'), (2, 'b', 2, 'y');
INSERT INTO plain VALUES (1, 'a', 'n');
"""
_MAY_RUN: Final = s.Query | s.Insert | s.MultiInsert | s.Update | s.Delete | s.Merge
_GREEDY: Final = re.compile(r"\b(sequence|repeat|space|[rl]pad|range|stack|array_repeat|reflect|java_method)\b", re.I)
"""Functions that make of a small statement as many rows or bytes as its numbers say, or call what they like."""
_PATIENCE: Final = 60.0


def set_up(session: Session) -> None:
    """The tables, with some rows."""
    for _ in session.script(SCHEMA + ROWS):
        pass


def run(session: Session, warehouse: Path, count: int, seed: int) -> Report:
    """Runs `count` mutated statements that have a plan against the tables of `set_up`."""
    report = Report(seed)
    rng = random.Random(seed)
    while report.planned < count and len(report.found) < 20:
        text = mutated(rng)
        report.statements += 1
        if _may_run(text):
            report.planned += 1
            started = time.monotonic()
            _try(session, warehouse, text, report)
            report.slowest = max(report.slowest, (time.monotonic() - started, text))
    return report


def _may_run(text: str) -> bool:
    try:
        statement, plan = planned(text)
    except AcidSqlError:
        return False
    return plan is not None and isinstance(statement, _MAY_RUN) and _GREEDY.search(text) is None


def _try(session: Session, warehouse: Path, text: str, report: Report) -> None:
    before = files_of(warehouse)
    canceller = threading.Timer(_PATIENCE, session.cancel)
    canceller.start()
    try:
        result = session.execute(text, [1] * 20)
        list(result.rows(20))
        result.close()
    except AcidSqlError as error:
        left = files_of(warehouse) ^ before
        if left:
            report.found.append(Found(report.statements, text, f"{error}\nleft or took away {sorted(left)}"))
    except Exception:  # noqa: BLE001 - whatever it is, it is what is looked for
        report.found.append(Found(report.statements, text, traceback.format_exc(limit=-12)))
    finally:
        if canceller.finished.is_set():
            report.found.append(Found(report.statements, text, f"it takes longer than {_PATIENCE} s"))
        canceller.cancel()


def files_of(warehouse: Path) -> frozenset[tuple[str, int]]:
    """Files and directories of tables, with their sizes: the metastore's database is another matter."""
    found = (path for path in warehouse.rglob("*") if ".acidsql" not in path.relative_to(warehouse).parts)
    return frozenset((str(path), path.stat().st_size if path.is_file() else -1) for path in found)
