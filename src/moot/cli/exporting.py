"""A debate as a document: the kind by name, or by the suffix of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from moot.debate import Debate
from moot.errors import Invalid, Unavailable

Kind = Literal["markdown", "html", "json"]
SUFFIXES: dict[str, Kind] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".json": "json",
}


def kind_of(path: Path) -> Kind:
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise Invalid(f"{path} should end in .md, .html or .json, so that it is clear what to write.")
    return kind


def document(debate: Debate, kind: Kind, *, reasoning: bool) -> str:
    from moot.views import html, json, markdown
    from moot.views.transcript import transcript

    writers = {"markdown": markdown.to_markdown, "html": html.to_html, "json": json.to_json}
    return writers[kind](transcript(debate, reasoning=reasoning))


def write(debate: Debate, path: Path, kind: Kind | None = None, *, reasoning: bool) -> None:
    from moot.cli.page import Page

    words = document(debate, kind or kind_of(path), reasoning=reasoning)
    try:
        path.write_text(words, "utf-8")
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}.") from error
    Page.err().line("Written to ", (str(path), "bold"))
