"""The page of the manual about the commands: the help of each, as the parser prints it."""

from __future__ import annotations

import re

from cyclopts import App
from rich.console import Console

from moot.cli.command_line import terminal_commands
from moot.cli.parser import make_app
from moot.cli.render.wrapping import PageText

WIDTH = 72
"""What fits on a page of the manual between its navigation and its contents."""
STYLE_CODE = re.compile(r"\x1b\[\d*m")


def command_reference() -> str:
    app = make_app()
    text = ["# Commands\n", "## moot\n", _help(app, [])]
    rows = terminal_commands()
    for group in dict.fromkeys(row.group for row in rows):
        text.append(f"## {group}\n")
        for name in (row.name for row in rows if row.group == group):
            text += [f"### moot {name}\n", _help(app, [name])]
            for child in (child for child in app[name] if not child.startswith("-")):
                text += [f"#### moot {name} {child}\n", _help(app, [name, child])]
    return "\n".join(text)


def _help(app: App, command: list[str]) -> str:
    shown = PageText(WIDTH)
    app.help_print(command, console=Console(file=shown))
    return f"```text\n{STYLE_CODE.sub('', shown.getvalue()).strip()}\n```\n"
