"""Where a debate begins."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, Route, expect

from moot.providers.prices import flat_price
from tests.web.routes.served import BODY, Served, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

FOLD = "Persona and instructions"
LOCAL = {"title": "SmolLM2 135M", "licence": "", "summary": "", "error": None}


@pytest_asyncio.fixture(loop_scope="session")
async def served(tmp_path: Path) -> AsyncGenerator[Served]:
    """Whoever names no model gets a scripted one; one of them is dear."""
    prices = {"scripted/pine": flat_price(Decimal(30), Decimal(150))}
    async with serving(tmp_path, model="scripted/oak", prices=prices) as server:
        yield server


async def arrive(page: Page, served: Served, path: str = "/") -> None:
    await page.goto(served.url + path)
    await expect(page.locator(".laid:not([data-pale])")).to_contain_text("speeches")


async def opened(page: Page, served: Served) -> dict[str, Any]:
    """The body from which the debate on the page was opened."""
    await page.wait_for_url("**/debate/deb_*")
    return (await served.get(page.url.rpartition("/")[2], "setup")).json()


async def test_one_click_starts_a_debate(page: Page, served: Served) -> None:
    await arrive(page, served)
    await expect(page.get_by_text("6 speeches in 3 rounds")).to_be_visible()
    await expect(page.get_by_text("Free of charge")).to_be_visible()
    await expect(page.get_by_text("oak argues against itself and judges itself.")).to_be_visible()
    await expect(page.get_by_role("link", name="Add an API key")).to_have_attribute(
        "href", "/settings#providers"
    )
    await page.get_by_role("button", name="Start the debate").click()
    body = await opened(page, served)
    assert body["topic"] == "Should cities ban private cars?"
    assert [seat["position"] for seat in body["participants"]] == ["for", "against"]


async def test_a_whole_debate_is_set_up_by_keyboard_and_remembered(page: Page, served: Served) -> None:
    await arrive(page, served)
    await page.keyboard.press("x")
    motion = page.get_by_role("textbox", name="Motion")
    await motion.focus()
    await page.keyboard.type("Tabs are better than spaces")
    model = page.get_by_role("combobox", name="Model").first
    await model.focus()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.type("scripted/elm")
    await expect(page.get_by_role("option", name="Use scripted/elm")).to_be_visible()
    await page.keyboard.press("Enter")
    await expect(model).to_have_value("elm")
    await page.get_by_text(FOLD).first.click()
    await page.get_by_label("Persona").first.fill("a typographer")
    await page.get_by_role("button", name="Swap sides").press("Enter")
    await page.reload()
    await expect(motion).to_have_value("Tabs are better than spaces")
    await page.keyboard.press("Control+Enter")
    body = await opened(page, served)
    assert body["topic"] == "Tabs are better than spaces"
    one, other = body["participants"]
    assert (one["model"]["modelId"], one["position"]) == ("oak", "for")
    assert (other["model"]["modelId"], other["persona"]) == ("elm", "a typographer")


async def test_another_format_brings_its_chairs_and_its_order(page: Page, served: Served) -> None:
    await arrive(page, served)
    await page.get_by_role("button", name="Change format").click()
    await page.get_by_role("button", name="British Parliamentary").click()
    await expect(page.get_by_role("region", name="Seat 4, Closing Opposition")).to_be_visible()
    await expect(page.get_by_role("img", name="Order of speeches: 8 speeches, 16 parts")).to_be_visible()
    await page.get_by_role("button", name="Remove Closing Opposition").click()
    await expect(page.get_by_role("region", name="Seat 4")).to_have_count(0)


async def test_what_is_wrong_is_said_at_its_field(page: Page, served: Served, complaints: list[str]) -> None:
    await arrive(page, served)
    motion = page.get_by_role("textbox", name="Motion")
    await motion.fill("Short")
    await page.get_by_text(FOLD).first.click()
    await page.get_by_label("Name").first.fill("Opposition")
    await expect(page.get_by_text("Names must be unique")).to_be_visible()
    await page.get_by_role("button", name="Start the debate").click()
    await expect(motion).to_have_attribute("aria-invalid", "true")
    await expect(motion).to_be_focused()
    await page.get_by_role("button", name="Free will is an illusion").click()
    await page.get_by_label("Name").first.fill("")
    await expect(page.get_by_text("Free of charge")).to_be_visible()
    assert complaints
    assert all("422" in one for one in complaints)
    complaints.clear()


async def test_a_setup_goes_by_link_without_its_secrets(page: Page, served: Served) -> None:
    await arrive(page, served)
    await page.get_by_role("textbox", name="Motion").fill("هل ينبغي أن يكون التعليم مجانيًا؟ 🎓")
    await page.get_by_role("button", name="Play this side").last.click()
    await page.get_by_text(FOLD).first.click()
    await page.get_by_label("Private objective").first.fill("Mention the sea.")
    await page.get_by_text("More options").click()
    await page.get_by_role("button", name="Share this setup").click()
    link = await page.get_by_role("textbox", name="Link").input_value()
    await page.get_by_label("Include private objectives").check()
    telling = await page.get_by_role("textbox", name="Link").input_value()
    await page.evaluate("localStorage.clear()")
    await page.goto("about:blank")
    await page.goto(link)
    await expect(page.get_by_text("Setup copied from the link.")).to_be_visible()
    await expect(page.get_by_role("textbox", name="Motion")).to_have_value(
        "هل ينبغي أن يكون التعليم مجانيًا؟ 🎓"
    )
    await expect(page.get_by_role("combobox", name="Model").last).to_have_value("A person")
    await expect(page.get_by_label("Private objective").first).to_have_value("")
    await page.goto(telling)
    await expect(page.get_by_label("Private objective").first).to_have_value("Mention the sea.")


async def test_limits_of_tokens_and_weights_of_criteria_are_kept_and_checked_on_the_spot(
    page: Page, served: Served, complaints: list[str]
) -> None:
    await arrive(page, served)
    await page.get_by_text(FOLD).first.click()
    tokens = page.get_by_label("Max tokens").first
    await tokens.fill("0")
    await expect(page.get_by_text("Must be an integer between 1 and")).to_be_visible()
    await tokens.fill("900")
    await page.get_by_text("More options").click()
    await page.get_by_label("Criteria").fill("evidence, wit")
    weight = page.get_by_role("group", name="Weight of each criterion").get_by_label("wit")
    await weight.fill("0")
    await expect(weight).to_have_attribute("aria-invalid", "true")
    await weight.fill("2.5")
    await page.reload()
    await page.get_by_text("More options").click()
    await expect(weight).to_have_value("2.5")
    await page.keyboard.press("Control+Enter")
    body = await opened(page, served)
    assert body["participants"][0]["model"]["maxTokens"] == 900
    assert body["judge"]["evaluationCriteria"] == ["evidence", "wit"]
    assert body["judge"]["weights"] == {"wit": 2.5}
    assert all("422" in one for one in complaints)
    complaints.clear()


async def test_the_smallest_cost_limit_stands_beside_the_limit(
    page: Page, served: Served, complaints: list[str]
) -> None:
    await arrive(page, served)
    model = page.get_by_role("combobox", name="Model").first
    await model.focus()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.type("scripted/pine")
    await expect(page.get_by_role("option", name="Use scripted/pine")).to_be_visible()
    await page.keyboard.press("Enter")
    await page.get_by_text("More options").click()
    limit = page.get_by_label("Cost limit (USD)")
    await expect(page.get_by_text(re.compile(r"At least \$0\.\d\d for this setup"))).to_be_visible()
    await limit.fill("0.2")
    await expect(page.get_by_text("Must be at least 0.").first).to_be_visible()
    await expect(limit).to_have_attribute("aria-invalid", "true")
    assert all("422" in one for one in complaints)
    complaints.clear()


async def test_a_rematch_swaps_who_sits_where(page: Page, served: Served) -> None:
    before = await served.open()
    await arrive(page, served, f"/?from={before}&swap=1")
    await expect(page.get_by_label("Name").first).to_have_value("Con")
    await expect(page.get_by_role("combobox", name="Model").first).to_have_value("b")
    await expect(page).to_have_url(served.url + "/")
    await page.keyboard.press("Control+Enter")
    body = await opened(page, served)
    assert [seat["name"] for seat in body["participants"]] == ["Con", "Pro"]
    assert [seat["position"] for seat in body["participants"]] == ["for", "against"]
    assert body["topic"] == BODY["topic"]


async def test_what_is_missing_is_said_with_the_fix_and_a_model_is_installed_on_the_spot(
    page: Page, served: Served
) -> None:
    looks = iter(["absent", "installing", "installing", "installed"])
    asked: list[str] = []

    async def answer(route: Route) -> None:
        asked.append(route.request.method)
        state = next(looks, "installed")
        model = {**LOCAL, "name": "smollm2-135m", "bytes": 105_000_000, "state": state}
        await route.fulfill(json={"models": [{**model, "done": 42_000_000, "total": 105_000_000}]})

    async def begin(route: Route) -> None:
        asked.append(route.request.method)
        await route.fulfill(status=202, json={})

    await page.route("**/api/v1/installs", answer)
    await page.route("**/api/v1/installs/smollm2-135m", begin)
    await arrive(page, served)
    await page.get_by_role("combobox", name="Model").first.click()
    await page.keyboard.type("smollm2")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("is not installed")).to_be_visible()
    await page.get_by_role("button", name="Install (105 MB)").click()
    await expect(page.get_by_role("progressbar")).to_have_attribute("value", "42000000")
    await expect(page.get_by_text("is not installed")).to_have_count(0)
    await expect(page.get_by_text("on this machine · free")).to_be_visible()
    assert asked == ["GET", "POST", "GET", "GET", "GET"]
    await page.get_by_role("combobox", name="Model").last.click()
    await page.keyboard.type("anthropic sonnet thinks")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("status").filter(has_text="Set ANTHROPIC_API_KEY.")).to_be_visible()
