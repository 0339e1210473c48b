"""The REPL of `acidsql shell`. It shows its prompt at once, and opens the session and Spark in the background."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, assert_never

from platformdirs import user_state_path
from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.output import create_output
from pygments.lexers.sql import SqlLexer

from acidsql.errors import visible
from acidsql.frontends.catalog_names import CatalogNames
from acidsql.frontends.completion import complete
from acidsql.frontends.prompt_actions import changed, confirms, edited, run_program, tell_cancelled
from acidsql.frontends.prompt_commands import (
    HELP_TEXT,
    Command,
    EditStatement,
    Help,
    Leave,
    Refused,
    RunFile,
    RunProgram,
    RunStatement,
    SetFormat,
    Switch,
    typed_command,
)
from acidsql.frontends.script import CANNOT_START, OK, Runner
from acidsql.frontends.statement_help import statement_help
from acidsql.frontends.terminal import report, tell
from acidsql.grammar.script_splitter import is_complete

if TYPE_CHECKING:  # the prompt is shown before the session is imported
    from acidsql.session import Session

_DEFAULT_DATABASE = "default"
_NOT_RUN = "The statement that was not finished was not run. It is in the history."


class Opening:
    """Opens the session, and then Spark, on a thread. A statement waits for the session."""

    def __init__(
        self, open_runner: Callable[[], Runner], when_done: Callable[[], None], allows: Callable[[str, Session], bool]
    ) -> None:
        """`when_done` is called on the thread when Spark has started or the start has failed, and `allows` before each
        statement: it asks the user about some."""
        self.failure: Exception | None = None
        self._allows = allows
        self._open = open_runner
        self._when_done = when_done
        self._runner: Runner | None = None
        self._opened = threading.Event()
        self._thread = threading.Thread(target=self._run, name="acidsql-start", daemon=True)

    def start(self) -> None:
        if not self._thread.ident:
            self._thread.start()

    def runner(self, *, wait: bool = True) -> Runner | None:
        """The runner; None where the session cannot be opened or, without `wait`, is not open yet."""
        if wait:
            self.start()
            self._opened.wait()
        return self._runner

    def close(self) -> None:
        """Closes the session. Waits for no start that is under way: the process ends, and takes it along."""
        if self._runner is not None:
            self._runner.session.close()

    def _run(self) -> None:
        try:
            self._runner = self._at_the_prompt(self._open())
            self._opened.set()
            self._runner.session.start()
        except Exception as error:  # noqa: BLE001 - the edge: a thread's error must reach the user, whatever it is
            self.failure = error
        finally:
            self._opened.set()
            self._when_done()

    def _at_the_prompt(self, runner: Runner) -> Runner:
        """The runner for a user who reads what it prints, and can answer."""
        runner.manner = replace(runner.manner, paged=True)
        runner.allows = lambda text: self._allows(text, runner.session)
        runner.session.keeps_transaction = True
        return runner


class Shell:
    """Reads statements from a terminal and runs them until the user leaves."""

    def __init__(self, open_runner: Callable[[], Runner], *, silent: bool = False, database: str | None = None) -> None:
        """`database` is the session's first current database if it is not `default`. The shell closes the session."""
        self._opening = Opening(open_runner, self._started, self._allows)
        self._silent = silent
        self._database = database or _DEFAULT_DATABASE
        self._last = ""
        """What was typed last, for the editor."""
        self._edited = ""
        """What the editor gave, or was typed behind a question, for the prompt."""
        self._prompt = self._new_prompt()

    def run(self) -> int:
        """Runs until the user leaves. Returns the exit status: 2 where the session or Spark cannot start, else 0."""
        self._greet()
        try:
            return self._loop()
        finally:
            self._opening.close()

    def _loop(self) -> int:
        while True:
            try:
                default, self._edited = self._edited, ""
                text = self._read(default)
            except KeyboardInterrupt:
                continue
            except EOFError as end:
                if str(end):
                    tell(str(end))
                return OK
            if self._opening.failure is None:
                typed = typed_command(text)
                if typed is not None and isinstance(typed[1], Leave):
                    if typed[0]:
                        tell(_NOT_RUN)
                    return OK
                if self._run(text, typed):
                    continue
            if self._opening.failure is not None:
                report(self._opening.failure)
            return CANNOT_START

    def _read(self, default: str) -> str:
        return self._prompt.prompt(self._message, default=default, pre_run=self._leave_if_failed)

    def _run(self, text: str, typed: tuple[str, Command] | None) -> bool:
        """Returns whether to go on."""
        try:
            if typed is None:
                return self._run_text(text)
            self._edited, command = typed
            return self._run_command(command)
        except KeyboardInterrupt as interrupt:
            runner = self._opening.runner(wait=False)
            tell_cancelled(interrupt, None if runner is None else runner.session)
            return True

    def _run_text(self, text: str) -> bool:
        runner = self._opening.runner()
        if runner is None:
            return False
        self._last = text.strip() or self._last
        runner.run_text(text)
        return runner.status != CANNOT_START

    def _allows(self, text: str, session: Session) -> bool:
        """Asks about a statement. What is no answer, such as a pasted statement, goes to the next prompt."""
        allowed, typed = confirms(text, session, _answer)
        if typed:
            tell("That is neither y nor n: it is at the prompt again.")
            self._edited += typed
        return allowed

    def _run_command(self, command: Command) -> bool:
        match command:
            case Leave():
                return False
            case Help(topic):
                tell(statement_help(topic) if topic else HELP_TEXT)
            case Refused(message):
                tell(message)
            case RunProgram(line):
                run_program(line)
            case EditStatement():
                self._edited = edited(self._edited or self._last)
            case RunStatement(sql):
                return self._run_text(f"{sql};")
            case RunFile() | SetFormat() | Switch():
                return self._run_with(command)
            case _:
                assert_never(command)
        return True

    def _run_with(self, command: RunFile | SetFormat | Switch) -> bool:
        """Runs a command that needs the runner."""
        runner = self._opening.runner()
        if runner is None:
            return False
        if isinstance(command, RunFile):
            runner.run_file(command.path)
            return runner.status != CANNOT_START
        runner.manner, message = changed(runner.manner, command)
        tell(message)
        return True

    def _greet(self) -> None:
        if not self._silent:
            tell(f"acidsql {version('acidsql')}. Statements end with ;  Type help for help, quit to leave.")

    def _message(self) -> str:
        runner = self._opening.runner(wait=False)
        database = self._database if runner is None else runner.session.database
        txn = None if runner is None else runner.session.transaction_id
        notes = [database] * (database != _DEFAULT_DATABASE) + [f"transaction {txn}"] * (txn is not None)
        return f"acidsql ({', '.join(notes)})> " if notes else "acidsql> "

    # -- what goes on behind the prompt

    def _started(self) -> None:
        self._prompt.bottom_toolbar = None
        app = self._prompt.app
        if app.loop is not None and app.is_running:
            app.loop.call_soon_threadsafe(self._leave_if_failed)
            app.invalidate()

    def _leave_if_failed(self) -> None:
        """Runs in the prompt's loop when the start has failed, and when the prompt begins after a failed start."""
        app = self._prompt.app
        if self._opening.failure is not None and app.is_running and not app.is_done:
            app.exit(result="")

    def _new_prompt(self) -> PromptSession[str]:
        prompt: PromptSession[str] = PromptSession(
            # Standard output may be a file, while the prompt is on the terminal.
            output=create_output(stdout=sys.stderr) if not sys.stdout.isatty() else None,
            history=_history(),
            lexer=PygmentsLexer(SqlLexer),
            completer=SessionCompleter(self._opening),
            complete_in_thread=True,
            multiline=True,
            prompt_continuation=lambda width, line, wraps: " " * (width - 3) + "-> ",
            key_bindings=_bindings(),
            bottom_toolbar="Spark is starting ...",
            reserve_space_for_menu=6,
        )
        prompt.app.after_render += lambda _: self._opening.start()  # not earlier: its imports would delay the prompt
        return prompt


def _answer(question: str) -> str:
    """What the user types behind a question; nothing at the end of input. It takes what was typed ahead of it, too."""
    prompt: PromptSession[str] = PromptSession(
        output=create_output(stdout=sys.stderr) if not sys.stdout.isatty() else None, history=InMemoryHistory()
    )
    try:
        return prompt.prompt(question)
    except EOFError:
        return ""


def is_done(text: str) -> bool:
    r"""Whether Enter runs the text: it ends in `;` or `\G` (outside of quotes and comments), or is a command.

    >>> is_done("SELECT ';"), is_done("SELECT 1;"), is_done("exit")
    (False, True, True)
    """
    return is_complete(text) or typed_command(text) is not None


@Condition
def _on_empty_last_line() -> bool:
    """Whether the cursor stands on an empty line after the beginning of a statement, where Ctrl-D deletes nothing."""
    document = get_app().current_buffer.document
    return document.is_cursor_at_the_end and document.on_first_line is False and not document.current_line.strip()


def _bindings() -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add("c-d", filter=_on_empty_last_line & ~is_searching)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.append_to_history()
        event.app.exit(exception=EOFError(_NOT_RUN), style="class:exiting")

    @bindings.add("enter", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None  # accepts the chosen candidate
        elif is_done(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return bindings


# ------------------------------------------------------------------------------------------------ completion


class SessionCompleter(Completer):
    """Adapts acidsql.frontends.completion to prompt_toolkit."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        runner = self._opening.runner()
        if runner is None:
            return
        for candidate in complete(document.text, document.cursor_position, CatalogNames(runner.session)):
            shown = visible(f"{candidate.text}{candidate.note}")
            yield Completion(candidate.text, -candidate.typed, display=shown, display_meta=candidate.kind.value)


# ------------------------------------------------------------------------------------------------ files of the user


def _history() -> History:
    """The history, in a file that only the user can read: statements contain data."""
    path = user_state_path("acidsql") / "history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(path)
