"""The statement fuzzer: broken statements raise AcidSqlError and nothing else, write nothing, and come to an end.

    python -m tests.fuzz.statements SECONDS [SEED]

Statements of the documentation and the tests are mutated: tokens are dropped, doubled, swapped and taken from other
statements, characters are flipped, signs that mean something are put in between, numbers are made huge. Each is parsed,
and planned against the tables of the planner's own cases, with the pruning that would follow; no Spark is needed.
`tests/fuzz/on_spark.py` runs some of those that have a plan.
"""

from __future__ import annotations

import random
import re
import signal
import sys
import threading
import time
import traceback
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Final

from acidsql.acid.hive_types import parse_type
from acidsql.errors import AcidSqlError
from acidsql.grammar import statements as s
from acidsql.grammar.lexer import keywords
from acidsql.grammar.parser import parse
from acidsql.grammar.placeholders import name_placeholders, placeholders_of
from acidsql.grammar.script_splitter import is_complete, split_script
from acidsql.grammar.table_names import table_names
from acidsql.planner.conditions.partition_pruning import keeps
from acidsql.planner.dml.create_as import column_types, plan_create_query
from acidsql.planner.explain import explain, explain_locks
from acidsql.planner.plan import Facts, Plan
from acidsql.planner.statement_planner import plan_statement
from tests.planner.test_planner_cases import Stage, blocks

TESTS: Final = Path(__file__).parents[1]
ROOT: Final = TESTS.parent

LONGEST: Final = 30.0
"""Seconds after which a statement counts as one that hangs, also on a machine with much else to do."""

_TOKEN: Final = re.compile(r"\s+|\w+|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|.", re.DOTALL)
_FENCE: Final = re.compile(r"^```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ROW: Final = re.compile(r"^\| `([^`]+)` \| (?:yes|not yet) \|$", re.MULTILINE)

_SIGNS: Final = (
    "'", '"', "`", "--", "/*", "*/", "/*+", "(", ")", "[", "]", "{", "}", "<", ">", ",", ";", ".", "..", ":", "::", "?",
    "=", "==", "!", "!=", "<=>", "->", "=>", "||", "|", "&", "^", "~", "%", "@", "#", "$", "${", "}", "\\", "\\u0000",
    "\\", "\0", "\x1b[31m", "\x7f", "\u00a0", "\u2003", "\u3000", "\ufeff", "\u200b", "\u202e", "\r", "\r\n", "\n",
    "\t", "\x0b", "\x0c", "\x85", "\u2028", "\ud800", "\udfff", "é", "ß", "İ", "\u017f", "²", "½", "٣", "Ⅷ", "名", "😀",
    "a\u0301", "ﬀ", "ª", "·", "'\\U0010FFFF'", "'\\U00110000'", "'\\ud800'", "x'0'", "X'zz'", "x''", "r'\\'", "''",
    '""', "``", "`a``b`", "`a.b`", "`@branch`", "{f}", "{ f }", ":x", ":1", "?", ":x.y", "*", "t.*", "* EXCEPT (id)",
    "-", "+", "- -", "--1", "1e", "1e999", "0x1F", "1.", ".5", "1..2", "1_000", "1L", "1Y", "300Y", "1BD", "1e400D",
)  # fmt: skip
_WORDS: Final = (
    "NULL", "DEFAULT", "TRUE", "current_date", "current_timestamp", "current_timestamp()", "row__id", "row__id.writeid",
    "INPUT__FILE__NAME", "DISTINCT", "ALL", "EXISTS", "NOT", "IN", "IS", "LIKE", "BETWEEN", "AND", "OR", "INTERVAL",
    "INTERVAL '1' DAY", "DATE '2020-02-30'", "DATE", "TIMESTAMP 'x'", "CAST(1 AS", "AS", "CASE", "WHEN", "END",
    "VALUES (1)", "VALUES", "SELECT 1", "(SELECT 1)", "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT",
    "HAVING", "UNION ALL", "UNION", "INTERSECT", "EXCEPT", "MINUS", "JOIN", "LEFT SEMI JOIN", "LATERAL VIEW explode(",
    "PIVOT (", "UNPIVOT", "TABLESAMPLE (1 PERCENT)", "WINDOW w AS ()", "OVER ()", "OVER (w)", "PARTITION (p = 1)",
    "PARTITION BY", "CLUSTER BY", "WITH x AS (SELECT 1 AS a)", "RECURSIVE", "WITH", "INSERT INTO t", "UPDATE t SET",
    "DELETE FROM t", "MERGE INTO t USING", "CREATE TABLE", "USING", "ON", "QUALIFY", "TRANSFORM(a) USING 'cat'",
    "VERSION AS OF 1", "explode(array(1))", "x -> x + 1", "array<int>", "struct<a:int>", "map<string,", "decimal(99,9)",
    "greatest(", "stddev(", "count(*)", "count(DISTINCT", "trim(BOTH 'x' FROM", "extract(day FROM", "floor(1 TO DAY)",
    "IF", "ANY", "SOME", "TABLE", "LATERAL", "CROSS", "NATURAL", "FULL OUTER JOIN", "ROWS", "RANGE", "ROLLUP", "CUBE",
    "GROUPING SETS (())", "STORED AS AVRO", "STORED AS", "TBLPROPERTIES", "KILL", "DESC", "NULLS FIRST", "ILIKE",
    "RLIKE", "ESCAPE '\\\\'", "COLLATE", "AT TIME ZONE 'UTC'", "FOR UPDATE", "OFFSET 1", "FETCH FIRST 1 ROW ONLY",
)  # fmt: skip
_NUMBERS: Final = (
    "0", "-1", "2147483648", "9223372036854775808", "-9223372036854775809", "1" * 40, "9" * 400, "1e308", "1e309",
    "0." + "0" * 50 + "1", "00", "1e-999", "65536", "4097", "99999999999999999999999999999999999999.9", "128Y",
)  # fmt: skip


class HangError(BaseException):
    """A statement took longer than LONGEST; no `except Exception` of the code under test may swallow it."""


@dataclass(frozen=True, slots=True)
class Found:
    """A statement that raised what no statement may raise."""

    number: int
    statement: str
    trace: str

    def __str__(self) -> str:
        return f"statement {self.number}: {self.statement!r}\n{self.trace}"


@dataclass(slots=True)
class Report:
    """How a run went."""

    seed: int
    statements: int = 0
    planned: int = 0
    found: list[Found] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")

    def __str__(self) -> str:
        head = f"seed {self.seed}: {self.statements} statements, {self.planned} planned, {len(self.found)} found"
        slowest = f"slowest {self.slowest[0]:.2f} s: {self.slowest[1][:200]!r}"
        return "\n".join([head, slowest, *map(str, self.found)])


# ------------------------------------------------------------------------------------------------ the statements


@cache
def corpus() -> tuple[str, ...]:
    """Statements that mean something, and some that do not, each once."""
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")))]
    texts = [row for page in pages for row in _ROW.findall(page)]
    texts += [piece.text for page in pages for block in _FENCE.findall(page) for piece in split_script(block)]
    for page in (p.read_text(encoding="utf-8") for p in sorted(TESTS.glob("golden/*/case.sql"))):
        texts += [piece.text for piece in split_script(page)]
    for path in sorted((*TESTS.glob("grammar/cases/*.sql"), *TESTS.glob("planner/cases/*.sql"))):
        texts += [block.partition("\n-->")[0] for block in path.read_text(encoding="utf-8").split("\n\n")]
    return tuple(dict.fromkeys(text.strip() for text in texts if len(text) < 2000))


@cache
def stage() -> Stage:
    """All tables of the planner's cases; of two with one name the last one."""
    together = Stage()
    for path in sorted(TESTS.glob("planner/cases/*.sql")):
        for block in blocks(path.read_text(encoding="utf-8")):
            if block.expected is None:
                together.set(block.statement)
    together.database = "default"
    together.settings.clear()
    return together


@cache
def _tokens_of_all() -> tuple[str, ...]:
    return tuple(token for text in corpus() for token in _TOKEN.findall(text) if not token.isspace())


@cache
def _sound() -> tuple[str, ...]:
    return tuple(filter(tried, corpus()))


@cache
def _by_kind() -> dict[str, tuple[str, ...]]:
    kinds: dict[str, list[str]] = {}
    for token in _tokens_of_all():
        kinds.setdefault(_kind(token), []).append(token)
    kinds["word"] += [name for table in stage().tables.values() for name in (table.name, *table.column_names)] * 5
    return {kind: tuple(of) for kind, of in kinds.items()}


def _kind(token: str) -> str:
    if token[:1] in ("'", '"'):
        return "string"
    if token.isdigit():
        return "number"
    if token.upper() in keywords():
        return "keyword"
    return "word" if token[:1].isalnum() or token[:1] in "_`" else "sign"


def mutated(rng: random.Random) -> str:
    """A statement of the corpus with one to four changes."""
    tokens = _TOKEN.findall(rng.choice(_sound() if rng.random() < 0.7 else corpus()))
    for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
        tokens = rng.choice(_MUTATIONS)(rng, tokens) or [""]
    return "".join(tokens)[:20_000]


def _place(rng: random.Random, tokens: Sequence[str]) -> int:
    words = [i for i, token in enumerate(tokens) if not token.isspace()]
    return rng.choice(words) if words else 0


def _drop(rng: random.Random, tokens: list[str]) -> list[str]:
    start = _place(rng, tokens)
    return tokens[:start] + tokens[start + rng.choice((1, 1, 1, 2, 3, 8)) :]


def _double(rng: random.Random, tokens: list[str]) -> list[str]:
    start = _place(rng, tokens)
    end = start + rng.choice((1, 1, 2, 4, 10))
    return tokens[:end] + [" ", *tokens[start:end]] * rng.choice((1, 1, 2, 20)) + tokens[end:]


def _swap(rng: random.Random, tokens: list[str]) -> list[str]:
    one, other = _place(rng, tokens), _place(rng, tokens)
    changed = list(tokens)
    changed[one], changed[other] = changed[other], changed[one]
    return changed


def _replace(rng: random.Random, tokens: list[str]) -> list[str]:
    at = _place(rng, tokens)
    return [*tokens[:at], rng.choice(_tokens_of_all()), *tokens[at + 1 :]]


def _replace_by_own(rng: random.Random, tokens: list[str]) -> list[str]:
    at = _place(rng, tokens)
    return [*tokens[:at], tokens[_place(rng, tokens)], *tokens[at + 1 :]]


def _insert(rng: random.Random, tokens: list[str]) -> list[str]:
    at = _place(rng, tokens)
    word = rng.choice((rng.choice(_WORDS), rng.choice(_SIGNS), rng.choice(_tokens_of_all())))
    blank = rng.choice(("", " "))
    return [*tokens[:at], blank, word, blank, *tokens[at:]]


def _replace_by_its_like(rng: random.Random, tokens: list[str]) -> list[str]:
    """A word by a word, a number by a number: what comes of it is mostly a statement."""
    at = _place(rng, tokens)
    if _kind(tokens[at]) in ("keyword", "sign"):
        at = _place(rng, tokens)
    return [*tokens[:at], rng.choice(_by_kind()[_kind(tokens[at])]), *tokens[at + 1 :]]


def _replace_group(rng: random.Random, tokens: list[str]) -> list[str]:
    """A token or what stands in parentheses, by the like of another statement."""
    other = _TOKEN.findall(rng.choice(corpus()))
    (start, end), (first, last) = _group(rng, tokens), _group(rng, other)
    return [*tokens[:start], *other[first:last], *tokens[end:]]


def _group(rng: random.Random, tokens: Sequence[str]) -> tuple[int, int]:
    opened = [i for i, token in enumerate(tokens) if token == "("]
    start = rng.choice(opened) if opened and rng.random() < 0.7 else _place(rng, tokens)
    depth = 0
    for end, token in enumerate(tokens[start:], start + 1):
        depth += (token == "(") - (token == ")")
        if depth <= 0:
            return start, end
    return start, len(tokens)


def _replace_by_word(rng: random.Random, tokens: list[str]) -> list[str]:
    at = _place(rng, tokens)
    return [*tokens[:at], rng.choice(_WORDS), *tokens[at + 1 :]]


def _flip(rng: random.Random, tokens: list[str]) -> list[str]:
    at = _place(rng, tokens)
    token = tokens[at]
    place = rng.randrange(len(token) + 1) if token else 0
    sign = rng.choice((chr(rng.randrange(128)), chr(rng.randrange(0x3000)), rng.choice(_SIGNS)))
    return [*tokens[:at], token[:place] + sign + token[place + rng.choice((0, 1)) :], *tokens[at + 1 :]]


def _enlarge(rng: random.Random, tokens: list[str]) -> list[str]:
    numbers = [i for i, token in enumerate(tokens) if token.isdigit()]
    at = rng.choice(numbers) if numbers else _place(rng, tokens)
    return [*tokens[:at], rng.choice(_NUMBERS), *tokens[at + 1 :]]


def _splice(rng: random.Random, tokens: list[str]) -> list[str]:
    other = _TOKEN.findall(rng.choice(corpus()))
    return [*tokens[: _place(rng, tokens)], " ", *other[_place(rng, other) :]]


def _nest(rng: random.Random, tokens: list[str]) -> list[str]:
    start = _place(rng, tokens)
    end = min(len(tokens), start + rng.choice((1, 1, 2, 5)))
    before, after = rng.choice(
        (("(", ")"), ("(SELECT ", ")"), ("(SELECT * FROM ", ")"), ("f(", ")"), ("CASE WHEN ", " THEN 1 END"),
         ("NOT ", ""), ("-", ""), ("array(", ")[0]"), ("CAST(", " AS int)"), ("/*", "*/"), ("'", "'"), ("`", "`"))
    )  # fmt: skip
    times = rng.choice((1, 1, 2, 5, 30))
    return [*tokens[:start], before * times, *tokens[start:end], after * times, *tokens[end:]]


def _truncate(rng: random.Random, tokens: list[str]) -> list[str]:
    return tokens[: _place(rng, tokens)]


_MUTATIONS: Final[Sequence[Callable[[random.Random, list[str]], list[str]]]] = (
    _drop, _double, _swap, _replace, _replace_by_own, _insert, _insert, _replace_by_word, _flip, _enlarge, _splice,
    _nest, _truncate, *[_replace_by_its_like] * 12, *[_replace_group] * 6,
)  # fmt: skip


# ------------------------------------------------------------------------------------------------ what is done with one


def planned(text: str) -> tuple[s.Statement, Plan | None]:
    """All that happens to a statement before Spark: its plan, None for one that has none. Raises AcidSqlError."""
    is_complete(text)
    for piece in split_script(text):
        parse(piece.text, piece)
    statement = parse(text)
    inner = statement.statement if isinstance(statement, s.Explain) else statement
    unnamed = sum(not node.this for node in placeholders_of(inner))
    inner, _ = name_placeholders(inner, [1] * unnamed if unnamed else {"x": 1, "y": 2})
    facts = _facts(inner)
    if isinstance(inner, s.CreateTable):
        for column in (*inner.columns, *inner.partition_columns):
            parse_type(column.type or "int")
        if inner.query is not None:
            column_types(inner.query, ["int"] * len(inner.query.selects))
            return inner, plan_create_query(s.Query(inner.source, inner.query), facts)
    if not isinstance(inner, s.Query | s.Insert | s.MultiInsert | s.Update | s.Delete | s.Merge):
        return inner, None
    plan = plan_statement(inner, facts)
    explain(plan)
    explain_locks(plan.locks)
    _prune(plan)
    return inner, plan


def _facts(statement: s.Statement) -> Facts:
    """Those of the stage; most of the names that it does not know are tables too, like one that it knows."""
    known = stage().tables
    tables, like = dict(known), sorted(known.values(), key=lambda table: table.qualified)
    for name in table_names(statement):
        number = zlib.crc32(name.name.encode(errors="surrogatepass"))
        if number % 5:
            of = replace(like[number % len(like)], database=name.database or "default", name=name.name)
            tables.setdefault(of.qualified, of)
    return Facts("default", tables, frozenset({"v"}), {}, ("emp", "t"))


def _prune(plan: Plan) -> None:
    for scan in plan.scans:
        count = len(scan.table.partition_columns)
        for value in ("1", "", "x", "2020-01-01", "1e5", "NaN", None):
            keeps(scan.partition_filter, scan.table)([value] * count)


def tried(text: str) -> bool:
    """Whether the statement has a plan; lets through what no statement may raise."""
    try:
        _, plan = planned(text)
    except AcidSqlError as error:
        str(error)
        error.getQueryContext()
        return False
    return plan is not None


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises HangError where the block takes longer; in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise HangError(f"it takes longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def run(seconds: float, seed: int, count: int | None = None) -> Report:
    """Tries mutated statements for so long, or so many of them; ends early where twenty things were found."""
    report = Report(seed)
    rng = random.Random(seed)
    end = time.monotonic() + seconds
    while time.monotonic() < end and len(report.found) < 20 and report.statements != count:
        text = mutated(rng)
        report.statements += 1
        started = time.monotonic()
        try:
            with limited(LONGEST):
                report.planned += tried(text)
        except (Exception, HangError):  # noqa: BLE001 - whatever it is, it is what is looked for
            report.found.append(Found(report.statements, text, traceback.format_exc(limit=-12)))
        report.slowest = max(report.slowest, (time.monotonic() - started, text))
    return report


if __name__ == "__main__":
    chosen = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 32)
    done = run(float(sys.argv[1]), chosen)
    sys.stdout.write(f"{done}\n")
    sys.exit(1 if done.found else 0)
