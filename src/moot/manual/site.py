"""The manual as a whole: its documents and pictures by address, and its search.

A page is read when it is asked for, and rendered once for each text that it has had: who edits a page sees
it after a reload. Pages that are written from the code are written once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path

from moot.manual import reference
from moot.manual.layout import Frame, article_document, search_document
from moot.manual.markdown import Article, render
from moot.manual.pages import PICTURES, REFERENCE, Page, WritePage, all_pages, resolve_link
from moot.manual.search import IndexedSection, SearchResult, find

FROM_CODE: Mapping[str, WritePage] = {
    f"{REFERENCE}event-types.md": reference.event_types,
    f"{REFERENCE}python.md": reference.python_library,
}


class Manual:
    """`written` are the functions that write further pages, by their paths in the repository."""

    def __init__(self, sources: Path, written: Mapping[str, WritePage]) -> None:
        self._sources = sources
        self._written = {name: cache(write) for name, write in {**FROM_CODE, **written}.items()}

    @cached_property
    def pages(self) -> tuple[Page, ...]:
        return all_pages(self._sources, self._written)

    @cached_property
    def _by_address(self) -> dict[str, Page]:
        return {page.address: page for page in self.pages}

    def document(self, address: str) -> str | None:
        """The page at an address below /manual/, as HTML; None if there is none."""
        page = self._by_address.get(address)
        return article_document(Frame(self.pages, page), _article(page)) if page else None

    def picture(self, address: str) -> bytes | None:
        """A picture of `docs/`. The caller has checked that the address leads out of no folder."""
        file = self._sources / "docs" / address
        return file.read_bytes() if file.suffix in PICTURES and file.is_file() else None

    def search(self, query: str) -> list[SearchResult]:
        return find(query, (section for page in self.pages for section in _indexed(page)))

    def search_document(self, query: str) -> str:
        return search_document(Frame(self.pages, query=query), self.search(query))


def _article(page: Page) -> Article:
    return _rendered(page.origin, page.read())


@lru_cache(maxsize=256)
def _rendered(origin: str, text: str) -> Article:
    return render(text, partial(resolve_link, origin))


def _indexed(page: Page) -> Sequence[IndexedSection]:
    article = _article(page)
    return [
        IndexedSection(
            f"{page.address}#{section.anchor}",
            article.title,
            section.heading,
            section.text,
            page.group == "Explanation",
        )
        for section in article.sections
    ]
