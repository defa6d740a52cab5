"""Stands beside a tool server's process, so that it ends with Moot however Moot ends.

Run as `python -I -S warden.py FD COMMAND …`, as the leader of a process group. FD is the reading end of a
pipe whose other end Moot alone holds, and into which nothing is ever written: when it ends, Moot is gone, and
the whole group is killed. So it is when the command ends, which may be first to hear that Moot is gone, and
may have children. Standard input, output and error are the command's; nobody listens here.
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
    # The whole group is told to go by SIGTERM, and may take its time. To ignore that would be inherited.
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
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)


def _kill_when_closed(lifeline: int) -> None:
    os.read(lifeline, 1)
    _kill_group()


def _kill_group() -> NoReturn:
    os.killpg(0, signal.SIGKILL)
    raise AssertionError("nobody survives that")


if __name__ == "__main__":
    main()
