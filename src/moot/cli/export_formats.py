"""A debate as a document: the kind by name, or by the suffix of the file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from moot.core.errors import Invalid, Unavailable

if TYPE_CHECKING:
    from moot.cli.debate_source import DebateSource

ExportKind = Literal["markdown", "html", "json"]
SUFFIXES: dict[str, ExportKind] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".json": "json",
}


def kind_from_suffix(path: Path) -> ExportKind:
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise Invalid(f"{path} should end in .md, .html or .json, so that it is clear what to write.")
    return kind


async def document(source: DebateSource, debate_id: str, kind: ExportKind, *, reasoning: bool = False) -> str:
    from moot.cli.remote import RemoteSource
    from moot.views import transcript_html, transcript_json, transcript_markdown
    from moot.views.transcript import transcript

    # A server writes it by itself, since its log does not tell us all.
    if isinstance(source, RemoteSource):
        return await source.document(debate_id, kind, reasoning=reasoning)
    writers = {
        "markdown": transcript_markdown.to_markdown,
        "html": transcript_html.to_html,
        "json": transcript_json.to_json,
    }
    return writers[kind](transcript(await source.state(debate_id), reasoning=reasoning))


async def write(
    source: DebateSource,
    debate_id: str,
    path: Path,
    kind: ExportKind | None = None,
    *,
    reasoning: bool = False,
) -> None:
    from moot.cli.render.output import Terminal

    _save(path, await document(source, debate_id, kind or kind_from_suffix(path), reasoning=reasoning))
    Terminal.err().line("Written to ", (str(path), "bold"))


def _save(path: Path, words: str) -> None:
    try:
        path.write_text(words, "utf-8")
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}.") from error
