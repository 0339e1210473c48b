"""What the commands of the prompt do, and the question before a statement that changes every row."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, assert_never

from acidsql.errors import AcidSqlError
from acidsql.frontends.prompt_commands import HEADER, PAGER, TIMING, VERTICAL, SetFormat, Switch
from acidsql.frontends.render import Format, rows_in_words
from acidsql.frontends.script import Manner
from acidsql.frontends.terminal import descriptor_of_stderr, tell, tell_interrupted, waiting_shown

if TYPE_CHECKING:
    from acidsql.grammar.statements import TableName
    from acidsql.session import Session

_END_SECONDS: Final = 1.0
"""How long the tasks of a cancelled statement may take to end before the user is told of them."""
_SWITCHES: Final[Mapping[str, tuple[str, str]]] = {
    VERTICAL: ("Rows stand one below the other.", "Rows stand in a table."),
    TIMING: ("Messages have seconds.", "Messages have no seconds."),
    HEADER: ("Column names are shown.", "Column names are not shown."),
    PAGER: ("Long results are shown in the pager.", "Long results are written to the terminal."),
}


def changed(manner: Manner, command: SetFormat | Switch) -> tuple[Manner, str]:
    """The manner after a command, and a message about it."""
    match command:
        case SetFormat(shape):
            wanted = manner.shape if shape is None else shape
            return replace(manner, shape=wanted), f"The output format is {wanted.value}."
        case Switch(name, on):
            turned = not _is_on(manner, name) if on is None else on
            return _switched(manner, name, turned), _SWITCHES[name][not turned]
        case _:
            assert_never(command)


def _is_on(manner: Manner, name: str) -> bool:
    states = {VERTICAL: manner.shape is Format.VERTICAL, TIMING: manner.timing}
    return (states | {HEADER: manner.header, PAGER: manner.paged})[name]


def _switched(manner: Manner, name: str, on: bool) -> Manner:
    if name == VERTICAL:
        return replace(manner, shape=Format.VERTICAL if on else Format.TABLE)
    if name == TIMING:
        return replace(manner, timing=on)
    return replace(manner, header=on) if name == HEADER else replace(manner, paged=on)


def run_program(line: str) -> None:
    """Runs a command line of the operating system in the user's shell, on this terminal."""
    done = subprocess.run(line, shell=True, stderr=descriptor_of_stderr(), check=False)
    if done.returncode:
        tell(f"The command ended with exit status {done.returncode}.")


def edited(text: str) -> str:
    """The text as the user leaves it in an editor; the text itself if the editor cannot be run."""
    editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="acidsql-") as directory:
        file = Path(directory) / "statement.sql"
        file.write_text(f"{text}\n", encoding="utf-8")
        try:
            subprocess.run([*editor, str(file)], stderr=descriptor_of_stderr(), check=True)
            return file.read_text(encoding="utf-8").rstrip()
        except (OSError, subprocess.CalledProcessError, UnicodeDecodeError) as error:
            tell(f"The editor cannot be used: {error}")
            return text


def tell_cancelled(interrupt: KeyboardInterrupt, session: Session | None) -> None:
    """Prints that a statement was cancelled, and whether tasks of it go on."""
    tell_interrupted("Cancelled", interrupt)
    if session is not None and (said := tasks_after_cancel(session)):
        tell(said)


def tasks_after_cancel(session: Session) -> str:
    """Waits a moment for the end of the tasks of a cancelled statement; says how many go on, or nothing."""
    deadline = time.monotonic() + _END_SECONDS
    while running := session.cancelled_tasks():
        if time.monotonic() > deadline:
            return (
                f"{running} of its tasks still run, because Spark cannot interrupt them. The next statement may wait."
            )
        time.sleep(0.05)
    return ""


def confirms(text: str, session: Session, ask: Callable[[str], str]) -> tuple[bool, str]:
    """Whether a statement may run, and what the user has typed behind the question that is no answer to it.

    An UPDATE or DELETE without WHERE runs if the user says so. A statement that would be refused runs without a
    question, and is refused. `ask` shows a question and gives what the user types.
    """
    from acidsql.statements.settings import CONFIRM_ALL_ROWS

    if session.setting(CONFIRM_ALL_ROWS) != "true" or not sys.stdin.isatty():
        return True, ""
    target = _changed_whole(text, session)
    if target is None or _is_refused(text, session):
        return True, ""
    typed = ask(f"There is no WHERE: this changes every row of {_with_rows(target, session)}. Run it? (y/N) ")
    answer = typed.strip().lower()
    if answer in ("y", "yes"):
        return True, ""
    return False, "" if answer in ("", "n", "no") else f"{typed}\n"


def _is_refused(text: str, session: Session) -> bool:
    try:
        session.explain(text)
    except AcidSqlError:
        return True
    return False


def _with_rows(target: TableName, session: Session) -> str:
    """The table, with the number of its rows where the footers of local files tell it: the question waits for no
    Spark."""
    from acidsql.snapshot.table_contents import DirectoryKind
    from acidsql.storage.file_systems import is_local

    name = ".".join(filter(None, (target.database, target.name)))
    try:
        with waiting_shown(silent=False, progress=session.progress, lock_wait=session.lock_wait):
            if not is_local(session.catalog.table(target.database or session.database, target.name).location):
                return name
            content = session.inspect(name)
    except AcidSqlError:
        return name
    read = [d for part in content.parts for d in part.directories if d.is_read]
    deletes = sum(f.rows or 0 for d in read if d.kind is DirectoryKind.DELETE_DELTA for f in d.files)
    rows = sum(f.rows or 0 for d in read if d.kind is not DirectoryKind.DELETE_DELTA for f in d.files) - deletes
    is_exact = not deletes and session.transaction_id is None
    return f"{name}, which has {'' if is_exact else 'about '}{rows_in_words(max(rows, 0))}"


def _changed_whole(text: str, session: Session) -> TableName | None:
    """The table of which the statement changes every row; None for other statements."""
    from acidsql.grammar import statements as s
    from acidsql.grammar.parser import parsed_or_none

    if not text.lstrip().upper().startswith(("UPDATE", "DELETE", "WITH")):
        return None
    statement = parsed_or_none(text, session.substituted)
    if isinstance(statement, s.Update | s.Delete) and statement.where is None:
        return statement.target
    return None
