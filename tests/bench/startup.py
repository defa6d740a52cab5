"""CPU until the program answers: `moot --help`, and `moot serve` until it is ready.

CPU rather than time on the clock, since other work on the machine delays a process but does not make it
dearer.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from statistics import median

import aiohttp

from tests.bench.figures import Figure, figure
from tests.bench.measure import process_cpu, temporary_folder

REPEATS = 9
WAIT_SECONDS = 60
MOOT = str(Path(sys.executable).with_name("moot"))
BARE_SERVER = """
import sys, uvicorn
from starlette.applications import Starlette
uvicorn.run(Starlette(), port=int(sys.argv[1]), log_level="critical")
"""


async def bench() -> AsyncIterator[Figure]:
    interpreter = await _median_cpu([sys.executable, "-c", "pass"])
    yield figure(
        "moot --help: CPU",
        await _median_cpu([MOOT, "--help"]),
        "ms",
        limit=("a bare interpreter start", interpreter),
        goal=8,
        main=True,
    )
    with temporary_folder() as data:
        serve = [MOOT, "serve", "--port", "{port}"]
        ours = await _cpu_until_it_answers(serve, "/health/ready", data)
        bare = await _cpu_until_it_answers([sys.executable, "-c", BARE_SERVER, "{port}"], "/", data)
    yield figure(
        "moot serve until ready: CPU",
        ours,
        "s",
        limit=("bare Starlette on uvicorn", bare),
        goal=1.2,
        goal_for="value",
        main=True,
    )


async def _median_cpu(command: Sequence[str]) -> float:
    """ms of CPU of a command; the first run, which may compile modules, does not count."""
    costs = [await asyncio.to_thread(_cpu, command) for _ in range(REPEATS + 1)]
    return median(costs[1:]) * 1000


def _cpu(command: Sequence[str]) -> float:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} failed with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


async def _cpu_until_it_answers(command: Sequence[str], path: str, data: Path) -> float:
    """Seconds of CPU of a server until it answers a request; the median of three starts."""
    return median([await _cpu_of_start(command, path, data) for _ in range(3)])


async def _cpu_of_start(command: Sequence[str], path: str, data: Path) -> float:
    port = _free_port()
    process = await asyncio.create_subprocess_exec(
        *(part.replace("{port}", str(port)) for part in command),
        env={**os.environ, "MOOT_DATA": str(data)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            await _until_it_answers(f"http://127.0.0.1:{port}{path}")
        return process_cpu(process.pid)
    finally:
        process.terminate()
        await process.wait()


async def _until_it_answers(url: str) -> None:
    async with aiohttp.ClientSession() as session:
        while True:
            try:
                async with session.get(url) as reply:
                    if reply.status < 500:
                        return
            except aiohttp.ClientConnectionError:
                pass
            await asyncio.sleep(0.02)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
