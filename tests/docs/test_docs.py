"""The documentation is executed: examples run, tables of statements, options, settings and errors are true."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError, Condition
from acidsql.frontends.render import Format
from acidsql.session import METASTORE_VARIABLE, WAREHOUSE_VARIABLE, Session, connect
from acidsql.statements.settings import KNOWN
from docs.scripts import errors_page, settings_page, statement_syntax, tested_page
from docs.scripts.tested_components import COMPONENTS, Kind
from tests.page_examples import RUNNING, PageRunner, blocks

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
STATEMENTS = (DOCS / "sql" / "index.md").read_text(encoding="utf-8")
COMMANDS = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
SETTINGS = (DOCS / "reference" / "settings.md").read_text(encoding="utf-8")

_ROW = re.compile(r"^\| `([^`]+)` \| (yes|not yet) \|$", re.MULTILINE)
FEATURES: Sequence[tuple[str, str]] = _ROW.findall(STATEMENTS)


def pages_with_examples() -> list[str]:
    pages = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in DOCS.rglob("*.md"))]
    return [page for page in pages if any(b.language in RUNNING for b in blocks((ROOT / page).read_text("utf-8")))]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The reader's directory, with nothing in the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(WAREHOUSE_VARIABLE, raising=False)
    monkeypatch.delenv(METASTORE_VARIABLE, raising=False)
    monkeypatch.setattr("acidsql.connection._default", None)
    return tmp_path


@pytest.fixture
def reader(spark: SparkSession, place: Path) -> Iterator[Session]:
    """A session on the reader's warehouse, with the Spark session's time zone kept."""
    zone = spark.conf.get("spark.sql.session.timeZone")
    with connect(place / "warehouse", spark=spark) as session:
        yield session
    spark.conf.set("spark.sql.session.timeZone", str(zone))


# ------------------------------------------------------------------------------------------------ examples


def test_most_pages_have_examples() -> None:
    pages = pages_with_examples()
    assert "README.md" in pages
    assert len(pages) > 20


@pytest.mark.ci
@pytest.mark.parametrize("page", pages_with_examples())
def test_the_examples_of_a_page_give_what_it_says(page: str, reader: Session, place: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for block, given, said in PageRunner(reader, place).run(text):
        assert said is None or given == said, f"{page}:{block.line}"


def test_the_story_leaves_the_directories_that_the_readme_lists(reader: Session, place: Path) -> None:
    story, _, listed = blocks((ROOT / "README.md").read_text(encoding="utf-8"))[1:4]
    list(reader.script(story.text))
    files = {path.relative_to(place / "warehouse").as_posix() for path in place.glob("warehouse/employee/*/bucket_*")}
    assert files == set(listed.text.split())


# ------------------------------------------------------------------------------------------------ what works


@pytest.mark.ci
def test_the_feature_tables_are_true(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one session, in the order of the page: examples use the tables of those before."""
    assert len(FEATURES) > 30
    monkeypatch.chdir(ROOT)  # LOAD DATA names a file of the repository
    with connect(tmp_path / "warehouse", spark=spark) as session:
        found = [(statement, state_of(statement, session)) for statement, _ in FEATURES]
    assert found == FEATURES


def state_of(statement: str, session: Session) -> str:
    try:
        list(session.execute(statement).rows())
    except AcidSqlError as error:
        return "not yet" if error.condition == Condition.NOT_YET_SUPPORTED.name else str(error)
    return "yes"


# ------------------------------------------------------------------------------------------------ the command line


def options_in(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", text)) - {"-h", "--help"}


def help_of(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "acidsql", *command, "--help"], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_every_command_and_option_is_on_its_page() -> None:
    commands = re.findall(r"^    ([a-z]+)\b", help_of(), re.MULTILINE)
    assert {"shell", "compactor", "inspect"} <= set(commands)
    common = COMMANDS[COMMANDS.index("## Common options") : COMMANDS.index("## acidsql shell")]
    for command in commands:
        (synopsis,) = re.findall(rf"^acidsql {command}\b.*(?:\n  .*)*", COMMANDS, re.MULTILINE)
        assert options_in(synopsis) == options_in(help_of(command))
        (section,) = re.findall(rf"^## acidsql {command}\n(.*?)^## ", COMMANDS, re.MULTILINE | re.DOTALL)
        explained = options_in(" ".join(re.findall(r"^\| (.*?) \|", common + section, re.MULTILINE)))
        assert options_in(help_of(command)) <= explained


def test_every_output_format_and_variable_is_on_the_page_of_commands() -> None:
    assert f"--output {'|'.join(shape.value for shape in Format)}]" in COMMANDS
    assert f"${WAREHOUSE_VARIABLE}" in COMMANDS
    assert f"${METASTORE_VARIABLE}" in COMMANDS


# ------------------------------------------------------------------------------------------------ generated pages


def test_the_page_of_settings_is_what_the_script_makes_of_them() -> None:
    assert settings_page.page() == SETTINGS
    assert all(f"| `{name}` |" in SETTINGS for name in KNOWN)


def test_the_page_of_errors_is_what_the_script_makes_of_them() -> None:
    assert errors_page.PAGE.read_text(encoding="utf-8") == errors_page.page()


def test_the_syntax_that_the_shell_shows_is_that_of_the_pages() -> None:
    assert statement_syntax.FILE.read_text(encoding="utf-8") == statement_syntax.text()


def test_the_page_of_tested_components_is_what_the_script_makes_of_them() -> None:
    """The script looks for each test that it names, and for its marks."""
    assert tested_page.PAGE.read_text(encoding="utf-8") == tested_page.page()
    assert all(set(one.shown) <= set(Kind) and one.shown for one in COMPONENTS)


def test_a_test_that_is_not_there_is_not_on_the_page_of_tested_components() -> None:
    assert tested_page.marks("tests/cluster/test_killed_driver.py::test_a_driver_killed_in_mid_statement") >= {
        "cluster"
    }
    with pytest.raises(KeyError):
        tested_page.marks("tests/cluster/test_killed_driver.py::test_nothing")


def test_every_condition_is_explained_once() -> None:
    assert sorted(errors_page.explained()) == sorted(condition.name for condition in Condition)


def test_the_conditions_that_pages_name_exist() -> None:
    names = {condition.name for condition in Condition}
    for page in (ROOT / "README.md", *DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        named = set(re.findall(r"raises? `([A-Z]+(?:_[A-Z0-9]+)+)`|\(`([A-Z]+(?:_[A-Z0-9]+)+)`\)", text))
        assert {a or b for a, b in named} <= names
