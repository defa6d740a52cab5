"""`moot export ID`: a debate as a document, in one of the formats of `views/exports.py`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from moot.cli.options import Id, Server, command_group
from moot.cli.render.output import Terminal
from moot.cli.run_command import run_on_debate
from moot.core.errors import Invalid, Unavailable
from moot.views.exports import all_exports, documents, format_of_file

if TYPE_CHECKING:
    from moot.cli.debate_source import DebateSource

    Document = str
else:
    Document = Literal[documents()]
"""The name of a document. Extensions bring some, so a type checker cannot know all."""

app = command_group(
    "export", "A debate as Markdown, HTML or JSON; or everything in the shape of an older system."
)


@app.default
def export(
    id: Id = "last",
    /,
    *,
    format: Annotated[
        Document | None,
        Parameter(
            help="markdown, html or json. Without it, the suffix of the file tells. [default: markdown]"
        ),
    ] = None,
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="The file. Without it, standard output.")
    ] = None,
    reasoning: Annotated[bool, Parameter(negative="", help="Include what the speakers thought.")] = False,
    server: Server = None,
) -> int:
    """A debate as Markdown, HTML or JSON. Secret objectives and system prompts are left out."""
    name = format or (format_of_file(output) if output else "markdown")

    async def make(source: DebateSource, debate_id: str) -> int:
        if output is None:
            _print(name, await source.document(debate_id, name, reasoning=reasoning))
        else:
            await write_export(source, debate_id, output, name, reasoning=reasoning)
        return 0

    return run_on_debate(server, id, make)


async def write_export(
    source: DebateSource,
    debate_id: str,
    path: Path,
    name: str | None = None,
    *,
    reasoning: bool = False,
) -> None:
    """Write a debate to a file, in the format that is named or that the ending of the file stands for."""
    _save(path, await source.document(debate_id, name or format_of_file(path), reasoning=reasoning))
    Terminal.err().line("Written to ", (str(path), "bold"))


def _print(name: str, document: bytes) -> None:
    """Write a document to standard output. Raises Invalid for binary data on a terminal."""
    if all_exports()[name].is_text:
        Terminal.out(plain=True).raw(document.decode())
        return
    if sys.stdout.isatty():
        raise Invalid(f"A terminal cannot show {name}: name a file with --output.")
    sys.stdout.buffer.write(document)
    sys.stdout.buffer.flush()


def _save(path: Path, document: bytes) -> None:
    try:
        path.write_bytes(document)
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}.") from error
