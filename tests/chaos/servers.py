"""Servers that are killed or told to leave, each followed by another on the same port and the same log."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import randrange
from typing import Any

import httpx

from tests.cli.terminal import environment
from tests.support.moot_process import Moot

SECONDS = 60.0
LIFTED = {
    "MOOT_RATE_LIMIT_PER_MINUTE": "0",
    "MOOT_MAX_DEBATES_PER_CLIENT": "0",
    "MOOT_MAX_STREAMS_PER_CLIENT": "0",
}
SHARES, SHARE = 8, 1_500
"""Tests that run side by side take their ports from shares of their own."""
BRISK = {"MOOT_TICK_MS": "10", "MOOT_RETRY_BASE_MS": "10"}


class ServerSequence:
    """One server at a time, each on the port and the data folder of the one before. Use `server_sequence`."""

    def __init__(self, data: Path, port: int, env: dict[str, str]) -> None:
        self.port = port
        self.errors = data / "errors"
        self.kills = 0
        self._env = env
        self._process: Moot | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        self.launch()
        async with asyncio.timeout(SECONDS):
            while not await self._answers():  # noqa: ASYNC110 - another process does not tell
                await asyncio.sleep(0.005)

    def launch(self) -> None:
        """Start one and do not wait for it."""
        with self.errors.open("ab") as errors:
            self._process = Moot(
                *("serve", "--port", str(self.port)),
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )

    async def kill(self) -> None:
        self.kills += 1
        assert await self.leave(signal.SIGKILL) == -signal.SIGKILL

    async def leave(self, number: signal.Signals) -> int:
        """The exit code after this signal."""
        os.kill(self.pid, number)
        return await self.gone()

    async def gone(self) -> int:
        """Wait for it to go by itself; its exit code."""
        assert self._process is not None
        code = await asyncio.to_thread(self._process.wait, SECONDS)
        self._process = None
        return code

    async def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            await self.gone()

    async def _answers(self) -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except ConnectionError:
            return False
        writer.close()
        return True

    # --- as a client that tries again ---------------------------------------------------------------------

    async def create(self, body: dict[str, Any], key: str) -> str:
        """The debate's id, however many servers it takes to get it."""
        while True:
            with suppress(httpx.TransportError):
                reply = await self.post(body, key)
                assert reply.status_code in (201, 503), reply.text
                if reply.status_code == 201:
                    return reply.json()["id"]
            await asyncio.sleep(0.02)

    async def post(self, body: dict[str, Any], key: str) -> httpx.Response:
        async with self._client() as client:
            return await client.post("/api/v1/debates", json=body, headers={"Idempotency-Key": key})

    async def ask(self, path: str, body: dict[str, Any] | None = None) -> None:
        async with self._client() as client:
            reply = await client.post(f"/api/v1/{path}", json=body)
            assert reply.status_code in (200, 202), reply.text

    async def get(self, path: str) -> Any:
        async with self._client() as client:
            reply = await client.get(f"/api/v1/{path}")
            assert reply.status_code == 200, reply.text
            return reply.json()

    def _client(self) -> httpx.AsyncClient:
        # To read certificates that nobody needs takes longer than the request.
        url = f"http://127.0.0.1:{self.port}"
        return httpx.AsyncClient(base_url=url, timeout=SECONDS, verify=False)  # noqa: S501 - no TLS here


@asynccontextmanager
async def server_sequence(
    data: Path, port: int, *, pace_ms: int = 2, **variables: str
) -> AsyncGenerator[ServerSequence]:
    settings = {**LIFTED, **BRISK, "MOOT_SCRIPT_LEDGER": str(data / "ledger.jsonl"), **variables}
    servers = ServerSequence(data, port, environment(data / "data", pace_ms, **settings))
    try:
        yield servers
    finally:
        await servers.close()


def quiet_port() -> int:
    """A port that nobody is given by chance, and that no other process of these tests takes.

    Whoever calls again and again at a port from which clients call too, at last gets through to itself.
    """
    ours = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % SHARES
    while True:
        with socket.socket() as trial, suppress(OSError):
            trial.bind(("127.0.0.1", 20_000 + ours * SHARE + randrange(SHARE)))
            return trial.getsockname()[1]
