"""CREATE TEMPORARY FUNCTION: functions of Python by the names of their modules."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from acidsql.session import Session
from tests.answers import counts, fails, rows

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
MODULE = """
from __future__ import annotations

import datetime
from decimal import Decimal

import pandas as pd
from pyspark.sql.functions import pandas_udf, udf
from pyspark.sql.types import IntegerType, LongType

limit = 5
Alias = int | str


def shout(text: str | None) -> str | None:
    return None if text is None else f"{text}!"


def twice(number: int) -> int:
    return 2 * number


def half(number: int) -> float:
    return number / 2


def price(cents: int) -> Decimal:
    return Decimal(cents) / 100


def is_even(number: int) -> bool:
    return number % 2 == 0


def raw(text: str) -> bytes:
    return text.encode()


def tomorrow(day: datetime.date) -> datetime.date:
    return day + datetime.timedelta(days=1)


def five_in_the_morning(day: datetime.date) -> datetime.datetime:
    return datetime.datetime(day.year, day.month, day.day, 5)


def letters(text: str) -> dict[str, list[int]]:
    return {letter: [text.index(letter)] for letter in text}


class Adder:
    def __call__(self, number: int) -> int:
        return number + 1


add = Adder()


@udf(IntegerType())
def of_spark(number):
    return number + 100


@pandas_udf(LongType())
def vectorized(numbers: pd.Series) -> pd.Series:
    return numbers * 1000


def unknown(text):
    return text


def odd(text: str) -> object:
    return text


def either(text: str) -> Alias:
    return text


def unresolved(text: str) -> no_such_type:
    return text
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory on Python's path, of the driver and of its workers, with the module `own.functions`."""
    root = tmp_path_factory.mktemp("modules")
    (root / "own").mkdir()
    (root / "own" / "functions.py").write_text(MODULE, encoding="utf-8")
    (root / "own" / "broken.py").write_text("1 / 0\n", encoding="utf-8")
    (root / "own" / "incomplete.py").write_text("import no_such_library\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root))
        yield root
    for name in [name for name in sys.modules if name.split(".")[0] == "own"]:
        del sys.modules[name]


@pytest.fixture
def db(session: Session, spark: SparkSession, module: Path) -> Iterator[Session]:
    """A session with the table `t`, whose functions are dropped afterwards."""
    spark.sparkContext.addPyFile(_archive(module))
    before = {row[0] for row in rows(session, "SHOW FUNCTIONS")}
    session.execute(f"CREATE TABLE t (id int, v string) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    yield session
    for (name,) in rows(session, "SHOW FUNCTIONS"):
        if name not in before:
            session.execute(f"DROP TEMPORARY FUNCTION {name}")


def _archive(module: Path) -> str:
    import shutil

    archive = module / "own.zip"
    if not archive.exists():
        shutil.make_archive(str(module / "own"), "zip", module, "own")
    return str(archive)


def create(session: Session, *names: str) -> None:
    for name in names:
        session.execute(f"CREATE TEMPORARY FUNCTION {name} AS 'own.functions.{name}'")


@pytest.mark.ci
def test_a_function_of_a_module_is_called_in_every_statement(db: Session) -> None:
    create(db, "shout", "twice")
    assert counts(db, "UPDATE t SET v = shout(v) WHERE twice(id) = 4") == (1, 1, 0, 0)
    assert counts(db, "INSERT INTO t VALUES (twice(5), SHOUT('z'))") == (1, 0, 0, 1)
    merge = (
        "MERGE INTO t USING (VALUES (1), (40)) s(id) ON twice(t.id) = twice(s.id) WHEN MATCHED THEN"
        " UPDATE SET v = shout(shout(v)) WHEN NOT MATCHED THEN INSERT VALUES (s.id, shout('n'))"
    )
    assert counts(db, merge) == (2, 1, 0, 1)
    assert rows(db) == [(1, "a!!"), (2, "b!"), (3, "c"), (10, "z!"), (40, "n!")]
    assert rows(db, "SHOW FUNCTIONS LIKE 'shout'") == [("shout",)]
    db.execute("DROP TEMPORARY FUNCTION Shout")
    fails("INVALID_FUNCTION", lambda: db.sql("SELECT shout('a')"))


@pytest.mark.ci
def test_annotations_give_the_types_of_results(db: Session) -> None:
    create(
        db,
        "shout",
        "half",
        "price",
        "is_even",
        "raw",
        "tomorrow",
        "five_in_the_morning",
        "letters",
        "add",
        "of_spark",
        "vectorized",
    )
    shown = (
        "SELECT half(3), price(125), is_even(2), raw('x'), tomorrow(DATE'2024-02-28'), letters('ab'), add(1),"
        " of_spark(1), vectorized(2), shout(NULL)"
    )
    [row] = rows(db, shown)
    assert row == (
        1.5, Decimal("1.25"), True, b"x", date(2024, 2, 29), {"a": [0], "b": [1]}, 2, 101, 2000, None,
    )  # fmt: skip
    assert [kind for _, kind in db.sql(shown + ", five_in_the_morning(DATE'2024-02-28')").dtypes] == [
        "double", "decimal(38,18)", "boolean", "binary", "date", "map<string,array<bigint>>", "bigint",
        "int", "bigint", "string", "timestamp",
    ]  # fmt: skip


def test_a_function_replaces_a_function_or_macro_of_its_name(db: Session) -> None:
    create(db, "shout")
    db.execute("CREATE TEMPORARY MACRO twice(x int) x")
    db.execute("CREATE TEMPORARY FUNCTION shout AS 'own.functions.raw'")
    create(db, "twice")
    assert rows(db, "SELECT shout('x'), twice(2)") == [(b"x", 4)]


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        (
            "own.functions.absent",
            "Function own.functions.absent not found: the module own.functions has no absent",
            "PYTHONPATH",
        ),
        ("own.absent.f", "Function own.absent.f not found: there is no module own.absent", "PYTHONPATH"),
        ("org.example.F", "Function org.example.F not found: there is no module org", "no classes of Java"),
        ("IdentityUDF", "'IdentityUDF' is not the name of a function in a module", "package.module.function"),
        ("own..f", "'own..f' is not the name of a function in a module", "package.module.function"),
        ("own.functions.limit", "own.functions.limit is no function", "package.module.function"),
        ("own.functions.Adder", "own.functions.Adder is no function", "package.module.function"),
        ("own.functions.unknown", "The return type of own.functions.unknown is not known", "-> str"),
        ("math.sqrt", "The return type of math.sqrt is not known", "-> str"),
        ("own.functions.odd", "own.functions.odd returns object, which is no type of a column", "-> str"),
        ("own.functions.either", "own.functions.either returns int | str, which is no type of a column", "-> str"),
        (
            "own.functions.unresolved",
            "The annotations of own.functions.unresolved cannot be read: name 'no_such_type' is not defined",
            "-> str",
        ),
        ("own.broken.f", "The module own.broken cannot be imported: ZeroDivisionError: division by zero", ""),
        ("own.incomplete.f", "Function own.incomplete.f not found: there is no module no_such_library", ""),
    ],
)  # fmt: skip
def test_what_is_no_function_of_python_is_refused(
    session: Session, module: Path, name: str, message: str, hint: str
) -> None:
    error = fails("INVALID_PYTHON_FUNCTION", lambda: session.execute(f"CREATE TEMPORARY FUNCTION f AS '{name}'"))
    assert error.message == message
    assert error.span is not None
    assert error.span.text == f"'{name}'"
    assert hint in (error.hint or "")


def test_names_that_a_function_cannot_have(session: Session, module: Path) -> None:
    for name, message in (
        ("upper", "upper is a built-in function, which a temporary function cannot hide"),
        ("Mask_First_N", "mask_first_n is a built-in function, which a temporary function cannot hide"),
        ("d.f", "Temporary function cannot be created with a qualified name."),
    ):
        text = f"CREATE TEMPORARY FUNCTION {name} AS 'own.functions.shout'"
        error = fails("INVALID_PYTHON_FUNCTION", lambda text=text: session.execute(text))  # type: ignore[misc]
        assert error.message == message
