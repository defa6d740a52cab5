"""A tool server as a child process: lines of JSON on its standard input and output.

It has a process group of its own, of which nothing outlives the connection: it may exit when its input ends,
and is killed if it does not. If Moot is killed, `process_guard.py` kills it. Its environment is what the
operator set and the few variables without which programs do not run, none of our keys. Its standard error
goes to the log at debug level. A line that is too long ends the connection, and so do too many stray lines.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from shutil import which

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from moot.tools.tool_settings import ToolServerSettings

MAX_LINE_BYTES = 4 * 1024 * 1024
GRACE_SECONDS = 1.0
"""Time to exit after its input has ended, and again after SIGTERM."""
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT")
MAX_LOG_LINE = 500
READ_BYTES = 16 * 1024
MAX_STRAY_LINES = 1_000
"""Lines that are no messages. Programs print banners, but not without end."""
GUARD_COMMAND = (sys.executable, "-I", "-S", str(Path(__file__).with_name("process_guard.py")))

log = logging.getLogger("moot.tools")

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


def child_environment(server: ToolServerSettings, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that every program needs, those passed on by name, and those of the settings."""
    inherited = {name: environ[name] for name in (*INHERITED, *server.pass_env) if name in environ}
    return {**inherited, **server.env}


@asynccontextmanager
async def run_child(
    server: ToolServerSettings,
    environ: Mapping[str, str],
    redact: Callable[[str], str],
    ended: Callable[[], None],
) -> AsyncGenerator[tuple[Incoming, Outgoing], None]:
    """The streams of messages from and to the running command. Raises OSError if it cannot run.

    `ended` is called when it sends nothing more.
    """
    lifeline, held = os.pipe()
    try:
        child = await _start_child(server, child_environment(server, environ), lifeline)
    except BaseException:
        os.close(held)
        raise
    finally:
        os.close(lifeline)
    # Nothing is awaited between here and the `try`: a cancellation would leave the process behind.
    received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, sent = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(_read_messages(child, received, ended), name=f"tools {server.name}: read"),
        asyncio.create_task(_write_messages(child, sent), name=f"tools {server.name}: write"),
        asyncio.create_task(_log_stderr(child, server.name, redact), name=f"tools {server.name}: stderr"),
    ]
    try:
        yield incoming, outgoing
    finally:
        with anyio.CancelScope(shield=True):
            await _stop_child(child)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for stream in (received, incoming, outgoing, sent):
                stream.close()
            os.close(held)


async def _start_child(
    server: ToolServerSettings, env: dict[str, str], lifeline: int
) -> asyncio.subprocess.Process:
    """Start the command; it ends when the other end of the lifeline closes."""
    command, inherited = server.command, ()
    if sys.platform != "win32":
        if which(command[0], path=env.get("PATH")) is None:
            raise FileNotFoundError(f"there is no program {command[0]!r}")
        command, inherited = (*GUARD_COMMAND, str(lifeline), *command), (lifeline,)
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=env,
        limit=MAX_LINE_BYTES,
        start_new_session=True,
        pass_fds=inherited,
    )


async def _read_messages(
    child: asyncio.subprocess.Process,
    received: MemoryObjectSendStream[SessionMessage | Exception],
    ended: Callable[[], None],
) -> None:
    stray_lines = 0
    with received, suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async for line in _lines(child):
            try:
                message = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
            except ValueError:
                stray_lines += 1
                if stray_lines > MAX_STRAY_LINES:
                    break
                continue
            await received.send(message)
    ended()
    # Further output is discarded: a full pipe would keep it from exiting.
    while child.stdout is not None and await child.stdout.read(READ_BYTES):
        pass


async def _lines(child: asyncio.subprocess.Process) -> AsyncGenerator[bytes, None]:
    if child.stdout is None:
        return
    with suppress(ValueError):  # a line longer than MAX_LINE_BYTES
        while (line := await child.stdout.readline()).endswith(b"\n"):
            yield line


async def _write_messages(
    child: asyncio.subprocess.Process, sent: MemoryObjectReceiveStream[SessionMessage]
) -> None:
    if child.stdin is None:
        return
    with sent, suppress(OSError):
        async for message in sent:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            child.stdin.write(text.encode() + b"\n")
            await child.stdin.drain()


async def _log_stderr(child: asyncio.subprocess.Process, name: str, redact: Callable[[str], str]) -> None:
    while child.stderr is not None and (piece := await child.stderr.read(READ_BYTES)):
        if log.isEnabledFor(logging.DEBUG):
            for line in piece.decode("utf-8", "replace").splitlines():
                log.debug("%s: %s", name, redact(line)[:MAX_LOG_LINE])


async def _stop_child(child: asyncio.subprocess.Process) -> None:
    """Let it exit, or kill it, together with its children."""
    if child.stdin is not None:
        child.stdin.close()
    if not await _has_exited(child):
        _signal(child, signal.SIGTERM)
        await _has_exited(child)
    # Children may outlive the leader of the group.
    _signal(child, signal.SIGKILL)
    await _has_exited(child)


async def _has_exited(child: asyncio.subprocess.Process) -> bool:
    """Whether it exits within GRACE_SECONDS; one that left its pipes to others is not waited for longer."""
    try:
        await asyncio.wait_for(child.wait(), GRACE_SECONDS)
    except TimeoutError:
        return False
    return True


def _signal(child: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            child.kill()
        else:
            os.killpg(child.pid, number)
