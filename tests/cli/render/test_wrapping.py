"""Lines that fit the terminal, printed while a speech grows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from moot.cli.render.wrapping import LineFlow, wrap

texts = st.text(alphabet=st.sampled_from("ab cde漢 \n"), max_size=120)


@given(texts, st.integers(min_value=2, max_value=20))
def test_folded_lines_fit_and_lose_no_letter(text: str, width: int):
    lines = wrap(text, width)
    assert all(cell_len(words) <= width for _, words in lines)
    assert "".join("".join(words.split()) for _, words in lines) == "".join(text.split())
    assert [end for end, _ in lines] == sorted({end for end, _ in lines})


@given(texts, st.integers(min_value=4, max_value=20), st.lists(st.integers(0, 120)))
def test_lines_given_as_they_come_are_those_of_the_whole(text: str, width: int, cuts: list[int]):
    flow, given_lines, start = LineFlow(width), [], 0
    for cut in [*sorted(cuts), len(text)]:
        flow.add(text[start:cut])
        start = max(start, cut)
        given_lines += flow.ready()
    given_lines += flow.finish(text)[0]
    whole = [words for _, words in wrap(text.strip(), width)]
    assert given_lines == whole


def test_the_last_lines_wait_until_the_speech_is_over():
    flow = LineFlow(10)
    flow.add("one two three four five six seven eight nine ten eleven")
    early = flow.ready()
    assert early == ["one two", "three four"]
    late, note = flow.finish("one two three four five six")
    assert (late, note) == (["five six"], "")


def test_words_that_are_cut_back_after_they_were_printed_are_confessed():
    flow = LineFlow(10, held=0)
    flow.add("one two three four five six")
    flow.ready()
    assert flow.finish("one two") == ([], "The last words above were cut off and do not count.")
    other = LineFlow(10, held=0)
    other.add("one two three four five six")
    other.ready()
    lines, note = other.finish("Something else")
    assert (lines, note) == (["Something", "else"], "As it was finally given:")
