"""A debate of a very small model: the page, the verdict and the export say which words are Moot's."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.async_api import BrowserContext, expect

from moot.core.terms import Request
from moot.providers.scripted import TRAITS, Cue, SayCue, ScriptedProvider, improvise
from tests.page.conftest import watching
from tests.web.routes.served import serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

REASONS = (
    "it leaves the evening free for sport, friends and a quiet meal",
    "teachers learn nothing from it at all",
    "parents do half of the work anyway, and badly",
    "it rewards those who own a desk of their own",
)
number = count()


def continues(request: Request) -> Iterable[Cue]:
    """Goes on from the first words that it was given."""
    if request.schema is not None or not request.prefill:
        return improvise(request)
    return [SayCue(f"{request.prefill} {REASONS[next(number) % len(REASONS)]}.")]


async def test_the_page_says_which_words_moot_wrote_for_a_very_small_model(
    tmp_path: Path, context: BrowserContext, complaints: list[str]
) -> None:
    provider = ScriptedProvider(continues, traits=replace(TRAITS, small=True))
    async with serving(tmp_path, provider=provider) as served, await context.new_page() as page:
        watching(served, complaints)(page)
        debate_id = await served.open(maxRounds=1)
        await served.over(debate_id)
        await page.goto(f"{served.url}/debate/{debate_id}")
        note = "very small: Moot writes the first words of each speech"
        await expect(page.locator(".motion .origin")).to_contain_text(note)
        await expect(page.locator("#turn-1 .facts")).to_contain_text("by Moot")
        # A debate that was over when the page was opened begins with its result.
        await page.locator(".outcome").get_by_role("link", name="See the verdict").click()
        await expect(page.locator("#verdict-title")).to_be_in_viewport()
        await expect(page.locator(".doubts")).to_contain_text("Moot wrote the first words of all speeches")
        text = (await served.get(debate_id, "transcript?format=html")).text
        assert note in text
        assert "by Moot" in text
    assert not complaints
