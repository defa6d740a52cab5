"""What axe-core finds on every page, in both themes: nothing that is serious."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Literal

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from moot.providers.scripted import ScriptedProvider
from moot.rules.runner_timings import RunnerTimings
from tests.page.sample_debate import Play, body
from tests.web.routes.served import Served, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
OPEN = "for (const fold of document.querySelectorAll('details:not([open])')) fold.open = true"
# Of two themes only the colours differ.
LOOK = """async (theme) => {
  const runs = theme === 'light' ? {} : { runOnly: ['color-contrast'] };
  const { violations } = await axe.run(document, { resultTypes: ['violations'], ...runs });
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').flatMap(
    ({ id, nodes }) => nodes.map(({ html, any }) => `${id}: ${html.slice(0, 160)} ${any[0]?.message ?? ''}`),
  );
}"""
PATIENT = RunnerTimings(first_byte=600, between_bytes=600)
PAGES = (
    ("/", ".laid:not([data-pale])"),
    ("/debate/{live}", "#turn-3 .tail"),
    ("/debate/{over}", "#verdict .headline"),
    ("/debate/{over}/verdict", ".headline"),
    ("/debate/{over}/replay#turn-3", "#turn-3"),
    ("/debate/{over}/inspect#call-2", "[aria-label='What came back']"),
    ("/debate/{live}/stage", ".scene article"),
    ("/debates", "main [data-debate], main li"),
    ("/statistics", "main table, main svg"),
    ("/settings", "main form"),
    ("/experiments", "main pre"),
    ("/conversations", "main pre"),
    ("/debate/{aborted}/verdict", "#verdict-title"),
    ("/manual/api.html", "article h1"),
    ("/manual/search?q=limit", ".results mark"),
    ("/no/such/page", "main h1"),
)


@pytest.fixture
def play() -> Play:
    return Play()


@pytest_asyncio.fixture(loop_scope="session")
async def served(tmp_path: Path, play: Play) -> AsyncGenerator[Served]:
    async with serving(
        tmp_path, provider=ScriptedProvider(play), pace=PATIENT, model="scripted/oak"
    ) as server:
        yield server


async def opened(served: Served) -> str:
    reply = await served.http.post("/api/v1/debates", json=body())
    assert reply.status_code == 201, reply.text
    return reply.json()["id"]


async def found(page: Page) -> list[str]:
    if not await page.evaluate("'axe' in window"):
        # Into the page's own world it comes past the policy, which would refuse a script of somebody else's.
        await page.evaluate(AXE.read_text())
    await page.evaluate(OPEN)
    themes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    seen: list[str] = []
    for theme in themes:
        await page.emulate_media(color_scheme=theme)
        seen += [f"{page.url} {theme} {one}" for one in await page.evaluate(LOOK, theme)]
    return seen


async def test_nothing_serious_is_found_on_any_page_in_either_theme(
    page: Page, served: Served, play: Play, complaints: list[str]
) -> None:
    if not AXE.exists():
        pytest.skip("there is no node_modules/axe-core; `make test` installs it")
    over = await opened(served)
    await served.over(over)
    play.again(stops_in=1)
    aborted = await opened(served)
    await served.until(aborted, lambda status: bool(status["speaking"]))
    await served.post(aborted, "abort", {"reason": ""})
    play.again(stops_in=3)
    live = await opened(served)
    seen: list[str] = []
    for path, ready in PAGES:
        await page.goto(served.url + path.format(live=live, over=over, aborted=aborted))
        await expect(page.locator(ready).first).to_be_visible()
        seen += await found(page)
    # The page that is not there was the last.
    assert "404" in complaints.pop()
    await page.goto(f"{served.url}/debate/{live}")
    for key, name in (("?", "Keyboard shortcuts"), ("w", "Declare a winner"), ("g", "Log")):
        await expect(page.get_by_role("button", name="Pause")).to_be_visible()
        await page.keyboard.press(key)
        await expect(page.get_by_role("dialog", name=name)).to_be_visible()
        seen += await found(page)
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
    assert not seen, "\n".join(seen)
