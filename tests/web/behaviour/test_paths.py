"""Follows one token and one pause through the running server, and compares the drawings in ARCHITECTURE.md.

The token comes from a model service on loopback and is read by a viewer of the API, and by the page's own
modules in Node. Each line of a drawing names a file and a function: all of them must be called, in this
order. (Of the page it is only known that they are called.) To see how long the ways are, and every function
on them: `MOOT_SHOW_PATHS=1 pytest -s tests/web/behaviour/test_paths.py`. A hop is a call from a file of Moot
into another, or from the event loop or a new thread into Moot.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest
from aiohttp import web

import moot
from moot.engine import followers
from moot.providers.wire_formats import openai_chat_request
from moot.rules.runner_timings import RunnerTimings
from moot.store.sqlite.store import SqliteStore
from moot.web.streaming import feeds
from tests.providers.chat_lines import says
from tests.providers.served import served as model_service
from tests.web.routes.served import Served, serving

SOURCE = f"{Path(moot.__file__).parent}{os.sep}"
ARCHITECTURE = Path(__file__).parents[3] / "ARCHITECTURE.md"
DRAWN_STEP = re.compile(r"^(\w+(?:/\w+)*\.(?:py|js)) +([\w.#]+)", re.MULTILINE)
SECONDS = 60.0
PATIENT = RunnerTimings(retry_base=0.001, first_byte=SECONDS, between_bytes=SECONDS, tick=0.001)
"""However long the page takes to start, the service is not given up."""

Step = tuple[str, str]
"""A file below `src/moot` and the qualified name of a function in it."""

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


class Call(NamedTuple):
    step: Step
    is_hop: bool


class CallTrace:
    """The functions of Moot that were called while `recording()` was on, in every thread."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._on = False

    @property
    def steps(self) -> list[Step]:
        return [call.step for call in self.calls]

    @contextmanager
    def installed(self) -> Generator[None]:
        """Threads that start inside are traced as well."""
        previous = sys.getprofile()
        threading.setprofile(self._on_event)
        sys.setprofile(self._on_event)
        try:
            yield
        finally:
            sys.setprofile(previous)
            threading.setprofile(previous)

    @contextmanager
    def recording(self) -> Generator[None]:
        self._on = True
        try:
            yield
        finally:
            self._on = False

    def _on_event(self, frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if self._on and event == "call" and code.co_filename.startswith(SOURCE):
            name = code.co_qualname.replace(".<locals>", "")
            step = (code.co_filename.removeprefix(SOURCE), name)
            self.calls.append(Call(step, _calling_file(frame) != code.co_filename))

    def summary(self, title: str, page: Sequence[Step]) -> str:
        functions = {step for step in self.steps if "<" not in step[1]} | {*page}
        files = {path for path, _ in (*self.steps, *page)}
        hops = sum(call.is_hop for call in self.calls)
        drawn = _drawn_steps(title)
        figures = (
            f"{len(self.calls)} calls, {hops} hops, {len(functions)} functions, {len(files)} files; "
            f"drawn: {len(drawn)} functions, {len({path for path, _ in drawn})} files"
        )
        lines = (f"{'→' if hop else ' '} {path:40} {name}" for (path, name), hop in self.calls)
        in_page = (f"  {path:40} {name}" for path, name in page)
        return "\n".join((f"\n{title}: {figures}", *lines, *in_page, ""))


def _calling_file(frame: FrameType) -> str:
    """The file of Moot that called this function; empty where it was called from outside."""
    caller = frame.f_back
    while caller is not None and not caller.f_code.co_filename.startswith(SOURCE):
        caller = caller.f_back
    return caller.f_code.co_filename if caller is not None else ""


class GatedService:
    """Sends some words, waits, sends one more, and then waits until its client is gone."""

    def __init__(self) -> None:
        self.next_word = asyncio.Event()
        self.trace = CallTrace()
        self._over = asyncio.Event()

    async def reply(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(says(role="assistant", content=""))
        for word in ("First ", "and ", "then "):
            await response.write(says(content=word))
            await asyncio.sleep(0.02)
        await self.next_word.wait()
        await response.write(says(content="second "))
        await self._over.wait()
        return response

    def stop(self) -> None:
        self._over.set()


@asynccontextmanager
async def _speaking(data: Path) -> AsyncGenerator[tuple[Served, GatedService, str]]:
    """A debate on SQLite whose first speaker has said its first words and waits."""
    service = GatedService()
    path = "/chat/completions"
    with service.trace.installed():
        async with model_service(path, openai_chat_request.wire_format()) as start:
            client = await start(service.reply)
            store = SqliteStore.open(data / "moot.db")
            async with serving(data, provider=client, store=store, pace=PATIENT) as served:
                debate_id = await served.open()
                async with _watching(served, debate_id):
                    pass
                # Until the server has noticed that this viewer is gone.
                await asyncio.sleep(0.2)
                yield served, service, debate_id
                service.stop()


@asynccontextmanager
async def _watching(served: Served, debate_id: str) -> AsyncGenerator[AsyncIterator[bytes]]:
    """A viewer that has read the first words and waits for the next."""
    async with served.http.stream("GET", f"/api/v1/debates/{debate_id}/stream") as reply:
        pieces = reply.aiter_bytes()
        await _read_until(pieces, b"then")
        # What the server has to do after the first words is over.
        await asyncio.sleep(0.2)
        yield pieces


async def _read_until(pieces: AsyncIterator[bytes], text: bytes) -> None:
    seen = b""
    async with asyncio.timeout(SECONDS):
        async for piece in pieces:
            seen += piece
            if text in seen:
                return
    raise AssertionError(f"{text!r} did not come")


@asynccontextmanager
async def _page(served: Served, debate_id: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    """The page in Node; it has the view of the debate and waits for the next word."""
    script = Path(__file__).parents[1] / "page_of_one_debate.js"
    page = await asyncio.create_subprocess_exec(
        *("node", "--no-warnings", str(script), served.url, debate_id, "second"),
        stdout=asyncio.subprocess.PIPE,
    )
    assert page.stdout is not None
    try:
        async with asyncio.timeout(SECONDS):
            assert await page.stdout.readline() == b"ready\n"
        yield page
    finally:
        if page.returncode is None:
            page.kill()
        await page.wait()


@pytest.fixture(autouse=True)
def _no_polling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Followers look at the store now and then, and a feed outlives its last reader: neither is part of these
    ways."""
    monkeypatch.setattr(followers, "CHANGE_CHECK_SECONDS", SECONDS)
    monkeypatch.setattr(feeds, "IDLE_SECONDS", 0.0)


async def test_the_way_of_a_token_is_as_drawn(tmp_path: Path) -> None:
    async with _speaking(tmp_path) as (served, service, debate_id), _watching(served, debate_id) as pieces:
        with service.trace.recording():
            service.next_word.set()
            await _read_until(pieces, b"second")
    _compare("The way of a token", service.trace)


@needs_node
async def test_the_way_of_a_token_to_the_page_is_as_drawn(tmp_path: Path) -> None:
    async with _speaking(tmp_path) as (served, service, debate_id), _page(served, debate_id) as page:
        assert page.stdout is not None
        with service.trace.recording():
            service.next_word.set()
            async with asyncio.timeout(SECONDS):
                called = json.loads(await page.stdout.readline())
    _compare("The way of a token to the page", service.trace, [(path, name) for path, name in called])


async def test_the_way_of_a_pause_is_as_drawn(tmp_path: Path) -> None:
    async with _speaking(tmp_path) as (served, service, debate_id), asyncio.timeout(SECONDS):
        with service.trace.recording():
            reply = await served.post(debate_id, "pause", {"now": True})
            # The task that reads the provider ends before the call that waits for it is resumed. What the
            # runner records of the cancelled call is not waited for: how far it gets here is chance.
            while ("engine/call.py", "stream_call") not in service.trace.steps:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        assert reply.status_code == 200
    _compare("The way of a pause", service.trace)


def _compare(heading: str, trace: CallTrace, page: Sequence[Step] = ()) -> None:
    if os.environ.get("MOOT_SHOW_PATHS"):
        sys.stdout.write(trace.summary(heading, page))
    steps = [*trace.steps, *page]
    position = 0
    for step in _drawn_steps(heading):
        if step not in steps:
            pytest.fail(f"{heading}: {step[0]} {step[1]} is drawn, and was not called")
        if step in page:
            continue
        try:
            position = steps.index(step, position) + 1
        except ValueError:
            pytest.fail(f"{heading}: {step[0]} {step[1]} is drawn later than it is called")


def _drawn_steps(heading: str) -> list[Step]:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    section = re.split(rf"^##+ {heading}\n", text, flags=re.MULTILINE)[-1]
    steps = DRAWN_STEP.findall(re.split(r"^##+ ", section, flags=re.MULTILINE)[0])
    assert len(steps) >= 8, f"ARCHITECTURE.md does not draw: {heading}"
    return steps
