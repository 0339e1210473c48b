"""The time line of DESCRIBE HISTORY in notebooks."""

from __future__ import annotations

import re

from acidsql.frontends.cell_results import Rows
from acidsql.frontends.html_history import MOST_DRAWN, html_time_line
from acidsql.show.history_list import HISTORY_COLUMNS
from acidsql.statements.results import ResultColumn

COLUMNS = tuple(ResultColumn(name, "string") for name in HISTORY_COLUMNS)


def entry(
    version: int,
    operation: str = "INSERT",
    counts: tuple[int | None, int | None, int | None] = (1, 0, 0),
    *,
    is_readable: bool = True,
    user: str | None = "ann",
) -> tuple[str | None, ...]:
    numbers = [None if count is None else str(count) for count in counts]
    time = f"2026-11-01 12:00:{version % 60:02}.123Z"
    readable = str(is_readable).lower()
    return (str(version), time, str(version + 1), operation, *numbers, user, readable, "metastore")


def texts(shown: str) -> str:
    """What the picture says, without its elements."""
    return re.sub(r"(<[^>]*>|&nbsp;)+", " ", shown)


def test_versions_stand_from_the_oldest_to_the_newest_with_their_counts() -> None:
    shown = html_time_line(COLUMNS, (entry(3, "UPDATE", (0, 12_345, 0)), entry(2, "DELETE", (0, 0, 2)), entry(1)))
    said = texts(shown)
    places = [said.index(text) for text in ("+1", "1 INSERT", "\N{MINUS SIGN}2", "2 DELETE", "~12k", "3 UPDATE")]
    assert places == sorted(places)
    heights = [int(height) for height in re.findall(r"height: (\d+)px; background", shown)]
    assert len(heights) == 3
    assert heights[2] == max(heights)
    assert min(heights) > 3


def test_bases_and_what_cannot_be_read_have_marks_of_their_own() -> None:
    rows = (entry(3), entry(2, "COMPACTION MAJOR", (None,) * 3), entry(2), entry(1, is_readable=False))
    shown = html_time_line(COLUMNS, rows)
    assert shown.count("border-radius: 2px; background: currentColor") == 1
    assert shown.count("border-radius: 50%; background: transparent") == 1
    assert shown.count("2px dotted") == 2
    assert "\N{LESS-THAN OR EQUAL TO} 2 major compaction" in texts(shown)
    legend = texts(shown)[-120:]
    for mark in ("can be read", "base: replaces the files before it", "cannot be read any more"):
        assert mark in legend
    plain = texts(html_time_line(COLUMNS, (entry(1),)))
    assert "base" not in plain
    assert "any more" not in plain


def test_the_picture_has_a_text_and_each_version_a_title() -> None:
    shown = html_time_line(COLUMNS, (entry(2, "MERGE", (3, 1, 0)), entry(1, is_readable=False, user=None)))
    (label,) = re.findall(r'role="img" aria-label="([^"]*)"', shown)
    assert label == (
        "Time line of 2 writes and compactions. version 1: INSERT; 2026-11-01 12:00:01.123Z, 1 inserted, cannot be read"
        " any more. version 2: MERGE; 2026-11-01 12:00:02.123Z, by ann, 3 inserted, 1 updated."
    )
    assert len(re.findall(r'title="version \d: ', shown)) == 2


def test_texts_are_escaped_and_control_characters_visible() -> None:
    shown = html_time_line(COLUMNS, (entry(1, '<b>"\x1b[31m', user='<i>\u202e"'),))
    assert "<b>" not in shown
    assert "<i>" not in shown
    assert shown.count("&lt;b&gt;&quot;\\x1b[31m") == 3
    assert "by &lt;i&gt;\\u202e&quot;" in shown
    assert not any(sign in shown for sign in "\x1b\u202e")


def test_only_the_newest_are_drawn_and_an_empty_history_has_no_picture() -> None:
    rows = [entry(version) for version in range(MOST_DRAWN + 5, 0, -1)]
    shown = html_time_line(COLUMNS, rows)
    assert len(re.findall(r'title="version ', shown)) == MOST_DRAWN
    assert "version 5:" not in shown
    assert html_time_line(COLUMNS, ()) == ""


def test_the_table_of_a_history_stands_below_its_picture_and_of_others_alone() -> None:
    rows = Rows(COLUMNS, (entry(1),), complete=True, is_history=True)
    shown = rows._repr_html_()
    assert 0 <= shown.index('role="img"') < shown.index("<table")
    assert "role=" not in Rows(COLUMNS, (entry(1),), complete=True)._repr_html_()
    assert "Time line" not in repr(rows)
