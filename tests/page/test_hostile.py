"""A hundred payloads wherever words come from: nothing runs, nothing is fetched, nothing navigates.

A page that is led astray would log it, ask another host, change its address, open a dialog or hold an element
that we never make. `pwned` tells of whatever runs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext, Page, expect

from moot.core.errors import Fault
from moot.core.terms import Request
from moot.providers.scripted import Cue, FaultCue, SayCue, ScriptedProvider, ThinkCue, improvise
from tests.page.conftest import PATIENCE_MS, watching
from tests.page.payloads import ELEMENTS, PAYLOADS
from tests.web.routes.served import Served, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

SEATS = 4
JUDGES = 2
SHARE = 16
AT_ONCE = [PAYLOADS[start : start + SHARE] for start in range(0, len(PAYLOADS), SHARE)]
SPLIT = PAYLOADS[::5]
LONGEST_NAME = 100
LONGEST_TOPIC = 500
PWNED = "window.pwned = () => (window.pwnedBy = 'somebody')"
# What none of our pages makes, and what would lead from a harmless element to somewhere else.
ALIEN = """(root) => {
  const elements = 'iframe, object, embed, portal, img, image, picture, video, audio, source, base, meta,'
    + 'style, title, math, marquee, keygen, template, noscript:not(#app > *), xmp, plaintext, x,'
    + 'custom-element, foreignObject, animate, svg a, svg script, svg use';
  const leading = '[autofocus], [action], [formaction], [ping], [srcdoc], [background], [contenteditable]';
  const found = [...root.querySelectorAll(`${elements}, ${leading}`)].map((one) => one.outerHTML);
  for (const one of root.querySelectorAll('*')) {
    for (const { name, value } of one.attributes) {
      if (name.startsWith('on')) found.push(`${name}=${value}`);
      if (/href$/.test(name) && !/^(https:|mailto:|[/#?])/i.test(value)) found.push(value);
      if (name === 'style' && /url\\(/i.test(value)) found.push(value);
    }
  }
  return found;
}"""
LOOK = f"""() => {{
  const alien = ({ALIEN})(document.body);
  return {{ pwnedBy: window.pwnedBy ?? '', alien, scripts: document.scripts.length }};
}}"""
ELSEWHERE = (
    ("/debates", "main"),
    ("/statistics", "main"),
    ("/debate/{id}/verdict", ".verdict"),
    ("/debate/{id}/inspect#call-2", "[aria-label='What came back']"),
    ("/debate/{id}/stage", "main"),
    ("/debate/{id}/replay#turn-3", "#turn-3"),
)
GROW = """async (payloads) => {
  const { Growing } = await import('/static/parts/prose.js');
  const { html, render, signal } = await import('/vendor/preact.js');
  const all = document.body.appendChild(document.createElement('div'));
  all.id = 'grown';
  const half = document.body.appendChild(document.createElement('main'));
  const shown = () => new Promise(requestAnimationFrame);
  const texts = payloads.map(() => signal(''));
  const paint = (live) => texts.forEach((text, place) => {
    render(html`<${Growing} text=${text} live=${live} />`, all.children[place]);
  });
  payloads.forEach(() => all.append(document.createElement('main')));
  paint(true);
  // Twice: the second begins behind a paragraph that is finished.
  const whole = payloads.map((payload) => `${payload}\\n\\n${payload}\\n\\n`);
  const longest = Math.max(...whole.map((text) => text.length));
  for (let end = 0; end <= longest; end++) {
    texts.forEach((text, place) => (text.value = whole[place].slice(0, end)));
    await shown();
    // And as if it had broken off here.
    for (const text of payloads.filter(({ length }) => end < length)) {
      render(html`<${Growing} text=${signal(text.slice(0, end))} live=${false} />`, half);
    }
  }
  paint(false);
  await shown();
}"""
NAKED = f"""(payloads) => payloads.filter((payload) => {{
  const raw = new DOMParser().parseFromString(`${{payload}}<p>and so on`, 'text/html');
  const whole = raw.documentElement;
  return !({ALIEN})(whole).length && !raw.scripts.length && !raw.querySelector('link');
}})"""


class Hostile(ScriptedProvider):
    """Every speaker, every judge and every breakdown says what it was given."""

    def __init__(self) -> None:
        super().__init__(self._say)
        self.words: Sequence[str] = ()
        self.breaks = False

    def _say(self, request: Request) -> Iterable[Cue]:
        if self.breaks:
            self.breaks = False
            yield FaultCue(Fault("bad_key", "permanent", message=" ".join(self.words)))
        if request.schema is not None:
            ballot = json.loads("".join(cue.text for cue in improvise(request) if isinstance(cue, SayCue)))
            yield SayCue(json.dumps({**ballot, "reasoning": " ".join(self.words)}))
            return
        # Each in an order of their own: a debate that goes in circles would have no judges.
        first = len(self.calls) * 3 % len(self.words)
        words = "\n\n".join([*self.words[first:], *self.words[:first]])
        yield ThinkCue(words)
        yield SayCue(words)


def names(words: Sequence[str]) -> list[str]:
    """For every seat and judge: two payloads in each, a short one and a long one, as far as they fit."""
    usable = sorted((word for word in words if word.isprintable()), key=len)
    places = [place % len(usable) for place in range(SEATS + JUDGES)]
    pairs = [f"{usable[place]} {usable[-1 - place]}" for place in places]
    return [f"{pair[: LONGEST_NAME - 2]} {number}" for number, pair in enumerate(pairs)]


async def opened(served: Served, provider: Hostile, words: Sequence[str]) -> str:
    provider.words, provider.breaks = words, True

    def model(name: str) -> dict[str, str]:
        return {"provider": "scripted", "modelId": name}

    first, second = ({"name": name, "model": model("j")} for name in names(words)[SEATS:])
    body: dict[str, Any] = {
        "topic": " ".join(word for word in words if word.isprintable())[:LONGEST_TOPIC].strip(),
        "format": "free",
        "participants": [
            {
                "name": name,
                "model": model("a"),
                "position": ("for", "against")[place % 2],
                "persona": " ".join(words),
            }
            for place, name in enumerate(names(words)[:SEATS])
        ],
        "judge": first,
        "judges": [second],
        "config": {"maxRounds": 1, "autoProgress": False, "recuse": False},
    }
    reply = await served.http.post("/api/v1/debates", json=body)
    assert reply.status_code == 201, reply.text
    debate: str = reply.json()["id"]
    for word in words:
        assert (await served.post(debate, "inject", {"text": word})).status_code == 202
    await served.until(debate, lambda status: status["status"] == "awaiting_arguments")
    return debate


async def clean(page: Page, url: str, scripts: int = 1) -> None:
    assert page.url == url
    assert await page.evaluate(LOOK) == {"pwnedBy": "", "alien": [], "scripts": scripts}


async def held(page: Page, served: Served, debate: str, words: Sequence[str]) -> None:
    """A debate from its queue of remarks over a breakdown to the verdict, as it is seen live."""
    url = f"{served.url}/debate/{debate}"
    await page.goto(url)
    await expect(
        page.get_by_role("region", name="Waiting to be heard").get_by_role("listitem")
    ).to_have_count(len(words))
    await served.post(debate, "rounds", {"action": "next_round"})
    await expect(page.get_by_role("alert")).to_contain_text(words[0])
    await clean(page, url)
    await served.post(debate, "retry")
    await expect(page.locator("#verdict .headline")).to_be_visible()
    await clean(page, url)
    await page.reload()
    await expect(page.locator("#verdict .headline")).to_be_visible()
    await expect(page.locator("article.speech.completed")).to_have_count(SEATS)
    await clean(page, url)


async def kept(page: Page, served: Served, debate: str, folder: Path, form: str, scripts: int) -> None:
    """What is taken along and opened from the disk."""
    file = folder / f"{form}.html"
    file.write_bytes((await served.get(debate, f"transcript?format={form}&reasoning=true")).content)
    await page.goto(file.as_uri())
    if form == "replay":
        await page.get_by_role("slider").press("End")
        await expect(page.locator("#verdict .headline")).to_be_visible()
    await clean(page, file.as_uri(), scripts)


@pytest.mark.timeout(900)
async def test_words_stay_words_live_and_after_reload_and_in_what_is_kept(
    tmp_path: Path, context: BrowserContext, complaints: list[str]
) -> None:
    provider = Hostile()
    await context.add_init_script(PWNED)
    async with serving(tmp_path, provider=provider) as served, await context.new_page() as page:
        watching(served, complaints)(page)
        page.set_default_timeout(PATIENCE_MS)
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        context.on("page", lambda other: complaints.append(f"opened: {other.url}"))
        for words in AT_ONCE:
            debate = await opened(served, provider, words)
            await held(page, served, debate, words)
            await kept(page, served, debate, tmp_path, "html", scripts=0)
            assert not complaints
        await kept(page, served, debate, tmp_path, "replay", scripts=2)
        for path, shown in ELSEWHERE:
            url = served.url + path.format(id=debate)
            await page.goto(url)
            await expect(page.locator(shown).first).to_contain_text("pwned")
            await clean(page, url)
        await page.goto(f"{served.url}/?from={debate}")
        await expect(page.locator("#motion")).to_have_value(re.compile("pwned"))
        await clean(page, f"{served.url}/")
    assert not complaints


async def test_half_a_payload_is_as_harmless_as_the_whole(page: Page, served: Served) -> None:
    await page.add_init_script(PWNED)
    await page.goto(f"{served.url}/settings")
    await page.evaluate(GROW, list(SPLIT))
    assert await page.locator("#grown > main").count() == len(SPLIT)
    await clean(page, f"{served.url}/settings")


async def test_where_nobody_takes_care_every_payload_is_noticed(page: Page) -> None:
    """Or the tests above would show nothing."""
    assert await page.evaluate(NAKED, list(ELEMENTS)) == []
