"""A page of the manual as a document: the top line, the navigation, the article, and what is on this page.

All of it works without scripts. Navigation and contents are columns where there is room, and open with their
buttons where there is not (`popover`). `static/manual.js` adds what needs a script: the theme, the copy
buttons, results while one types, and a mark at the section that is being read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from msgspec import Struct

from moot.manual.markdown import Article, Section
from moot.manual.pages import Page, relative
from moot.manual.search import SearchResult

SEARCH = "search"
"""The address of the search below /manual/."""


class Frame(Struct, frozen=True):
    """What stands around an article."""

    pages: Sequence[Page]
    here: Page | None = None
    """None for the results of a search."""
    query: str = ""

    @property
    def address(self) -> str:
        return self.here.address if self.here else SEARCH

    def link(self, page: Page) -> str:
        return escape(relative(self.address, page.address))


def article_document(frame: Frame, article: Article) -> str:
    return _document(frame, article.title, f"<article>\n{article.html}</article>", article.contents)


def search_document(frame: Frame, results: Sequence[SearchResult]) -> str:
    if not frame.query:
        told = "Type a word or two: a command, a setting, an error, a question."
    elif not results:
        told = f"Nothing is found for “{frame.query}”. Try fewer or other words."
    else:
        count = "One section" if len(results) == 1 else f"The best {len(results)} sections"
        told = f"{count} for “{frame.query}”."
    rows = "".join(f"<li>{_result(result)}</li>\n" for result in results)
    found = f'<ol class="results">\n{rows}</ol>' if results else ""
    body = f'<h1>Search</h1>\n{_search_form(frame)}\n<p class="soft">{escape(told)}</p>\n{found}'
    return _document(frame, f"{frame.query} · Search" if frame.query else "Search", body, ())


def _result(result: SearchResult) -> str:
    page = "" if result.page == result.heading else f' <span class="soft">{escape(result.page)}</span>'
    title = f'<a href="{escape(result.address)}">{escape(result.heading)}</a>{page}'
    return f"{title}<p>{result.excerpt_html}</p>"


def _document(frame: Frame, title: str, body: str, sections: Sequence[Section]) -> str:
    contents = _contents(sections)
    return f"""<!doctype html>
<html lang="en" data-page="manual">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<title>{escape(title)} · Moot manual</title>
<link rel="icon" href="/static/moot.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/css/fonts.css">
<link rel="stylesheet" href="/static/css/base.css">
<link rel="stylesheet" href="/static/css/manual.css">
<script src="/static/manual.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
<a class="brand" href="/">moot</a>
<nav aria-label="Moot"><a href="/" class="back">Back to Moot</a><a href="/manual/">Manual</a></nav>
{_opens("pages", "Pages")}
{_opens("contents", "Sections") if contents else ""}
{_search_form(frame) if frame.here else ""}
<button type="button" class="btn theme" hidden>Theme</button>
</header>
<div class="manual">
<nav id="pages" popover aria-label="Manual">
{_navigation(frame)}
</nav>
<main id="main" tabindex="-1">
{body}
{_neighbours(frame)}
</main>
{contents}
</div>
</body>
</html>
"""


def _opens(target: str, label: str) -> str:
    return f'<button type="button" class="btn opens" popovertarget="{target}">{label}</button>'


def _search_form(frame: Frame) -> str:
    """In the top line, or large on the page of the results."""
    value = f' value="{escape(frame.query)}"' if frame.query else ""
    return (
        '<form role="search" action="/manual/search">'
        f'<input type="search" name="q"{value} class="field" aria-label="Search the manual" '
        'placeholder="Search" autocomplete="off" aria-keyshortcuts="/"></form>'
    )


def _navigation(frame: Frame) -> str:
    listed = [page for page in frame.pages if not page.parent]
    groups = groupby(listed, key=lambda page: page.group)
    return "\n".join(_group(frame, title, list(pages)) for title, pages in groups)


def _group(frame: Frame, title: str, pages: Sequence[Page]) -> str:
    rows = "".join(f"<li>{_entry(frame, page)}</li>\n" for page in pages)
    entries = f'<ul class="entries">\n{rows}</ul>'
    return f"<h2>{escape(title)}</h2>\n{entries}" if title else entries


def _entry(frame: Frame, page: Page) -> str:
    current = ""
    if frame.here and page.origin == frame.here.origin:
        current = ' aria-current="page"'
    elif frame.here and page.origin == frame.here.parent:
        current = ' aria-current="true"'
    return f'<a href="{frame.link(page)}"{current}>{escape(page.title)}</a>'


def _contents(sections: Iterable[Section]) -> str:
    rows = "".join(
        f'<li class="level-{section.level}"><a href="#{section.anchor}">{section.heading_html}</a></li>\n'
        for section in sections
    )
    if not rows:
        return ""
    listed = f'<h2>On this page</h2>\n<ul class="entries">\n{rows}</ul>'
    return f'<nav id="contents" popover aria-label="On this page">\n{listed}\n</nav>'


def _neighbours(frame: Frame) -> str:
    """Links to the pages before and after this one, in reading order."""
    if frame.here is None:
        return ""
    level = [page for page in frame.pages if page.parent == frame.here.parent]
    place = level.index(frame.here)
    links = list[str]()
    if place:
        page = level[place - 1]
        links.append(f'<a rel="prev" href="{frame.link(page)}"><span>Previous</span>{escape(page.title)}</a>')
    if place + 1 < len(level):
        page = level[place + 1]
        links.append(f'<a rel="next" href="{frame.link(page)}"><span>Next</span>{escape(page.title)}</a>')
    return f'<nav class="neighbours" aria-label="Previous and next page">{"".join(links)}</nav>'
