"""What was answered with 2xx was on the disk before: seen by the system calls, as no kill can show it."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path

import pytest

from tests.chaos.servers import quiet_port, server_sequence
from tests.web.routes.served import body

STRACE = shutil.which("strace")
REPLY, SYNC = "reply", "sync"
CALLS = 100


def told(line: str) -> str | None:
    if '"HTTP/1.1 2' in line:
        return REPLY
    # A call that took a while is shown twice; what counts is its end.
    return SYNC if re.search(r"(fsync|fdatasync)(\(| resumed).*= 0$", line) else None


@pytest.mark.chaos
@pytest.mark.skipif(STRACE is None, reason="there is no strace; on Debian: apt-get install strace")
async def test_every_command_is_on_the_disk_before_it_is_answered(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    async with server_sequence(tmp_path, quiet_port()) as servers:
        await servers.start()
        debate_id = await servers.create(body(autoProgress=False), "one")
        assert STRACE is not None
        watching = await asyncio.create_subprocess_exec(
            STRACE, "-f", "-s", "40", "-e", "trace=fsync,fdatasync,write,writev,sendto,sendmsg",
            "-p", str(servers.pid), "-o", str(trace), stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert watching.stderr is not None
        attached = await watching.stderr.readline()
        if b"attached" not in attached:
            await watching.wait()
            pytest.skip(f"strace may not look here: {attached.decode()}")
        for number in range(CALLS // 2):
            await servers.ask(f"debates/{debate_id}/inject", {"text": f"Remark {number}."})
            await servers.ask(f"debates/{debate_id}/{('pause', 'resume')[number % 2]}")
        watching.terminate()
        await watching.communicate()
    seen = [what for line in trace.read_text(errors="replace").splitlines() if (what := told(line))]
    assert seen.count(REPLY) == CALLS
    assert all(before == SYNC for before, what in zip(["", *seen], seen, strict=False) if what == REPLY)
