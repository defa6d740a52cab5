"""The bar of controls: a moderator can use it with the keyboard alone; other viewers do not see it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Locator, Page, expect

from moot.providers.scripted import ScriptedProvider
from tests.page.conftest import Watched
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


def bar(page: Page) -> Locator:
    return page.get_by_role("region", name="Controls")


def button(page: Page, name: str) -> Locator:
    return bar(page).get_by_role("button", name=name)


async def held(page: Page, served: Served, debate_id: str) -> None:
    """The page of a debate whose first speech is being given."""
    await page.goto(f"{served.url}/debate/{debate_id}")
    await expect(button(page, "Pause")).to_be_visible()
    await expect(page.locator("#turn-1")).to_contain_text("The words of a.")


async def view(served: Served, debate_id: str) -> dict[str, Any]:
    return (await served.get(debate_id, "view")).json()["view"]


async def test_a_debate_is_conducted_from_the_first_speech_to_the_verdict_by_keys_alone(
    page: Page, served: Served, stage: Stage
) -> None:
    debate_id = await served.open()
    await held(page, served, debate_id)
    await page.keyboard.press("Space")
    await expect(button(page, "Keep going")).to_be_visible()
    await page.keyboard.press("x")
    await expect(button(page, "Resume")).to_be_visible()

    await page.keyboard.press("i")
    await page.get_by_label("Your remark").press_sequentially("Keep to the motion.")
    await page.keyboard.press("Control+Enter")
    waiting = page.get_by_role("region", name="Waiting to be heard")
    await expect(waiting).to_contain_text("Keep to the motion.")
    await expect(page.get_by_role("dialog")).to_have_count(0)

    await page.keyboard.press(".")
    await expect(waiting).to_have_count(0)
    stage.let(1)
    await expect(button(page, "Resume")).to_be_visible()
    await expect(page.locator("#turn-3")).to_have_count(0)
    await page.keyboard.press("Space")
    await expect(page.locator("#turn-3")).to_be_visible()
    async with page.expect_request("**/skip") as skipping:
        await page.keyboard.press("s")
    assert (await skipping.value).post_data_json == {"turn": 3}
    await expect(page.locator("#turn-4")).to_be_visible()
    assert (await view(served, debate_id))["turns"]["3"]["state"] == "interrupted"
    await page.keyboard.press("Shift+S")
    await expect(bar(page)).to_have_count(0)
    assert (await served.over(debate_id))["verdict"]["winner"]


async def test_a_key_counts_in_the_moment_after_a_dialog_was_closed(page: Page, served: Served) -> None:
    """Until the next frame the focus is still in the field of the dialog."""
    await held(page, served, await served.open())
    await page.keyboard.press("i")
    await expect(page.get_by_role("dialog").get_by_label("Your remark")).to_be_focused()
    await page.evaluate(
        """() => {
          const field = document.activeElement;
          field.closest('dialog').close();
          field.dispatchEvent(new KeyboardEvent('keydown', { key: 'w', bubbles: true }));
        }"""
    )
    await expect(page.get_by_role("dialog", name="Declare a winner")).to_be_visible()


async def test_a_dialog_that_was_just_left_can_be_opened_again_at_once(page: Page, served: Served) -> None:
    """The browser tells of its end a moment later, which must not end the second one."""
    await held(page, served, await served.open())
    await page.keyboard.press("Shift+A")
    first = await page.get_by_role("dialog").element_handle()
    await page.evaluate(
        """async (dialog) => {
          dialog.dispatchEvent(new Event('cancel'));
          dialog.close();
          await Promise.resolve();
          document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'A', bubbles: true }));
          await new Promise((then) => setTimeout(then, 100));
        }""",
        first,
    )
    await page.get_by_role("button", name="Abort it").click()
    await expect(bar(page)).to_have_count(0)


async def test_the_chair_declares_the_winner(page: Page, served: Served) -> None:
    debate_id = await served.open()
    await held(page, served, debate_id)
    await page.keyboard.press("w")
    sheet = page.get_by_role("dialog", name="Declare a winner")
    await expect(sheet.get_by_role("button", name="Declare the winner")).to_be_disabled()
    await sheet.get_by_role("radio", name="b", exact=True).check()
    await sheet.get_by_label("Why").fill("The cost was never answered.")
    await sheet.get_by_role("button", name="Declare the winner").click()
    await expect(bar(page)).to_have_count(0)
    verdict = (await served.over(debate_id))["verdict"]
    assert verdict["reasoning"] == "The cost was never answered."


async def test_the_focus_of_a_control_that_goes_away_stays_near_and_moves_nothing(
    page: Page, served: Served, stage: Stage
) -> None:
    await page.set_viewport_size({"width": 1400, "height": 300})
    debate_id = await served.open()
    await held(page, served, debate_id)
    motion = page.get_by_role("heading", level=1)
    await expect(motion).not_to_be_in_viewport()
    await page.mouse.wheel(0, -1000)
    await page.get_by_role("button", name="Follow").press("Enter")
    await expect(page.locator("#turn-1")).to_be_focused()
    await button(page, "Stop speech").press("Enter")
    await expect(bar(page)).to_be_focused()
    await button(page, "Resume").press("Enter")
    await expect(page.locator("#turn-2")).to_contain_text("The words of")
    await expect(motion).not_to_be_in_viewport()
    await page.mouse.wheel(0, -1000)
    await expect(page.get_by_role("button", name="Follow")).to_be_visible()
    at = await page.evaluate("scrollY")
    await button(page, "Pause").focus()
    stage.let(9)
    await expect(page.locator("#verdict-title")).to_be_focused()
    assert await page.evaluate("scrollY") == at


async def test_a_role_leaves_out_what_is_not_wanted_and_is_remembered(page: Page, served: Served) -> None:
    debate_id = await served.open()
    await held(page, served, debate_id)
    stop = page.locator("#turn-1").get_by_role("button", name="Stop speech")
    await expect(stop).to_be_visible()
    await button(page, "Moderating").click()
    await bar(page).get_by_role("button", name="Watch", exact=True).click()
    await expect(button(page, "Pause")).to_have_count(0)
    await expect(stop).to_have_count(0)
    await page.reload()
    await expect(button(page, "Watching")).to_be_visible()
    await page.keyboard.press("Space")
    await button(page, "Watching").click()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(button(page, "Pause")).to_be_visible()
    await expect(button(page, "Moderating")).to_be_focused()
    assert (await view(served, debate_id))["now"]["status"] == "debating"


async def test_guests_are_invited_by_a_link_and_sent_away_again(
    page: Page, served: Served, context: BrowserContext, watched: Watched
) -> None:
    debate_id = await served.open()
    await held(page, served, debate_id)
    await page.keyboard.press("v")
    sheet = page.get_by_role("dialog", name="Invite")
    await sheet.get_by_label("Name").fill("Zoë")
    await page.keyboard.press("Enter")
    link = await sheet.get_by_label("Link for Zoë").input_value()
    assert link.startswith(f"{served.url}/debate/{debate_id}#token=")
    async with await context.new_page() as other:
        guest = watched(other)
        await guest.goto(link)
        await expect(guest.locator("#turn-1")).to_contain_text("The words of a.")
        await expect(bar(guest)).to_have_count(0)
        assert "token" not in guest.url
    await sheet.get_by_role("button", name="Withdraw the invitation of Zoë").click()
    await expect(sheet.get_by_role("heading", name="Invited")).to_have_count(0)
    await sheet.get_by_role("radio", name="A whole hall").check()
    await expect(sheet).to_contain_text("Withdrawing the link removes them all.")
    await sheet.get_by_label("Name").fill("Hall")
    await page.keyboard.press("Enter")
    await sheet.get_by_role("button", name="Withdraw the invitation of Hall").click()
    await expect(page.get_by_text("Everybody who joined by this link has lost access.")).to_be_visible()


async def test_in_a_pause_the_next_speech_is_skipped_by_its_name(page: Page, served: Served) -> None:
    debate_id = await served.open()
    await held(page, served, debate_id)
    await page.keyboard.press("x")
    await expect(button(page, "Resume")).to_be_visible()
    async with page.expect_request("**/skip") as skipping:
        await page.keyboard.press("s")
    assert (await skipping.value).post_data_json == {"speech": 1}
    await expect(button(page, "Resume")).to_be_visible()
    assert (await view(served, debate_id))["now"]["skipped"] == [0]


async def test_on_a_narrow_screen_the_rest_is_behind_one_button_and_an_end_is_asked_for_twice(
    page: Page, served: Served
) -> None:
    await page.set_viewport_size({"width": 360, "height": 740})
    debate_id = await served.open()
    await held(page, served, debate_id)
    await expect(button(page, "Skip turn")).to_be_hidden()
    edges = "bar => [...bar.querySelectorAll('button')].map((one) => one.getBoundingClientRect().left)"
    assert min(await bar(page).evaluate(edges)) >= 0
    assert await bar(page).evaluate("bar => bar.scrollWidth <= bar.clientWidth")
    await button(page, "More").click()
    await expect(button(page, "Skip turn")).to_be_focused()
    await button(page, "Abort").click()
    await page.keyboard.press("Escape")
    await expect(button(page, "More")).to_be_focused()
    assert (await view(served, debate_id))["now"]["status"] == "debating"
    await page.keyboard.press("Shift+A")
    await page.get_by_role("button", name="Abort it").click()
    await expect(bar(page)).to_have_count(0)


async def test_a_debate_that_waits_for_a_decision_says_so_and_puts_it_first(
    page: Page, served: Served, stage: Stage
) -> None:
    stage.let(2)
    debate_id = await served.open(winningCondition="user-decides", maxRounds=1)
    await page.goto(f"{served.url}/debate/{debate_id}")
    await expect(page.get_by_text("Declare the winner.")).to_be_visible()
    await expect(bar(page).get_by_role("button").nth(1)).to_contain_text("Declare a winner")
