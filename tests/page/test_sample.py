"""The sample debate on the start page: it plays for new users, and stands still without motion."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.web.routes.served import Served, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def served(tmp_path: Path) -> AsyncGenerator[Served]:
    async with serving(tmp_path, model="scripted/oak") as server:
        yield server


async def test_a_new_user_sees_a_debate_play_and_can_pause_it(page: Page, served: Served) -> None:
    await page.emulate_media(reduced_motion="no-preference")
    await page.goto(served.url)
    sample = page.get_by_role("region", name="Sample debate")
    await expect(sample.get_by_text("Sample", exact=True)).to_be_visible()
    await expect(sample.locator("#turn-1 .words")).to_contain_text("A fare is a small fence")
    await expect(sample.get_by_label("Thoughts of the speaker")).to_contain_text("Lead with who is kept out")
    await sample.get_by_role("button", name="Pause").click()
    await expect(sample.get_by_role("button", name="Play")).to_be_visible()
    await page.get_by_role("button", name="Start your own").click()
    await expect(page.get_by_role("textbox", name="Motion")).to_be_focused()


async def test_without_motion_it_is_stepped_through_to_a_verdict_with_its_doubts(
    page: Page, served: Served
) -> None:
    await page.goto(served.url)
    sample = page.get_by_role("region", name="Sample debate")
    await expect(sample.locator("#turn-1 .words")).to_contain_text(
        "Give the bus what we already give the car."
    )
    await expect(sample.get_by_role("button", name="Play")).to_be_visible()
    following = sample.get_by_role("button", name="Next")
    while await following.is_enabled():
        await following.press("Enter")
    await expect(sample.get_by_text("who pays the driver?")).to_have_count(1)
    verdict = sample.get_by_role("region", name="Verdict of the sample")
    await expect(verdict.get_by_role("heading")).to_contain_text("wins")
    await expect(verdict).to_contain_text("1 of 3 judges changed its mind")
    await expect(verdict.get_by_role("img")).to_be_visible()


async def test_a_returning_user_gets_the_form_first_and_can_open_the_sample_again(
    page: Page, served: Served
) -> None:
    await page.goto(served.url)
    await page.get_by_role("textbox", name="Motion").fill("Tabs are better than spaces")
    await page.reload()
    await expect(page.get_by_role("textbox", name="Motion")).to_be_in_viewport()
    await expect(page.get_by_role("region", name="Sample debate")).to_have_count(0)
    await page.get_by_role("button", name="Watch a sample").click()
    await expect(page.get_by_role("region", name="Speeches of the sample")).to_be_visible()
    await page.get_by_role("button", name="Close the sample").click()
    await expect(page.get_by_role("region", name="Sample debate")).to_have_count(0)
