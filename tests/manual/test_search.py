"""What is found in the manual, in which order, and what is shown of it."""

from __future__ import annotations

from moot.manual.search import LONGEST_EXCERPT, MOST_RESULTS, IndexedSection, find

SECTIONS = (
    IndexedSection("a.html#a", "Judging", "Panels", "A judge may be a model. The cost limit holds here too."),
    IndexedSection("b.html#b", "Costs", "The cost limit", "It is never exceeded."),
    IndexedSection("c.html#c", "Changes", "Fixed", "A cost limit too small is refused.", is_background=True),
    IndexedSection("d.html#d", "Settings", "Variables", "MOOT_DATA is the folder.\nmoot serve --port 9000"),
    IndexedSection("e.html#e", "语言", "辩论", "模型辩论一个动议。"),
)


def found(query: str) -> list[str]:
    return [result.address for result in find(query, SECTIONS)]


def test_titles_come_before_text_and_guides_before_background() -> None:
    assert found("cost limit") == ["b.html#b", "a.html#a", "c.html#c"]


def test_words_match_from_their_beginning_in_any_order() -> None:
    assert found("LIM cos") == ["b.html#b", "a.html#a", "c.html#c"]
    assert found("ost") == []
    assert found("data") == found("moot_data") == found("--port") == ["d.html#d"]
    assert found("动议") == ["e.html#e"]


def test_where_no_section_has_all_the_words_those_with_most_of_them_are_found() -> None:
    assert found("exceeded limit elephants") == ["b.html#b"]
    assert found("") == found("?!") == found("elephants") == []


def test_the_sentence_around_the_words_is_shown_with_the_words_marked() -> None:
    (first, *_) = find("holds limit", SECTIONS)
    assert first.excerpt == ("The cost ", "limit", " ", "holds", " here too.")
    assert first.excerpt_html == "The cost <mark>limit</mark> <mark>holds</mark> here too."


def test_what_is_shown_is_escaped_and_short() -> None:
    section = IndexedSection("x.html", "X", "X", f"{'word ' * 99}<b>needle</b> {'word ' * 99}")
    (result,) = find("needle", [section])
    assert "&lt;b&gt;<mark>needle</mark>&lt;/b&gt;" in result.excerpt_html
    assert len("".join(result.excerpt)) <= LONGEST_EXCERPT + 2


def test_there_are_no_more_results_than_one_reads() -> None:
    assert len(find("same", [IndexedSection("x", "Same", "Same", "same")] * 99)) == MOST_RESULTS
