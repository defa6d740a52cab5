"""Takes a picture of every page in every state, in both themes and three widths: `make screenshots ARGS=all`.

They go to build/screenshots, which is not committed, with one sheet for each state that shows its six
pictures beside each other. Two servers are used: one on which nothing has happened yet, and one with debates,
an experiment and conversations.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from PIL import Image
from playwright.async_api import Browser, Page

from moot.core.errors import Fault
from moot.core.events import Recorded
from moot.core.terms import Request
from moot.extensions.conversations.importing import import_rows
from moot.extensions.conversations.tables import CONVERSATIONS
from moot.extensions.experiments.runner import ExperimentRunner
from moot.providers.scripted import Cue, FaultCue, SayCue, ScriptedProvider, StallCue
from moot.row_io.readers import parse_location
from tests.browser.chromium import FLAGS, PICTURE_FONTS, launched
from tests.extensions.experiments.test_routes import LEAGUE
from tests.page.sample_debate import Play, body
from tests.page.screenshots import PATIENT, TABLES, THEMES, open_debate, table
from tests.page.test_axe import AXE, found
from tests.web.routes.served import Served, serving

FOLDER = Path(__file__).parents[2] / "build" / "screenshots"
GOLDEN = Path(__file__).parents[1] / "golden"
WIDTHS = (360, 768, 1440)
HEIGHTS = {360: 760, 768: 1000, 1440: 900}
SETTLE_MS = 500
SHEET_HEIGHT, GAP = 1400, 24


class PageState(Struct, frozen=True):
    name: str
    path: str
    ready: str = "main h1"
    empty: bool = False
    """On the server on which nothing has happened yet."""
    whole: bool = True
    """The whole page, not only what the window shows."""
    returning: bool = False
    script: str = ""
    """What is done on the page before the picture is taken."""


UNFOLD = "document.querySelectorAll('details').forEach((one) => (one.open = true))"
STATES = (
    PageState("start-first", "/", ready="#turn-1", empty=True),
    PageState("start-returning", "/", returning=True),
    PageState("form-unfolded", "/", returning=True, script=UNFOLD),
    PageState("live", "/debate/{live}", ready="#turn-2", whole=False),
    PageState("live-top", "/debate/{live}", ready="#turn-2", whole=False, script="scrollTo(0, 0)"),
    PageState("paused", "/debate/{paused}", ready="#turn-1", whole=False),
    PageState("judging", "/debate/{judging}", ready=".bench", whole=False),
    PageState("finished", "/debate/{over}", ready=".outcome", whole=False),
    PageState("small-model", "/debate/{small}", ready="#turn-1"),
    PageState("verdict", "/debate/{over}/verdict"),
    PageState("no-verdict", "/debate/{aborted}/verdict"),
    PageState("failed", "/debate/{failed}", ready=".notice"),
    PageState("four-teams", "/debate/{four}/verdict"),
    PageState("replay", "/debate/{over}/replay#turn-4", ready=".replay .speech", whole=False),
    PageState("inspect", "/debate/{over}/inspect", ready=".inspect li"),
    PageState("stage", "/debate/{live}/stage", whole=False),
    PageState("history-empty", "/debates", empty=True),
    PageState("history", "/debates", ready=".debate"),
    PageState("statistics-empty", "/statistics", empty=True),
    PageState("statistics", "/statistics", ready=".shares"),
    PageState("settings", "/settings", ready=".service"),
    PageState("experiments-empty", "/experiments", ready="pre", empty=True),
    PageState("experiments", "/experiments", ready=".rows li"),
    PageState("experiment", "/experiments/league", ready="table"),
    PageState("experiment-failed", "/experiments/broken", ready=".notice"),
    PageState("conversations-empty", "/conversations", empty=True),
    PageState("conversations", "/conversations", ready=".rows li"),
    PageState("conversation", "/conversations?id=chat-1", ready=".message"),
    PageState("not-found", "/nowhere"),
    PageState("no-debate", "/debate/deb_nope"),
    PageState("manual", "/manual/"),
    PageState("manual-page", "/manual/experiments.html"),
)


async def take_all(wanted: tuple[str, ...]) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    states = [state for state in STATES if not wanted or state.name.startswith(wanted)]
    async with (
        servers() as (empty, filled, debates),
        launched(FLAGS, PICTURE_FONTS) as browser,
    ):
        for state in states:
            served = empty if state.empty else filled
            url = served.url + state.path.format(**debates)
            pictures = [
                await _take(browser, state, url, width, theme) for theme in THEMES for width in WIDTHS
            ]
            _sheet(state.name, pictures)
            print(f"  {state.name}")


async def _take(browser: Browser, state: PageState, url: str, width: int, theme: Any) -> Path:
    size: Any = {"width": width, "height": HEIGHTS[width]}
    async with await browser.new_context(
        viewport=size, color_scheme=theme, reduced_motion="reduce"
    ) as context:
        if state.returning:
            await context.add_init_script("localStorage.setItem('moot.returning', 'true')")
        page: Page = await context.new_page()
        await page.goto(url)
        await page.locator(state.ready).first.wait_for()
        await page.wait_for_timeout(SETTLE_MS)
        if state.script:
            await page.evaluate(state.script)
            await page.wait_for_timeout(SETTLE_MS)
        path = FOLDER / f"{state.name}-{width}-{theme}.png"
        await page.screenshot(path=path, full_page=state.whole)
        if await page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            print(f"  {path.name} is wider than its window")
        if AXE.exists() and (width, theme) == (WIDTHS[0], THEMES[0]):
            for problem in await found(page):
                print(f"  {problem}")
        return path


def _sheet(name: str, pictures: Iterable[Path]) -> None:
    """All pictures of a state on one, each as wide as it is; long ones are cut."""
    opened = [Image.open(path).convert("RGB") for path in pictures]
    cut = [image.crop((0, 0, image.width, min(image.height, SHEET_HEIGHT))) for image in opened]
    width = sum(image.width + GAP for image in cut) + GAP
    sheet = Image.new("RGB", (width, max(image.height for image in cut) + 2 * GAP), "#888")
    left = GAP
    for image in cut:
        sheet.paste(image, (left, GAP))
        left += image.width + GAP
    sheet.resize((sheet.width // 2, sheet.height // 2), Image.Resampling.LANCZOS).save(
        FOLDER / f"_{name}.png"
    )


class StatesPlay(Play):
    """The sample debate; `judge_waits` and `failing` make it stop in its judging, or fail."""

    judge_waits = False
    failing = False

    def __call__(self, request: Request) -> Iterable[Cue]:
        if self.failing:
            message = "OpenAI rejected OPENAI_API_KEY (401). Replace it in Settings or the environment."
            return [FaultCue(Fault("bad_key", "permanent", billed=False, message=message))]
        if self.judge_waits and request.schema is not None:
            return [
                SayCue('{"reasoning": "Both speakers agreed on the place and not on the order of'),
                StallCue(),
            ]
        return super().__call__(request)


@asynccontextmanager
async def servers() -> AsyncGenerator[tuple[Served, Served, dict[str, str]]]:
    play = StatesPlay()
    with TemporaryDirectory() as folder:
        data = Path(folder)
        async with (
            serving(data / "empty") as empty,
            serving(data / "filled", provider=ScriptedProvider(play), pace=PATIENT) as filled,
        ):
            yield empty, filled, await _fill(filled, play, data)


async def _fill(served: Served, play: StatesPlay, data: Path) -> dict[str, str]:
    for topic, format, seats in TABLES * 2:
        await served.over(await open_debate(served, table(topic, format, seats)))
    await ExperimentRunner(served.arena, LEAGUE).run()
    await _import_conversation(served, data)
    play.again()
    debates = {"over": await open_debate(served, body()), "small": await _import_golden(served, "small")}
    await served.over(debates["over"])
    debates["four"] = await open_debate(
        served, table("What should a town do with its empty store?", "roundtable", 4)
    )
    await served.over(debates["four"])
    play.failing = True
    debates["failed"] = await open_debate(served, body())
    await served.over(debates["failed"])
    broken = replace(LEAGUE, name="broken", models=LEAGUE.models[:2], motions=LEAGUE.motions[:1])
    await ExperimentRunner(served.arena, broken).run()
    play.failing = False
    for name in ("aborted", "paused", "live"):
        play.again(stops_in=2)
        debates[name] = await open_debate(served, body(timeoutPerRound=300))
        await served.until(debates[name], lambda status: [turn["turn"] for turn in status["speaking"]] == [2])
        await asyncio.sleep(0.3)
    await served.post(debates["aborted"], "abort", {"reason": ""})
    await served.post(debates["paused"], "pause", {"now": True})
    await served.post(debates["live"], "inject", {"text": "Who decides which drivers may still come in?"})
    play.again()
    play.judge_waits = True
    debates["judging"] = await open_debate(served, body(timeoutPerRound=300))
    await served.until(debates["judging"], lambda status: status["status"] == "judge_evaluating")
    await asyncio.sleep(0.5)
    return debates


async def _import_golden(served: Served, name: str) -> str:
    lines = (GOLDEN / f"{name}.jsonl").read_bytes().splitlines()
    records = [msgspec.json.decode(line, type=Recorded) for line in lines]
    return (await served.arena.import_debate([record.event for record in records])).debate.id


async def _import_conversation(served: Served, data: Path) -> None:
    said = (
        ("user", "Is a four-day week good for a small company?"),
        (
            "assistant",
            "It depends on **what is sold**. Where hours are sold, the price must rise by a quarter.",
        ),
        ("user", "And where results are sold?"),
        ("assistant", "Then less is lost than one expects:\n\n- meetings shrink first\n- sick days fall"),
    )
    rows = [
        {
            "conversation_id": conversation,
            "id": f"{conversation}-{index}",
            "order_key": str(index),
            "role": role,
            "segments": [{"type": "text", "text": text}],
            "ts": 1_760_000_000_000 + index,
        }
        for conversation in ("chat-1", "chat-2", "planning/2025-10")
        for index, (role, text) in enumerate(said)
    ]
    lines = data / "events.jsonl"
    lines.write_text("\n".join(json.dumps(row) for row in rows))
    await import_rows(served.arena.store.tables(CONVERSATIONS), parse_location(str(lines)))
