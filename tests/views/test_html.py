"""One file that needs nothing, does nothing, and shows exactly what was said."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from moot.events import RemarkInjected
from moot.views.html import POLICY, to_html
from moot.views.transcript import transcript
from tests.views.logs import Log, ballot, held, seat

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><script>1</script>",
    "]]><svg onload=alert(1)>",
    "<!-- -->",
    "javascript:alert(1)",
    "\x1b[31m",
    "&lt;b&gt;",
)
TAGS = {
    "html", "head", "meta", "title", "style", "body", "main", "p", "h1", "h2", "h3", "h4", "ul", "li", "b",
    "span", "article", "header", "div", "details", "summary", "section", "i", "em", "svg", "line", "text",
    "circle", "footer", "table", "tr", "td", "blockquote",
}  # fmt: skip


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.said: list[str] = []
        self._inside: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if ("class", "said") in attrs:
            self.said.append("")
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside and tag == self._inside[-1]:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.said[-1] += data


def hostile(text: str) -> str:
    log = Log(motion=text, seats=(seat("for", name=text, colour=text, persona=text), seat("against"))).start()
    log.say("for", text, thought=text).add(RemarkInjected(1, text, by=text)).say("against", text)
    log.judged(ballot("for", 80, 70, 0), ballot("for", 80, 70, 1))
    return to_html(transcript(log.debate, reasoning=True))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stay_words(text: str):
    page = Page(hostile(text))
    assert set(page.tags) <= TAGS
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert not [name for name, _ in page.attributes if name in ("src", "href", "xlink:href", "action")]
    assert all(
        re.fullmatch(r"--seat: #[0-9a-fA-F]{3,6}|width: [\d.]+%", v)
        for n, v in page.attributes
        if n == "style"
    )


def test_the_words_are_exactly_what_was_said():
    text = 'First line.\n\n  Second & <third> "line".\n'
    log = Log().start().say("for", text)
    assert Page(to_html(transcript(log.debate))).said == [text]


def test_the_file_forbids_everything_but_its_own_style():
    page = to_html(transcript(held().debate))
    assert f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">' in page
    assert POLICY.startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert "<script" not in page
    assert "url(" not in page
    assert "@import" not in page
    assert "http://" not in page
    assert "https://" not in page


def test_it_is_made_for_dark_rooms_and_for_paper():
    page = to_html(transcript(held().debate))
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_the_verdict_is_drawn_with_its_doubts():
    log = Log().start().say("for", "Yes.").say("against", "No.")
    log.judged(ballot("for", 80, 70, 0), ballot("against", 70, 75, 1))
    page = to_html(transcript(log.debate))
    assert "Too close to call" in page
    assert "changed its mind when the order changed" in page
    assert page.count("<circle") == 2
    assert 'style="width: 75.0%"' in page


def test_a_debate_without_a_verdict_says_why():
    page = to_html(transcript(Log().start().say("for", "Yes.").debate))
    assert "No verdict." in page


def test_reasoning_is_folded_and_only_there_on_request():
    assert "Lead with safety" not in to_html(transcript(held().debate))
    page = to_html(transcript(held().debate, reasoning=True))
    assert "<details><summary>Thinking" in page
