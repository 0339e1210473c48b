"""The documentation is executed: examples run, options and settings are described, names and links exist."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError, Condition
from acidsql.frontends.render import Format, render
from acidsql.grammar.script_splitter import split_script
from acidsql.session import METASTORE_VARIABLE, WAREHOUSE_VARIABLE, Session, connect
from acidsql.settings import KNOWN

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md")
README = (ROOT / "README.md").read_text()
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text()

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"-- example: (\w+)\n")
_ROW = re.compile(r"^\| `([^`]+)` \| (yes|not yet) \|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language and text."""

    language: str
    text: str

    @property
    def example(self) -> str:
        """What a `-- example: word` at its head calls it."""
        named = _EXAMPLE.match(self.text)
        return named[1] if named else ""


BLOCKS = [Block(language, text) for language, text in _FENCE.findall(README)]
FEATURES: Sequence[tuple[str, str]] = _ROW.findall(README)


def block(language: str, example: str = "") -> Block:
    return next(b for b in BLOCKS if b.language == language and b.example == example)


def after(found: Block) -> Block:
    return BLOCKS[BLOCKS.index(found) + 1]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tour")


@pytest.fixture
def here(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The reader's directory, with a warehouse below it, and nothing in the environment."""
    monkeypatch.chdir(place)
    monkeypatch.delenv(WAREHOUSE_VARIABLE, raising=False)
    monkeypatch.delenv(METASTORE_VARIABLE, raising=False)
    monkeypatch.setattr("acidsql.connection._default", None)
    return place


@pytest.fixture(scope="module")
def toured(place: Path, spark: SparkSession) -> Iterator[Session]:
    """A session in which the story of the quick tour ran."""
    with connect(place / "warehouse", spark=spark) as session:
        for result in session.script(block("sql").text):
            if result.columns is not None:
                shown = "".join(render(Format.TABLE, result.columns, result.rows()))
                assert shown == after(block("sql")).text
        yield session


# ------------------------------------------------------------------------------------------------ README: the tour


def test_the_story_leaves_the_directories_that_the_readme_lists(toured: Session, place: Path) -> None:
    listed = after(after(block("sql"))).text.split()
    files = {path.relative_to(place / "warehouse").as_posix() for path in place.glob("warehouse/employee/*/bucket_*")}
    assert files == set(listed)


def test_the_python_and_the_jupyter_examples_run_after_it(toured: Session, here: Path, spark: SparkSession) -> None:
    exec(compile(block("python").text, "README.md", "exec"), {})  # the page's own text
    rows = [tuple(row) for row in toured.sql("SELECT * FROM employee ORDER BY id").collect()]
    assert rows == [(2, "Tom", 8100), (3, "Kate", 6100), (4, "Mary", 9000), (5, "Ann", 5500)]
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    for cell in block("ipython").text.split("\n\n"):
        done = shell.run_cell(cell)  # type: ignore[no-untyped-call]
        done.raise_error()
    assert [tuple(row) for row in shell.user_ns["top"].collect()] == [("Mary", 9000), ("Tom", 8100)]
    InteractiveShell.clear_instance()


def test_the_example_of_adoption_reads_the_table(toured: Session, place: Path) -> None:
    shutil.copytree(f"{place}/warehouse/employee", f"{place}/hive/sales")
    statement = block("sql", "adopt").text.replace("/data/hive/sales", f"{place}/hive/sales")
    list(toured.script(statement))
    query = "SELECT row__id, * FROM {} ORDER BY id"
    adopted, original = (toured.sql(query.format(name)).collect() for name in ("sales", "employee"))
    assert adopted == original
    assert len(adopted) > 0


def test_the_example_of_a_compaction_leaves_a_base(toured: Session, place: Path) -> None:
    list(toured.script(block("sql", "compact").text))
    assert len(list(place.glob("warehouse/employee/base_*_v*"))) == 1


def test_the_example_of_an_error_is_what_is_shown(toured: Session) -> None:
    (piece,) = split_script(block("sql", "error").text)
    with pytest.raises(AcidSqlError) as caught:
        toured.execute(piece.text.removeprefix("-- example: error\n"))
    assert f"{caught.value}\n" == after(block("sql", "error")).text


# ------------------------------------------------------------------------------------------------ README: what works


def test_the_feature_tables_are_true(spark: SparkSession, tmp_path: Path) -> None:
    """In one session, in the order of the page: examples use the tables of those before."""
    assert len(FEATURES) > 30
    with connect(tmp_path / "warehouse", spark=spark) as session:
        found = [(statement, state_of(statement, session)) for statement, _ in FEATURES]
    assert found == FEATURES


def state_of(statement: str, session: Session) -> str:
    try:
        list(session.execute(statement).rows())
    except AcidSqlError as error:
        return "not yet" if error.condition == Condition.NOT_YET_SUPPORTED.name else str(error)
    return "yes"


def options_in(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", text)) - {"-h", "--help"}


def help_of(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "acidsql", *command, "--help"], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_every_command_and_option_is_in_the_readme() -> None:
    commands = re.findall(r"^    ([a-z]+)\b", help_of(), re.MULTILINE)
    assert {"shell", "compactor", "inspect"} <= set(commands)
    for command in commands:
        (synopsis,) = re.findall(rf"^acidsql {command}\b.*(?:\n  .*)*", README, re.MULTILINE)
        assert options_in(synopsis) == options_in(help_of(command))


def test_every_option_of_the_shell_is_explained() -> None:
    table = README[README.index("| option | meaning |") : README.index("Only rows go to standard output")]
    first_cells = " ".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE))
    assert options_in(first_cells) == options_in(help_of("shell"))


def test_every_setting_is_in_the_readme_with_its_values_and_default() -> None:
    rows = dict(re.findall(r"^\| `([a-z.]+)` \| ([^|]+) \|", README, re.MULTILINE))
    assert set(rows) == set(KNOWN)
    for name, known in KNOWN.items():
        if isinstance(known.values, tuple):
            assert sorted(re.findall(r"`(\w+)`", rows[name])) == sorted(known.values)
        assert f"**`{known.default}`**" in rows[name]


def test_every_output_format_and_variable_is_in_the_readme() -> None:
    assert f"--output {'|'.join(shape.value for shape in Format)}]" in README
    assert f"${WAREHOUSE_VARIABLE}" in README
    assert f"${METASTORE_VARIABLE}" in README


def test_the_conditions_in_the_readme_have_their_codes() -> None:
    rows = re.findall(r"^\| `([A-Z_0-9]+)` \| (\w{5}) \| (\d*) ?\|", README, re.MULTILINE)
    assert len(rows) > 10
    for name, sqlstate, hive_code in rows:
        info = Condition[name].value
        assert (info.sqlstate, str(info.hive_code or "")) == (sqlstate, hive_code)


# ------------------------------------------------------------------------------------------------ every page


def test_the_architecture_page_fits_on_a_hundred_lines() -> None:
    assert len(ARCHITECTURE.splitlines()) <= 120


def dotted_names() -> list[str]:
    return sorted(set(re.findall(r"`(acidsql(?:\.\w+)+)`", ARCHITECTURE)))


def test_every_name_on_the_architecture_page_can_be_imported() -> None:
    assert len(dotted_names()) > 20
    assert [name for name in dotted_names() if not exists(name)] == []


def exists(dotted: str) -> bool:
    """Whether a dotted name is a module, or something in a module."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part, None)
        return found is not None
    return False


def targets(page: str) -> set[str]:
    """The make targets that a page names."""
    return set(re.findall(r"\bmake ([a-z-]+)(?= |`|$)", "\n".join(code_of(page)), re.MULTILINE))


def code_of(page: str) -> list[str]:
    text = (ROOT / page).read_text()
    return re.findall(r"`([^`\n]+)`", text) + [body for language, body in _FENCE.findall(text) if language == "sh"]


@pytest.mark.parametrize("page", PAGES)
def test_the_paths_links_and_targets_of_a_page_exist(page: str) -> None:
    text = (ROOT / page).read_text()
    links = [link.split("#")[0] for link in re.findall(r"\]\((?!https?:)([^)]+)\)", text)]
    paths = re.findall(r"`((?:acidsql|grammar|planner|tests|notebooks|benchmarks|\.ci)/[\w./*-]*)`", text)
    missing = [link for link in links if link and not ((ROOT / page).parent / link).exists()]
    missing += [path for path in paths if not any(ROOT.glob(path.rstrip("/")))]
    assert missing == []
    known = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert targets(page) <= known


@pytest.mark.parametrize("page", PAGES)
def test_the_anchors_of_a_page_exist(page: str) -> None:
    text = (ROOT / page).read_text()
    headings = {
        re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= headings
