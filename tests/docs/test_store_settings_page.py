"""The page of the settings of stores is the one that the code describes."""

from __future__ import annotations

from docs.scripts import store_settings_page


def test_the_page_of_store_settings_is_generated() -> None:
    """If not: make docs-pages."""
    assert store_settings_page.PAGE.read_text(encoding="utf-8") == store_settings_page.page()
