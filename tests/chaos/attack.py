"""An attack on a server of this machine from all sides at once, bounded in number, size and time.

    python -m tests.chaos.attack 5          # five rounds, and what the server holds after each

A round: heads and bodies that trickle in, streams that nobody reads, WebSockets that send too much, and two
services for models that answer without end and with five megabytes at once.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
from msgspec import Struct, convert

from tests.chaos.servers import BRISK, LIFTED, quiet_port
from tests.cli.terminal import environment
from tests.faults.fault_acts import endless, huge
from tests.faults.fault_server import FaultServer, Script
from tests.web.raw_client import Line, request
from tests.web.routes.served import NO_TLS, body
from tests.web.server.test_http_protocol import frame, handshake

SECONDS = 120.0
IMPATIENT = {"MOOT_HEADER_S": "2", "MOOT_BODY_S": "2", "MOOT_STALLED_VIEWER_S": "2"}
MEGABYTES = 5


class Force(Struct, frozen=True):
    """How many of each attack at once."""

    heads: int = 300
    bodies: int = 50
    unread: int = 100
    bombs: int = 20
    debates: int = 4
    """That call services which say too much."""
    rounds: int = 10
    """Of the debate whose streams nobody reads."""


SMALL = Force(heads=5, bodies=5, unread=6, bombs=4, debates=1, rounds=2)


class Held(Struct, frozen=True):
    """What the server holds."""

    rss: int
    objects: int
    left: dict[str, int]
    """What lives for as long as a client is connected, by kind."""
    traced: int = 0
    top: list[str] = []
    kinds: list[tuple[str, int]] = []

    @property
    def watched(self) -> bool:
        """Somebody is still connected to a stream or a socket."""
        return not {"EventStream", "Upgraded", "Talk", "Feed"}.isdisjoint(self.left)


class Target:
    """A server under attack. Use `attacked`."""

    def __init__(self, process: Process, port: int, log: Path) -> None:
        self.port = port
        self.log = log
        # What we keep open ourselves must not be taken for something that the attack has left.
        self.http = httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}",
            timeout=SECONDS,
            verify=NO_TLS,
            limits=httpx.Limits(max_keepalive_connections=1),
        )
        self._process = process

    async def open(self, *models: str, **config: Any) -> str:
        wanted = body(**config)
        for seat, model in zip(wanted["participants"], models, strict=False):
            provider, _, name = model.partition("/")
            seat["model"] = {"provider": provider, "modelId": name}
        reply = await self.http.post("/api/v1/debates", json=wanted)
        assert reply.status_code == 201, reply.text
        return reply.json()["id"]

    async def over(self, debate_id: str) -> None:
        async with asyncio.timeout(SECONDS):
            while True:
                status = (await self.http.get(f"/api/v1/debates/{debate_id}/status")).json()["status"]
                if status in ("completed", "error"):
                    return
                await asyncio.sleep(0.1)

    async def held(self, *, trimmed: bool = False) -> Held:
        """At rest: when every client of the attack has gone. `trimmed`: when the allocator has given back
        what it can."""
        async with asyncio.timeout(SECONDS):
            while True:
                held = await self._told(signal.SIGUSR2 if trimmed else signal.SIGUSR1)
                if not held.watched:
                    return held
                await asyncio.sleep(0.5)

    async def _told(self, number: signal.Signals) -> Held:
        os.kill(self._process.pid, number)
        assert self._process.stdout is not None
        while not (line := await self._process.stdout.readline()).startswith(b"{"):
            assert line, self.log.read_text()
        return convert(json.loads(line), Held)

    async def close(self) -> None:
        await self.http.aclose()
        if self._process.returncode is None:
            self._process.terminate()
            async with asyncio.timeout(SECONDS):
                assert await self._process.wait() == 0


@asynccontextmanager
async def attacked(folder: Path, **env: str) -> AsyncGenerator[Target]:
    """A server, and beside it the two services that its debates may call."""
    data, log, port = folder / "data", folder / "log", quiet_port()
    data.mkdir(parents=True)
    bad = FaultServer(Script(usual=endless("content")))
    large = FaultServer(Script(usual=huge(MEGABYTES * 2**20)))
    async with bad, large:
        tables = [
            f'[endpoints.{name}]\nfamily = "openai_chat"\nbase_url = "{server.url}"\nlocal = true\n'
            for name, server in (("endless", bad), ("huge", large))
        ]
        (data / "moot.toml").write_text("\n".join(tables))
        shared = {**LIFTED, **BRISK, **IMPATIENT, **env}
        with log.open("wb") as out:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tests.chaos.attacked", str(port),
                env=environment(data, **shared), stdout=PIPE, stderr=out,
            )  # fmt: skip
        target = Target(process, port, log)
        try:
            async with asyncio.timeout(SECONDS):
                while not await _answers(port):  # noqa: ASYNC110 - another process does not tell
                    await asyncio.sleep(0.05)
            await target.over(await target.open())
            # What is read from disk at the first call, and buffers that are made once, are not the attack's.
            await attack(target, SMALL)
            yield target
        finally:
            await target.close()


async def attack(target: Target, force: Force = Force()) -> None:  # noqa: B008 - frozen
    """One round, until the server has got rid of all of it."""
    # Long enough that nobody's buffers hold all of it.
    long = await target.open("endless/x", "endless/y", maxRounds=force.rounds)
    await target.over(long)
    async with asyncio.TaskGroup() as group:
        for _ in range(force.debates):
            group.create_task(_called(target))
        for _ in range(force.heads):
            group.create_task(_trickle(target.port, b"GET /api/v1/debates HTTP/1.1\r\nX-A: "))
        for _ in range(force.bodies):
            head = request("/api/v1/debates", "POST", Content_Type="application/json", Content_Length="90000")
            group.create_task(_trickle(target.port, head))
        for number in range(force.unread):
            kind = ("stream", "events/stream", "view/stream")[number % 3]
            group.create_task(_never_read(target.port, f"/api/v1/debates/{long}/{kind}"))
        for number in range(force.bombs):
            group.create_task(_bomb(target.port, f"/api/v1/debates/{long}/ws", number))


async def _called(target: Target) -> None:
    """A debate whose services say too much."""
    await target.over(await target.open("huge/x", "endless/x", maxRounds=1))


async def _trickle(port: int, head: bytes) -> None:
    """A byte now and then, until the server has had enough."""
    line = await Line.to(port)
    with suppress(ConnectionError):
        await line.send(head)
        while not line.reader.at_eof():
            await line.send(b"a")
            with suppress(TimeoutError):
                async with asyncio.timeout(0.5):
                    await line.reader.read(1024)
    await line.close()


async def _never_read(port: int, path: str) -> None:
    """Asks again and again, as often as it is cut off, and reads nothing."""
    for _ in range(2):
        with suppress(OSError), socket.socket() as line:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(line, ("127.0.0.1", port))
            await loop.sock_sendall(line, request(path))
            await asyncio.sleep(4)


async def _bomb(port: int, path: str, number: int) -> None:
    bombs = (
        frame(b"a" * 1_000_000),
        frame(b"a", fin=False) + frame(b"", 0, fin=False) * 100_000,
        frame(b"b" * 100, 9) * 20_000,
        frame(b'{"type":"PAUSE","data":' + b"[" * 60_000 + b"}") * 10,
    )
    line = await Line.to(port)
    with suppress(ConnectionError, TimeoutError):
        await line.send(handshake(path))
        async with asyncio.timeout(6):
            await line.send(bombs[number % len(bombs)])
            if number % 2:
                await line.rest()
            else:
                await asyncio.sleep(4)
    line.writer.transport.abort()


async def _answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionError:
        return False
    writer.close()
    return True


def complaints(target: Target) -> list[str]:
    """What the log says of errors of its own."""
    return [
        line
        for line in target.log.read_text().splitlines()
        if "Traceback" in line or " ERROR " in line or " CRITICAL " in line
    ]


def show(when: str, held: Held) -> None:
    size = f"{held.rss / 1e6:.1f} MB, {held.objects} objects, {held.traced / 1e6:.1f} MB traced"
    print(f"{when}: {size}, {held.left}", flush=True)
    for line in (*held.top, *map(str, held.kinds)):
        print("   ", line)


async def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        traced = {name: os.environ[name] for name in ("TRACED",) if name in os.environ}
        async with attacked(Path(folder) / "server", **traced) as target:
            for number in range(rounds + 1):
                if number:
                    await attack(target)
                show(f"round {number}", await target.held())
            show("trimmed", await target.held(trimmed=True))
            print("\n".join(complaints(target)) or "nothing in the log")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
