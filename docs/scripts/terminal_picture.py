"""Draws docs/terminal.svg: a session typed into a real `acidsql shell`, as its terminal shows it at the end.

`python -m docs.scripts.terminal_picture`, with the extra `docs`.
"""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import pexpect
import pyte
from rich.console import Console
from rich.text import Text

PICTURE: Final = Path(__file__).parents[1] / "terminal.svg"
WIDTH: Final = 100
HEIGHT: Final = 60
PROMPT: Final = "acidsql> "
TYPED: Final = (
    "CREATE TABLE employee (id int, name string, salary int)\rTBLPROPERTIES ('transactional'='true');",
    "INSERT INTO employee VALUES (1, 'Jerry', 5000), (2, 'Tom', 8000), (3, 'Kate', 6000);",
    "UPDATE employee SET salary = salary + 500 WHERE name = 'Tom';",
    "MERGE INTO employee t\rUSING (VALUES (3, 'Kate', 6100), (4, 'Mary', 9000)) s(id, name, salary) ON t.id = s.id\r"
    "WHEN MATCHED THEN UPDATE SET *\rWHEN NOT MATCHED THEN INSERT *;",
    "SELECT row__id, * FROM employee ORDER BY id;",
    "UPDATE employee SET salry = 1 WHERE id = 1;",
)
_TEMPLATE: Final = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: {char_height}px;
  line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: arial; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""Rich's own template names fonts of another site."""


def picture() -> str:
    """The terminal as SVG."""
    screen = pyte.Screen(WIDTH, HEIGHT)
    stream = pyte.Stream(screen)
    with tempfile.TemporaryDirectory() as warehouse:
        _type_all(warehouse, stream, screen)
    console = Console(record=True, width=WIDTH, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    for line in _lines(screen):
        console.print(line, no_wrap=True, crop=False)
    return console.export_svg(title="acidsql shell", code_format=_TEMPLATE, unique_id="acidsql")


def _type_all(warehouse: str, stream: pyte.Stream, screen: pyte.Screen) -> None:
    command = ["-m", "acidsql", "shell", "--warehouse", warehouse]
    environment = {"TERM": "xterm-256color", "XDG_STATE_HOME": warehouse, **_inherited()}
    shell: Any = pexpect.spawn(
        sys.executable, command, encoding="utf-8", dimensions=(HEIGHT, WIDTH), env=environment, timeout=120
    )
    terminal: Any = screen
    terminal.write_process_input = shell.send  # answers where the cursor is; without it the shell shows no toolbar
    _read(shell, stream, screen, prompts=1)
    _wait_for_spark(shell, stream, screen)
    for number, statement in enumerate(TYPED, 2):
        shell.send(statement)
        shell.send("\r")
        _read(shell, stream, screen, prompts=number)
    shell.sendeof()
    shell.close()


def _inherited() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k not in ("TERM", "XDG_STATE_HOME")}


def _read(shell: Any, stream: pyte.Stream, screen: pyte.Screen, *, prompts: int) -> None:
    """Feeds the screen until it shows a prompt that waits: the last one, and nothing typed behind it."""
    while True:
        stream.feed(shell.read_nonblocking(65536, timeout=120))
        shown = [line.rstrip() for line in screen.display if line.strip() and "Spark is starting" not in line]
        count = sum(line.startswith(PROMPT.rstrip()) for line in shown)
        if count >= prompts and shown[-1] == PROMPT.rstrip():
            return


def _wait_for_spark(shell: Any, stream: pyte.Stream, screen: pyte.Screen) -> None:
    """Feeds the screen until the note that Spark is starting has come and gone, so that no statement waits for it."""
    for wanted in (True, False):
        while any("Spark is starting" in line for line in screen.display) is not wanted:
            stream.feed(shell.read_nonblocking(65536, timeout=120))


def _lines(screen: pyte.Screen) -> list[Text]:
    """The lines above the last prompt, in their colours."""
    last = max(y for y in range(HEIGHT) if screen.display[y].startswith(PROMPT.rstrip()))
    return [_line(screen, y) for y in range(last)]


def _line(screen: pyte.Screen, y: int) -> Text:
    line = Text()
    for x in range(WIDTH):
        character = screen.buffer[y][x]
        line.append(character.data, _style(character))
    line.rstrip()
    return line


def _style(character: pyte.screens.Char) -> str:
    colour = "" if character.fg == "default" else f"#{character.fg}"
    if colour and not re.fullmatch(r"#[0-9a-fA-F]{6}", colour):
        colour = {"brown": "yellow"}.get(character.fg, character.fg.replace("bright", "bright_"))
    return " ".join(filter(None, ("bold" if character.bold else "", colour)))


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
