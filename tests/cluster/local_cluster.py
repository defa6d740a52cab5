"""A whole cluster on this machine, on loopback, whose parts can be killed, frozen and started again.

    async with Cluster.up(folder, nodes=2, workers=2) as house:
        debate_id = await house.open()
        await house.workers[0].kill()

Nodes answer (`moot serve --no-run`), workers run debates (`moot work`), a porter before the nodes stands in
for a load balancer. They share nothing but PostgreSQL and Redis: each has a data folder of its own.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, BinaryIO

import httpx

from tests.chaos.servers import BRISK, LIFTED, quiet_port
from tests.cli.terminal import environment
from tests.cluster.load_balancer import Porter, standing
from tests.support.moot_process import Moot
from tests.support.ports_seed import DICE
from tests.support.postgres import Postgres
from tests.support.redis import Redis
from tests.web.routes.served import NO_TLS, body

SECONDS = 60.0
READY = b"This worker runs"
Hatch = Callable[[tuple[str, ...], Mapping[str, str], BinaryIO], "subprocess.Popen[Any]"]
"""How a process comes to be, of what it is told, its environment and where it writes."""


def hatched(arguments: tuple[str, ...], env: Mapping[str, str], out: BinaryIO) -> subprocess.Popen[Any]:
    return Moot(*arguments, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out)


class Post:
    """A place in the cluster and the process that holds it now. Another one may take its place."""

    def __init__(
        self, name: str, arguments: tuple[str, ...], env: Mapping[str, str], log: Path, hatch: Hatch
    ) -> None:
        self.name = name
        self.log = log
        self._arguments = arguments
        self._env = env
        self._hatch = hatch
        self._process: subprocess.Popen[Any] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None, f"{self.name} is not running"
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    async def start(self) -> None:
        self.log.touch()
        before = self.log.stat().st_size
        with self.log.open("ab") as out:
            self._process = self._hatch(self._arguments, self._env, out)
        async with asyncio.timeout(SECONDS):
            while not await self._is_there(before):
                assert self.running, self.log.read_text()
                await asyncio.sleep(0.01)

    async def _is_there(self, before: int) -> bool:
        """A worker answers nobody; it says so when it has come, in what it has written since then."""
        return READY in self.log.read_bytes()[before:]

    async def kill(self) -> None:
        """As a power cut would."""
        assert await self.leave(signal.SIGKILL) == -signal.SIGKILL

    async def term(self) -> None:
        assert await self.leave(signal.SIGTERM) == 0, self.log.read_text()

    async def leave(self, number: signal.Signals) -> int:
        os.kill(self.pid, number)
        return await self.gone()

    async def gone(self) -> int:
        assert self._process is not None
        code = await asyncio.to_thread(self._process.wait, SECONDS)
        self._process = None
        return code

    def freeze(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    async def restart(self) -> None:
        await self.term()
        await self.start()

    async def close(self) -> None:
        if self.running:
            self.thaw()
            await self.leave(signal.SIGKILL)


class Node(Post):
    def __init__(
        self, name: str, port: int, env: Mapping[str, str], log: Path, hatch: Hatch, *more: str
    ) -> None:
        super().__init__(name, ("serve", *more, "--port", str(port)), env, log, hatch)
        self.port = port

    async def _is_there(self, before: int) -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return False
        writer.close()
        return True


class Cluster:
    """Use `Cluster.up`."""

    def __init__(
        self,
        folder: Path,
        postgres: Postgres,
        redis: Redis,
        store: str,
        nodes: tuple[Node, ...],
        workers: tuple[Post, ...],
        porter: Porter,
    ) -> None:
        self.folder = folder
        self.postgres = postgres
        self.redis = redis
        self.store = store
        """The address of the database."""
        self.nodes = nodes
        self.workers = workers
        self.porter = porter
        self.http = _client(porter.port)

    @property
    def port(self) -> int:
        return self.porter.port

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.jsonl"

    def at(self, node: Node) -> httpx.AsyncClient:
        """A client of this node alone."""
        return _client(node.port)

    async def open(self, key: str | None = None, **config: Any) -> str:
        """The id of a new debate, however often one has to ask."""
        headers = {"Idempotency-Key": key or f"open {DICE.random()}"}
        reply = await self.post("debates", body(**config), headers=headers)
        assert reply.status_code == 201, reply.text
        return reply.json()["id"]

    async def post(self, path: str, json: Any = None, **more: Any) -> httpx.Response:
        """Tried again as long as the reply says so, or no reply comes."""
        async with asyncio.timeout(SECONDS):
            while True:
                try:
                    reply = await self.http.post(f"/api/v1/{path}", json=json, **more)
                except httpx.TransportError:
                    reply = None
                if reply is not None and reply.status_code != 503:
                    return reply
                await asyncio.sleep(0.05)

    async def get(self, path: str) -> Any:
        async with asyncio.timeout(SECONDS):
            while True:
                try:
                    reply = await self.http.get(f"/api/v1/{path}")
                except httpx.TransportError:
                    reply = None
                if reply is not None and reply.status_code != 503:
                    assert reply.status_code == 200, reply.text
                    return reply.json()
                await asyncio.sleep(0.05)

    def errors(self) -> str:
        """All that the processes have said."""
        return "".join(post.log.read_text() for post in (*self.nodes, *self.workers) if post.log.exists())

    @classmethod
    @asynccontextmanager
    async def up(
        cls,
        folder: Path,
        postgres: Postgres,
        *,
        nodes: int = 2,
        workers: int = 2,
        port: int = 0,
        database: str = "",
        heartbeat: float = 0.2,
        stall: float = 1.0,
        pace_ms: int = 2,
        hatch: Hatch = hatched,
        env: Mapping[str, str] | None = None,
        serve: tuple[str, ...] = ("--no-run",),
    ) -> AsyncGenerator[Cluster]:
        """`database`: the address of one that exists; else one is made. `env` adds to the environment."""
        async with AsyncExitStack() as stack:
            store = database or await postgres.database(f"moot{DICE.getrandbits(48):x}")
            redis = Redis()
            stack.enter_context(redis)
            shared = {
                **LIFTED,
                **BRISK,
                "MOOT_STORE": store,
                "MOOT_BUS": redis.url,
                "MOOT_HEARTBEAT_S": str(heartbeat),
                "MOOT_STALL_S": str(stall),
                "MOOT_SCRIPT_LEDGER": str(folder / "ledger.jsonl"),
                **(env or {}),
            }

            def place(name: str) -> tuple[dict[str, str], Path]:
                return environment(folder / name, pace_ms, **shared), folder / f"{name}.log"

            rooms = [
                Node(name, quiet_port(), *place(name), hatch, *serve)
                for name in (f"node-{n}" for n in range(1, nodes + 1))
            ]
            crew = [
                Post(name, ("work",), *place(name), hatch)
                for name in (f"worker-{n}" for n in range(1, workers + 1))
            ]
            for post in (*rooms, *crew):
                stack.push_async_callback(post.close)
            # One makes the tables, and the others find them.
            await rooms[0].start()
            await asyncio.gather(*(post.start() for post in (*rooms[1:], *crew)))
            porter = await stack.enter_async_context(standing([room.port for room in rooms], port))
            cluster = cls(folder, postgres, redis, store, tuple(rooms), tuple(crew), porter)
            stack.push_async_callback(cluster.http.aclose)
            yield cluster


def _client(port: int) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=SECONDS, verify=NO_TLS)
