"""A part of a benchmark in a process of its own, so that its CPU is measured apart from that of the others.

The child sends one message when it is ready. After that it answers each command with one message and ends on
None. Commands and answers travel through a pipe.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import resource
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.bench.measure import process_cpu

ANSWER_SECONDS = 180
STOP_SECONDS = 30


class ChildProcess(Struct, frozen=True):
    """A running child, seen from the parent."""

    ready: Any
    """Its first message: the port of a server."""
    pid: int
    pipe: Connection

    async def command(self, message: Any) -> Any:
        """Send a command and return the answer."""
        self.pipe.send(message)
        return await self.receive()

    async def receive(self) -> Any:
        """The next message. Raises TimeoutError if the child sends none for a long time."""
        if not await asyncio.to_thread(self.pipe.poll, ANSWER_SECONDS):
            raise TimeoutError(f"No answer of a child process for {ANSWER_SECONDS} s.")
        return self.pipe.recv()

    @property
    def port(self) -> int:
        return self.ready

    @property
    def cpu(self) -> float:
        """Seconds so far."""
        return process_cpu(self.pid)

    @property
    def memory(self) -> int:
        """Resident bytes."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * resource.getpagesize()


@asynccontextmanager
async def child_process(target: Callable[..., None], *args: Any) -> AsyncGenerator[ChildProcess]:
    """Run `target(pipe, *args)` in a new process until the block ends."""
    spawn = multiprocessing.get_context("spawn")
    pipe, child_pipe = spawn.Pipe()
    process = spawn.Process(target=target, args=(child_pipe, *args), daemon=True)
    process.start()
    child_pipe.close()
    try:
        yield ChildProcess(await asyncio.to_thread(pipe.recv), process.pid or 0, pipe)
    finally:
        with suppress(OSError):
            pipe.send(None)
        await asyncio.to_thread(process.join, STOP_SECONDS)
        process.kill()


async def answer_commands(pipe: Connection, answer: Callable[[Any], Awaitable[Any]]) -> None:
    """In the child: answer commands until None or the end of the parent."""
    with suppress(EOFError):
        while (command := await asyncio.to_thread(pipe.recv)) is not None:
            pipe.send(await answer(command))


def allow_many_open_files() -> None:
    """Raise the limit of open files as far as the system permits."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
