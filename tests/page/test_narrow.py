"""Every page on a phone, with wide fonts: nothing sticks out, is cut, covered or too small to press."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from moot.providers.keys import Secret
from moot.providers.scripted import ScriptedProvider
from moot.settings import ServerSettings
from tests.page.all_states import STATES, PageState, servers
from tests.page.sample_debate import Play, body
from tests.page.screenshots import PATIENT, open_debate
from tests.web.routes.served import Served, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

WIDTHS = (320, 360, 390)
HEIGHT = 740
PROBLEMS = (Path(__file__).parent / "layout_problems.js").read_text()
ROOMY = "* { letter-spacing: .02em !important }"
"""Stands for a font that is wider still."""
REPORT = PageState("report", "/api/v1/experiments/league/report")
DIALOGS = {
    "?": "Keyboard shortcuts",
    "g": "Log",
    "$": "Cost and tokens",
    "v": "Invite",
    "w": "Declare a winner",
    "i": "Remark",
    "q": "Question",
}


@pytest_asyncio.fixture(loop_scope="session")
async def phone(chromium: Browser) -> AsyncGenerator[Page]:
    """A tab of a phone. The policy of the page would refuse the style that makes letters wider."""
    async with await chromium.new_context(
        is_mobile=True, has_touch=True, reduced_motion="reduce", bypass_csp=True
    ) as context:
        yield await context.new_page()


async def problems(page: Page, name: str) -> list[str]:
    await page.evaluate("document.fonts.ready")
    found: list[str] = []
    for style in ("", ROOMY):
        if style:
            await page.add_style_tag(content=style)
        for width in WIDTHS:
            await page.set_viewport_size({"width": width, "height": HEIGHT})
            # Observers of sizes run before a frame is painted, and what they change is painted in the next.
            await page.evaluate(
                "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
            found += [f"{name} at {width} {problem}" for problem in await page.evaluate(PROBLEMS, width)]
    return found


def told(found: Iterable[str]) -> str:
    return "\n".join(found)


async def test_every_page_in_every_state_fits_a_phone_with_wide_fonts(phone: Page) -> None:
    found: list[str] = []
    async with servers() as (empty, filled, debates):
        for state in (*STATES, REPORT):
            if state.path.startswith("/manual"):
                continue
            await enter(phone, state, (empty if state.empty else filled).url + state.path.format(**debates))
            found += await problems(phone, state.name)
    assert not found, told(found)


async def enter(page: Page, state: PageState, url: str) -> None:
    change = "setItem('moot.returning', 'true')" if state.returning else "clear()"
    await page.add_init_script(f"localStorage.{change}")
    await page.goto(url)
    await expect(page.locator(state.ready).first).to_be_attached()
    if state.script:
        await page.evaluate(state.script)


async def test_dialogs_and_menus_fit_a_phone(phone: Page, tmp_path: Path) -> None:
    play = Play()
    play.again(stops_in=2)
    found: list[str] = []
    async with serving(tmp_path, provider=ScriptedProvider(play), pace=PATIENT) as served:
        live = await open_debate(served, body(timeoutPerRound=300))
        await phone.goto(f"{served.url}/debate/{live}")
        for key, name in DIALOGS.items():
            await expect(phone.get_by_role("button", name="Pause")).to_be_visible()
            await phone.keyboard.press(key)
            await expect(phone.get_by_role("dialog"), name).to_be_visible()
            found += await problems(phone, name)
            await phone.keyboard.press("Escape")
            await expect(phone.get_by_role("dialog")).to_have_count(0)
        await phone.get_by_role("button", name="More").click()
        found += await problems(phone, "menu of controls")
    assert not found, told(found)


async def test_the_login_the_api_docs_and_saved_files_fit_a_phone(phone: Page, tmp_path: Path) -> None:
    found: list[str] = []
    async with serving(tmp_path / "open", provider=ScriptedProvider(Play())) as served:
        await phone.goto(f"{served.url}/docs")
        await expect(phone.locator(".opblock").first).to_be_visible()
        for width in WIDTHS:
            await phone.set_viewport_size({"width": width, "height": HEIGHT})
            assert await phone.evaluate("document.documentElement.scrollWidth") == width
        for name in ("html", "replay"):
            found += await problems(phone, await saved(phone, served, tmp_path / f"{name}.html", name))
    locked = ServerSettings(token=Secret("operators-own-token"))
    async with serving(tmp_path / "locked", locked) as served:
        await phone.goto(f"{served.url}/debates")
        await expect(phone.get_by_role("dialog")).to_be_visible()
        found += await problems(phone, "login")
    assert not found, told(found)


async def saved(page: Page, served: Served, file: Path, format: str) -> str:
    debate = await open_debate(served, body())
    await served.over(debate)
    file.write_bytes((await served.get(debate, f"transcript?format={format}&reasoning=true")).content)
    await page.goto(file.as_uri())
    return file.name
