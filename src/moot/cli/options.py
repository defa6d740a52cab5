"""What several commands share: options with their help texts, and how a group of commands is made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from moot.cli.render.help import help_of
from moot.extension import loaded

Id = Annotated[str, Parameter(help="The debate: its id, a unique piece of it, or `last`.")]
Reasoning = Annotated[bool, Parameter(help="Show what the speakers think, dimmed, or in one line.")]
Plain = Annotated[bool, Parameter(negative="", help="Plain text without colours or moving parts.")]
Json = Annotated[bool, Parameter(negative="", help="Print the log: one event a line.")]
Output = Annotated[
    Path | None, Parameter(name=["--output", "-o"], help="Write it to a .md, .html or .json file.")
]
Server = Annotated[
    str | None,
    Parameter(
        env_var="MOOT_SERVER",
        show_env_var=False,
        metavar="URL",
        help="Use the debates of a running `moot serve`, not those of this machine: http://127.0.0.1:8000",
    ),
]
Seat = Annotated[
    str | None, Parameter(help="Your seat: its name, side or id. Not needed if only one seat is a person's.")
]
Step = Annotated[
    Literal["turn", "round"] | None,
    Parameter(help="Continue for one speech (turn), or to the end of the round (round)."),
]
Reason = Annotated[str, Parameter(help="Why; it is kept with the debate.")]
Limit = Annotated[int, Parameter(help="How many at most. [default: 20]")]
Offset = Annotated[int, Parameter(help="Skip this many first.")]


def command_group(name: str, help: str) -> App:
    """Return a command with subcommands, or the app of a command that has its own default."""
    app = App(name=name, help=help, help_format="plaintext", help_formatter=help_of(name))
    for row in (row for extension in loaded() for row in extension.commands if row.parent == name):
        app.command(row.run, name=row.name, help=row.summary)
    return app


def check_page(limit: int, offset: int) -> None:
    from moot.core.errors import Invalid

    if limit < 1 or offset < 0:
        raise Invalid("--limit must be 1 or more, --offset 0 or more.")
