"""Sessions on the page: the form that starts one, the button for the next turn, and their list."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from moot.core.errors import Fault
from moot.core.terms import Request
from moot.providers.scripted import Cue, FaultCue, SayCue, ScriptedProvider, StallCue
from tests.web.routes.served import Served, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_session_is_started_on_the_page_and_each_turn_is_asked_for(
    page: Page, tmp_path: Path, complaints: list[str]
) -> None:
    async with serving(tmp_path, model="scripted/demo") as served:
        await ask_for_turns(page, served)
    # To the page's watcher this second server is another host.
    assert all(complaint.startswith("asked elsewhere: http://127.0.0.1:") for complaint in complaints)
    complaints.clear()


async def ask_for_turns(page: Page, served: Served) -> None:
    await begin_session(page, served)
    await expect(page.locator("#turn-1")).to_be_visible()
    await page.get_by_role("button", name="Next turn").click()
    await expect(page.locator("#turn-2")).to_be_visible()
    await expect(page.get_by_text("Turn 3 of 10")).to_be_visible()
    await page.goto(f"{served.url}/debates")
    await page.get_by_role("link", name="Turn by turn").click()
    await expect(page.get_by_role("link", name="Homework should be banned")).to_be_visible()


async def begin_session(page: Page, served: Served) -> None:
    await page.goto(f"{served.url}/sessions")
    await page.get_by_role("button", name="New turn-by-turn session").click()
    await page.get_by_label("Motion", exact=True).fill("Homework should be banned")
    await page.get_by_role("button", name="Ask for the first turn").click()


@pytest.mark.parametrize("fault", [Fault("overloaded"), Fault("bad_key", "permanent")])
async def test_a_turn_that_failed_is_asked_for_again(
    page: Page, tmp_path: Path, complaints: list[str], fault: Fault
) -> None:
    broken = True

    def script(request: Request) -> Iterator[Cue]:
        if broken and len(request.messages) and "heard" in str(request.messages):
            yield FaultCue(fault)
        yield SayCue(f"I was heard in call {len(provider.calls)}.")

    provider = ScriptedProvider(script)
    async with serving(tmp_path, provider=provider, model="scripted/demo") as served:
        await begin_session(page, served)
        await page.get_by_role("button", name="Next turn").click()
        await expect(page.get_by_text("Turn 2 of 10, against the motion: it failed")).to_be_visible()
        await expect(page.get_by_text("given again")).to_have_count(0)
        broken = False
        await page.get_by_role("button", name="Ask for turn 2 again").click()
        await expect(page.get_by_text("Turn 3 of 10, for the motion")).to_be_visible()
        await expect(page.locator("details.struck > summary")).to_contain_text("discarded and given again")
        # The turn has kept its number.
        await expect(page.get_by_label("Link to speech № 2").last).to_have_attribute("href", "#turn-3")
        await page.get_by_role("button", name="Next turn").click()
        await expect(page.get_by_text("Turn 4 of 10")).to_be_visible()
    complaints.clear()


async def test_a_turn_that_was_stopped_is_discarded_only_when_it_is_given_again(
    page: Page, tmp_path: Path, complaints: list[str]
) -> None:
    def script(request: Request) -> Iterator[Cue]:
        yield SayCue(f"Point {len(provider.calls)}. ")
        if len(provider.calls) == 2:
            yield StallCue()

    provider = ScriptedProvider(script)
    async with serving(tmp_path, provider=provider, model="scripted/demo") as served:
        await begin_session(page, served)
        await page.get_by_role("button", name="Next turn").click()
        await page.get_by_role("button", name="Stop speech").click()
        await expect(page.get_by_text("Turn 2 of 10, against the motion: it was stopped")).to_be_visible()
        summary = page.locator("details.struck > summary")
        await expect(summary).to_contain_text("stopped")
        await expect(page.get_by_text("given again")).to_have_count(0)
        await page.get_by_role("button", name="Ask for turn 2 again").click()
        await expect(page.get_by_text("Turn 3 of 10, for the motion")).to_be_visible()
        await expect(summary).to_contain_text("discarded and given again")
        # The other model heard what counts.
        assert "Point 2" not in str(provider.calls[-1].messages)
        assert "Point 1" in str(provider.calls[-1].messages)
    complaints.clear()
