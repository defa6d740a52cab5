"""The live page of a debate."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Page, WebSocketRoute, expect

from moot.core.errors import Fault
from moot.core.terms import Request
from moot.providers.contract import Chunk, ReplyDelta
from moot.providers.scripted import Cue, FaultCue, SayCue, ScriptedProvider, StallCue, ThinkCue, improvise
from tests.page.conftest import Watched
from tests.page.waiting_speakers import PATIENT
from tests.web.routes.served import BODY, Served, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

PARAGRAPH = "The question is who bears the risk when things go wrong, and who decides that they have. " * 3
SHIFTS = """() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shifts.push(entry.value);
  }).observe({ type: 'layout-shift' });
}"""
REST = """async () => {
  let last;
  do {
    last = scrollY;
    await new Promise((done) => setTimeout(done, 100));
  } while (scrollY !== last);
  return last;
}"""
"""Where the page comes to rest."""
HEADERS = """
window.headers = [];
setInterval(() => {
  for (const header of document.querySelectorAll('.speech > header')) headers.push(header.offsetHeight);
}, 20);
"""
"""The heights of the headers of speeches, live and finished."""


GATE = "\N{PILCROW SIGN}"


class Hall(ScriptedProvider):
    """What the models say, call by call, and then whatever comes to their minds. At a gate they wait."""

    def __init__(self) -> None:
        super().__init__(self._next)
        self.cues: list[list[Cue]] = []
        self.gate = asyncio.Event()

    def says(self, *cues: Cue) -> None:
        self.cues.append([*cues])

    def _next(self, request: Request) -> Iterable[Cue]:
        return self.cues.pop(0) if self.cues and request.schema is None else improvise(request)

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        async for chunk in super().stream(request):
            if isinstance(chunk, ReplyDelta) and GATE in chunk.text:
                await self.gate.wait()
            else:
                yield chunk


@pytest.fixture
def hall() -> Hall:
    return Hall()


@pytest_asyncio.fixture(loop_scope="session")
async def served(tmp_path: Path, hall: Hall) -> AsyncGenerator[Served]:
    async with serving(tmp_path, provider=hall, pace=PATIENT) as server:
        yield server


async def enter(page: Page, served: Served, debate: str, hash_: str = "") -> None:
    await page.goto(f"{served.url}/debate/{debate}{hash_}")
    await expect(page.get_by_role("heading", level=1)).to_be_visible()


async def test_a_debate_that_is_over_reads_from_the_motion_to_the_verdict(page: Page, served: Served) -> None:
    debate = await served.open()
    await served.over(debate)
    await enter(page, served, debate)
    await expect(page.get_by_role("heading", level=1)).to_have_text(BODY["topic"])
    await expect(page.get_by_label("Speakers").get_by_text("2 of 2 heard")).to_have_count(2)
    await expect(page.locator("article.speech")).to_have_count(4)
    await expect(page.get_by_role("heading", name="Round 2")).to_be_visible()
    first = page.locator("article.speech").first
    await expect(first).to_contain_text("Opening statement")
    thoughts = page.get_by_label("Thoughts of the speaker")
    await expect(thoughts.first).to_contain_text("hidden from the opponent")
    await expect(page.locator(".verdict")).to_be_visible()
    assert await page.evaluate("scrollY") == 0
    assert "speak" not in (await page.title()).lower()
    assert (await page.locator("link[rel=icon]").get_attribute("href") or "").startswith("data:image/svg+xml")

    # The strip and the log lead to every speech, and thoughts fold away.
    await page.keyboard.press("g")
    await page.get_by_role("dialog", name="Log").get_by_role("button", name="Closing").last.click()
    await expect(page.locator("#turn-4")).to_be_in_viewport()
    await expect(page.locator("#turn-4")).to_be_focused()
    await expect(page).to_have_url(f"{served.url}/debate/{debate}#turn-4")
    await page.get_by_role("group", name="Order of speeches").get_by_role("button").first.click()
    await expect(page.locator("#turn-1")).to_be_focused()
    await page.keyboard.press("t")
    await expect(thoughts).to_have_count(0)
    await expect(first.locator("details.folded")).not_to_have_attribute("open", "")
    await page.keyboard.press("$")
    await expect(page.get_by_role("dialog", name="Cost and tokens")).to_contain_text("scripted/a")


async def test_a_narrow_page_has_everything_in_one_column(page: Page, served: Served) -> None:
    await page.set_viewport_size({"width": 360, "height": 740})
    debate = await served.open()
    await served.over(debate)
    await enter(page, served, debate, "#turn-3")
    await expect(page.locator("#turn-3")).to_have_class("speech completed sought")
    await expect(page.locator("#turn-3")).to_be_in_viewport()
    await expect(page.locator(".verdict")).to_be_attached()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await expect(page.get_by_label("Thoughts of the speaker")).to_have_count(0)
    await page.locator("#turn-3 details.folded summary").click()
    await expect(page.locator("#turn-3 details.folded")).to_contain_text("First the strongest point")


async def test_words_come_in_without_moving_anything_or_losing_the_selection(
    page: Page, served: Served, hall: Hall
) -> None:
    hall.says(
        ThinkCue("Hm. " * 30),
        SayCue(f"Some of it is **bold**, and all of it can be selected. {GATE} More."),
        SayCue(f"\n\n1. One\n2. **Two**\n\n{PARAGRAPH}\n\n{PARAGRAPH}\n\nThe end."),
        StallCue(),
    )
    debate = await served.open()
    await enter(page, served, debate)
    speech = page.locator("#turn-1 .words")
    await expect(speech).to_contain_text("selected.")
    # How many times a page is painted until it is complete depends on the machine.
    await page.evaluate("document.fonts.ready")
    await page.evaluate(SHIFTS)
    # Markup is rendered while it streams, and what is selected stays selected.
    await expect(speech.locator("strong")).to_have_text("bold")
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('#turn-1 .tail'))")
    hall.gate.set()
    await expect(speech.locator(".tail")).to_have_text("The end.")
    assert "is bold, and" in await page.evaluate("getSelection().toString()")
    await page.evaluate("getSelection().removeAllRanges()")
    await expect(speech.locator("strong")).to_have_text(["bold", "Two"])
    # It followed: the last word is in sight. Nobody saw anything jump.
    await expect(speech.locator(".tail")).to_be_in_viewport()
    assert sum(await page.evaluate("shifts")) < 0.01
    assert "a: Opening statement" in await page.title()


async def test_following_yields_to_whoever_scrolls_up(page: Page, served: Served, hall: Hall) -> None:
    hall.says(SayCue(f"{PARAGRAPH}\n\n" * 9 + GATE + f" {PARAGRAPH}\n\n" * 6 + "The end."), StallCue())
    debate = await served.open()
    await enter(page, served, debate)
    await expect(page.get_by_role("heading", level=1)).not_to_be_in_viewport()
    await expect(page.get_by_role("button", name="Follow")).to_have_count(0)
    await page.evaluate(REST)
    await page.mouse.move(600, 500)
    await page.mouse.wheel(0, -60)
    await expect(page.get_by_role("button", name="Follow")).to_be_visible()
    # A wheel that is turned up counts, though the page was still on its way down.
    await page.evaluate("scrollBy(0, 40); dispatchEvent(new WheelEvent('wheel', { deltaY: -250 }))")
    at = await page.evaluate(REST)
    hall.gate.set()
    end = page.get_by_text("The end.", exact=True)
    await expect(end).to_be_attached()
    assert await page.evaluate("scrollY") == at
    await page.keyboard.press("f")
    await expect(end).to_be_in_viewport()
    await expect(page.get_by_role("button", name="Follow")).to_have_count(0)


async def test_following_goes_on_from_speech_to_speech_until_the_wheel_is_turned_up(
    page: Page, served: Served, hall: Hall
) -> None:
    await page.set_viewport_size({"width": 1440, "height": 900})
    for number in range(6):
        # Other words in each: what repeats itself ends a debate.
        hall.says(SayCue(" ".join(f"reason{number * 100 + word}" for word in range(70))))
    hall.says(SayCue(f"Begun. {GATE} {PARAGRAPH}"), StallCue())
    await page.add_init_script(HEADERS)
    debate = await served.open(maxRounds=4)
    await enter(page, served, debate)
    follow = page.get_by_role("button", name="Follow")
    await expect(page.locator("#turn-7 .words")).to_contain_text("Begun.")
    await page.evaluate(REST)
    # What the browser moves by itself is no reason to stop.
    await page.evaluate("scrollBy(0, -15)")
    await page.evaluate(REST)
    await expect(follow).to_have_count(0)
    hall.gate.set()
    await expect(page.locator("#turn-7 .tail")).to_contain_text("who decides")
    await page.evaluate(REST)
    await expect(follow).to_have_count(0)
    assert await page.evaluate("document.documentElement.scrollHeight - innerHeight - scrollY") < 2
    heights: list[float] = await page.evaluate("headers")
    assert len(set(heights)) == 1, heights
    await page.mouse.move(600, 500)
    await page.mouse.wheel(0, -60)
    await expect(follow).to_be_visible()


@pytest.mark.parametrize("key", ["ArrowUp", "PageUp", "Home"])
async def test_a_key_that_scrolls_up_stops_following(
    page: Page, served: Served, hall: Hall, key: str
) -> None:
    hall.says(SayCue(f"{PARAGRAPH}\n\n" * 9 + "The end."), StallCue())
    debate = await served.open()
    await enter(page, served, debate)
    await expect(page.get_by_text("The end.", exact=True)).to_be_in_viewport()
    await page.evaluate(REST)
    await page.keyboard.press(key)
    await expect(page.get_by_role("button", name="Follow")).to_be_visible()


async def test_only_the_paragraph_that_is_being_spoken_is_touched(
    page: Page, served: Served, hall: Hall
) -> None:
    hall.says(SayCue(f"{PARAGRAPH}\n\n" * 40))
    hall.says(SayCue(f"One {GATE} " + "word " * 300 + "The end."), StallCue())
    debate = await served.open()
    await enter(page, served, debate)
    await expect(page.locator("#turn-2 .tail")).to_have_text("One")
    await page.evaluate("""() => {
      window.touched = { tail: 0, other: [] };
      new MutationObserver((changes) => {
        for (const { target, type } of changes) {
          const element = target.nodeType === Node.TEXT_NODE ? target.parentElement : target;
          // The line of figures above the speech is told its first token once.
          if (element.closest('.facts')) continue;
          if (element.className === 'tail') touched.tail++;
          else touched.other.push(`${type} ${element.tagName} ${element.className}`);
        }
      }).observe(document.querySelector('.log'), {
        subtree: true, childList: true, characterData: true, attributes: true,
      });
    }""")
    hall.gate.set()
    await expect(page.locator("#turn-2 .tail")).to_contain_text("The end.")
    touched: dict[str, Any] = await page.evaluate("touched")
    assert touched["other"] == []
    # However many words came between two frames, they were added at once.
    assert 0 < touched["tail"] < 300


async def test_what_is_wrong_is_said_with_the_ways_out(page: Page, served: Served, hall: Hall) -> None:
    hall.says(FaultCue(Fault("bad_key", "permanent", message="The key was refused.")))
    debate = await served.open()
    await enter(page, served, debate)
    alert = page.get_by_role("alert")
    await expect(alert.get_by_role("link", name="Open Settings")).to_have_attribute("href", "/settings")
    await expect(alert).to_contain_text("The key was refused.")
    await alert.get_by_role("button", name="Retry turn").click()
    await expect(alert).to_have_count(0)


async def test_another_try_is_said_and_silence_is_noticed(page: Page, served: Served, hall: Hall) -> None:
    hall.says(FaultCue(Fault("overloaded")))
    hall.says(StallCue())
    await page.clock.install()
    debate = await served.open()
    await enter(page, served, debate)
    await expect(page.locator("#turn-1")).to_contain_text("Retry 1 of 3")
    stuck = page.locator(".notice", has_text="debate seems stuck")
    await expect(stuck).to_have_count(0)
    # Sooner than any deadline would cut the call.
    await page.clock.fast_forward(21_000)
    await stuck.get_by_role("button", name="Skip turn").click()
    await expect(page.locator("#turn-1")).to_contain_text("Cut short: skipped.")


async def test_two_failed_tries_of_a_speech_are_worth_a_word(page: Page, served: Served, hall: Hall) -> None:
    hall.says(FaultCue(Fault("overloaded")))
    hall.says(FaultCue(Fault("overloaded")))
    hall.says(StallCue())
    debate = await served.open()
    await enter(page, served, debate)
    stuck = page.locator(".notice", has_text="debate seems stuck")
    await expect(stuck).to_contain_text("2 attempts at this speech have failed.")
    await stuck.get_by_role("button", name="End the debate").click()
    await expect(stuck).to_have_count(0)


async def test_a_line_that_breaks_is_said_and_nothing_is_lost(page: Page, served: Served, hall: Hall) -> None:
    hall.says(SayCue(f"The beginning {GATE} and the end."), StallCue())
    lines: list[WebSocketRoute] = []
    broken = asyncio.Event()

    async def connect(line: WebSocketRoute) -> None:
        if broken.is_set():
            await line.close()
        else:
            line.connect_to_server()
            lines.append(line)

    await page.add_init_script("delete globalThis.SharedWorker")
    await page.route_web_socket("**/ws?*", connect)
    debate = await served.open()
    await enter(page, served, debate)
    line = page.get_by_role("status").filter(has_text="live")
    await expect(line).to_be_visible()
    await expect(page.locator("#turn-1 .words")).to_have_text("The beginning")
    broken.set()
    await lines[0].close()
    await expect(page.get_by_role("status").filter(has_text="Reconnecting…")).to_be_visible()
    hall.gate.set()
    broken.clear()
    await expect(page.locator("#turn-1 .words")).to_have_text("The beginning and the end.")
    await expect(line).to_be_visible()


async def test_a_second_tab_shares_the_connection_of_the_first(
    page: Page, served: Served, hall: Hall, context: BrowserContext, watched: Watched
) -> None:
    hall.says(SayCue(f"The beginning {GATE} and the end."), StallCue())
    debate = await served.open()
    await enter(page, served, debate)
    await expect(page.locator("#turn-1 .words")).to_have_text("The beginning")
    async with await context.new_page() as other:
        await enter(watched(other), served, debate)
        await expect(other.locator("#turn-1 .words")).to_have_text("The beginning")
        assert "\nmoot_viewers 1.0\n" in (await served.http.get("/metrics")).text
        hall.gate.set()
        for tab in (page, other):
            await expect(tab.locator("#turn-1 .words")).to_have_text("The beginning and the end.")
