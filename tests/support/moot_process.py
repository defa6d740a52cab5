"""`moot` as a process of its own, without the second that it takes to read the whole program.

    running = Moot("list", "--json", env=environment(data), stdout=PIPE)

A nursery, one for each process of tests, has read everything and forks a child for each that is wanted. The
child gets its own streams, environment, folder and session, and from there on does what `python -m moot`
does, from the first line to the exit code. It is used like any other `Popen`.
"""

from __future__ import annotations

import atexit
import fcntl
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
READ = (
    "app", "commands.debate", "commands.serve", "commands.work", "follow", "debate_source", "debate_local",
    "debate_remote", "remote", "find_debate", "export_formats",
)  # fmt: skip
"""What most commands need of `moot.cli`; the rest is read when it is asked for, as always."""
SHARED = (
    "moot.store.postgres.store",
    "moot.cluster.queue_placement",
    "moot.cluster.redis_bus",
    "moot.cluster.redis_shared_state",
)
"""What processes on one log need."""
MOST_BYTES = 512 * 1024

_nursery: socket.socket | None = None


def _asked() -> socket.socket:
    global _nursery
    if _nursery is None:
        _nursery, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        _nursery.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST_BYTES)
        command = [sys.executable, "-m", "tests.support.moot_process", str(theirs.fileno())]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=ROOT)
        theirs.close()
        atexit.register(_close, _nursery, process)
    return _nursery


def _close(asked: socket.socket, process: subprocess.Popen[bytes]) -> None:
    asked.close()
    process.wait()


class Moot(subprocess.Popen[Any]):
    """`terminal`: its standard streams are a terminal, which becomes its own."""

    def __init__(
        self, *arguments: str, env: Mapping[str, str], terminal: bool = False, **options: Any
    ) -> None:
        self._terminal = terminal
        self._ending = -1
        super().__init__(["moot", *arguments], env=dict(env), **options)

    def _execute_child(self, args: Any, *given: Any) -> None:
        """As `Popen` does, but for the fork: the streams go to the nursery, the child's number comes back."""
        cwd, env = given[4], given[5]
        pipes = given[9:15]
        ours, theirs = os.pipe()
        streams = [number if end == -1 else end for number, end in enumerate((pipes[0], pipes[3], pipes[5]))]
        wish = {"args": args, "env": env, "cwd": str(cwd or Path.cwd()), "terminal": self._terminal}
        socket.send_fds(_asked(), [json.dumps(wish).encode()], [*streams, theirs])
        os.close(theirs)
        self._close_pipe_fds(*pipes)
        self._ending = ours
        self.pid = int(os.read(ours, 32).decode().strip())
        self._child_created = True

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if wait_flags and not select.select([self._ending], [], [], 0)[0]:
            return 0, 0
        status = int(os.read(self._ending, 32).decode() or "9")
        os.close(self._ending)
        return self.pid, status

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None and self._ending != -1 and self._waitpid_lock.acquire(False):
            try:
                pid, status = self._try_wait(os.WNOHANG)
                if pid:
                    self._handle_exitstatus(status)
            finally:
                self._waitpid_lock.release()
        return self.returncode


# --- the nursery ----------------------------------------------------------------------------------------


def _bear(wish: dict[str, Any], streams: list[int], told: int) -> None:
    """In a process of its own, that waits for the child and tells how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if not child:
        os.close(told)
        _become(wish, streams)
        return
    for descriptor in streams:
        os.close(descriptor)
    os.write(told, f"{child:<32}".encode())
    _, status = os.waitpid(child, 0)
    os.write(told, f"{status:<32}".encode())
    os._exit(0)


def _become(wish: dict[str, Any], streams: list[int]) -> None:
    if wish["terminal"]:
        os.setsid()
        fcntl.ioctl(streams[0], termios.TIOCSCTTY, 0)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
    for descriptor in {*streams} - {0, 1, 2}:
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(wish["env"])
    os.chdir(wish["cwd"])
    sys.stdin, sys.stdout, sys.stderr = (
        open(0, encoding="utf-8", closefd=False),  # noqa: SIM115 - they are open for as long as it lives
        open(1, "w", encoding="utf-8", buffering=1 if os.isatty(1) else -1, closefd=False),  # noqa: SIM115 - as above
        open(2, "w", encoding="utf-8", buffering=1, closefd=False),  # noqa: SIM115 - as above
    )
    sys.argv = ["moot", *wish["args"][1:]]
    # Where it is to crash was read before this child's environment was known.
    importlib.reload(importlib.import_module("moot.core.crash_points"))
    importlib.import_module("moot.cli").main()


def _tend(asked: socket.socket) -> None:
    for name in READ:
        importlib.import_module(f"moot.cli.{name}")
    for name in (
        "moot.processes.server",
        "moot.processes.worker",
        "moot.client",
        "moot.engine.arena",
        *SHARED,
    ):
        importlib.import_module(name)
    assert threading.active_count() == 1, "a fork leaves other threads behind"
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        message, descriptors, _, _ = socket.recv_fds(asked, MOST_BYTES, 4)
        if not message:
            return
        if not os.fork():
            asked.close()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            _bear(json.loads(message), descriptors[:3], descriptors[3])
            return
        for descriptor in descriptors:
            os.close(descriptor)


if __name__ == "__main__":
    _tend(socket.socket(fileno=int(sys.argv[1])))
