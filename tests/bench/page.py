"""What the page costs a browser: four seats at 100 words a second each, on a page that is empty and on one
that holds 10,000 words, beside a bare page that appends the same words to text nodes.

Costs are processor time, read through the DevTools protocol, as shares of one core: scripting on the main
thread, everything on the main thread (with layout, style and painting), and the whole process, including the
worker that holds the connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from msgspec import Struct
from playwright.async_api import Browser, CDPSession, Page

from moot.core.terms import Request
from moot.providers.scripted import Cue, SayCue, ScriptedProvider, ThinkCue, WaitCue, split_words
from moot.rules.runner_timings import RunnerTimings
from tests.bench.figures import Figure, figure
from tests.bench.measure import Unavailable
from tests.browser.chromium import FLAGS, launched, missing
from tests.web.routes.served import Served, serving

SEATS, PACE, WARM, MEASURED = 4, 0.01, 2.0, 8.0
EARLIER = 2_500
"""Words of each seat's first speech, on the page that is not empty."""
FORMAT = """
name = "simultaneous"
title = "Simultaneous"
summary = "All seats at once."
min_seats = 2
max_seats = 4
rounds = 2
max_rounds = 2

[[chairs]]
name = "One"
side = "neutral"

[[chairs]]
name = "Another"
side = "neutral"

[[phases]]
key = "first"
title = "First"
who = "each"
round = 1
simultaneous = true
words = 10000

[[phases]]
key = "second"
title = "Second"
who = "each"
round = 2
simultaneous = true
words = 10000
"""
VOCABULARY = (
    "a the of and or with without for against under over all some every any more less early late plain hard "
    "rule rules risk cost price law word trust market city state people child school road river harvest "
    "carries settles weighs denies admits measures repeats breaks mends follows allows forbids begins ends"
)
PACED_PARAGRAPHS = 200
SENTENCES, LENGTH = 6, 10
"""Of a paragraph, and words of a sentence."""
BARE = """
async (debate) => {
  const texts = {};
  document.body.replaceChildren();
  const url = location.origin.replace('http', 'ws') + `/api/v1/debates/${debate}/ws?view=true&after=0`;
  const socket = new WebSocket(url);
  await new Promise((open) => (socket.onopen = open));
  socket.onmessage = ({ data }) => {
    for (const [verb, path, value] of JSON.parse(data).data.ops) {
      if (verb !== 'add') continue;
      const key = path.join();
      if (!texts[key]) {
        const paragraph = document.createElement('p');
        paragraph.append((texts[key] = document.createTextNode('')));
        document.body.append(paragraph);
      }
      texts[key].appendData(value);
    }
    scrollTo(0, document.body.scrollHeight);
  };
}
"""


class PageCost(Struct, frozen=True):
    """Shares of one core in percent, and words a second."""

    scripting: float
    main_thread: float
    process: float
    words: float


async def bench() -> AsyncIterator[Figure]:
    if reason := missing():
        raise Unavailable(f"The page is measured in Chromium: {reason}.")
    async with launched(FLAGS) as browser:
        bare = await _cost(browser, EARLIER, bare=True)
        for name, earlier in (("empty page", 0), ("page with 10,000 words", EARLIER)):
            cost = await _cost(browser, earlier, bare=False)
            for part in ("scripting", "main_thread", "process"):
                yield figure(
                    f"{name}: {part.replace('_', ' ')}, share of a core",
                    getattr(cost, part),
                    "%",
                    limit=("bare text nodes", getattr(bare, part)),
                    note=f"{cost.words:.0f} words a second; bare {bare.words:.0f}",
                    main=part == "main_thread" and bool(earlier),
                )


async def _cost(browser: Browser, earlier: int, *, bare: bool) -> PageCost:
    with TemporaryDirectory() as folder:
        formats = Path(folder) / "formats"
        formats.mkdir()
        (formats / "simultaneous.toml").write_text(FORMAT)
        async with serving(Path(folder), provider=PacedSpeakers(earlier), pace=RunnerTimings()) as served:
            debate = await _create_debate(served)
            page = await browser.new_page(viewport={"width": 1440, "height": 1000})
            if bare:
                await page.goto(f"{served.url}/health")
                await page.evaluate(BARE, debate)
            else:
                await page.goto(f"{served.url}/debate/{debate}")
            await served.until(debate, lambda status: len(status["speaking"]) == SEATS)
            await asyncio.sleep(WARM)
            return await _measure(browser, page)


class PacedSpeakers(ScriptedProvider):
    """The first speech of each seat has `earlier` words and comes at once; later ones come at `PACE`."""

    def __init__(self, earlier: int) -> None:
        super().__init__(self._speech)
        self._earlier = earlier

    def _speech(self, request: Request) -> Iterable[Cue]:
        """Words that differ from call to call: a debate that repeats itself is ended."""
        dice = Random(len(self.calls))
        yield ThinkCue("First the strongest point.")
        if self._earlier and len(self.calls) <= SEATS:
            yield SayCue("".join(_paragraph(dice) for _ in range(self._earlier // (SENTENCES * LENGTH))))
            return
        for _ in range(PACED_PARAGRAPHS):
            for word in split_words(_paragraph(dice)):
                yield WaitCue(PACE)
                yield SayCue(word)


def _paragraph(dice: Random) -> str:
    sentences = (" ".join(dice.choices(VOCABULARY.split(), k=LENGTH)) for _ in range(SENTENCES))
    return ". ".join(sentence.capitalize() for sentence in sentences) + ".\n\n"


async def _create_debate(served: Served) -> str:
    seat = {"provider": "scripted", "modelId": "a"}
    body = {
        "topic": "All seats speak at the same time",
        "format": "simultaneous",
        "participants": [
            {"name": f"Seat {n}", "model": {**seat, "maxTokens": 100_000}, "position": side}
            for n, side in enumerate(("neutral",) * SEATS)
        ],
        "judge": {"name": "Judge", "model": seat},
        "config": {"maxRounds": 2, "timeoutPerRound": 300},
    }
    reply = await served.http.post("/api/v1/debates", json=body)
    assert reply.status_code == 201, reply.text
    return reply.json()["id"]


async def _measure(browser: Browser, page: Page) -> PageCost:
    client, machine = await page.context.new_cdp_session(page), await browser.new_browser_cdp_session()
    await client.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = await _counters(client, machine, page)
    await asyncio.sleep(MEASURED)
    after = await _counters(client, machine, page)
    await page.close()
    seconds = after["Timestamp"] - before["Timestamp"]
    if after["words"] <= before["words"]:
        raise RuntimeError("No words came while the page was measured.")

    def rate(name: str) -> float:
        return (after[name] - before[name]) / seconds

    return PageCost(
        scripting=rate("ScriptDuration") * 100,
        main_thread=rate("TaskDuration") * 100,
        process=rate("process") * 100,
        words=rate("words"),
    )


async def _counters(client: CDPSession, machine: CDPSession, page: Page) -> dict[str, float]:
    words = await page.evaluate("document.body.textContent.split(/\\s+/).length")
    performance = await client.send("Performance.getMetrics")
    processes = (await machine.send("SystemInfo.getProcessInfo"))["processInfo"]
    return {
        **{metric["name"]: metric["value"] for metric in performance["metrics"]},
        "process": sum(process["cpuTime"] for process in processes if process["type"] == "renderer"),
        "words": words,
    }
