"""The debates held so far: found, gone through by keys, deleted and taken back."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.web.routes.served import Served, body

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def held(served: Served, *motions: str, **config: Any) -> list[str]:
    """Opens debates, the last one the newest."""
    ids: list[str] = []
    for motion in motions:
        reply = await served.http.post("/api/v1/debates", json={**body(**config), "topic": motion})
        assert reply.status_code == 201, reply.text
        ids.append(reply.json()["id"])
    return ids


async def over(served: Served, *ids: str) -> None:
    for debate_id in ids:
        await served.over(debate_id)


def rows(page: Page) -> Locator:
    return page.locator("li.debate")


async def test_nothing_yet_leads_to_the_start(page: Page, served: Served) -> None:
    await page.goto(f"{served.url}/debates")
    await expect(page.get_by_role("heading", name="Nothing has been debated yet")).to_be_visible()
    await expect(page.get_by_role("link", name="Start the first one")).to_have_attribute("href", "/")


async def test_what_is_looked_for_stands_in_the_address(page: Page, served: Served) -> None:
    ids = await held(
        served, "Should cities ban private cars?", "Is chess a sport?", "Should cities ban zoos?"
    )
    await over(served, *ids)
    await page.goto(f"{served.url}/debates")
    await expect(rows(page)).to_have_count(3)
    await expect(rows(page).first).to_contain_text("a v. b")
    assert await rows(page).first.locator(".order .done").count() > 0

    await page.keyboard.press("/")
    await page.keyboard.type("cities")
    await expect(rows(page)).to_have_count(2)
    await expect(page).to_have_url(re.compile(r"\?search=cities$"))
    await page.get_by_label("State").select_option("paused")
    await expect(page.get_by_role("heading", name="No debate fits all of that")).to_be_visible()
    await expect(page).to_have_url(re.compile(r"\?search=cities&status=paused$"))

    await page.go_back()
    await expect(rows(page)).to_have_count(2)
    await expect(page.get_by_label("State")).to_have_value("")
    await page.get_by_role("link", name="Clear").click()
    await expect(rows(page)).to_have_count(3)
    await expect(page.get_by_label("Search")).to_have_value("")
    await page.goto(f"{served.url}/debates?model=scripted/a&format=oxford&from=2020-01-01&to=2020-01-02")
    await expect(page.get_by_role("heading", name="No debate fits all of that")).to_be_visible()


async def test_a_deleted_debate_comes_back_by_undo_and_is_gone_when_one_leaves(
    page: Page, served: Served
) -> None:
    kept, gone, other = await held(served, "Is chess a sport?", "Is a hot dog a sandwich?", "Tabs or spaces?")
    await over(served, kept, gone, other)
    await page.goto(f"{served.url}/debates")
    await expect(rows(page)).to_have_count(3)
    for _ in range(2):
        await page.keyboard.press("j")
    await page.keyboard.press("d")
    await expect(rows(page)).to_have_count(2)
    await expect(page.get_by_role("link", name="Is chess a sport?")).to_be_focused()
    await page.get_by_role("button", name="Undo").click()
    await expect(rows(page)).to_have_count(3)
    assert (await served.get(gone, "status")).status_code == 200

    for name in ("Is a hot dog a sandwich?", "Tabs or spaces?"):
        await page.get_by_role("listitem").filter(has_text=name).get_by_label("Select").check()
    await page.get_by_role("toolbar").get_by_role("button", name="Delete").click()
    await expect(rows(page)).to_have_count(1)
    assert (await served.get(gone, "status")).status_code == 200
    await page.goto("about:blank")
    async with asyncio.timeout(60):
        for debate_id in (gone, other):
            while (await served.get(debate_id, "status")).status_code != 404:  # noqa: ASYNC110 - no bell rings
                await asyncio.sleep(0.01)
    assert (await served.get(kept, "status")).status_code == 200


async def test_keys_lead_to_a_debate(page: Page, served: Served) -> None:
    first, second = await held(served, "Is chess a sport?", "Tabs or spaces?", autoProgress=False)
    await page.goto(f"{served.url}/debates")
    await expect(rows(page)).to_have_count(2)
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await page.keyboard.press("k")
    await expect(rows(page).first.get_by_role("link")).to_be_focused()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile(f"/debate/{first}$"))
    assert second


async def test_twenty_stand_on_a_page(page: Page, served: Served) -> None:
    await held(served, *(f"Motion number {n}" for n in range(21)), autoProgress=False)
    await page.goto(f"{served.url}/debates")
    await expect(rows(page)).to_have_count(20)
    await page.get_by_role("link", name="Older").click()
    await expect(page).to_have_url(f"{served.url}/debates?page=2")
    await expect(rows(page)).to_have_count(1)
    await expect(page.get_by_text("21 to 21 of 21")).to_be_visible()


async def test_what_goes_on_is_marked_and_looked_at_again(page: Page, served: Served) -> None:
    (debate_id,) = await held(served, "Is chess a sport?", autoProgress=False)
    await page.clock.install()
    await page.goto(f"{served.url}/debates")
    await expect(rows(page).locator(".going")).to_be_visible()
    assert (await served.post(debate_id, "stop", {})).is_success
    await page.clock.run_for(5_100)
    await expect(rows(page).locator(".going")).to_have_count(0)
