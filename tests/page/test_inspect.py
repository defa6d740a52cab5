"""Behind a debate: what each model was sent, and what came back."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.web.routes.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_call_shows_what_was_sent_and_what_came_back(page: Page, served: Served) -> None:
    debate = await served.open(maxRounds=1)
    await served.over(debate)
    call = (await served.get(debate, "calls/2")).json()
    await page.goto(f"{served.url}/debate/{debate}/inspect#call-2")
    sent, got = page.get_by_label("What it was sent"), page.get_by_label("What came back")
    await expect(sent).to_contain_text("you argue against the motion")
    await expect(sent).to_contain_text("Your opponent said:")
    await expect(got).to_contain_text("First the strongest point, then an example.")
    await expect(got).to_contain_text(call["got"]["text"])
    await expect(got).to_contain_text(call["outcome"]["response_id"])
    await expect(got).to_contain_text(f"tokens input{call['outcome']['usage']['input']}")


async def test_the_ballots_are_found_among_the_calls(page: Page, served: Served) -> None:
    debate = await served.open(maxRounds=1)
    await served.over(debate)
    await page.goto(f"{served.url}/debate/{debate}/inspect")
    await page.get_by_role("button", name="Judges").click()
    calls = page.locator(".calls > li")
    await expect(calls).to_have_count(2)
    await calls.nth(1).get_by_text("second reading").click()
    await expect(page.get_by_label("What it was sent")).to_contain_text("Shape of the reply")
