"""Pages as texts: names, links and sections exist, also those that the code names."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from docs.scripts import layers

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TOP = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "RELEASING.md",
    "SECURITY.md",
    "benchmarks/README.md",
)
PAGES = (*TOP, *sorted(path.relative_to(ROOT).as_posix() for path in DOCS.rglob("*.md")))
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")

SOURCES = sorted(
    path
    for folder in ("acidsql", "grammar", "planner", "tests", "benchmarks", "docs/scripts")
    for path in (ROOT / folder).rglob("*.py")
)
ELSEWHERE = {"lz4_Block_format.md", "doc/xxhash_spec.md"}
"""Specifications of other projects that the code names."""

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_CITED = re.compile(r'([\w./-]*\w\.md)\b(?:,? "([^"]+)")?(?:,? (\d+(?:, \d+)*)\b)?')


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------------------ lengths and names


def test_the_architecture_page_fits_on_a_hundred_and_twenty_lines() -> None:
    assert len(ARCHITECTURE.splitlines()) <= 120


def test_the_layers_on_the_architecture_page_are_those_of_the_contracts() -> None:
    assert layers.page() == ARCHITECTURE


def test_the_readme_fits_on_a_hundred_and_fifty_lines() -> None:
    assert len(README.splitlines()) <= 150


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "docs/design/where-is.md"])
def test_every_name_on_the_pages_of_the_architecture_can_be_imported(page: str) -> None:
    names = sorted(set(re.findall(r"`(acidsql(?:\.\w+)+)`", text_of(page))))
    assert len(names) > 5
    assert [name for name in names if not exists(name)] == []


def test_every_name_on_the_page_of_the_api_can_be_imported() -> None:
    text = text_of("docs/reference/api.md")
    entries = re.findall(r"^::: ([\w.]+)$(?:\n    options:\n      members: \[(.*)\])?", text, re.MULTILINE)
    assert len(entries) > 5
    names = [name for name, _ in entries]
    names += [f"{name}.{member}" for name, members in entries for member in members.split(", ") if member]
    assert [name for name in names if not exists(name)] == []


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


# ------------------------------------------------------------------------------------------------ links


def targets(page: str) -> set[str]:
    """The make targets that a page names."""
    return set(re.findall(r"\bmake ([a-z-]+)(?= |`|$)", "\n".join(code_of(page)), re.MULTILINE))


def code_of(page: str) -> list[str]:
    text = text_of(page)
    return re.findall(r"`([^`\n]+)`", text) + [body for language, body in _FENCE.findall(text) if language == "sh"]


def links_of(page: str) -> list[tuple[Path, str]]:
    """The files that a page links to, and the anchors in them; those of its own included."""
    without_code = _FENCE.sub("", text_of(page))
    found = []
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", without_code):
        path, _, anchor = link.partition("#")
        found.append(((ROOT / page).parent / path if path else ROOT / page, anchor))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_the_paths_links_and_targets_of_a_page_exist(page: str) -> None:
    text = text_of(page)
    missing = [str(path) for path, _ in links_of(page) if not path.exists()]
    paths = re.findall(r"`((?:acidsql|grammar|planner|tests|notebooks|benchmarks|docs|\.ci)/[\w./*-]*)`", text)
    missing += [path for path in paths if not any(ROOT.glob(path.rstrip("/")))]
    assert missing == []
    known = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert targets(page) <= known


@pytest.mark.parametrize("page", PAGES)
def test_the_anchors_that_a_page_links_to_exist(page: str) -> None:
    missing = [
        f"{path.name}#{anchor}"
        for path, anchor in links_of(page)
        if anchor and not anchor.startswith("acidsql.") and path.suffix == ".md" and anchor not in anchors(path)
    ]
    assert missing == []


def anchors(path: Path) -> set[str]:
    headings = _HEADING.findall(_FENCE.sub("", path.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w -]", "", heading).lower().strip().replace(" ", "-") for heading in headings}


def test_every_page_of_the_documentation_is_in_its_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    listed = re.findall(r"([\w/-]+\.md)$", navigation, re.MULTILINE)
    assert sorted(listed) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def test_the_documentation_loads_nothing_from_other_sites() -> None:
    assert "font: false" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [page for page in PAGES if re.search(r"!\[[^\]]*\]\(https?:|<(?:script|img|link)\b", text_of(page))] == []
    assert not re.search(r"@import|url\(\W*https?:", (DOCS / "terminal.svg").read_text(encoding="utf-8"))


# ------------------------------------------------------------------------------------------------ citations in code


def citations() -> set[tuple[str, str, str]]:
    """Page, heading and numbers that the sources cite, as in `semantics.md, "Better than Hive" 1`."""
    found = set()
    for path in SOURCES:
        if path != Path(__file__):
            text = re.sub(r"\s*\n\s*(?:# ?)?", " ", path.read_text(encoding="utf-8"))
            found |= set(_CITED.findall(text))
    return found


def page_named(name: str) -> Path | None:
    """The page of a name: by its path from the top, in a folder of docs, or in tests."""
    candidates = (ROOT / name, DOCS / name, DOCS / "design" / name, *DOCS.rglob(name.rpartition("/")[2]))
    return next((path for path in candidates if path.is_file()), None)


def test_every_module_that_a_comment_names_exists() -> None:
    """As `narrowing.py`, or with the end of its path, as `merge/narrowing.py`."""
    known = {path.relative_to(ROOT).as_posix() for path in SOURCES}
    missing = set()
    for path in SOURCES:
        if path.is_relative_to(ROOT / "tests"):
            continue
        for named in re.findall(r"(?<![\w/.*])((?:\w+/)*\w+\.py)\b", path.read_text(encoding="utf-8")):
            if not any(f"/{one}".endswith(f"/{named}") for one in known):
                missing.add(f"{path.relative_to(ROOT)}: {named}")
    assert missing <= {"docs/scripts/tested_components.py: tests/FILE.py"}


def test_every_page_that_the_code_names_exists() -> None:
    names = {name for name, _, _ in citations()}
    assert {"spark-findings.md", "semantics.md", "hive-acid-v2.md"} <= names
    assert {name for name in names - ELSEWHERE if page_named(name) is None} == set()


def test_every_section_that_the_code_cites_exists() -> None:
    missing = []
    for name, heading, numbers in sorted(citations()):
        path = page_named(name)
        if path is None or name in ELSEWHERE:
            continue
        headings = _HEADING.findall(path.read_text(encoding="utf-8"))
        if heading and not any(h.lower().startswith(heading.lower()) for h in headings):
            missing.append(f'{name}, "{heading}"')
        for number in filter(None, numbers.split(", ")):
            if not any(h.startswith(f"{number}. ") for h in headings):
                missing.append(f"{name} {number}")
    assert missing == []
