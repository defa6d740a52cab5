"""`moot serve`: where it listens, whom it refuses, and how it stops."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from moot.settings import ServerSettings
from tests.cli.terminal import environment
from tests.support.moot_process import Moot
from tests.web.apps import Echo, Endless, talk
from tests.web.conftest import Serving, listening
from tests.web.raw_client import Line, exchange, request
from tests.web.server.test_http_protocol import connected, handshake

START = b"Moot is at http://127.0.0.1:"


PATIENCE = 60.0


class Process:
    """`moot serve` as a process of its own."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.port = 0

    async def first_line(self) -> bytes:
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            return await asyncio.to_thread(self.process.stdout.readline)

    async def ready(self) -> None:
        line = await self.first_line()
        assert line.startswith(START), line
        self.port = int(line.removeprefix(START).partition(b".")[0])

    async def ended(self, seconds: float = PATIENCE) -> tuple[int, str]:
        """Its exit code, and what it has written to its log."""
        _, log = await asyncio.to_thread(self.process.communicate, timeout=seconds)
        return self.process.returncode, log.decode()


@asynccontextmanager
async def started(data: Path, *arguments: str, **variables: str) -> AsyncGenerator[Process, None]:
    process = Moot(
        "serve",
        *arguments,
        env={**os.environ, **environment(data), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield Process(process)
    finally:
        if process.returncode is None:
            process.kill()
            process.communicate()


# --- where it listens -----------------------------------------------------------------------------------


async def test_other_machines_are_not_served_without_a_token(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::"):
        async with started(tmp_path, "--host", host, "--port", "0") as process:
            code, said = await process.ended()
        assert code == 2
        assert "MOOT_TOKEN" in said
        assert "--insecure" in said
        assert "Traceback" not in said


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [(("--insecure",), {}), ((), {"MOOT_TOKEN": "operator-token-0123456789"})],
)
async def test_other_machines_are_served_if_that_is_meant(
    tmp_path: Path, arguments: tuple[str, ...], variables: dict[str, str]
) -> None:
    async with started(tmp_path, "--host", "0.0.0.0", "--port", "0", *arguments, **variables) as process:
        assert b"http://localhost:" in await process.first_line()
        process.process.terminate()
        assert (await process.ended())[0] == 0


async def test_a_port_that_is_taken_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        async with started(tmp_path, "--port", port) as process:
            code, said = await process.ended()
    assert code == 1
    assert f"port {port}" in said
    assert "Traceback" not in said


async def test_the_page_is_opened_in_the_browser_when_it_is_ready(tmp_path: Path) -> None:
    seen, browser = tmp_path / "seen", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{seen}.part" && mv "{seen}.part" "{seen}"\n')
    browser.chmod(0o700)
    async with started(tmp_path, "--port", "0", "--open", BROWSER=f'"{browser}" %s') as process:
        line = await process.first_line()
        url = line.decode().split(". ")[0].removeprefix("Moot is at ")
        assert "API: /docs" in line.decode()
        async with asyncio.timeout(PATIENCE):
            while not seen.exists():  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0.01)
    assert seen.read_text().strip() == url


async def test_the_very_address_at_which_a_connection_arrives_is_a_name_of_ours(
    behind_guard: Serving,
) -> None:
    served = await behind_guard(Echo())
    assert (await exchange(served.port, request("/", Host="127.0.0.2"))).status == 421
    line = await Line.to(served.port, "127.0.0.1")
    await line.send(request("/", Host=f"127.0.0.1:{served.port}"))
    assert (await line.reply()).status == 200
    await line.close()


# --- how it stops ---------------------------------------------------------------------------------------


async def test_streams_end_first_and_idle_connections_are_closed() -> None:
    endless = Endless()
    async with listening(endless, ServerSettings(), endless.end) as served:
        streams = [await Line.to(served.port) for _ in range(20)]
        for line in streams:
            await line.send(request("/stream"))
            await line.reader.readuntil(b": hello\n\n\r\n")
        idle = await Line.to(served.port)
        served.server.should_exit = True
        assert {await line.rest() for line in streams} == {b"7\r\n: bye\n\n\r\n0\r\n\r\n"}
        assert await idle.rest() == b""
    with pytest.raises(ConnectionRefusedError):
        await Line.to(served.port)


async def test_whoever_does_not_read_is_not_waited_for(
    behind_guard: Serving, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.web.server.listener.GRACE_SECONDS", 0.2)
    endless = Endless()
    served = await behind_guard(endless)
    line = await Line.to(served.port)
    await line.send(request("/stream"))
    await line.reader.readuntil(b": hello\n\n\r\n")
    served.server.should_exit = True
    assert await line.rest() == b""
    assert not [record for record in caplog.records if record.exc_info]


async def test_a_server_that_has_stopped_has_no_connection_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.web.server.listener.GRACE_SECONDS", 0.2)

    asked = asyncio.Event()

    async def never(_scope: Scope, _receive: Receive, _send: Send) -> None:
        asked.set()
        await asyncio.Event().wait()

    async with listening(never, ServerSettings()) as served:
        line = await Line.to(served.port)
        await line.send(request("/"))
        await asked.wait()
    assert not served.server.server_state.connections
    assert not served.server.server_state.tasks
    await line.rest()


async def test_a_websocket_learns_that_the_server_restarts(behind_guard: Serving) -> None:
    served = await behind_guard(talk)
    line = await connected(served.port)
    served.server.should_exit = True
    assert await line.rest() == b"\x88\x02\x03\xf4"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_cleanly_with_everybody_watching(tmp_path: Path, number: int) -> None:
    async with started(tmp_path, "--port", "0") as process:
        await process.ready()
        lines = [await Line.to(process.port) for _ in range(50)]
        for line in lines[:25]:
            await line.send(request("/api/v1/health"))
            assert (await line.reply()).status == 200
        for line in lines[25:]:
            await line.send(b"GET / HT")
        process.process.send_signal(number)
        code, log = await process.ended()
        for line in lines:
            await line.close()
    assert code == 0
    assert "Traceback" not in log
    assert "ERROR" not in log


DEBATE = {
    "topic": "Cats make better companions than dogs",
    "format": "oxford",
    "participants": [
        {"name": name, "model": {"provider": "scripted", "modelId": "demo"}, "position": position}
        for name, position in (("Ann", "for"), ("Bob", "against"))
    ],
    "judge": {"name": "Cleo", "model": {"provider": "scripted", "modelId": "demo"}},
    "config": {"maxRounds": 2},
}


async def test_viewers_of_a_running_debate_are_let_go_and_the_next_process_takes_it_up(
    tmp_path: Path,
) -> None:
    variables = {"MOOT_SCRIPTED": "1", "MOOT_SCRIPT_PACE_MS": "20", "MOOT_MAX_STREAMS_PER_CLIENT": "0"}
    variables["MOOT_RATE_LIMIT_PER_MINUTE"] = "0"
    async with started(tmp_path, "--port", "0", **variables) as process:
        await process.ready()
        created = await exchange(
            process.port, request("/api/v1/debates", "POST", json.dumps(DEBATE).encode())
        )
        assert created.status == 201, created.body
        where = created.headers["location"]
        viewers = [await Line.to(process.port) for _ in range(100)]
        for viewer in viewers:
            await viewer.send(request(f"{where}/stream"))
        for viewer in viewers:
            async with asyncio.timeout(PATIENCE):
                await viewer.reader.readuntil(b'"chunk"')
        process.process.terminate()
        seen = await asyncio.gather(*(viewer.rest() for viewer in viewers))
        code, log = await process.ended()
    assert code == 0
    assert all(text.endswith(b"0\r\n\r\n") for text in seen), "a stream was cut off"
    assert "Traceback" not in log
    assert "ERROR" not in log
    async with started(tmp_path, "--port", "0", **{**variables, "MOOT_SCRIPT_PACE_MS": "0"}) as process:
        await process.ready()
        viewer = await Line.to(process.port)
        await viewer.send(request(f"{where}/stream", Connection="close"))
        assert b"event: complete" in await viewer.rest()
        process.process.terminate()
        assert (await process.ended())[0] == 0


async def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    async with started(tmp_path, "--port", "0") as process:
        await process.ready()
        line = await Line.to(process.port)
        await line.send(request("/api/x", "POST", b"{}", Content_Length="100"))
        await asyncio.sleep(0.1)
        process.process.terminate()
        await asyncio.sleep(0.3)
        process.process.terminate()
        code, log = await process.ended()
        await line.close()
    assert code == 128 + signal.SIGTERM
    assert "Traceback" not in log


async def test_a_handshake_at_no_door_is_not_found(serving: Serving) -> None:
    served = await serving()
    reply = await exchange(served.port, handshake("/nowhere"))
    assert (reply.status, reply.kind) == (404, "not-found")
