"""A process that has read the whole program already: for every line it gets, it forks a server.

    python -m tests.chaos.server_fork ERRORS PORT

To import everything, as done here, takes longer than all that these tests look at. The child does what `moot
serve` does, from its first line to its exit code; what it says on stderr is added to the file ERRORS. Its
process id is printed when it is born, its exit code when it has gone.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import moot.cli.app
import moot.cli.commands.serve
import moot.cli.follow
import moot.cli.render.output
import moot.processes.server


def main(errors: Path, port: str) -> None:
    assert threading.active_count() == 1, "a fork leaves other threads behind"
    for _ in sys.stdin:
        child = os.fork()
        if not child:
            _become(errors, "moot", "serve", "--port", port)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become(errors: Path, *arguments: str) -> None:
    for path, number in ((Path(os.devnull), 1), (errors, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    sys.argv = list(arguments)
    moot.cli.main()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
