"""Nothing that a terminal would obey gets through."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from moot.views.text import clean, clean_json, single_line

HOSTILE = (
    "\x1b[31mred\x1b[0m",
    "\x1b]0;a title\x07",
    "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "\x1b[2J\x1b[H",
    "\x9b31mred",
    "\x9d0;title\x9c",
    "\x1bP+q544e\x1b\\",
    "wipe\rWIPE",
    "back\b\b\b\bspace",
    "bell\x07",
    "\x00nul\x7fdel",
    "\u202eevil\u202c",
    "\u2066isolated\u2069",
    "\x1b[6n\x1b[c",
    "\ud800 lone",
)


def obeyed(text: str) -> list[str]:
    kept = "\n\t"
    return [char for char in text if unicodedata.category(char) in ("Cc", "Cs") and char not in kept]


def test_no_control_character_is_left_of_any_hostile_string():
    for text in HOSTILE:
        assert obeyed(clean(text)) == []
        assert "\u202e" not in clean(text)


def test_words_line_breaks_tabs_and_scripts_are_kept():
    text = "Füße\tund 漢字\n👩‍👩‍👧 naïve ‎العربية‎"
    assert clean(text) == text


def test_unusual_line_breaks_become_usual_ones():
    assert clean("a\r\nb\x0bc\u2028d") == "a\nb\nc\nd"


@given(st.text(), st.integers(min_value=0))
def test_it_makes_no_difference_where_a_stream_is_cut(text: str, cut: int):
    cut %= len(text) + 1
    assert clean(text[:cut]) + clean(text[cut:]) == clean(text)


@given(st.text())
def test_a_line_is_one_line(text: str):
    assert "\n" not in single_line(text)
    assert obeyed(single_line(text)) == []


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_clean_json_means_the_same(text: str):
    written = json.dumps({"text": text}, ensure_ascii=False)
    assert json.loads(clean_json(written)) == {"text": text}
    assert obeyed(clean_json(written)) == []
