"""One file that needs nothing, does nothing, and shows exactly what was said."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from msgspec.structs import replace

from moot.core.events import DebateEnded, PointRaised, RemarkInjected, VerdictReached
from moot.core.terms import DebateSetup, PollSettings
from moot.judging.audience_votes import verdict
from moot.views.transcript import transcript
from moot.views.transcript_html import POLICY, to_html
from moot.views.transcript_markdown import to_markdown
from tests.views.logs import Log, ballot, held, judge, seat

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
FRAGMENT = re.compile(r"#s\d+")
STYLE = re.compile(r"(--seat: #[0-9a-fA-F]{3,6})?(; )?(width: [\d.]+%)?")
TAGS = {
    "html", "head", "meta", "title", "style", "body", "main", "p", "h1", "h2", "h3", "h4", "ul", "li", "b",
    "span", "article", "header", "div", "details", "summary", "section", "i", "em", "svg", "line", "text",
    "circle", "footer", "table", "tr", "td", "blockquote", "a", "bdi", "ol", "caption", "th",
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
    """Somebody writes this wherever anything can be written."""
    attacker = seat("for", name=text, colour=text, persona=text, team=text)
    panel = (replace(judge("ann"), name=text), replace(judge("bob"), recused=text))
    polls = DebateSetup(polls=PollSettings())
    log = Log(motion=text, seats=(attacker, seat("against")), judges=panel, setup=polls).start()
    log.poll("before", *["undecided"] * 12).say("for", text, thought=text)
    log.add(PointRaised(1, 1, "for", True, text), RemarkInjected(1, text, by=text, to="for", question=True))
    log.say("against", f"{text} {text} {text}", clipped=1).poll("after", *["for"] * 12)
    papers = [
        replace(ballot("for", 80, 70, order, by), reasoning=text, criteria={text: text}, cites=(1, 2),
                rubric={text: {"for": 8, "against": 7}}, ranking=("for", "against"))
        for by in ("ann", "eve") for order in (0, 1)
    ]  # fmt: skip
    log.judged(*papers[:2]).judged_again((panel[0], replace(judge("eve"), name=text)), *papers)
    return to_html(transcript(log.debate, reasoning=True))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stay_words(text: str):
    page = Page(hostile(text))
    assert set(page.tags) <= TAGS
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert not [name for name, _ in page.attributes if name in ("src", "xlink:href", "action")]
    assert all(FRAGMENT.fullmatch(value) for name, value in page.attributes if name == "href")
    assert all(STYLE.fullmatch(value) for name, value in page.attributes if name == "style")


def test_the_words_are_exactly_what_was_said():
    text = 'First line.\n\n  Second & <third> "line".\n'
    log = Log().start().say("for", text)
    [said] = Page(to_html(transcript(log.debate))).said
    assert said.split() == text.split()


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
    assert "changed its mind when the labels were swapped" in page
    assert page.count("<circle") == 2
    assert 'style="width: 75.0%"' in page


def test_a_debate_without_a_verdict_says_why():
    page = to_html(transcript(Log().start().say("for", "Yes.").debate))
    assert "No verdict." in page


def test_reasoning_is_folded_and_only_there_on_request():
    assert "Lead with safety" not in to_html(transcript(held().debate))
    page = to_html(transcript(held().debate, reasoning=True))
    assert "<details><summary>Thinking" in page


def test_a_coin_flip_names_no_winner_and_lists_no_remarks_of_one_order_in_html_and_markdown():
    log = Log(judges=(judge(small=True),)).start().say("for", "Yes.").say("against", "No.")
    cast = [replace(ballot("for", 70, 70, order), criteria={"logic": "For is stronger"}) for order in (0, 1)]
    page = transcript(log.judged(*cast).debate)
    html, markdown = to_html(page), to_markdown(page)
    for text in (html, markdown):
        assert "too small to tell the sides apart" in text
        assert "For is stronger" not in text
    assert '<p class="facts">agreement 100%' in html
    assert "**Winner:** none: a coin flip" in markdown


def judged_by_three() -> Log:
    panel = (judge("ann"), judge("bob"), judge("cid"))
    log = Log(judges=panel).start().say("for", "Yes.").say("against", "No.")
    cast = [
        replace(ballot("for", 80, 70, order, by), reasoning=f"{by} in order {order}.", cites=(1,))
        for by in ("ann", "bob")
        for order in (0, 1)
    ]
    flipped = (ballot("for", 80, 70, 0, "cid"), ballot("against", 70, 80, 1, "cid"))
    return log.judged(*cast, *flipped)


def test_each_judge_has_a_card_with_its_reasons_and_the_speeches_they_rest_on():
    page = to_html(transcript(judged_by_three().debate))
    assert page.count('<div class="ballot"') == 3
    assert "ann in order 0." in page
    assert "<summary>In the second reading: For</summary>" in page
    assert "For, then Against: changed its mind in the second reading" in page
    assert 'id="s1"' in page
    assert '<a href="#s1">S1 <bdi>For</bdi>, Opening statement</a>' in page


def test_a_speech_that_a_judge_names_is_a_link():
    log = Log().start().say("for", "Yes.").say("against", "No.")
    said = "Cedar did not answer S1; S9 was never given."
    cast = [replace(ballot("for", 80, 70, order), reasoning=said) for order in (0, 1)]
    page = to_html(transcript(log.judged(*cast).debate))
    assert 'did not answer <a href="#s1">speech 1</a>; S9 was never given.' in page


def test_every_link_of_the_page_leads_somewhere():
    page = Page(to_html(transcript(judged_by_three().debate)))
    places = {value for name, value in page.attributes if name == "id"}
    links = {value for name, value in page.attributes if name == "href"}
    assert links
    assert links <= {f"#{place}" for place in places}


def test_a_debate_that_was_judged_again_shows_both_verdicts_the_first_first():
    log = held()
    log.judged_again((judge("eve"),), *(ballot("against", 60, 70, order, "eve") for order in (0, 1)))
    page = to_html(transcript(log.debate))
    first, again = page.index("For wins"), page.index("Against wins")
    assert first < page.index("<h2>Judged again</h2>") < again


def test_the_votes_are_drawn_as_two_bars_and_a_table_of_who_moved():
    log = Log(setup=DebateSetup(polls=PollSettings())).start()
    log.poll("before", *["undecided"] * 6, *["for"] * 6).say("for", "Yes.").say("against", "No.")
    log.poll("after", *["against"] * 6, *["for"] * 6)
    page = to_html(transcript(log.debate))
    assert page.count('<div class="bar">') == 2
    assert "Against, by a swing of 50 points" in page
    assert '<td class="moved d4">6</td>' in page
    assert '<td class="kept d4">6</td>' in page
    assert "<td>+50</td>" in page
    assert "<td>6 of 12</td>" in page


def test_sealed_votes_are_only_counted():
    log = Log(setup=DebateSetup(polls=PollSettings())).start().poll("before", *["for"] * 7, *["against"] * 5)
    page = to_html(transcript(log.debate))
    assert "Before the debate: 12 votes, sealed" in page
    assert '<div class="bar">' not in page


def test_words_beyond_the_budget_are_folded_away():
    log = Log().start().say("for", "One two three. Four five.", clipped=3, over_length=True)
    page = to_html(transcript(log.debate))
    assert Page(page).said == ["One two three."]
    assert '<div class="unheard" dir="auto">Four five.</div>' in page
    assert "only the first 3 words count" in page


def test_what_went_wrong_is_told_with_the_speech_it_went_wrong_in():
    log = Log().start().say("for", "One two three.", over_length=True)
    page = to_html(transcript(log.debate))
    assert "<h2>Issues</h2>" in page
    assert 'exceeded the word budget: <a class="mark" href="#s1">S1</a>' in page
    assert "<h2>Issues</h2>" not in to_html(transcript(held().debate))


def test_where_the_audience_decides_its_reasons_are_told_once():
    log = Log(setup=DebateSetup(winning="audience", polls=PollSettings())).start()
    log.poll("before", *["undecided"] * 12).say("for", "Yes.").say("against", "No.")
    log.poll("after", *["for"] * 12)
    found = verdict(log.debate)
    assert found is not None
    log.add(VerdictReached(found), DebateEnded("rounds"))
    page = to_html(transcript(log.debate))
    assert "For wins the vote" in page
    assert page.count("Counted over 12 people") == 1
    assert "People’s choice" not in page
    assert page.count('<div class="bar">') == 2
