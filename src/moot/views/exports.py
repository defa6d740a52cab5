"""The formats in which a debate is exported: one row each, read by REST, terminal and tools.

A new format is a row here, its name in `core/terms.py` and a module with its renderer, which returns text or
binary data as bytes. Renderers are imported when they are used, so that nothing is loaded for other formats.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from moot.core.errors import Invalid
from moot.core.terms import ExportName
from moot.extension import loaded

if TYPE_CHECKING:
    from moot.core.state import Debate
    from moot.core.visibility import Viewer
    from moot.views.transcript import Transcript

JSON_TYPE = "application/json"


class ExportFormat(Struct, frozen=True):
    media_type: str
    suffixes: tuple[str, ...]
    """Endings of file names, by which the terminal knows the format; a download gets the first."""
    renderer: Callable[[Transcript], bytes] | None
    """None where it takes the whole log, not a transcript: `web/replay_file`."""
    of_debate: Callable[[Debate, Viewer], bytes] | None = None
    """In place of `renderer`: what an extension makes of the state of a debate, for this viewer."""

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


def all_exports() -> dict[str, ExportFormat]:
    """Our own, and those of extensions."""
    brought = loaded().of(lambda extension: extension.exports)
    return {**EXPORTS, **{name: row for _, rows in brought for name, row in rows.items()}}


def render(name: str, debate: Debate, viewer: Viewer, *, reasoning: bool = False) -> bytes:
    """Return the document: any export but a replay."""
    from moot.views.transcript import transcript

    row = all_exports()[name]
    if row.of_debate is not None:
        return row.of_debate(debate, viewer)
    if row.renderer is None:
        raise ValueError(f"{name} is not made of a transcript")
    return row.renderer(transcript(debate, reasoning=reasoning, viewer=viewer))


def documents() -> tuple[str, ...]:
    """The exports that are made of a debate alone: `moot export --format` takes them."""
    return tuple(name for name, row in all_exports().items() if row.renderer or row.of_debate)


def format_of_file(path: Path) -> str:
    """Return the format that the ending of a file name stands for. Raises Invalid where it is none."""
    known = all_exports()
    for name in documents():
        if path.suffix.lower() in known[name].suffixes:
            return name
    raise Invalid(f"{path} should end in {list_suffixes()}, so that it is clear what to write.")


def list_suffixes() -> str:
    """Return the usual ending of each document, as a list in words."""
    # JSON comes last: it is for programs.
    first, *others = documents()
    *suffixes, last = (all_exports()[name].suffixes[0] for name in (*others, first))
    return f"{', '.join(suffixes)} or {last}"
