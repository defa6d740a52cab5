"""Moot in the terminal: `commands/` has a file for each command, or for a few that belong together.

`command_line` names the commands, and `parser` loads one when it is called; `debate_source` is where debates
are, here or on a server; `follow` shows one as it runs and handles Ctrl-C; `render/` is all that prints,
`prompts/` all that asks people; `error_messages` turns errors into one clear line and an exit code:

    0 ended · 1 failed · 2 wrong usage · 130 interrupted
"""

from __future__ import annotations

import io
import sys


def main() -> None:
    from moot.cli.command_line import PRINTED_FROM_TABLES, run
    from moot.cli.error_messages import debugging

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if sys.argv[1:] not in PRINTED_FROM_TABLES:
        _set_up_logging(debugging())
    sys.exit(run(sys.argv[1:]))


def _set_up_logging(debugging: bool) -> None:
    # Loaded here, because the overview of the commands logs nothing.
    import logging

    logger = logging.getLogger("moot")
    if debugging:
        # What a service says about its own failures is logged for the operator; no event has it.
        from moot.cli.debug_output import show_debug_output

        show_debug_output()
        return
    # What went wrong is printed; a log line in the middle of the debate would only disturb it.
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    # It logs every attempt to reach a database that is away; `follow` says so once.
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    # What it logs of a refused batch would go to standard error as it is; the rows are reported.
    logging.getLogger("psycopg").addHandler(logging.NullHandler())
