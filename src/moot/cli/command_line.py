"""The commands by name, and how a command line is run.

The help of `moot` is printed from these tables alone; the parser is loaded for all other command lines, and a
command's module when the command is called.
"""

from __future__ import annotations

import os
import sys

from moot import __version__
from moot.cli.debate_options import DEBATE_OPTIONS, MOTION
from moot.cli.error_messages import FAILED, INTERRUPTED, debugging, explain
from moot.cli.render.help import COMMAND_WIDTH, FIRST_EXAMPLES, OPTION_WIDTH, HelpWriter
from moot.core.errors import MootError

PIPE_CLOSED = 141
"""The exit code of a program whose output pipe was closed."""

LOOK, STEER, TAKE_PART, THIS_MACHINE = "Look", "Steer", "Take part", "This machine"
COMMANDS = (
    (LOOK, "list", "debate_list:listing", "The debates that are here, newest first."),
    (LOOK, "show", "show:show", "A debate in the terminal, as it stands."),
    (LOOK, "watch", "show:watch", "Follow a running debate from its start, wherever it runs."),
    (LOOK, "replay", "show:replay", "See a debate again at the pace it was held, or faster."),
    (LOOK, "export", "export:app", "A debate as Markdown, HTML or JSON; or all in an older shape."),
    (LOOK, "verdicts", "judging:verdicts", "Every verdict with its ballots and their reasons."),
    (LOOK, "stats", "stats:stats", "Who wins, what is debated most, and what it cost."),
    (LOOK, "experiment", "experiment:app", "Compare models in many debates, declared in a file."),
    (LOOK, "motions", "motions:motions", "About 300 motions to debate, by theme, kind and difficulty."),
    (LOOK, "conversations", "imported_conversations:app", "Conversations imported from elsewhere, to read."),
    (LOOK, "delete", "debate_list:delete", "Remove a debate and all that belongs to it."),
    (STEER, "resume", "steer:resume", "Go on with a debate that was paused, failed or left behind."),
    (STEER, "pause", "steer:pause", "Pause after the running speech, or at once with --now."),
    (STEER, "inject", "steer:inject", "Say something that every later speaker hears."),
    (STEER, "extend", "steer:extend", "More time for the speech under way, or more rounds."),
    (STEER, "skip", "steer:skip", "Skip the running speech, or another one with --speech."),
    (STEER, "retry", "", "Have the last failed or interrupted speech given again."),
    (STEER, "next-round", "steer:next_round", "Ask for the next round, where rounds wait to be asked for."),
    (STEER, "judge", "steer:judge", "End the speeches and ask the judge now."),
    (STEER, "decide", "steer:decide", "Name the winner by hand, or a draw."),
    (STEER, "rejudge", "judging:rejudge", "Have a debate that is over judged once more."),
    (STEER, "stop", "steer:stop", "End the debate; what was said is judged."),
    (STEER, "abort", "steer:abort", "End the debate without a verdict."),
    (TAKE_PART, "take", "take_part:take", "Sit down in a seat; the model that sat there stands in."),
    (TAKE_PART, "leave", "take_part:leave", "Leave your seat to the model that stands in for it."),
    (TAKE_PART, "say", "take_part:say", "Give the speech that the debate waits for."),
    (TAKE_PART, "draft", "take_part:draft", "Keep what you have written so far."),
    (TAKE_PART, "point", "take_part:point", "Rise on a point of information, or take or decline one."),
    (TAKE_PART, "ask", "steer:question", "Ask a question that all hear, of one speaker or of everybody."),
    (TAKE_PART, "vote", "take_part:vote", "Vote in the poll that is open."),
    (TAKE_PART, "polls", "take_part:app", "What the audience's votes came to, and `polls close`."),
    (TAKE_PART, "ballot", "judging:ballot", "Cast the ballot of a judge who is a person."),
    (TAKE_PART, "invite", "invite:invite", "Invite somebody to one debate of a server, by token or link."),
    (TAKE_PART, "join", "invite:join", "Get a token of your own, where you came by a link for many."),
    (THIS_MACHINE, "serve", "serve:serve", "Serve the page and the API until Ctrl-C; others need a token."),
    (THIS_MACHINE, "work", "serve:work", "Run debates that servers on the same PostgreSQL are asked for."),
    (THIS_MACHINE, "cluster", "cluster:app", "Who serves and who works on the same log, and what waits."),
    (THIS_MACHINE, "token", "token:app", "Who may use a server: tokens, made and revoked."),
    (THIS_MACHINE, "import", "legacy:app", "Bring over what an older system has kept."),
    (THIS_MACHINE, "backup", "store:backup", "A copy of all debates, while a server may be running."),
    (
        THIS_MACHINE,
        "migrate-store",
        "store:migrate_store",
        "Move everything to another store, and compare.",
    ),
    (THIS_MACHINE, "models", "models:app", "The models that can argue here, and how to get more."),
    (THIS_MACHINE, "keys", "keys:app", "Keys of model services: set, list, test and remove them."),
    (THIS_MACHINE, "formats", "formats:app", "The debate formats, and a check for your own."),
    (THIS_MACHINE, "tools", "tools:app", "The tools that speakers may be given, and a try of one."),
    (THIS_MACHINE, "mcp", "serve:mcp", "Moot as a tool for other programs, over MCP on stdin and stdout."),
    (THIS_MACHINE, "doctor", "doctor:doctor", "What works here, what is missing, and what to do about it."),
)
"""Group, name, function and summary; without a function, it gives the command of that name in
`api/command_table.py`, which needs nothing but the debate."""

HELP = "Language models argue a motion; you watch, steer and judge."
USAGE_LINES = 'moot "MOTION" [OPTIONS]\n       moot COMMAND [OPTIONS]'
HELP_FLAGS = {
    "-h, --help": "Display this message and exit.",
    "--version": "Display application version.",
}


def run(arguments: list[str]) -> int:
    """Run a command line and return the exit code; a traceback is shown only with MOOT_DEBUG=1."""
    try:
        if arguments in ([], ["--help"], ["-h"]):
            return print_help()
        if arguments == ["--version"]:
            print(__version__, flush=True)
            return 0
        from moot.cli.parser import call

        return call(arguments)
    except MootError as error:
        if debugging():
            raise
        return complain(*explain(error))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The pipe is closed; Python would report that again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Exception as error:
        if debugging():
            raise
        return complain([f"Something unexpected went wrong: {error!r}", "MOOT_DEBUG=1 shows where."], FAILED)


def print_help() -> int:
    """Print what the parser prints for `moot --help`, without loading it."""
    writer = HelpWriter(sys.stdout)
    writer.usage(USAGE_LINES)
    writer.description(HELP, FIRST_EXAMPLES)
    writer.columns("Arguments", {"MOTION": MOTION}, OPTION_WIDTH)
    for title, rows in DEBATE_OPTIONS.items():
        writer.columns(title, rows, OPTION_WIDTH)
    for title in (LOOK, STEER, TAKE_PART, THIS_MACHINE):
        rows = {name: summary for group, name, _, summary in COMMANDS if group == title}
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
