"""The commands by name, and how a command line is run.

The help of `moot` is printed from these tables alone; the parser is loaded for all other command lines, and a
command's module when the command is called.
"""

from __future__ import annotations

import os
import sys

from moot import __version__
from moot.cli.debate_options import MOTION, debate_options
from moot.cli.error_messages import FAILED, INTERRUPTED, debugging, explain
from moot.cli.render.help import COMMAND_WIDTH, FIRST_EXAMPLES, OPTION_WIDTH, HelpWriter
from moot.core.errors import MootError
from moot.extension import TerminalCommand, loaded

PIPE_CLOSED = 141
"""The exit code of a program whose output pipe was closed."""

START, LOOK, STEER, TAKE_PART, THIS_MACHINE = "Start", "Look", "Steer", "Take part", "This machine"
COMMANDS = (
    (START, "debate", "debate:hold_debate", 'Hold a debate, as `moot "MOTION"` does.'),
    (LOOK, "list", "debate_list:listing", "List the debates, newest first."),
    (LOOK, "show", "show:show", "Show a debate in the terminal."),
    (LOOK, "watch", "show:watch", "Follow a running debate from its start."),
    (LOOK, "replay", "show:replay", "Replay a debate at its own pace, or faster."),
    (
        LOOK,
        "export",
        "export:app",
        "Export a debate as Markdown, HTML or JSON, or all debates in an older format.",
    ),
    (LOOK, "verdicts", "judging:verdicts", "Show every verdict with its ballots and reasons."),
    (LOOK, "stats", "stats:stats", "Show win rates, top motions and costs."),
    (LOOK, "delete", "debate_list:delete", "Delete a debate and all its data."),
    (STEER, "resume", "steer:resume", "Resume a debate that was paused, failed or interrupted."),
    (STEER, "pause", "steer:pause", "Pause after the running speech, or at once with --now."),
    (STEER, "inject", "steer:inject", "Add a remark that every later speaker hears."),
    (STEER, "extend", "steer:extend", "Give the current speech more time, or add rounds."),
    (STEER, "skip", "steer:skip", "Skip the running speech, or another one with --speech."),
    (STEER, "retry", "", "Retry the last failed or interrupted speech."),
    (
        STEER,
        "next-round",
        "steer:next_round",
        "Start the next round of a debate that was opened with --manual.",
    ),
    (STEER, "judge", "steer:judge", "End the speeches and judge now."),
    (STEER, "decide", "steer:decide", "Name the winner by hand, or a draw."),
    (STEER, "rejudge", "judging:rejudge", "Judge a finished debate again."),
    (STEER, "stop", "steer:stop", "End the debate and judge what was said."),
    (STEER, "abort", "steer:abort", "End the debate without a verdict."),
    (TAKE_PART, "take", "take_part:take", "Take a seat yourself; its model becomes your stand-in."),
    (TAKE_PART, "leave", "take_part:leave", "Leave your seat to its stand-in model."),
    (TAKE_PART, "say", "take_part:say", "Submit your speech when it is your turn."),
    (TAKE_PART, "draft", "take_part:draft", "Save a draft of your speech."),
    (TAKE_PART, "point", "take_part:point", "Offer a point of information, or accept or decline one."),
    (TAKE_PART, "ask", "steer:question", "Ask one speaker or all of them a question; everyone hears it."),
    (TAKE_PART, "vote", "take_part:vote", "Vote in the poll that is open."),
    (
        TAKE_PART,
        "polls",
        "take_part:app",
        "Show the results of the audience's votes; `polls close` ends a vote.",
    ),
    (TAKE_PART, "ballot", "judging:ballot", "Submit the ballot of a human judge."),
    (TAKE_PART, "invite", "invite:invite", "Invite a person to one debate on a server, by token or link."),
    (TAKE_PART, "join", "invite:join", "Get your own token from a shared audience link."),
    (THIS_MACHINE, "serve", "serve:serve", "Serve the page and the API until Ctrl-C; others need a token."),
    (THIS_MACHINE, "work", "serve:work", "Run debates for the servers that share a PostgreSQL store."),
    (THIS_MACHINE, "cluster", "cluster:app", "Show the servers, workers and waiting debates of a cluster."),
    (THIS_MACHINE, "token", "token:app", "Create, list and revoke the access tokens of a server."),
    (THIS_MACHINE, "import", "import_data:app", "Import the data of an older system."),
    (THIS_MACHINE, "backup", "store:backup", "Back up all debates, also while a server runs."),
    (
        THIS_MACHINE,
        "migrate-store",
        "store:migrate_store",
        "Copy everything to another store, and compare.",
    ),
    (THIS_MACHINE, "models", "models:app", "List, install, test and remove models."),
    (THIS_MACHINE, "keys", "manage_keys:app", "Keys of model services: set, list, test and remove them."),
    (THIS_MACHINE, "formats", "formats:app", "List the debate formats, and check your own."),
    (THIS_MACHINE, "tools", "tools:app", "List the tools that speakers may use, and try one."),
    (
        THIS_MACHINE,
        "extensions",
        "extensions:extensions",
        "List the extensions, and why one is left out.",
    ),
    (THIS_MACHINE, "doctor", "doctor:doctor", "Check what works here, what is missing, and how to fix it."),
)
"""Group, name, function and summary; without a function, it gives the command of that name in
`api/command_table.py`, which needs nothing but the debate."""


FILLED_BY_EXTENSIONS = ("import",)
"""Commands that have only commands of extensions: without any they are not there."""


def terminal_commands() -> tuple[TerminalCommand, ...]:
    """Our commands and those of extensions, in the order of the help: group by group."""
    added = [command for extension in loaded() for command in extension.commands]
    filled = {command.parent for command in added}
    rows = [
        TerminalCommand(name, summary, f"moot.cli.commands.{target}" if target else "", group)
        for group, name, target, summary in COMMANDS
        if name in filled or name not in FILLED_BY_EXTENSIONS
    ]
    waiting = [command for command in added if not command.parent]
    while waiting:
        # One that stands after the command of another extension comes when that one is there.
        later = {command.name for command in waiting}
        command = next((command for command in waiting if command.after not in later), waiting[0])
        waiting.remove(command)
        names, groups = [row.name for row in rows], [row.group for row in rows]
        if command.after in names:
            rows.insert(names.index(command.after) + 1, command)
        elif command.group in groups:
            rows.insert(len(groups) - groups[::-1].index(command.group), command)
        else:
            rows.append(command)
    return tuple(rows)


HELP = "Language models argue a motion; you watch, steer and judge."
USAGE_LINES = 'moot "MOTION" [OPTIONS]\n       moot COMMAND [OPTIONS]'
ASK_FOR_HELP: list[list[str]] = [[], ["--help"], ["-h"], ["help"]]
ASK_FOR_VERSION = [["--version"], ["version"]]
PRINTED_FROM_TABLES = ASK_FOR_HELP + ASK_FOR_VERSION
"""Command lines that are answered without the parser."""
HELP_FLAGS = {
    "-h, --help": "Display this message and exit.",
    "--version": "Display application version.",
}


def run(arguments: list[str]) -> int:
    """Run a command line and return the exit code; a traceback is shown only with MOOT_DEBUG=1."""
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Nobody reads the output; Python would report that again when it flushes at exit.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())
        return PIPE_CLOSED


def _run(arguments: list[str]) -> int:
    if arguments in ASK_FOR_VERSION:
        print(__version__, flush=True)
        return 0
    try:
        return _call(arguments)
    finally:
        _name_left_out()


def _name_left_out() -> None:
    """Say on standard error which extensions failed during the command."""
    for name, field in loaded().failed_fields.items():
        reason = " ".join(loaded().failures[name].split())
        complain([f"The extension {name} is left out: {field} failed ({reason})."], FAILED)


def _call(arguments: list[str]) -> int:
    try:
        if arguments in ASK_FOR_HELP:
            return print_help()
        if arguments[0] == "help":
            arguments = [*arguments[1:], "--help"]
        refuse_single_word(arguments)
        from moot.cli.parser import call

        code = call(arguments)
        sys.stdout.flush()
        return code
    except MootError as error:
        if debugging():
            raise
        return complain(*explain(error, hints=not _is_of_extension(arguments)))
    except BrokenPipeError:
        raise
    except Exception as error:
        if debugging():
            raise
        return complain([f"Something unexpected went wrong: {error!r}", "MOOT_DEBUG=1 shows where."], FAILED)


def _is_of_extension(arguments: list[str]) -> bool:
    """Whether the command that is called is one that an extension brings."""
    commands = (command for extension in loaded() for command in extension.commands)
    names = [f"{command.parent} {command.name}".split() for command in commands]
    return any(arguments[: len(name)] == name for name in names)


UPGRADE = "To upgrade: `git pull` in the checkout of Moot and `make setup`, or install a new wheel."
OTHER_WORDS = {
    "config": "`moot doctor` shows what is set up here, `moot keys` the keys.",
    "settings": "`moot doctor` shows what is set up here, `moot keys` the keys.",
    "run": 'A debate begins with its motion: moot "This house would ban homework"',
    "start": 'A debate begins with its motion: moot "This house would ban homework"',
    "new": 'A debate begins with its motion: moot "This house would ban homework"',
    "key": "Keys of services: moot keys",
    "login": "Keys of services: moot keys set openai",
    "install": "To install a model: moot models install NAME. `moot models` lists some.",
    "pull": "To install a model: moot models install NAME. `moot models` lists some.",
    "server": "To start the server: moot serve",
    "web": "To open the page: moot serve --open",
    "open": "To open the page: moot serve --open",
    "history": "To list the debates: moot list",
    "update": UPGRADE,
    "upgrade": UPGRADE,
}
"""What to type in place of words that are commands of other programs."""


def refuse_single_word(arguments: list[str]) -> None:
    """Raises Invalid where the first argument is a single word that is no command, and says what to type."""
    word = arguments[0].strip()
    names = [row.name for row in terminal_commands()]
    if word in names or word.startswith("-") or " " in word:
        return
    from difflib import get_close_matches

    from moot.core.errors import Invalid

    if word.lower() in OTHER_WORDS:
        raise Invalid(f"There is no command {word!r}. {OTHER_WORDS[word.lower()]}")
    if close := get_close_matches(word.lower(), names, n=1, cutoff=0.75):
        raise Invalid(f"There is no command {word!r}. Did you mean `moot {close[0]}`?")
    others = [each for each in arguments[1:] if not each.startswith("-")]
    if len(arguments) > 1 and not arguments[1].startswith("-"):
        motion = " ".join([word, *others])
        raise Invalid(
            f'There is no command {word!r}, and a motion stands in quotation marks: moot "{motion}"'
        )
    raise Invalid(
        f"There is no command {word!r}, and a motion has at least two words and 10 characters: "
        'moot "Homework should be banned". `moot help` lists the commands.'
    )


def print_help() -> int:
    """Print what the parser prints for `moot --help`, without loading it."""
    writer = HelpWriter(sys.stdout)
    writer.usage(USAGE_LINES)
    writer.description(HELP, FIRST_EXAMPLES)
    writer.columns("Arguments", {"MOTION": MOTION}, OPTION_WIDTH)
    for title, rows in debate_options().items():
        writer.columns(title, rows, OPTION_WIDTH)
    commands = terminal_commands()
    for title in dict.fromkeys(row.group for row in commands):
        rows = {row.name: row.summary for row in commands if row.group == title}
        writer.columns(title, rows, COMMAND_WIDTH)
    writer.columns("Help", HELP_FLAGS, COMMAND_WIDTH)
    return 0


def complain(lines: list[str], code: int) -> int:
    """Print an error and what to do about it, and return the exit code."""
    from moot.cli.render.output import Terminal

    terminal = Terminal.err()
    terminal.line(("moot: ", "bold red"), lines[0])
    for further in lines[1:]:
        terminal.line("  ", further)
    return code
