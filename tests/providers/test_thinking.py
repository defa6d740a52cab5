"""Thoughts between tags, however the tags are cut, and the tags that are missing."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.providers.thinking import Sorted, Tags


def sort(*texts: str) -> list[Sorted]:
    tags = Tags()
    return [found for text in texts for found in tags.feed(text)] + tags.close()


def heard(*texts: str) -> tuple[str, str]:
    """What was thought and what was said, in the end."""
    thought = said = ""
    for kind, words in sort(*texts):
        if kind == "taken_back":
            thought, said = said, ""
        elif kind == "text":
            said += words
        else:
            thought += words
    return thought, said


@pytest.mark.parametrize(
    ("text", "thought", "said"),
    [
        ("Yes.", "", "Yes."),
        ("<think>Hm.</think>Yes.", "Hm.", "Yes."),
        ("\n <think>\nHm.\n</think>\n\nYes.", "Hm.\n", "Yes."),
        ("<think>\n\n</think>\n\nYes.", "", "Yes."),
        ("<think></think>", "", ""),
        ("<think>Hm.", "Hm.", ""),
        ("<think>Hm.</thi", "Hm.</thi", ""),
        ("<think>a <b> c</think>d", "a <b> c", "d"),
        ("Hm.</think>Yes.", "Hm.", "Yes."),
        ("Hm.\n</think>\n\nYes.", "Hm.\n", "Yes."),
        ("</think>Yes.", "", "Yes."),
        ("\n\n</think>\n\nYes.", "", "Yes."),
        ("Hm.</think>", "Hm.", ""),
        ("<think>a</think><think>b</think>Yes.", "a\n\nb", "Yes."),
        ("<think>a</think>\n\n<think>\n\n</think>\n\nYes.", "a", "Yes."),
        ("<think>a</think> <think>\nb", "a\n\nb", ""),
        ("<think>a</think></think>Yes.", "a", "Yes."),
        ("a</think><think>b</think>Yes.", "a\n\nb", "Yes."),
        ("<think>a</think> <b>Yes</b>", "a", "<b>Yes</b>"),
        ("<think>a</think> <thi", "a", "<thi"),
        ("<think>Hm.</think>Yes <think>no</think>", "Hm.", "Yes <think>no</think>"),
        ("<think>Hm.</think>Yes </think>", "Hm.", "Yes </think>"),
        ("Hm.</think>Yes </think>", "Hm.", "Yes </think>"),
        ("The tag <think> opens, </think> closes.", "", "The tag <think> opens, </think> closes."),
        ("\n\n1, 2", "", "\n\n1, 2"),
        ("   ", "", "   "),
        ("<", "", "<"),
        ("<thin", "", "<thin"),
        ("a < b, a <t> b", "", "a < b, a <t> b"),
        ("<thinking> is hard", "", "<thinking> is hard"),
        ("<<think>x", "", "<<think>x"),
    ],
)
def test_what_was_thought_and_what_was_said(text: str, thought: str, said: str) -> None:
    assert heard(text) == (thought, said)
    assert heard(*text) == (thought, said)


PIECES = st.sampled_from(["<think>", "</think>", "<", "</th", "ink>", "think", " ", "\n", "word", ">"])


@given(st.lists(PIECES, max_size=12), st.data())
def test_any_cut_gives_the_same_words(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    ends = [0, *cuts, len(text)]
    assert heard(*(text[a:b] for a, b in itertools.pairwise(ends))) == heard(text)


@given(st.lists(PIECES, max_size=12))
def test_no_word_is_lost(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert "".join(heard(text)).count("word") == text.count("word")


def test_words_are_held_back_no_longer_than_they_may_be_a_tag() -> None:
    tags = Tags()
    assert tags.feed(" <th") == []
    assert tags.feed("e") == [Sorted("text", " <the")]
    assert tags.feed(" end <") == [Sorted("text", " end ")]
    assert tags.feed("b>") == [Sorted("text", "<b>")]


def test_once_it_speaks_only_an_angle_bracket_is_of_interest() -> None:
    tags = Tags()
    assert not tags.at_ease
    tags.feed("Yes")
    assert tags.at_ease
    tags.feed("</thi")
    assert not tags.at_ease
    tags.feed("nk>")
    assert not tags.at_ease
    tags.feed(" \nSo")
    assert tags.at_ease
