"""Runs a tool server's command and kills it when Moot ends, however that happens.

Run as `python -I -S process_guard.py FD COMMAND …`, as the leader of a process group. FD is the reading end
of a pipe whose other end only Moot holds, and into which nothing is written: when it closes, Moot has ended,
and the whole group is killed. So it is when the command ends, which may have children. Standard input, output
and error belong to the command.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType
from typing import NoReturn

EXIT_NOT_RUN = 127


def main() -> NoReturn:
    lifeline, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(lifeline, False)
    # SIGTERM is for the command, which may take its time. SIG_IGN would be inherited by it.
    signal.signal(signal.SIGTERM, _ignore_signal)
    try:
        pid = os.posix_spawnp(command[0], command, os.environ, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
    except OSError as error:
        sys.stderr.write(f"cannot be run: {error.strerror}\n")
        sys.exit(EXIT_NOT_RUN)
    _release_pipes()
    threading.Thread(target=_kill_when_closed, args=(lifeline,), daemon=True).start()
    os.waitpid(pid, 0)
    _kill_group()


def _ignore_signal(_number: int, _frame: FrameType | None) -> None:
    return


def _release_pipes() -> None:
    null_device = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null_device, number)


def _kill_when_closed(lifeline: int) -> None:
    os.read(lifeline, 1)
    _kill_group()


def _kill_group() -> NoReturn:
    os.killpg(0, signal.SIGKILL)
    raise AssertionError("unreachable: the group includes this process")


if __name__ == "__main__":
    main()
