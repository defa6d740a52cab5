"""The parser of command lines: a cyclopts app made of the table of commands."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from typing import Any

from cyclopts import App, CycloptsError, Group, Parameter, UnusedCliTokensError

from moot import __version__
from moot.cli.command_line import HELP, USAGE_LINES, complain, terminal_commands
from moot.cli.commands.debate import debate
from moot.cli.error_messages import USAGE
from moot.cli.options import Id, Server
from moot.cli.render.help import FIRST_EXAMPLES, HelpColumns, help_of
from moot.cli.run_command import run_command


def call(arguments: list[str]) -> int:
    """Call the command that a command line names, and return the exit code."""
    try:
        result = make_app()(arguments)
    except CycloptsError as error:
        return complain(usage_error(arguments, error), USAGE)
    return result if isinstance(result, int) else 0


def make_app() -> App:
    app = App(
        name="moot",
        help=HELP,
        help_format="plaintext",
        help_formatter=HelpColumns(FIRST_EXAMPLES),
        default_parameter=Parameter(show_default=False),
        usage=USAGE_LINES,
        version=__version__,
        default_command=debate,
        result_action="return_value",
        exit_on_error=False,
        print_error=False,
        suppress_keyboard_interrupt=False,
    )
    rows = terminal_commands()
    titles = dict.fromkeys(row.group for row in rows)
    groups = {title: Group(title, sort_key=10 + order) for order, title in enumerate(titles)}
    for order, row in enumerate(rows):
        function: Any = row.run or _row_command(row.name)
        register = partial(app.command, function, row.name)
        register = partial(register, help=row.summary, group=groups[row.group], sort_key=order)
        has_commands = isinstance(row.run, str) and row.run.endswith(":app")
        register() if has_commands else register(help_formatter=help_of(row.name))
    help_group = Group("Help", sort_key=100)
    for flag in ("--help", "--version"):
        app[flag].group = (help_group,)
    return app


def _row_command(name: str) -> Callable[..., int]:
    def give(id: Id = "last", /, *, server: Server = None) -> int:
        from moot.api.command_table import all_commands

        row = next(row for row in all_commands() if name in (row.name, row.path))
        return run_command(server, id, row.buttons[0].command, row.response_description)

    return give


MODEL_COMMANDS = ("install", "remove", "test")


def usage_error(arguments: list[str], error: CycloptsError) -> list[str]:
    """Return what is wrong with a command line, and which help to look at."""
    command = next((row.name for row in terminal_commands() if row.name == arguments[0]), "")
    help_ = f"`moot {command} --help`" if command else "`moot --help`"
    if not isinstance(error, UnusedCliTokensError):
        return [" ".join(str(error).split()), f"{help_} shows its usage."]
    more = " ".join(error.unused_tokens or ())
    if command == "keys":
        # It may be a key, which must not be repeated.
        return ["A key is never given on the command line.", "Type it after: moot keys set SERVICE"]
    if command == "models" and arguments[1] not in MODEL_COMMANDS:
        word = arguments[1]
        if close := get_close_matches(word.lower(), MODEL_COMMANDS, n=1):
            meant = f"Did you mean `moot models {close[0]}`?"
            return [f"There is no command `moot models {word}`. {meant}", f"{help_} shows its usage."]
    if command:
        return [f"Unexpected argument: {more!r}.", f"{help_} shows its usage."]
    return [
        f"There is no command {arguments[0]!r}, and a motion stands in quotation marks.",
        f"{help_} lists the commands.",
    ]
