"""The stage: a debate for a projector or a stream."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from moot.providers.scripted import ScriptedProvider
from tests.page.waiting_speakers import PATIENT, Stage
from tests.web.routes.served import Served, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest_asyncio.fixture(loop_scope="session")
async def served(tmp_path: Path, stage: Stage) -> AsyncGenerator[Served]:
    async with serving(tmp_path, provider=ScriptedProvider(stage.script), pace=PATIENT) as server:
        yield server


async def test_the_stage_shows_who_speaks_and_then_the_verdict(
    page: Page, served: Served, stage: Stage
) -> None:
    debate_id = await served.open()
    await page.goto(f"{served.url}/debate/{debate_id}/stage")
    await expect(page.get_by_role("heading", level=1)).to_have_text(
        "Should AI development be regulated by government?"
    )
    await expect(page.locator(".scene article")).to_contain_text("The words of a.")
    await expect(page.locator(".scene")).not_to_contain_text("A secret of")
    await expect(page.locator(".seats [aria-current]")).to_contain_text("Pro")
    await expect(page.get_by_role("timer")).to_be_visible()
    await expect(page.get_by_role("navigation")).to_have_count(0)
    stage.let(1)
    await expect(page.locator(".scene article")).to_contain_text("The words of b.")
    stage.let(3)
    await expect(page.locator(".scene .decision")).to_contain_text("Verdict")
    await page.keyboard.press("d")
    await expect(page.locator("main")).to_have_attribute("data-light", "light")
    await page.keyboard.press("Escape")
    await expect(page).to_have_url(f"{served.url}/debate/{debate_id}")


async def test_the_vote_bar_counts_first_and_reveals_at_the_end(
    page: Page, served: Served, stage: Stage
) -> None:
    stage.let(4)
    debate_id = await served.open(maxRounds=1, polls={}, winningCondition="audience")
    await page.goto(f"{served.url}/debate/{debate_id}/stage?transparent=1")
    bar = page.get_by_role("list", name="Votes")
    for poll in ("before", "after"):
        await expect(bar.locator(".open")).to_contain_text("0 votes")
        assert (await served.post(debate_id, "votes", {"choice": "for", "poll": poll})).status_code == 201
        await expect(bar.locator(".open")).to_contain_text("1 vote")
        await expect(page.locator(".foot")).not_to_contain_text("For")
        await served.post(debate_id, "polls/close")
    await expect(page.get_by_role("img", name="After: For 1")).to_be_visible()
    assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgba(0, 0, 0, 0)"
