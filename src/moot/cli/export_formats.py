"""A debate as a document: the kind by name, or by the suffix of the file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.errors import Unavailable
from moot.views.exports import DocumentName, format_of_file, render

if TYPE_CHECKING:
    from moot.cli.debate_source import DebateSource


async def document(
    source: DebateSource, debate_id: str, name: DocumentName, *, reasoning: bool = False
) -> bytes:
    from moot.cli.remote import RemoteSource
    from moot.views.transcript import transcript

    # A server writes it by itself, since its log does not tell us all.
    if isinstance(source, RemoteSource):
        return (await source.document(debate_id, name, reasoning=reasoning)).encode()
    return render(name, transcript(await source.state(debate_id), reasoning=reasoning))


async def write(
    source: DebateSource,
    debate_id: str,
    path: Path,
    name: DocumentName | None = None,
    *,
    reasoning: bool = False,
) -> None:
    from moot.cli.render.output import Terminal

    _save(path, await document(source, debate_id, name or format_of_file(path), reasoning=reasoning))
    Terminal.err().line("Written to ", (str(path), "bold"))


def _save(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}.") from error
