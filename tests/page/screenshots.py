"""Takes the pictures in docs/images: every page, in both themes, as they really are.

`python -m tests.page.screenshots [name ...]` takes those whose names begin with one of the words. With `all`
as the first word every page is taken in every state and width, into build/screenshots: see `all_states`.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct
from playwright.async_api import Browser

from moot.providers.scripted import ScriptedProvider
from moot.rules.runner_timings import RunnerTimings
from tests.browser.chromium import FLAGS, PICTURE_FONTS, launched
from tests.page.sample_debate import Play, body
from tests.web.routes.served import Served, serving

IMAGES = Path(__file__).parents[2] / "docs" / "images"
THEMES = ("light", "dark")
SETTLE_MS = 1500
PATIENT = RunnerTimings(first_byte=600, between_bytes=600)
WIDE, TALL, NARROW = (1440, 1000), (1440, 1150), (360, 760)
LONG = (
    "人工智能的发展应当由政府监管，还是交给市场和公民社会来决定？这场辩论问的不只是规则，还有信任 🤖⚖️。 "
    "هل ينبغي أن تنظم الحكومات تطوير الذكاء الاصطناعي أم تترك ذلك للسوق؟ "
)
TABLES = (
    ("Homework should be abolished", "lincoln-douglas", 2),
    ("Is mathematics discovered or invented?", "free", 3),
    ("This house would tax meat", "public-forum", 2),
    ("数学是被发现的，还是被发明的？", "oxford", 2),
    ("What should a small town do with its empty department store?", "roundtable", 4),
    ("Zoos do more good than harm", "karl-popper", 2),
)


class Shot(Struct, frozen=True):
    name: str
    path: str
    size: tuple[int, int] = WIDE
    ready: str = "main h1"
    from_top: bool = False
    """Not where the page has followed the speech to."""
    returning: bool = False
    """In a browser that has set up a debate before."""


SHOTS = (
    Shot("start", "/", ready="#turn-1"),
    Shot("form", "/", returning=True),
    Shot("live", "/debate/{live}", TALL, from_top=True),
    Shot("live-four", "/debate/{four}"),
    Shot("live-long", "/debate/{long}"),
    Shot("verdict", "/debate/{over}/verdict"),
    Shot("replay", "/debate/{over}/replay#turn-4"),
    Shot("inspect", "/debate/{over}/inspect"),
    Shot("stage", "/debate/{live}/stage"),
    Shot("history", "/debates"),
    Shot("statistics", "/statistics"),
    Shot("settings", "/settings"),
    Shot("start-narrow", "/", NARROW, "#turn-1"),
    Shot("form-narrow", "/", NARROW, returning=True),
    Shot("live-narrow", "/debate/{live}", NARROW),
    Shot("verdict-narrow", "/debate/{over}/verdict", NARROW),
)


async def main(wanted: tuple[str, ...]) -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    play = Play()
    with TemporaryDirectory() as folder:
        async with (
            serving(Path(folder), provider=ScriptedProvider(play), pace=PATIENT) as served,
            launched(FLAGS, PICTURE_FONTS) as browser,
        ):
            debates = await _history(served, play)
            for shot in _chosen(wanted):
                for theme in THEMES:
                    await _take(browser, served, shot, theme, debates)
                    print(f"  {shot.name}-{theme}.png")


def _chosen(wanted: tuple[str, ...]) -> Iterator[Shot]:
    return (shot for shot in SHOTS if not wanted or shot.name.startswith(wanted))


async def _history(served: Served, play: Play) -> dict[str, str]:
    """What has been debated before the pictures are taken; the live one last."""
    for _ in range(3):
        for topic, format, seats in TABLES:
            await served.over(await open_debate(served, table(topic, format, seats)))
    play.again()
    over = await open_debate(served, body())
    await served.over(over)
    four = await open_debate(served, table("What should a town do with its empty store?", "roundtable", 4))
    long = await open_debate(served, {**body(maxRounds=1), "topic": (LONG * 5)[:500].strip()})
    await served.over(four)
    await served.over(long)
    play.again(stops_in=2)
    live = await open_debate(served, body(timeoutPerRound=300))
    await served.until(live, lambda status: [turn["turn"] for turn in status["speaking"]] == [2])
    await served.post(live, "inject", {"text": "Who decides which drivers may still come in?"})
    await asyncio.sleep(0.5)
    return {"over": over, "live": live, "four": four, "long": long}


def table(topic: str, format: str, seats: int) -> dict[str, Any]:
    names = ("Ines", "Jonas", "Kofi", "Lin")
    return {
        "topic": topic,
        "format": format,
        "participants": [
            {
                "name": names[place],
                "model": {"provider": "scripted", "modelId": ("heron", "wren", "finch", "swift")[place]},
                "position": ("for", "against")[place % 2] if seats < 4 else "neutral",
            }
            for place in range(seats)
        ],
        "judge": {"name": "Judge", "model": {"provider": "scripted", "modelId": "owl"}},
        "config": {"maxRounds": 2},
    }


async def open_debate(served: Served, body: dict[str, Any]) -> str:
    reply = await served.http.post("/api/v1/debates", json=body)
    assert reply.status_code == 201, reply.text
    return reply.json()["id"]


async def _take(browser: Browser, served: Served, shot: Shot, theme: Any, debates: dict[str, str]) -> None:
    width, height = shot.size
    async with await browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce"
    ) as context:
        if shot.returning:
            await context.add_init_script("localStorage.setItem('moot.returning', 'true')")
        page = await context.new_page()
        await page.goto(served.url + shot.path.format(**debates))
        await page.locator(shot.ready).first.wait_for()
        await page.wait_for_timeout(SETTLE_MS)
        if shot.from_top:
            await page.mouse.wheel(0, -5_000)
            await page.wait_for_timeout(SETTLE_MS)
        await page.screenshot(path=IMAGES / f"{shot.name}-{theme}.png")


if __name__ == "__main__":
    if sys.argv[1:2] == ["all"]:
        from tests.page.all_states import take_all

        asyncio.run(take_all(tuple(sys.argv[2:])))
    else:
        asyncio.run(main(tuple(sys.argv[1:])))
