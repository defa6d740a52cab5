"""`moot` as a process of its own, without the second that it takes to import the whole program.

    running = Moot("list", "--json", env=environment(data), stdout=PIPE)

A fork server, one for each process of tests, has imported everything and forks a child for each command. The
child gets its own streams, environment, folder and session, and then does what `python -m moot` does, up to
the exit code. It is used like any other `Popen`.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
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
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CLI_MODULES = (
    "command_line", "parser", "commands.debate", "commands.serve", "commands.export", "follow",
    "debate_source", "local", "remote", "lookup",
)  # fmt: skip
"""What most commands import of `moot.cli`; the others import the rest when they need it, as always."""
COMMAND_GROUPS = ("moot.cli.commands.export", "moot.cli.commands.import_data")
"""Commands that have those of extensions below them from the moment they are imported."""
CLUSTER_MODULES = (
    "moot.store.postgres.store",
    "moot.cluster.queue_placement",
    "moot.cluster.redis_bus",
    "moot.cluster.redis_ephemeral_store",
)
"""What the processes of a cluster need."""
MAX_REQUEST_BYTES = 512 * 1024

_fork_server: socket.socket | None = None


def _requests() -> socket.socket:
    """The connection to this process's fork server, which is started by the first use."""
    global _fork_server
    if _fork_server is None:
        _fork_server, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        _fork_server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MAX_REQUEST_BYTES)
        command = [sys.executable, "-m", "tests.support.moot_process", str(theirs.fileno())]
        environ = {name: value for name, value in os.environ.items() if name != "MOOT_EXTENSIONS"}
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=ROOT, env=environ)
        theirs.close()
        atexit.register(_close, _fork_server, process)
    return _fork_server


def _close(requests: socket.socket, process: subprocess.Popen[bytes]) -> None:
    requests.close()
    process.wait()


class Forked(subprocess.Popen[Any]):
    """A process that calls `main()` of a module.

    With `terminal`, its standard streams are a terminal, which becomes its own.
    """

    def __init__(
        self, module: str, *arguments: str, env: Mapping[str, str], terminal: bool = False, **options: Any
    ) -> None:
        self._module = module
        self._terminal = terminal
        self._report = -1
        super().__init__(["moot", *arguments], env=dict(env), **options)

    def _execute_child(self, args: Any, *options: Any) -> None:
        """As `Popen` does, but the fork server forks: it gets the streams and sends the child's number."""
        cwd, env = options[4], options[5]
        pipes = options[9:15]
        ours, theirs = os.pipe()
        streams = [number if end == -1 else end for number, end in enumerate((pipes[0], pipes[3], pipes[5]))]
        request = {
            "module": self._module,
            "args": args,
            "env": env,
            "cwd": str(cwd or Path.cwd()),
            "terminal": self._terminal,
        }
        socket.send_fds(_requests(), [json.dumps(request).encode()], [*streams, theirs])
        os.close(theirs)
        self._close_pipe_fds(*pipes)
        self._report = ours
        self.pid = int(os.read(ours, 32).decode().strip())
        self._child_created = True

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if wait_flags and not select.select([self._report], [], [], 0)[0]:
            return 0, 0
        status = int(os.read(self._report, 32).decode() or "9")
        os.close(self._report)
        return self.pid, status

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None and self._report != -1 and self._waitpid_lock.acquire(False):
            try:
                pid, status = self._try_wait(os.WNOHANG)
                if pid:
                    self._handle_exitstatus(status)
            finally:
                self._waitpid_lock.release()
        return self.returncode


class Moot(Forked):
    """The command `moot`."""

    def __init__(self, *arguments: str, **options: Any) -> None:
        super().__init__("moot.cli", *arguments, **options)


# --- the fork server ------------------------------------------------------------------------------------


def _serve(requests: socket.socket) -> None:
    """Fork a child for each request, and report its number and how it ended."""
    for name in (
        # First, as in a program without a terminal: `Literal` types with the same members are one object, and
        # msgspec leaves a default out of what it writes only if it is the very object of the first.
        "moot.engine.arena",
        *("moot.processes.server", "moot.processes.worker", "moot.client"),
        *(f"moot.cli.{name}" for name in CLI_MODULES),
        *CLUSTER_MODULES,
    ):
        importlib.import_module(name)
    assert threading.active_count() == 1, "a fork leaves other threads behind"
    # What was imported stays: children need not copy its pages to look for garbage there.
    gc.collect()
    gc.freeze()
    woken, waking = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(waking)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    reports: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([requests, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _report_ended(reports)
        if requests not in ready:
            continue
        message, descriptors, _, _ = socket.recv_fds(requests, MAX_REQUEST_BYTES, 4)
        if not message:
            return
        *streams, report = descriptors
        child = os.fork()
        if not child:
            signal.set_wakeup_fd(-1)
            requests.close()
            for descriptor in (woken, waking, report, *reports.values()):
                os.close(descriptor)
            _become(json.loads(message), streams)
            return
        for descriptor in streams:
            os.close(descriptor)
        reports[child] = report
        os.write(report, f"{child:<32}".encode())


def _report_ended(reports: dict[int, int]) -> None:
    while reports:
        child, status = os.waitpid(-1, os.WNOHANG)
        if not child:
            return
        report = reports.pop(child)
        with suppress(BrokenPipeError):
            os.write(report, f"{status:<32}".encode())
        os.close(report)


def _become(request: dict[str, Any], streams: list[int]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if request["terminal"]:
        os.setsid()
        fcntl.ioctl(streams[0], termios.TIOCSCTTY, 0)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
    for descriptor in {*streams} - {0, 1, 2}:
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    sys.stdin, sys.stdout, sys.stderr = (
        open(0, encoding="utf-8", closefd=False),  # noqa: SIM115 - they are open for as long as it lives
        open(1, "w", encoding="utf-8", buffering=1 if os.isatty(1) else -1, closefd=False),  # noqa: SIM115 - as above
        open(2, "w", encoding="utf-8", buffering=1, closefd=False),  # noqa: SIM115 - as above
    )
    sys.argv = request["args"]
    # Where it is to crash, and its extensions, were read before this child's environment was known.
    importlib.reload(importlib.import_module("moot.core.crash_points"))
    importlib.import_module("moot.extension")._current = None
    for name in COMMAND_GROUPS:
        sys.modules.pop(name, None)
    try:
        importlib.import_module(request["module"]).main()
    except SystemExit as ending:
        _leave(ending.code)
        raise


def _leave(code: object) -> None:
    """End here, without taking apart all that was imported: that would take longer than most commands.

    Returns where the interpreter has more to do: threads to wait for, or output that nobody reads.
    """
    if threading.active_count() > 1 or not isinstance(code, int):
        return
    atexit._run_exitfuncs()
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
