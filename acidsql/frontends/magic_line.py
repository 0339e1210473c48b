"""The text of a cell: the options of its first line, and the names of the notebook that its statements use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from IPython.core.error import UsageError

USAGE = """%acidsql [options] [name << | name =<<] statements
  name <<, name =<<   bind the last result as a DataFrame; with = also show it
  -n N, --limit N     show or bind at most N rows
  --pandas            a pandas DataFrame instead of a Spark one
  --warehouse DIR, --metastore URI   where the tables are, from here on"""

OPTIONS = ("--limit", "--metastore", "--pandas", "--warehouse")

_OPTION = re.compile(
    r"""\s*(?:--(?P<flag>pandas) | (?:--(?P<long>warehouse|metastore|limit)|-(?P<short>n))(?:=|\s*)
        (?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s'"]+)))(?=\s|\Z)""",
    re.VERBOSE,
)
_BINDING = re.compile(r"\s*(?P<name>[^\W\d]\w*)\s*(?P<how>=?<<)")
_UNKNOWN_OPTION = re.compile(r"\s*(--?[A-Za-z][\w-]*)")
_NAME = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`|--[^\n]*|/\*.*?\*/
        |(?<!\$)\{(?P<frame>[^\W\d]\w*)\}|(?<![\w:]):(?P<value>[^\W\d]\w*)""",
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Order:
    """The options and the binding of a cell's first line."""

    warehouse: str | None = None
    metastore: str | None = None
    limit: int | None = None
    pandas: bool = False
    name: str | None = None
    show: bool = True
    sql: str = ""


def parse_line(line: str) -> Order:
    """The options, the binding and the rest of a magic's first line.

    Raises UsageError for an unknown option: SQL would read it as a comment.

    >>> parse_line("top =<< --limit 3 SELECT 1").limit
    3
    """
    order = Order()
    while True:
        if option := _OPTION.match(line):
            order, line = _with_option(order, option), line[option.end() :]
        elif order.name is None and (binding := _BINDING.match(line)):
            order = replace(order, name=binding["name"], show=binding["how"] == "=<<")
            line = line[binding.end() :]
        else:
            break
    if unknown := _UNKNOWN_OPTION.match(line):
        raise UsageError(f"{unknown[1]} is not an option, or its value is missing\n{USAGE}")
    return replace(order, sql=line.strip())


def _with_option(order: Order, option: re.Match[str]) -> Order:
    value = next((option[group] for group in ("double", "single", "bare") if option[group] is not None), "")
    match option["long"] or option["short"] or option["flag"]:
        case "pandas":
            return replace(order, pandas=True)
        case "warehouse":
            return replace(order, warehouse=value)
        case "metastore":
            return replace(order, metastore=value)
        case _:
            if not value.isdecimal():
                raise UsageError(f"--limit takes a number of rows, not {value}")
            return replace(order, limit=int(value))


def frames_in(text: str, namespace: Mapping[str, object]) -> dict[str, object]:
    """The variables that the text names as `{name}` outside quotes and comments."""
    return {name: namespace[name] for name in _names(text, "frame") if name in namespace}


def values_in(text: str, namespace: Mapping[str, object]) -> dict[str, object]:
    """The variables that the text names as `:name` outside quotes and comments, as values of plain Python.

    >>> values_in("SELECT ':a', :b", {"a": 1, "b": 2})
    {'b': 2}
    """
    return {name: _plain(namespace[name]) for name in _names(text, "value") if name in namespace}


def _names(text: str, group: str) -> Iterator[str]:
    return (match[group] for match in _NAME.finditer(text) if match[group])


def _plain(value: object) -> object:
    """The value, and those of numpy and pandas as the scalars and lists of Python that they stand for."""
    is_foreign = type(value).__module__.partition(".")[0] in ("numpy", "pandas")
    for name in ("tolist", "item") if is_foreign else ():
        if callable(convert := getattr(value, name, None)):
            converted: object = convert()
            return converted
    return value
