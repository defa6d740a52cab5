"""People in a debate: in a seat, in the audience and as judges, each in a separate browser."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from copy import deepcopy
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from moot.providers.scripted import ScriptedProvider
from tests.page.conftest import Watched
from tests.page.waiting_speakers import PATIENT, Stage
from tests.web.routes.debates_with_people import PERSON, SPEECH, opened
from tests.web.routes.served import BODY, Served, body, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest_asyncio.fixture(loop_scope="session")
async def served(tmp_path: Path, stage: Stage) -> AsyncGenerator[Served]:
    async with serving(tmp_path, provider=ScriptedProvider(stage.script), pace=PATIENT) as server:
        yield server


async def test_a_person_takes_a_seat_rises_on_a_point_writes_and_speaks(
    page: Page, served: Served, stage: Stage
) -> None:
    debate = await opened(served, {**BODY, "format": "world-schools"})
    await page.goto(f"{served.url}/debate/{debate['id']}")
    await expect(page.locator("body")).to_contain_text("A secret of a.")
    await page.get_by_role("button", name="Moderating").click()
    await page.get_by_role("button", name="Sit as Con").click()
    desk = page.get_by_role("region", name="Your next speech")
    await expect(desk).to_be_visible()
    await expect(page.locator("#turn-1")).to_contain_text("The words of a.")

    await page.keyboard.press("p")
    await page.keyboard.type("And who pays?")
    await page.keyboard.press("Enter")
    await expect(desk.get_by_label("Point of information")).to_have_count(0)

    stage.let(50)
    desk = page.get_by_role("region", name="You have the floor")
    await expect(desk.get_by_role("timer")).to_contain_text(":")
    await expect(page).to_have_title(re.compile("^Your turn"))
    field = desk.get_by_label("Your speech as Con")
    await field.fill("Nobody wrote 规则 down.")
    await expect(desk).to_contain_text("4 of")
    await page.reload()
    await expect(field).to_have_value("Nobody wrote 规则 down.")
    await expect(desk).to_contain_text("Draft kept")
    await expect(page.locator("body")).not_to_contain_text("A secret")
    await field.fill(SPEECH)
    await page.keyboard.press("Control+Enter")
    await expect(page.locator(".speech", has_text=SPEECH)).to_be_visible()
    await expect(page.get_by_label("Your speech as Con")).to_have_value("")
    points = (await served.get(debate["id"], "view")).json()["view"]["points"]
    assert [point["text"] for point in points.values()] == ["And who pays?"]
    await expect(page.locator("body")).not_to_contain_text("A secret")
    await page.get_by_role("button", name="Leave the seat").click()
    await expect(page.locator("body")).to_contain_text("A secret of a.")


async def test_a_hall_votes_by_one_link_each_of_them_once(
    page: Page, served: Served, chromium: Browser, watched: Watched
) -> None:
    debate = await opened(served, body(polls={"before": True}))
    invited = await served.post(debate["id"], "invitations", {"role": "audience", "many": True})
    link = served.url + invited.json()["link"]
    await page.goto(f"{served.url}/debate/{debate['id']}")
    poll = page.get_by_role("region", name="Before a word is said")
    await expect(poll).to_contain_text("No votes yet. The result stays hidden until voting closes")
    async with AsyncExitStack() as stack:
        for name, choice in (("Ada", "For"), ("Bob", "Against")):
            context = await stack.enter_async_context(await chromium.new_context(reduced_motion="reduce"))
            guest = watched(await context.new_page())
            await guest.goto(link)
            await guest.get_by_label("Your name").fill(name)
            await guest.keyboard.press("Enter")
            theirs = guest.get_by_role("region", name="Before a word is said")
            await theirs.get_by_role("button", name=choice).click()
            await expect(theirs).to_contain_text("Thank you")
        await guest.goto(link)
        await expect(theirs).to_contain_text("Thank you")
    await expect(poll).to_contain_text("2 votes so far")
    await page.keyboard.press("c")
    await expect(poll).to_have_count(0)
    await expect(page.locator("#turn-1")).to_be_visible()


async def test_a_person_on_the_panel_casts_a_ballot_and_is_told_what_it_lacks(
    page: Page, served: Served, stage: Stage, complaints: list[str]
) -> None:
    stage.let(50)
    shape = deepcopy(BODY)
    shape["judge"]["model"] = PERSON
    debate = await opened(served, {**shape, "config": {"maxRounds": 1}})
    await page.goto(f"{served.url}/debate/{debate['id']}")
    ballot = page.get_by_role("region", name="Your ballot")
    await ballot.get_by_role("radio", name="a", exact=True).check()
    await ballot.get_by_label("Your reason").fill("The cost was never answered.")
    await ballot.get_by_role("button", name="Cast the ballot").click()
    await expect(ballot.get_by_role("alert")).to_contain_text("at least one speech")
    assert "422" in complaints.pop()
    await ballot.get_by_role("checkbox", name="2 b").check()
    await ballot.get_by_role("button", name="Cast the ballot").click()
    await expect(ballot).to_have_count(0)
    verdict = (await served.over(debate["id"]))["verdict"]
    assert verdict["winner"] == debate["participants"][0]["id"]


async def test_a_person_ranks_all_where_the_format_does(page: Page, served: Served, stage: Stage) -> None:
    stage.let(50)
    shape = deepcopy(BODY)
    shape["judge"]["model"] = PERSON
    seats = [("Og", "for"), ("Oo", "against"), ("Cg", "for"), ("Co", "against")]
    shape["participants"] = [
        {"name": name, "position": side, "model": BODY["participants"][0]["model"]} for name, side in seats
    ]
    debate = await opened(served, {**shape, "format": "british-parliamentary", "config": {}})
    await page.goto(f"{served.url}/debate/{debate['id']}")
    ballot = page.get_by_role("region", name="Your ballot")
    await ballot.get_by_role("radio", name="Co").check()
    await ballot.get_by_label("Second").select_option("Og")
    await ballot.get_by_label("Third").select_option("Cg")
    await ballot.get_by_label("Your reason").fill("They answered all of it.")
    await ballot.get_by_role("checkbox").first.check()
    await ballot.get_by_role("button", name="Cast the ballot").click()
    await expect(ballot).to_have_count(0)
    await served.over(debate["id"])
    (verdict,) = (await served.get(debate["id"], "view")).json()["view"]["verdicts"].values()
    names = {seat["id"]: seat["name"] for seat in debate["participants"]}
    assert [names[seat] for seat in verdict["ranking"]] == ["Co", "Og", "Cg", "Oo"]
