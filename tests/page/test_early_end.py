"""Why a debate ended before its format did stands between the last speech and the verdict."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from moot.core.terms import Request
from moot.providers.scripted import Cue, SayCue, ScriptedProvider, improvise
from tests.web.routes.served import Served, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

SENTENCE = "Stopped after speech 3 of 4: both sides repeated themselves."
ITS_PLACE = """() => {
  const [line, verdict] = [document.querySelector('.floor > .early-end'), document.querySelector('#verdict')];
  const last = [...document.querySelectorAll('article.speech')].at(-1);
  const comesAfter = (one, other) => other.compareDocumentPosition(one) === Node.DOCUMENT_POSITION_FOLLOWING;
  return comesAfter(line, last) && comesAfter(verdict, line);
}"""


def repeat(request: Request) -> Iterable[Cue]:
    """Every speaker says the same."""
    return [SayCue("Rules slow everybody down.")] if request.schema is None else improvise(request)


@pytest_asyncio.fixture(loop_scope="session")
async def served(tmp_path: Path) -> AsyncGenerator[Served]:
    async with serving(tmp_path, provider=ScriptedProvider(repeat)) as server:
        yield server


async def test_a_debate_in_circles_says_so_before_the_verdict(page: Page, served: Served) -> None:
    debate_id = await served.open()
    await served.over(debate_id)
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.goto(f"{served.url}/debate/{debate_id}")
    line = page.locator(".floor > .early-end")
    await expect(line).to_have_text(SENTENCE)
    assert await page.evaluate(ITS_PLACE)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    issues = page.get_by_role("region", name="Issues")
    await expect(issues.get_by_role("listitem").first).to_have_text(SENTENCE)
    await page.goto(f"{served.url}/debate/{debate_id}/stage")
    await expect(page.locator(".foot .early-end")).to_have_text(SENTENCE)
    await page.goto(f"{served.url}/debate/{debate_id}/replay")
    slider = page.get_by_role("slider", name="Position in the debate")
    await slider.press("Home")
    await expect(line).to_have_count(0)
    await slider.press("End")
    await expect(line).to_have_text(SENTENCE)


async def test_a_debate_that_was_aborted_says_so_once(page: Page, served: Served) -> None:
    debate_id = await served.open(autoProgress=False)
    await served.post(debate_id, "abort", {"reason": "Wrong motion."})
    await page.goto(f"{served.url}/debate/{debate_id}")
    sentence = "Aborted by request before the first speech. The reason given: Wrong motion."
    await expect(page.locator(".floor > .early-end")).to_have_text(sentence)
    await expect(page.get_by_role("heading", name="No verdict")).to_be_visible()
    await expect(page.get_by_text("The debate was aborted")).to_have_count(0)


async def test_a_kept_replay_says_it_too(page: Page, served: Served, tmp_path: Path) -> None:
    debate_id = await served.open()
    await served.over(debate_id)
    file = tmp_path / "debate.html"
    file.write_bytes((await served.get(debate_id, "transcript?format=replay")).content)
    await page.goto(file.as_uri())
    await page.get_by_role("slider", name="Position in the debate").press("End")
    await expect(page.locator(".floor > .early-end")).to_have_text(SENTENCE)
    assert await page.evaluate(ITS_PLACE)
