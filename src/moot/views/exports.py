"""The formats in which a debate is exported: one row each, read by REST, terminal and MCP.

A new format is a row here and a module with its renderer. Renderers are imported when they are used, so that
nothing is loaded for a format that nobody asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct

from moot.core.errors import Invalid

if TYPE_CHECKING:
    from moot.views.transcript import Transcript

DocumentName = Literal["json", "markdown", "html"]
"""What can be made of a transcript alone; `moot export --format` takes it."""
ExportName = Literal[DocumentName, "replay"]
"""What a server can make; `?format=` takes it."""


DOCUMENTS: tuple[DocumentName, ...] = get_args(DocumentName)


class ExportFormat(Struct, frozen=True):
    media_type: str
    suffixes: tuple[str, ...]
    """Endings of file names, by which the terminal knows the format; a download gets the first."""
    renderer: Callable[[Transcript], bytes] | None
    """None where it takes the whole log, not a transcript: `web/replay_file`."""


def _json(page: Transcript) -> bytes:
    from moot.views.transcript_json import to_json

    return to_json(page).encode()


def _markdown(page: Transcript) -> bytes:
    from moot.views.transcript_markdown import to_markdown

    return to_markdown(page).encode()


def _html(page: Transcript) -> bytes:
    from moot.views.transcript_html import to_html

    return to_html(page).encode()


EXPORTS: dict[ExportName, ExportFormat] = {
    "json": ExportFormat("application/json", (".json",), _json),
    "markdown": ExportFormat("text/markdown", (".md", ".markdown"), _markdown),
    "html": ExportFormat("text/html", (".html", ".htm"), _html),
    "replay": ExportFormat("text/html", (".replay.html",), None),
}


def render(name: DocumentName, page: Transcript) -> bytes:
    """Return the document."""
    renderer = EXPORTS[name].renderer
    if renderer is None:
        raise ValueError(f"{name} is not made of a transcript")
    return renderer(page)


def format_of_file(path: Path) -> DocumentName:
    """Return the format that the ending of a file name stands for. Raises Invalid where it is none."""
    for name in DOCUMENTS:
        if path.suffix.lower() in EXPORTS[name].suffixes:
            return name
    raise Invalid(f"{path} should end in .md, .html or .json, so that it is clear what to write.")
