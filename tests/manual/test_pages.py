"""Which pages the manual has, where they come from, and where their links lead."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.manual.pages import MORE, address_of, all_pages, find_sources, missing_pages, resolve_link

ROOT = Path(__file__).parents[2]


def test_the_pages_of_a_checkout_are_those_of_the_repository_and_all_are_there() -> None:
    assert find_sources() == ROOT
    assert missing_pages(ROOT) == ""


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    assert "no manual" in missing_pages(None)
    (tmp_path / "README.md").write_text("# Moot")
    assert "docs/api.md" in missing_pages(tmp_path)
    assert "README.md" not in missing_pages(tmp_path)


@pytest.mark.parametrize(
    ("origin", "address"),
    [
        ("README.md", "index.html"),
        ("ARCHITECTURE.md", "architecture.html"),
        ("docs/tutorials/first-debate.md", "tutorials/first-debate.html"),
        ("docs/images/live.webp", "images/live.webp"),
    ],
)
def test_the_address_of_a_page_follows_from_its_path(origin: str, address: str) -> None:
    assert address_of(origin) == address


@pytest.mark.parametrize(
    ("origin", "link", "resolved"),
    [
        ("docs/api.md", "people.md#rights", "people.html#rights"),
        ("docs/api.md", "../README.md#install", "index.html#install"),
        ("docs/tutorials/a.md", "../../ARCHITECTURE.md", "../architecture.html"),
        ("README.md", "docs/images/live.webp", "images/live.webp"),
        ("docs/api.md", "#errors", "#errors"),
        ("docs/api.md", "https://example.org/a.md", "https://example.org/a.md"),
        ("docs/leagues.md", "leagues/local-models.toml", None),
    ],
)
def test_links_lead_where_the_pages_are_in_the_manual(origin: str, link: str, resolved: str | None) -> None:
    assert resolve_link(origin, link) == resolved


def test_pages_are_in_order_and_those_that_are_added_come_last(tmp_path: Path) -> None:
    (tmp_path / "docs" / "decisions").mkdir(parents=True)
    for name in ("README", "docs/page", "docs/decisions/0001-first", "docs/decisions/0002-second"):
        (tmp_path / f"{name}.md").write_text(f"# Title of {name[-6:]}\n")
    written = {"docs/plugin.md": lambda: "# A plugin", "docs/reference/commands.md": lambda: "# Commands"}
    pages = all_pages(tmp_path, written)
    assert [page.title for page in pages] == [
        "Moot", "Use the page", "Commands", "Decision records", "Title of -first", "Title of second",
        "A plugin",
    ]  # fmt: skip
    assert [page.parent for page in pages].count("docs/decisions.md") == 2
    assert pages[-1].group == MORE
    records = next(page for page in pages if page.title == "Decision records")
    assert "- [0002 Title of second](decisions/0002-second.md)" in records.read()
