"""Which pages the manual has, in which order, and where the text of each comes from.

A page is named by its path in the repository (`docs/api.md`), which is how pages link to each other, also in
a repository browser. Its address in the manual follows from that path. A page is a file of the repository or
a function that writes it: the reference is written from the code, and extensions bring pages of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from posixpath import dirname, join, normpath, relpath

from msgspec import Struct

WritePage = Callable[[], str]
"""Returns a page as Markdown."""

INDEX = "README.md"
DECISIONS = "docs/decisions.md"
REFERENCE = "docs/reference/"
NAVIGATION: Mapping[str, Mapping[str, str]] = {
    "": {INDEX: "Moot"},
    "Tutorials": {
        "docs/tutorials/first-debate.md": "Your first debate",
        "docs/tutorials/judge-a-debate.md": "Judge a debate yourself",
        "docs/tutorials/compare-two-models.md": "Compare two models",
        "docs/tutorials/analyse-an-experiment.md": "Analyse an experiment",
        "docs/tutorials/build-a-client.md": "Build a client",
    },
    "How to": {
        "docs/page.md": "Use the page",
        "docs/terminal.md": "Use the terminal",
        "docs/providers.md": "Add models and providers",
        "docs/formats.md": "Choose or write a format",
        "docs/scenarios.md": "Set up kinds of debate",
        "docs/people.md": "Let people take part",
        "docs/tools.md": "Use tools (MCP)",
        "docs/extending.md": "Write an extension",
        "docs/library.md": "Use the Python library",
        "docs/testing-kit.md": "Test what you write",
        "docs/experiments.md": "Measure models and judges",
        "docs/truth.md": "Measure debate against the truth",
        "docs/api.md": "Use the API",
        "docs/operating.md": "Operate a server or a cluster",
        "docs/migration.md": "Import and export",
        "docs/troubleshooting.md": "Solve problems",
    },
    "Reference": {
        f"{REFERENCE}commands.md": "Commands",
        "docs/settings.md": "Settings",
        "docs/data.md": "Data and tables",
        "docs/events.md": "Events",
        f"{REFERENCE}event-types.md": "Event types",
        f"{REFERENCE}http-api.md": "HTTP API",
        f"{REFERENCE}python.md": "Python library",
    },
    "Explanation": {
        "docs/judging.md": "How judging works",
        "ARCHITECTURE.md": "Architecture",
        "docs/figures.md": "Performance",
        "docs/local-debates.md": "Debates of the local models",
        "docs/leagues.md": "A league of the local models",
        "docs/testing.md": "Tests and promises",
        "docs/releasing.md": "Releasing",
        "CONTRIBUTING.md": "Contributing",
        "CHANGELOG.md": "Changelog",
        DECISIONS: "Decision records",
    },
}
"""The groups of the navigation with the titles of their pages."""
MORE = "More"
"""The group of pages that extensions bring."""
BELOW = {"docs/decisions/": DECISIONS, "docs/leagues/": "docs/leagues.md"}
"""Pages in these folders are not in the navigation: they belong to a page that is."""
PICTURES = (".png", ".svg", ".webp")
HEADING = re.compile(r"^# (.+)$", re.MULTILINE)


class Page(Struct, frozen=True):
    origin: str
    """Its path in the repository."""
    title: str
    group: str
    read: WritePage
    parent: str = ""
    """The page of the navigation that it belongs to, where it is not in the navigation itself."""

    @property
    def address(self) -> str:
        return address_of(self.origin)


def find_sources() -> Path | None:
    """The folder with the README and `docs/`: inside an installed package, else the checkout it runs from."""
    here = Path(__file__)
    return next((at for at in (here.with_name("sources"), here.parents[3]) if has_pages(at)), None)


def has_pages(folder: Path) -> bool:
    return (folder / INDEX).is_file() and (folder / "docs").is_dir()


def missing_pages(sources: Path | None) -> str:
    """A sentence about the pages of the manual that this installation lacks; empty if it has all."""
    if sources is None:
        return "This installation has no manual: its Markdown files were not packaged."
    written = (DECISIONS, REFERENCE)
    named = (name for pages in NAVIGATION.values() for name in pages if not name.startswith(written))
    missing = [name for name in named if not (sources / name).is_file()]
    return f"The manual lacks {', '.join(missing)}." if missing else ""


def all_pages(sources: Path, written: Mapping[str, WritePage]) -> tuple[Page, ...]:
    """Every page in reading order: those of the navigation, each with those below it, then added ones.

    `written` are the functions that write pages, by path. A page of the navigation that neither a file nor
    a function provides is left out.
    """
    readers = {**dict(_files(sources)), **written}
    readers[DECISIONS] = partial(_list_decisions, readers)
    below = {name: parent for name in readers for folder, parent in BELOW.items() if name.startswith(folder)}
    pages = list[Page]()
    for group, titles in NAVIGATION.items():
        for name in (name for name in titles if name in readers):
            pages.append(Page(name, titles[name], group, readers[name]))
            inside = sorted(child for child, parent in below.items() if parent == name)
            pages += [Page(child, _title(readers[child]), group, readers[child], name) for child in inside]
    known = {page.origin for page in pages}
    added = (name for name in readers if name not in known)
    return (*pages, *(Page(name, _title(readers[name]), MORE, readers[name]) for name in added))


def _files(sources: Path) -> Iterator[tuple[str, WritePage]]:
    names = [path.relative_to(sources).as_posix() for path in sorted((sources / "docs").rglob("*.md"))]
    tops = [name for pages in NAVIGATION.values() for name in pages if "/" not in name]
    for name in (*names, *tops):
        if (sources / name).is_file():
            yield name, partial((sources / name).read_text, "utf-8")


def _list_decisions(readers: Mapping[str, WritePage]) -> str:
    folder = "docs/decisions/"
    rows = [
        f"- [{name.removeprefix(folder)[:4]} {_title(read)}]({name.removeprefix('docs/')})"
        for name, read in sorted(readers.items())
        if name.startswith(folder)
    ]
    about = "What was decided, why, and what follows from it. One page for each decision."
    return "\n".join(["# Decision records\n", f"{about}\n", *rows])


def _title(read: WritePage) -> str:
    heading = HEADING.search(read())
    return heading[1].replace("`", "") if heading else "Untitled"


# --- addresses ------------------------------------------------------------------------------------------


def address_of(origin: str) -> str:
    """The address of a page or picture below /manual/, by its path in the repository."""
    if origin == INDEX:
        return "index.html"
    name = origin.removeprefix("docs/") if "/" in origin else origin.lower()
    return re.sub(r"\.md$", ".html", name)


def resolve_link(origin: str, link: str) -> str | None:
    """The link of a page as it reads in the manual; None for a file that is neither page nor picture."""
    if re.match(r"[a-z]+:|#", link):
        return link
    path, hash_, anchor = link.partition("#")
    target = normpath(join(dirname(origin), path))
    if not target.endswith((".md", *PICTURES)):
        return None
    return relative(address_of(origin), address_of(target)) + hash_ + anchor


def relative(page: str, target: str) -> str:
    """How a page links to an address, both below /manual/."""
    return relpath(target, dirname(page) or ".")
