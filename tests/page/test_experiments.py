"""Experiments on the page: how to begin, live progress, figures with intervals, and the full report."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from playwright.async_api import Page, expect

from moot.experiments import question_bank
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.runner import ExperimentRunner
from moot.extensions.experiments.tables import EXPERIMENTS
from tests.extensions.experiments.test_routes import LEAGUE
from tests.page.conftest import Watched
from tests.page.test_axe import AXE, found
from tests.web.routes.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_an_experiment_is_followed_from_the_list_to_its_report(
    page: Page, served: Served, watched: Watched
) -> None:
    await page.goto(f"{served.url}/experiments")
    await expect(page.get_by_text("moot experiment run league.toml")).to_be_visible()
    league = replace(LEAGUE, options={"beliefs": True})
    await ExperimentRunner(served.arena, replace(league, motions=LEAGUE.motions[:1])).run()
    # Half of it is held, and another process has just begun to run the other half.
    await served.arena.store.tables(EXPERIMENTS).save("league", league.to_json())
    await page.reload()
    await expect(page.get_by_role("listitem")).to_contain_text("Running")
    seen = await found(page) if AXE.exists() else []
    await page.get_by_role("link", name="league").click()
    progress = page.get_by_role("progressbar", name="Debates of league")
    await expect(progress).to_have_attribute("aria-valuenow", "6")
    await ExperimentRunner(served.arena, league).run()
    votes = {
        leg.debate: (("ann", "for"),) for leg in await served.arena.store.tables(EXPERIMENTS).legs("league")
    }
    await ExperimentRunner(served.arena, league).add_votes(votes)
    await expect(progress).to_have_attribute("aria-valuenow", "12")
    await expect(page.get_by_text("Done", exact=True)).to_be_visible()
    board = page.get_by_role("table", name="Ratings of the models")
    await expect(board.get_by_role("row")).to_have_count(1 + len(LEAGUE.models))
    assert " to " in (await board.get_by_role("img").first.get_attribute("aria-label") or "")
    await expect(page.get_by_role("region", name="Matchups").get_by_role("cell", name="%")).to_have_count(6)
    confidence = page.get_by_role("region", name="Private beliefs").get_by_role("row")
    await expect(confidence).to_have_count(1 + len(LEAGUE.models))
    await page.reload()
    await expect(page.get_by_role("heading", name="Judges and people")).to_be_visible()
    for name in ("Biases of the judges", "Agreement of the judges", "Costs"):
        await expect(page.get_by_role("region", name=name).get_by_role("table")).to_be_visible()
    seen += await found(page) if AXE.exists() else []
    assert not seen, "\n".join(seen)
    async with page.expect_popup() as opened:
        await page.get_by_role("link", name="Full report").click()
    report = watched(await opened.value)
    await expect(report.get_by_role("heading", name="Leaderboard")).to_be_visible()
    await expect(report.locator("main")).to_have_css("max-width", "960px")  # its style is allowed
    await report.get_by_role("link", name=LEAGUE.motions[0]).first.click()
    await expect(report.get_by_role("heading", level=1)).to_have_text(LEAGUE.motions[0])


async def test_a_person_judges_the_debates_blind_one_after_the_other(page: Page, served: Served) -> None:
    league = replace(LEAGUE, models=LEAGUE.models[:2], motions=LEAGUE.motions[:1])
    await ExperimentRunner(served.arena, league).run()
    await page.goto(f"{served.url}/experiments/league")
    await page.get_by_role("link", name="Judge debates").click()
    await page.get_by_label("Your name").fill("Ann")
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_text("0 of 2 judged by you", exact=True)).to_be_visible()
    await expect(page.get_by_role("heading", level=1)).to_have_text(LEAGUE.motions[0])
    shown = await page.locator("main").inner_text()
    assert not [model for model in LEAGUE.models if model.partition("/")[2] in shown]
    seen = await found(page) if AXE.exists() else []
    assert not seen, "\n".join(seen)
    vote = page.get_by_role("button", name="Vote, and go to the next")
    await expect(vote).to_be_disabled()
    await page.get_by_role("radio", name="A,").check()
    await page.get_by_label("Your reason").fill("The cost was never answered.")
    await vote.click()
    await expect(page.get_by_text("1 of 2 judged by you", exact=True)).to_be_visible()
    await expect(page.get_by_role("heading", level=1)).to_be_focused()
    await page.get_by_role("radio", name="Neither").check()
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_role("heading", name="You have judged them all")).to_be_visible()
    await page.reload()
    await expect(page.get_by_text("2 of 2 judged by you", exact=True)).to_be_visible()
    await page.get_by_role("link", name="See the experiment").click()
    await expect(page.get_by_role("heading", name="Judges and people")).to_be_visible()


async def test_protocols_are_compared_and_a_debate_of_one_seat_is_shown(page: Page, served: Served) -> None:
    asked = question_bank()
    truth = ExperimentDefinition(
        name="truth", models=("scripted/heron",), judges=("scripted/owl",), format="", pairing="self",
        rounds=1, questions=asked.questions[:2], passages=asked.passages,
        protocols=("debate", "consultancy", "naive", "self-consistency"),
    )  # fmt: skip
    await ExperimentRunner(served.arena, truth).run()
    await page.goto(f"{served.url}/experiments/truth")
    table = page.get_by_role("region", name="Protocols", exact=True).get_by_role("table")
    await expect(table.get_by_role("row")).to_have_count(1 + len(truth.protocols))
    await expect(table.get_by_role("row", name="debate").first).to_contain_text("%")
    assert "sure" in (await page.get_by_role("img").first.get_attribute("aria-label") or "")
    seen = await found(page) if AXE.exists() else []
    assert not seen, "\n".join(seen)
    legs = await served.arena.store.tables(EXPERIMENTS).legs("truth")
    for name in ("consultancy", "naive", "self-consistency"):
        debate = next(leg.debate for leg in legs if f'"{name}"' in leg.leg)
        await page.goto(f"{served.url}/debate/{debate}")
        await expect(page.get_by_role("heading", level=1)).to_contain_text("?")
