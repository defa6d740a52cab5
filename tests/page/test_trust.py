"""What the page does where a browser trusts it less, and with words that are hard to set."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.async_api import BrowserContext, expect

from moot.providers.scripted import SayCue, ScriptedProvider
from tests.web.routes.served import UNLIMITED, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

INVITE = """async (id) => {
  const { post } = await import('/static/lib/api.js');
  const { copyText } = await import('/static/lib/ui.js');
  const { link } = await post(`/debates/${id}/invitations`, { role: 'observer' }, { once: true });
  await copyText(link);
  return [isSecureContext, link];
}"""


async def test_the_page_works_for_another_machine_without_https(
    tmp_path: Path, context: BrowserContext
) -> None:
    async with serving(tmp_path, replace(UNLIMITED, hosts=("evil.test",))) as house:
        debate_id = await house.open(autoProgress=False)
        page = await context.new_page()
        await page.goto(f"{house.url.replace('127.0.0.1', 'evil.test')}/debate/{debate_id}")
        await expect(page.locator("h1")).to_contain_text("regulated")
        secure, link = await page.evaluate(INVITE, debate_id)
        assert not secure
        assert debate_id in link


async def test_words_that_go_in_circles_are_shown_as_they_were_written(
    tmp_path: Path, context: BrowserContext
) -> None:
    stuck = "**a_" * 3000
    provider = ScriptedProvider(lambda _: [SayCue(f"Well.\n\n{stuck}\n\nSo *much*.")])
    async with serving(tmp_path, provider=provider) as house:
        debate_id = await house.open(maxRounds=1)
        await house.over(debate_id)
        page = await context.new_page()
        await page.goto(f"{house.url}/debate/{debate_id}#turn-1")
        await expect(page.locator("#turn-1 em")).to_have_text("much")
        await expect(page.locator("#turn-1")).to_contain_text(stuck[:80])
