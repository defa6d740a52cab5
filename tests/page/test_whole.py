"""The whole arena as people use it: in many tabs, by keyboard alone, over reloads and restarts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Page, expect

from moot.models.catalogue import DEFAULT
from moot.models.model_files import ModelFiles
from moot.providers.scripted import ScriptedProvider
from tests.chaos.servers import quiet_port, server_sequence
from tests.page.conftest import Watched, watching
from tests.page.waiting_speakers import PATIENT, Stage
from tests.web.routes.served import Served, body, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

TABS = 8
STOPS = 150
FOCUSED = """() => {
  const { activeElement: one } = document;
  return { name: one.ariaLabel || one.labels?.[0]?.textContent || one.textContent || one.id,
           seen: one !== document.body && one.checkVisibility() };
}"""
SAID = (
    "[...document.querySelectorAll('article.speech .words:not(.struck *)')].map((words) => words.textContent)"
)


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest_asyncio.fixture(loop_scope="session")
async def served(tmp_path: Path, stage: Stage) -> AsyncGenerator[Served]:
    provider = ScriptedProvider(stage.script)
    async with serving(tmp_path, provider=provider, pace=PATIENT, model="scripted/oak") as server:
        yield server


def said(transcript: dict[str, Any]) -> list[str]:
    return [speech["content"] for round in transcript["rounds"] for speech in round["responses"]]


async def viewers(served: Served) -> int:
    page = (await served.http.get("/metrics")).text
    found = re.search(r"^moot_viewers (\d+)", page, re.MULTILINE)
    assert found
    return int(found[1])


async def icon(page: Page) -> str:
    return await page.locator("link[rel=icon]").get_attribute("href") or ""


async def test_the_local_model_debates_after_one_click(
    tmp_path: Path, manager: ModelFiles, context: BrowserContext, complaints: list[str]
) -> None:
    (tmp_path / "models").symlink_to(manager.folder)
    async with (
        serving(tmp_path, pace=PATIENT, offline=True) as served,
        await context.new_page() as page,
    ):
        watching(served, complaints)(page)
        await page.goto(served.url)
        await expect(page.get_by_text("Free of charge")).to_be_visible()
        await page.get_by_role("button", name="Start the debate").click()
        await page.wait_for_url("**/debate/*")  # the sample on the start page has a first speech too
        await expect(page.locator("#turn-1 .words")).to_have_text(re.compile(r"\w+ \w+ \w+"), timeout=60_000)
        status = (await served.get(page.url.rpartition("/")[2], "status")).json()
        assert {seat["model"] for seat in status["participants"]} == {f"local/{DEFAULT}"}
        await page.keyboard.press("Shift+A")
        await page.get_by_role("dialog").get_by_role("button", name="Abort").click()
        await expect(page.get_by_role("region", name="Afterwards")).to_be_visible()
    assert not complaints


async def test_a_reload_in_mid_speech_loses_nothing(page: Page, served: Served, stage: Stage) -> None:
    debate = await served.open(maxRounds=1)
    await page.goto(f"{served.url}/debate/{debate}")
    first = page.locator("#turn-1 .words")
    await expect(first).to_have_text("The words of a.")
    await expect(page).to_have_title(re.compile("^a: "))
    speaking = await icon(page)
    await page.reload()
    await expect(first).to_have_text("The words of a.")
    # Title and icon follow the words.
    await expect(page).to_have_title(re.compile("^a: "))
    assert await icon(page) == speaking
    await page.keyboard.press("Space")
    # Else the speech may have ended before the server knows of the pause, and the next one begins.
    await expect(page.get_by_text("Pauses after this speech.")).to_be_visible()
    stage.let(1)
    await expect(page).to_have_title(re.compile("^Paused"))
    paused = await icon(page)
    await page.reload()
    await expect(page.get_by_role("button", name="Resume")).to_be_visible()
    await page.keyboard.press("Space")
    stage.let(1)
    await expect(page.locator("#verdict .headline")).to_be_visible()
    await expect(page).not_to_have_title(re.compile("^(Paused|a|b): "))
    assert len({speaking, paused, await icon(page)}) == 3
    transcript = (await served.get(debate, "transcript?format=json")).json()
    assert await page.evaluate(SAID) == said(transcript)


async def test_a_server_that_is_killed_in_mid_speech_is_waited_for(
    tmp_path: Path, context: BrowserContext
) -> None:
    async with (
        server_sequence(tmp_path, quiet_port(), pace_ms=15) as servers,
        await context.new_page() as page,
    ):
        await servers.start()
        debate = await servers.create(body(maxRounds=1), "watched in a page")
        await page.goto(f"http://127.0.0.1:{servers.port}/debate/{debate}")
        await page.evaluate("window.untouched = true")
        await expect(page.locator("#turn-1 .words")).to_have_text(re.compile(r"\w+ \w+ \w+"))
        await servers.kill()
        await expect(page.get_by_role("status").filter(has_text="Reconnecting…")).to_be_visible()
        await servers.start()
        await expect(page.locator("#verdict .headline")).to_be_visible()
        assert await page.evaluate("window.untouched")
        transcript = await servers.get(f"debates/{debate}/transcript?format=json")
        assert await page.evaluate(SAID) == said(transcript)
        assert len(said(transcript)) == 2


async def test_eight_tabs_share_one_line_and_each_of_them_has_a_say(
    context: BrowserContext, served: Served, stage: Stage, watched: Watched, complaints: list[str]
) -> None:
    debate = await served.open()
    async with AsyncExitStack() as stack:
        tabs = [watched(await stack.enter_async_context(await context.new_page())) for _ in range(TABS)]
        await asyncio.gather(*(tab.goto(f"{served.url}/debate/{debate}") for tab in tabs))
        for tab in tabs:
            await expect(tab.locator("#turn-1 .words")).to_have_text("The words of a.")
        assert await viewers(served) == 1
        for place, tab in enumerate(tabs):
            await tab.keyboard.press("Space")
            for seen in (tab, tabs[place - 1]):
                name = "Keep going" if place % 2 == 0 else re.compile("^Pause")
                await expect(
                    seen.get_by_role("region", name="Controls").get_by_role("button", name=name)
                ).to_be_visible()
        stage.let(1)
        for tab in tabs:
            await expect(tab.locator("#turn-2 .words")).to_have_text("The words of b.")
        assert await viewers(served) == 1
        await tabs[0].close()
        stage.let(1)
        await expect(tabs[1].locator("#turn-3 .words")).to_have_text("The words of a.")
    assert not complaints


async def tab_to(page: Page, name: str) -> None:
    """With the Tab key alone, and never into nothing."""
    for _ in range(STOPS):
        await page.keyboard.press("Tab")
        focus = await page.evaluate(FOCUSED)
        assert focus["seen"], f"the focus was lost on the way to {name}"
        if name in focus["name"]:
            return
    raise AssertionError(f"{name} is out of reach")


async def test_a_keyboard_is_enough_from_the_motion_to_the_verdict(
    page: Page, served: Served, stage: Stage
) -> None:
    await page.goto(served.url)
    await expect(page.locator(".laid:not([data-pale])")).to_contain_text("speeches")
    await tab_to(page, "Motion")
    await page.keyboard.type("Tabs are better than spaces")
    await tab_to(page, "Start the debate")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/debate/deb_*")
    heading = page.get_by_role("heading", level=1, name="Tabs are better than spaces")
    await expect(heading).to_be_focused()
    await expect(page.locator("#turn-1 .words")).to_have_text("The words of oak.")
    await tab_to(page, "Pause")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Keep going")).to_be_focused()
    stage.let(1)
    await expect(page.get_by_role("button", name="Resume")).to_be_focused()
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Resume")).to_be_focused()
    await page.keyboard.press("Shift+S")
    await expect(page.locator("#verdict .headline")).to_be_visible()
    # With the last event the controls go: whoever has just come to one of them would lose it.
    await expect(page.get_by_role("banner").get_by_role("status").first).to_have_text("finished")
    await tab_to(page, "Replay")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/replay")
    await expect(page.get_by_role("heading", level=1)).to_be_focused()
