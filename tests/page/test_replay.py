"""The replay: on the page, and as a file that needs no server."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Error, Page, expect

from tests.page.payloads import PAYLOADS
from tests.web.routes.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")

EVIL = "</script><script>document.title='run'</script><!--<script>\u2028&lt;img src=x onerror=alert(1)>"

LONG_NAME_IN_BAR = """() => {
  document.querySelector('.player .what bdi').textContent = 'Opening statement, '.repeat(5);
  const parts = [...document.querySelectorAll('.player *:not(bdi)')];
  return Math.max(...parts.map((part) => part.getBoundingClientRect().right));
}"""


async def test_a_replay_plays_to_the_verdict(page: Page, served: Served) -> None:
    debate_id = await served.open()
    await served.over(debate_id)
    await page.goto(f"{served.url}/debate/{debate_id}/replay")
    await expect(page.locator("article.speech")).to_have_count(0)
    await page.get_by_label("Speed").select_option("16")
    await page.keyboard.press("Space")
    await expect(page.locator("#verdict")).to_be_visible()
    await expect(page.locator("article.speech")).to_have_count(4)
    await expect(page.get_by_role("button", name="Play again")).to_be_visible()


async def test_a_replay_is_gone_through_with_the_keyboard(page: Page, served: Served) -> None:
    debate_id = await served.open()
    await served.over(debate_id)
    await page.goto(f"{served.url}/debate/{debate_id}/replay#turn-3")
    slider = page.get_by_role("slider", name="Position in the debate")
    await expect(slider).to_have_attribute("aria-valuetext", re.compile(", Closing statement, a$"))
    await expect(page.locator("#turn-3")).to_be_visible()
    await expect(page.locator("#turn-4")).to_have_count(0)
    await page.keyboard.press("ArrowRight")
    await expect(page.locator("#turn-4")).to_be_visible()
    await expect(page).to_have_url(re.compile("#turn-4$"))
    await slider.focus()
    await page.keyboard.press("Home")
    await expect(page.locator("article.speech")).to_have_count(0)
    await page.keyboard.press("End")
    await expect(page.locator("#verdict")).to_be_visible()
    await page.keyboard.press("+")
    await expect(page.get_by_label("Speed")).to_have_value("2")
    await page.set_viewport_size({"width": 360, "height": 700})
    right = await page.evaluate(LONG_NAME_IN_BAR)
    assert right <= 360


async def test_a_kept_replay_plays_without_a_server(
    page: Page, context: BrowserContext, served: Served, tmp_path: Path
) -> None:
    debate_id = await served.open()
    await served.over(debate_id)
    reply = await served.get(debate_id, "transcript?format=replay&reasoning=true")
    assert reply.headers["content-disposition"] == f'attachment; filename="{debate_id}.replay.html"'
    assert len(reply.content) < 300_000
    file = tmp_path / "debate.html"
    file.write_bytes(reply.content)
    asked: list[str] = []
    await context.set_offline(True)
    page.on("request", lambda request: asked.append(request.url))
    await page.goto(file.as_uri())
    await page.get_by_label("Speed").select_option("16")
    await page.get_by_role("button", name="Play", exact=True).click()
    await expect(page.locator("#verdict")).to_be_visible()
    await expect(page.get_by_role("button", name="Play again")).to_be_visible()
    await expect(page.get_by_text("First the strongest point").first).to_be_attached()
    assert asked == [file.as_uri()]


# A position is a millisecond, and a slow machine makes many of them: large steps first, then smaller ones.
TO_A_BALLOT = """async (slider) => {
  const end = Number(slider.max);
  for (let step = end / 2; step > 0.5; step /= 2) {
    for (let at = end - step; at >= 0; at -= 2 * step) {
      slider.value = Math.round(at);
      slider.dispatchEvent(new Event('input', { bubbles: true }));
      await new Promise((done) => setTimeout(done));
      if (document.querySelector('.paper.writing')) return true;
    }
  }
  return false;
}"""


async def test_a_kept_replay_goes_back_from_the_judging_to_a_speech(
    page: Page, served: Served, tmp_path: Path, complaints: list[str]
) -> None:
    debate_id = await served.open()
    await served.over(debate_id)
    file = tmp_path / "debate.html"
    file.write_bytes((await served.get(debate_id, "transcript?format=replay")).content)
    await page.emulate_media(reduced_motion="reduce")
    await page.goto(file.as_uri())
    slider = page.get_by_role("slider", name="Position in the debate")
    assert await slider.evaluate(TO_A_BALLOT), "a judge is seen writing"
    await page.get_by_role("button", name=re.compile("^1. Opening statement")).click()
    await expect(page.locator(".bench")).to_have_count(0)
    await expect(page.locator("#turn-1")).to_be_visible()
    assert complaints == []


async def test_a_kept_replay_runs_nothing_but_its_player(
    page: Page, served: Served, tmp_path: Path, complaints: list[str]
) -> None:
    debate_id = await served.open(maxRounds=1, autoProgress=False)
    await served.until(debate_id, lambda status: status["status"] == "awaiting_arguments")
    for text in (EVIL, *PAYLOADS[:18]):
        assert (await served.post(debate_id, "inject", {"text": text})).status_code == 202
    await served.post(debate_id, "rounds", {"action": "next_round"})
    await served.over(debate_id)
    text = (await served.get(debate_id, "transcript?format=replay")).text
    assert text.count("<script") == text.count("</script") == 2
    assert "First the strongest point" not in text
    file = tmp_path / "debate.html"
    file.write_text(text, "utf-8")
    await page.goto(file.as_uri())
    await page.get_by_role("slider").press("End")
    await expect(page.locator("#verdict")).to_be_visible()
    assert await page.title() != "run"
    # What somebody would slip in besides is not in the policy.
    slip = "(tag, words) => document.body.append(Object.assign(document.createElement(tag), words))"
    with pytest.raises(Error, match="TrustedScript"):
        await page.evaluate(f"({slip})('script', {{text: 'window.ran = 1'}})")
    await page.evaluate(f"({slip})('style', {{textContent: 'body {{ display: none }}'}})")
    assert await page.evaluate("window.ran") is None
    assert await page.locator("body").is_visible()
    script, style = complaints
    assert "TrustedScript" in script
    assert "Content Security Policy" in style
    complaints.clear()
