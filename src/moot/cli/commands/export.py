"""`moot export ID`: a debate as a document."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from moot.cli.help_examples import EXAMPLES, example_lines
from moot.cli.options import Id, Server
from moot.cli.render.help import HelpColumns

app = App(
    name="export",
    help="A debate as Markdown, HTML or JSON; or everything in the shape of an older system.",
    help_format="plaintext",
    help_formatter=HelpColumns(example_lines(EXAMPLES.get("export", ()))),
)


@app.default
def export(
    id: Id = "last",
    /,
    *,
    format: Annotated[
        Literal["markdown", "html", "json"] | None,
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
    from moot.cli import export_formats
    from moot.cli.follow import run

    kind = format or (export_formats.format_of_file(output) if output else "markdown")

    async def make() -> int:
        from moot.cli.debate_source import open_source
        from moot.cli.find_debate import find_debate
        from moot.cli.render.output import Terminal

        async with open_source(server) as source:
            debate_id = await find_debate(source, id)
            if output is None:
                words = await export_formats.document(source, debate_id, kind, reasoning=reasoning)
                Terminal.out(plain=True).raw(words.decode())
            else:
                await export_formats.write(source, debate_id, output, kind, reasoning=reasoning)
        return 0

    return run(make())


app.command("moot.cli.commands.legacy:give", name="legacy", help="Conversations in their old shape.")
app.command(
    "moot.cli.commands.sessions:give", name="sessions", help="Sessions, as an older server kept them."
)
