"""Comparisons of columns with values of any type: what a scan may skip by them, and what is really true.

`SELECT .. WHERE p` skips partitions, files and row groups, and so do UPDATE, DELETE and MERGE. A query without WHERE
that has p in its SELECT list skips nothing. Both must find the same rows, for p, NOT p and p IS NULL. A comparison with
NULL is NULL, which is checked apart, because Spark may get it wrong in both places alike.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from acidsql.session import Session
from tests.fuzz.answers import Answer, Outcome, Refused, run
from tests.fuzz.parameters import with_parameters
from tests.fuzz.world import World

_NUMBERS: Final = (
    *("0", "1", "-1", "5", "5.0", "5.5", "0.1", "0.10", "20", "127Y", "128", "300", "5L", "5S", "1e1", "5D", "0.1D"),
    *("CAST(0.1 AS FLOAT)", "0.1BD", "5.500BD", "2147483647", "2147483648", "99999999999", "9223372036854775807"),
    *("9223372036854775808", "-9223372036854775809", "9223372036854775807.5", "99999999999999999999BD", "16777217"),
    *("9007199254740993", "1e300", "-0.0", "2 + 3", "- 5", "CAST('05' AS INT)"),
    *("20000110", "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)", "123456789.123456789", "CAST(5 AS TINYINT)"),
)
_TEXTS: Final = (
    *("''", "' '", "'a'", "'a '", "'A'", "'ab'", "'abcdef'", "'z'", "'5'", "'05'", "'5.0'", "' 5'", "'5 '", "'5e0'"),
    *("'0'", "'0.1'", "'1'", "'-1'", "'NaN'", "'x'", "'true'", "'TRUE'", "'false'", "'no'", "'2000-01-10'"),
    *(
        "'2000-1-10'",
        "'2000-01-10 00:00:00'",
        "'2000-01-10 05:00:00'",
        "' 2000-01-10'",
        "'2000-01-10x'",
        "'2000-13-01'",
    ),
    *("'1582-10-10'", "'0001-01-01'", "'9223372036854775807'", "'99999999999'", "'\U0001f600'", "'\uff21'", "'b%'"),
    *("'__HIVE_DEFAULT_PARTITION__'", "'null'", "concat('0', '5')", "CAST('a' AS CHAR(5))", "CAST('ab' AS VARCHAR(4))"),
)
_TIMES: Final = (
    *("date '2000-01-10'", "date '0001-01-01'", "date '9999-12-31'", "date '1582-10-04'", "date '1970-01-01'"),
    *("timestamp '2000-01-10 00:00:00'", "timestamp '2000-01-10 05:00:00'", "timestamp '1969-12-31 23:59:58.5'"),
    *("timestamp '2000-01-10 05:00:00.123456'", "CAST('2000-01-10' AS DATE)", "timestamp '0001-01-01 00:00:00'"),
)
_OTHERS: Final = ("true", "false", "NULL", "CAST(NULL AS INT)", "CAST(NULL AS STRING)", "X'61'", "current_date")
LITERALS: Final = (_NUMBERS, _TEXTS, _TIMES, _OTHERS)

_VALUES: Final[dict[str, tuple[str, ...]]] = {
    "tinyint": ("0", "1", "-1", "5", "127", "-128", "NULL"),
    "smallint": ("0", "1", "5", "300", "-32768", "NULL"),
    "int": ("0", "1", "-1", "5", "20", "16777217", "20000110", "2147483647", "-2147483648", "NULL"),
    "bigint": ("0", "1", "5", "9007199254740993", "99999999999", "9223372036854775807", "NULL"),
    "float": (*(f"CAST('{v}' AS FLOAT)" for v in ("0", "-0.0", "0.1", "5", "5.5", "16777216", "NaN", "1e30")), "NULL"),
    "double": (*(f"CAST('{v}' AS DOUBLE)" for v in ("0", "-0.0", "0.1", "5", "5.5", "NaN", "Infinity")), "NULL"),
    "decimal(9,3)": ("0", "0.1", "5", "5.5", "-1", "999999.999", "NULL"),
    "decimal(38,10)": ("0", "0.1", "5", "123456789.123456789", "9223372036854775808", "NULL"),
    "string": (
        *("''", "' '", "'a'", "'a '", "'A'", "'ab'", "'abcdef'", "'5'", "'05'", "'5.0'", "' 5'", "'5 '", "'5e0'"),
        *("'true'", "'TRUE'", "'no'", "'0'", "'2000-01-10'", "'2000-1-10'", "'2000-01-10 05:00:00'", "'NaN'", "'nan'"),
        *("'\U0001f600'", "'\uff21'", "'0.1'", "'1'", "'9223372036854775807'", "'x'", "'null'", "NULL"),
    ),
    "varchar(4)": ("''", "' '", "'a'", "'a '", "'ab'", "'5'", "'05'", "'5.0'", "'true'", "'no'", "'0.1'", "NULL"),
    "char(5)": ("''", "'a'", "'A'", "'ab'", "'abcde'", "'5'", "'05'", "'5.0'", "'true'", "'0.1'", "NULL"),
    "char(10)": ("''", "'a'", "'2000-01-10'", "'5'", "'x'", "NULL"),
    "boolean": ("true", "false", "NULL"),
    "date": (*(f"date '{v}'" for v in ("2000-01-10", "0001-01-01", "1582-10-04", "1970-01-01", "9999-12-31")), "NULL"),
    "timestamp": (
        *(
            "timestamp '2000-01-10 00:00:00'",
            "timestamp '2000-01-10 05:00:00'",
            "timestamp '2000-01-10 05:00:00.123456'",
        ),
        *("timestamp '1969-12-31 23:59:58.5'", "timestamp '0001-01-01 00:00:00'", "NULL"),
    ),
    "timestamp with local time zone": (
        "CAST(timestamp '2000-01-10 00:00:00' AS TIMESTAMP WITH LOCAL TIME ZONE)",
        "CAST(timestamp '2000-01-10 05:00:00' AS TIMESTAMP WITH LOCAL TIME ZONE)",
        "NULL",
    ),
}
_KEYS: Final = tuple(kind for kind in _VALUES if kind != "timestamp with local time zone")
_OPERATORS: Final = ("=", "=", "=", "<>", "<", "<=", ">", ">=", "<=>", "!=")
_PATTERNS: Final = ("'a%'", "'%a'", "'5%'", "'_'", "'%'", "''", "'a'", "'2000-01-10%'", "'a '", "'05'")
_PARTS: Final = ("{p}", "NOT ({p})", "({p}) IS NULL")


@dataclass(frozen=True, slots=True)
class _Place:
    """A table with a column of each of `kinds`: of the files' columns, or partition columns. Its rows have the number
    `k`, and few of them are in one file, so that the statistics of a file tell much about its rows."""

    name: str
    kinds: tuple[str, ...]
    keys: int

    def column(self, kind: str) -> str:
        return f"c{self.kinds.index(kind)}"

    def ddl(self) -> str:
        declared = [f"c{n} {kind}" for n, kind in enumerate(self.kinds)]
        at = len(declared) - self.keys
        regular = ", ".join(["k int", *declared[:at]])
        parts = f" PARTITIONED BY ({', '.join(declared[at:])})" if self.keys else ""
        return f"CREATE TABLE {self.name} ({regular}){parts} STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def check_comparisons(world: World, r: random.Random, count: int) -> None:
    """Tries `count` predicates over a table whose files differ, and over two that differ by partitions."""
    kinds = tuple(_VALUES)
    places = [_Place("cmp0", kinds, 0)]
    places += [_Place(f"cmp{n}", tuple(r.sample(_KEYS, 2)), keys) for n, keys in ((1, 1), (2, 2))]
    for place in places:
        _fill(world.session, place, r)
        predicates = [_predicate(r, place) for _ in range(max(1, count // len(places)))]
        for predicate, parts in _truth(world, place, predicates):
            _check(world, place, predicate, parts, r)


def _fill(session: Session, place: _Place, r: random.Random) -> None:
    """Rows in a few files or partitions, with whose statistics and names each condition can be decided or not."""
    session.execute(place.ddl())
    files, size = (5, 2) if place.keys == 0 else (2, 8)
    number = 0
    for _ in range(files):
        rows = []
        for _ in range(size):
            values = ", ".join(r.choice(_VALUES[kind]) for kind in place.kinds)
            rows.append(f"SELECT {number} AS k, {values}")
            number += 1
        session.execute(f"INSERT INTO {place.name} {' UNION ALL '.join(rows)}")
    session.execute(f"CREATE VIEW {place.name}_v AS SELECT * FROM {place.name}")
    names = ", ".join(f"c{n} AS d{n}" for n in range(len(place.kinds)))
    session.execute(f"CREATE VIEW {place.name}_w AS SELECT k, {names} FROM {place.name}")


# ------------------------------------------------------------------------------------------------ predicates


def _predicate(r: random.Random, place: _Place) -> str:
    """A condition on one or two columns. `{c}` stands for the letter of a column's name, which a view may change."""
    if r.random() < 0.15:
        return f"{_simple(r, place)} {r.choice(('AND', 'OR'))} {_simple(r, place)}"
    return _simple(r, place)


def _simple(r: random.Random, place: _Place) -> str:
    kind = r.choice(place.kinds)
    x = "{c}" + str(place.kinds.index(kind))
    literals = LITERALS if r.random() < 0.6 else (_VALUES[kind], _TEXTS)

    def literal() -> str:
        return r.choice(r.choice(literals))

    match r.randrange(10):
        case 0:
            return f"{x} {r.choice(('', 'NOT '))}BETWEEN {literal()} AND {literal()}"
        case 1 | 2:
            items = ", ".join(literal() for _ in range(r.randint(1, 4)))
            return f"{x} {r.choice(('', '', 'NOT '))}IN ({items})"
        case 3:
            return f"{literal()} {r.choice(_OPERATORS)} {x}"
        case 4 if any(name in kind for name in ("string", "char")):
            return f"{x} {r.choice(('', 'NOT '))}LIKE {r.choice(_PATTERNS)}"
        case _:
            return f"{x} {r.choice(_OPERATORS)} {literal()}"


def _truth(world: World, place: _Place, predicates: Sequence[str]) -> Iterator[tuple[str, tuple[set[int], ...]]]:
    """The rows for which each predicate is true, false and NULL, from queries that skip nothing; a predicate that is
    refused by itself has none."""
    items = [f"CASE WHEN {_named(p)} THEN 1 WHEN NOT ({_named(p)}) THEN 0 END" for p in predicates]
    outcome = run(world.session, f"SELECT k, {', '.join(items)} FROM {place.name}")
    if isinstance(outcome, Answer):
        _check_nulls(world, place, predicates)
        for number, predicate in enumerate(predicates, 1):
            found = {row[0]: row[number] for row in outcome.rows}
            yield predicate, tuple({k for k, v in found.items() if v == wanted} for wanted in (1, 0, None))
    elif len(predicates) > 1:
        half = len(predicates) // 2
        yield from _truth(world, place, predicates[:half])
        yield from _truth(world, place, predicates[half:])
    else:
        yield predicates[0], ()


def _check_nulls(world: World, place: _Place, predicates: Sequence[str]) -> None:
    """A comparison of one column with a literal must be NULL where the column is NULL, if its operator is not <=>."""
    named = [(p, re.findall(r"\{c\}[0-9]+", p)) for p in predicates if "<=>" not in p]
    strict = [(_named(p), _named(columns[0])) for p, columns in named if len(columns) == 1]
    if not strict:
        return
    items = ", ".join(f"count(CASE WHEN {column} IS NULL THEN {p} END)" for p, column in strict)
    outcome = run(world.session, f"SELECT {items} FROM {place.name}")
    world.done["comparisons with NULL"] += len(strict)
    counts = outcome.rows[0] if isinstance(outcome, Answer) else [None] * len(strict)
    for (predicate, column), count in zip(strict, counts, strict=True):
        if count != 0:
            text = f"SELECT {predicate} FROM {place.name} WHERE {column} IS NULL"
            world.found("comparison", text, f"{outcome} is not NULL")


def _named(predicate: str, prefix: str = "c") -> str:
    return predicate.replace("{c}", prefix)


# ------------------------------------------------------------------------------------------------ checks


def _check(world: World, place: _Place, predicate: str, parts: tuple[set[int], ...], r: random.Random) -> None:
    for number, shape in enumerate(_PARTS):
        form = r.choice(_FORMS) if number or r.random() < 0.5 else _FORMS[0]
        condition = shape.format(p=_named(predicate, "d" if "_w" in form else "c"))
        text = form.format(t=place.name, p=condition)
        wanted = parts[number] if parts else None
        _compare(world, text, run(world.session, text), wanted)
        if (given := with_parameters(text, r, r.choice((0.5, 1)), text.index(condition))) is not None:
            changed, args = given
            outcome = run(world.session, changed, args=args, rows_only=r.random() < 0.5)
            _compare(world, f"{changed} with {args}", outcome, wanted)
            world.done["comparisons with parameters"] += 1
    if r.random() < 0.1:
        _change(world, place, _named(predicate), parts[0] if parts else None, r)


_FORMS: Final = (
    "SELECT k FROM {t} WHERE {p}",
    "SELECT k FROM {t}_v WHERE {p}",
    "SELECT k FROM {t}_w WHERE {p}",
    "SELECT k FROM (SELECT * FROM {t}) AS x WHERE {p}",
    "SELECT k FROM (VALUES (1)) AS one JOIN {t} AS x ON {p}",
    "WITH x AS (SELECT * FROM {t} WHERE k >= 0) SELECT k FROM x WHERE {p}",
    "SELECT k FROM {t} WHERE k IN (SELECT k FROM {t} WHERE {p})",
)


def _change(world: World, place: _Place, condition: str, wanted: set[int] | None, r: random.Random) -> None:
    """DML by the predicate, in a transaction that is rolled back."""
    text = r.choice(_CHANGES).format(t=place.name, p=condition)
    given = with_parameters(text, r, start=text.index(condition)) if r.random() < 0.5 else None
    text, args = given or (text, {})
    run(world.session, "START TRANSACTION")
    outcome = run(world.session, text, args=args)
    left = run(world.session, f"SELECT k FROM {place.name} WHERE k >= 0")
    run(world.session, "ROLLBACK")
    if isinstance(outcome, Answer) and isinstance(left, Answer) and wanted is not None:
        gone = set(range(1000)) - {row[0] for row in left.rows}
        everything = run(world.session, f"SELECT k FROM {place.name}")
        assert isinstance(everything, Answer)
        gone &= {row[0] for row in everything.rows}
        if gone != wanted:
            world.found("comparison", f"{text} with {args}", f"changes {sorted(gone)} and not {sorted(wanted)}")
        world.done["comparisons in DML"] += 1
    elif isinstance(outcome, Refused) != (wanted is None):
        world.found("comparison", text, f"{outcome}, but WHERE is {'refused' if wanted is None else 'not refused'}")


_CHANGES: Final = (
    "DELETE FROM {t} WHERE {p}",
    "UPDATE {t} SET k = -1 - k WHERE {p}",
    "MERGE INTO {t} AS x USING (SELECT 1 AS one) AS s ON x.k >= 0 AND ({p}) WHEN MATCHED THEN DELETE",
    "DELETE FROM {t} WHERE k IN (SELECT k FROM {t}_v WHERE {p})",
)


def _compare(world: World, text: str, outcome: Outcome, wanted: set[int] | None) -> None:
    world.done["comparisons"] += 1
    if isinstance(outcome, Refused):
        if not outcome.is_known:
            world.found("leaked exception", text, f"{outcome.condition}: {outcome.text}")
        elif wanted is not None:
            world.found("comparison", text, f"{outcome}, but not in the SELECT list")
    elif wanted is None:
        world.found("comparison", text, "runs, but the SELECT list is refused")
    else:
        found = sorted(row[0] for row in outcome.rows)
        if found != sorted(wanted):
            world.found("comparison", text, f"finds {found} and not {sorted(wanted)}")
