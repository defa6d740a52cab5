"""Moot in the terminal: one file per command, none of them loaded before it is asked for.

`app` names the commands; `page` is the only place that prints; `stage` shows a debate, live or afterwards;
`playing` follows one and minds Ctrl-C; `failing` turns errors into one clear line and an exit code:

    0 ended · 1 failed · 2 wrong usage · 130 interrupted
"""

from __future__ import annotations

import io
import logging
import sys


def main() -> None:
    from moot.cli.app import run
    from moot.cli.error_messages import debugging

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    _log(debugging())
    sys.exit(run(sys.argv[1:]))


def _log(debugging: bool) -> None:
    ours = logging.getLogger("moot")
    if debugging:
        # What a service says about its own failures is logged for the operator, and stands in no event.
        logging.basicConfig(format="%(name)s: %(message)s")
        ours.setLevel(logging.INFO)
        return
    # What went wrong is said on the page; a log line in the middle of it helps nobody.
    ours.addHandler(logging.NullHandler())
    ours.propagate = False
    # It complains of every try to reach a database that is away; `playing` says so once.
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    # What it logs of a batch that was refused would stand raw on standard error; the rows are reported.
    logging.getLogger("psycopg").addHandler(logging.NullHandler())
