"""The verdict, and what can be done with a debate that is over."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Page, expect

from moot.core.terms import Request
from moot.providers.scripted import Cue, SayCue, ScriptedProvider, ThinkCue, improvise
from tests.page.test_axe import AXE, found
from tests.web.routes.served import Served, body, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")


def at_the_bench(request: Request) -> Iterable[Cue]:
    """`steady` finds for the first speaker, `swayed` for whoever is called Birch, `muddled` for nobody."""
    if request.schema is None:
        return [
            ThinkCue(f"{request.model.name} thinks of the cost."),
            SayCue(f"{request.model.name} speaks."),
        ]
    if "speakers" not in request.schema["properties"]:
        return improvise(request)
    if request.model.name == "muddled":
        return [SayCue("I would rather not say.")]
    ballot = json.loads("".join(cue.text for cue in improvise(request) if isinstance(cue, SayCue)))
    opener = re.search(r"S1\. (\w+),", request.messages[-1].content)
    best = opener[1] if opener and request.model.name == "steady" else "Birch"
    ballot["reasoning"] = f"{best} was clearer in S1."
    for name, marks in ballot["speakers"].items():
        marks["score"] = 72 if name == best else 60
    if "ranking" in ballot:
        ballot["ranking"] = sorted(ballot["ranking"], key=lambda name: (name != best, name))
    else:
        ballot["winner"] = best
    return [SayCue(json.dumps(ballot))]


@pytest_asyncio.fixture(loop_scope="session")
async def served(tmp_path: Path) -> AsyncGenerator[Served]:
    async with serving(tmp_path, provider=ScriptedProvider(at_the_bench)) as server:
        yield server


def judge(name: str) -> dict[str, Any]:
    return {"name": name.title(), "model": {"provider": "scripted", "modelId": name}}


async def held(served: Served, *judges: str, **changes: Any) -> str:
    first, *others = (judge(name) for name in judges)
    setup = {**body(maxRounds=1), "judge": first, "judges": others, **changes}
    reply = await served.http.post("/api/v1/debates", json=setup)
    assert reply.status_code == 201, reply.text
    debate: str = reply.json()["id"]
    await served.over(debate)
    return debate


async def test_the_words_of_a_judge_name_the_speaker_and_link_the_speech(page: Page, served: Served) -> None:
    debate = await held(served, "steady")
    await page.goto(f"{served.url}/debate/{debate}/verdict")
    await expect(page.get_by_text("was clearer in speech 1.").first).to_contain_text("Pro was clearer")
    await page.get_by_role("link", name="speech 1", exact=True).first.click()
    await expect(page).to_have_url(re.compile(rf"/debate/{debate}#turn-1$"))


async def test_a_verdict_draws_every_judge_in_both_readings(page: Page, served: Served) -> None:
    debate = await held(served, "steady", "swayed", "muddled")
    await page.goto(f"{served.url}/debate/{debate}/verdict")
    await expect(page.get_by_role("heading", name="Too close to call")).to_be_visible()
    drawn = page.get_by_role("img", name="The margin of each judge")
    await expect(drawn).to_have_attribute("aria-label", re.compile("Steady: 12 for a, then 12 for a"))
    await expect(drawn).to_have_attribute(
        "aria-label", re.compile("Swayed: 12 for a, then 12 for b, changed")
    )
    await page.get_by_text("The same as a table").click()
    await expect(page.get_by_role("row", name="Swayed 12 for")).to_contain_text("names b")
    await expect(page.get_by_role("article").filter(has_text="Muddled")).to_contain_text("could not be read")
    await page.get_by_role("link", name=re.compile("^(a|b), Opening")).first.click()
    await expect(page).to_have_url(re.compile(rf"/debate/{debate}#turn-\d+$"))


async def test_teams_are_drawn_by_their_places_on_each_ballot(page: Page, served: Served) -> None:
    teams = [
        {"name": name, "model": {"provider": "scripted", "modelId": "a"}, "position": side}
        for name, side in (("One", "for"), ("Two", "against"), ("Three", "for"), ("Four", "against"))
    ]
    debate = await held(served, "swayed", format="british-parliamentary", participants=teams)
    await page.goto(f"{served.url}/debate/{debate}/verdict")
    await expect(page.get_by_role("img", name=re.compile("^1st "))).to_be_visible()
    await page.get_by_text("The same as a table").click()
    row = page.get_by_role("row", name="Swayed, second reading")
    await expect(row.get_by_role("cell").first).to_have_text("Four")


async def test_the_audience_is_shown_by_who_moved(page: Page, served: Served) -> None:
    setup = {**body(maxRounds=1, polls={"before": True}), "judge": judge("steady")}
    debate = (await served.http.post("/api/v1/debates", json=setup)).json()["id"]
    for choice in ("undecided", "for"):
        await served.until(debate, lambda status: any(poll["open"] for poll in status.get("polls", [])))
        assert (await served.post(debate, "votes", {"choice": choice})).status_code < 300
        await served.post(debate, "polls/close")
    await served.over(debate)
    await page.goto(f"{served.url}/debate/{debate}/verdict")
    await expect(page.get_by_role("img", name="Before the debate: For 0, Undecided 1")).to_be_visible()
    moves = page.get_by_role("table", name=re.compile("1 person who voted twice"))
    await expect(moves.get_by_role("row", name="Change in points")).to_contain_text("+100")


async def test_a_later_verdict_stands_beside_the_first(page: Page, served: Served) -> None:
    debate = await held(served, "steady")
    await page.goto(f"{served.url}/debate/{debate}/verdict")
    await expect(page.get_by_role("heading", name="a wins, arguing for")).to_be_visible()
    await expect(page.get_by_text("The judge preferred a both times, by 12 points.")).to_be_visible()
    await page.get_by_role("button", name="Judge again").click()
    sheet = page.get_by_role("dialog", name="Judge again")
    await sheet.get_by_label("At most, in US dollars").fill("0.5")
    await sheet.get_by_role("button", name="Judge again").click()
    await expect(sheet).to_have_count(0)
    every = page.get_by_role("table", name="Every verdict on this debate")
    await expect(every.get_by_role("row", name="First, which counts")).to_contain_text("a wins, arguing for")
    await expect(every.get_by_role("row", name="Again")).to_contain_text("a wins, arguing for")


async def test_a_debate_that_nobody_has_judged_is_not_judged_again(page: Page, served: Served) -> None:
    debate = await served.open(maxRounds=1, autoJudge=False)
    await served.until(debate, lambda status: sum(len(part["responses"]) for part in status["rounds"]) == 2)
    assert (await served.post(debate, "abort")).status_code < 300
    await served.over(debate)
    await page.goto(f"{served.url}/debate/{debate}")
    await page.get_by_role("button", name="Judge", exact=True).click()
    await expect(page.get_by_role("dialog", name="Judge", exact=True)).to_be_visible()


async def test_a_debate_is_taken_along_with_or_without_its_thoughts(
    page: Page, context: BrowserContext, served: Served
) -> None:
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    debate = await held(served, "steady")
    await page.goto(f"{served.url}/debate/{debate}/verdict")

    async def kept(form: str, *, thoughts: bool) -> str:
        await page.get_by_role("button", name="Export").click()
        await page.get_by_label("With reasoning").set_checked(thoughts)
        async with page.expect_download() as saved:
            await page.get_by_role("button", name=form).click()
        return Path(await (await saved.value).path()).read_text()

    assert "a thinks of the cost." in await kept("HTML page", thoughts=True)
    assert "thinks of the cost." not in await kept("JSON", thoughts=False)
    assert "a speaks." in await kept("Standalone replay (HTML)", thoughts=False)
    await page.keyboard.press("c")
    await expect(page.get_by_text("copied as Markdown")).to_be_visible()
    assert "a speaks." in await page.evaluate("navigator.clipboard.readText()")
    await page.keyboard.press("b")
    minds = page.get_by_role("dialog", name="Reasoning, side by side")
    await expect(minds.get_by_role("row", name="1").get_by_role("cell")).to_contain_text(
        ["a thinks of the cost.", "b thinks of the cost."]
    )


async def test_a_shared_link_lets_others_read_and_do_nothing(page: Page, served: Served) -> None:
    debate = await held(served, "steady")
    await page.goto(f"{served.url}/debate/{debate}/verdict")
    await page.get_by_role("button", name="Share").click()
    link = page.get_by_label("Read-only link")
    await expect(link).to_have_value(re.compile(rf"{debate}#token="))
    address = await link.input_value()
    await page.goto("about:blank")
    await page.goto(address)
    await expect(page.get_by_role("heading", name="a wins, arguing for")).to_be_visible()
    await expect(page.get_by_role("link", name="Replay")).to_be_visible()
    for deed in ("Share", "Judge again"):
        await expect(page.get_by_role("button", name=deed)).to_have_count(0)
    await page.goto(f"{served.url}/debate/{debate}/inspect")
    await expect(page.get_by_text("shown to those who conduct the debate")).to_be_visible()


async def test_private_beliefs_are_drawn_with_a_table_and_the_model_audience(
    page: Page, served: Served
) -> None:
    setup = body(maxRounds=1)
    config = {**setup["config"], "beliefs": True, "modelAudience": True}
    debate = await held(served, "steady", config=config)
    await page.set_viewport_size({"width": 360, "height": 700})
    await page.goto(f"{served.url}/debate/{debate}/verdict")
    section = page.get_by_role("region", name="Private beliefs")
    drawn = section.get_by_role("img", name="How likely a is to win, after each speech")
    await expect(drawn).to_have_attribute("aria-label", re.compile(r"a: \d+ %, .* b: .* the judge: \d+ %"))
    await expect(section).to_contain_text("gave itself")
    await section.get_by_text("The same as a table").click()
    await expect(section.get_by_role("row")).to_have_count(4)
    models = page.get_by_role("region", name="The model audience")
    await expect(models).to_contain_text("8 models that voted both before and after")
    await expect(page.get_by_role("region", name="The audience", exact=True)).to_have_count(0)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    if AXE.exists():
        assert await found(page) == []


async def test_a_kept_replay_shows_private_beliefs(page: Page, served: Served, tmp_path: Path) -> None:
    config = {**body(maxRounds=1)["config"], "beliefs": True, "modelAudience": True}
    debate = await held(served, "steady", config=config)
    reply = await served.get(debate, "transcript?format=replay&reasoning=true")
    file = tmp_path / "debate.html"
    file.write_bytes(reply.content)
    await page.goto(file.as_uri())
    await page.get_by_label("Speed").select_option("16")
    await page.get_by_role("button", name="Play", exact=True).click()
    await expect(page.get_by_role("region", name="Private beliefs")).to_contain_text("gave itself")
    await expect(page.get_by_role("region", name="The model audience")).to_be_visible()
