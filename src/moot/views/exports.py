"""The formats in which a debate is exported: one row each, read by REST, terminal and MCP.

A new format is a row here, its name in `core/terms.py` and a module with its renderer, which returns text or
binary data as bytes. Renderers are imported when they are used, so that nothing is loaded for other formats.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from msgspec import Struct

from moot.core.errors import Invalid
from moot.core.terms import DocumentName, ExportName

if TYPE_CHECKING:
    from moot.views.transcript import Transcript

DOCUMENTS: tuple[DocumentName, ...] = get_args(DocumentName)


JSON_TYPE = "application/json"


class ExportFormat(Struct, frozen=True):
    media_type: str
    suffixes: tuple[str, ...]
    """Endings of file names, by which the terminal knows the format; a download gets the first."""
    renderer: Callable[[Transcript], bytes] | None
    """None where it takes the whole log, not a transcript: `web/replay_file`."""

    @property
    def is_text(self) -> bool:
        return self.media_type == JSON_TYPE or self.media_type.startswith("text/")


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
    "json": ExportFormat(JSON_TYPE, (".json",), _json),
    "markdown": ExportFormat("text/markdown", (".md", ".markdown"), _markdown),
    "html": ExportFormat("text/html", (".html", ".htm"), _html),
    "replay": ExportFormat("text/html", (".replay.html",), None),
}
ATTACHED_TYPES = tuple(
    dict.fromkeys(row.media_type for row in EXPORTS.values() if row.media_type != JSON_TYPE)
)
"""The media types of the exports that a browser saves as a file."""


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
    raise Invalid(f"{path} should end in {list_suffixes()}, so that it is clear what to write.")


def list_suffixes() -> str:
    """Return the usual ending of each document, as a list in words."""
    # JSON comes last: it is for programs.
    *suffixes, last = (EXPORTS[name].suffixes[0] for name in (*DOCUMENTS[1:], DOCUMENTS[0]))
    return f"{', '.join(suffixes)} or {last}"
