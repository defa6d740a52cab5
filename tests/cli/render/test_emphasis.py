"""Markdown of speeches in a terminal."""

from __future__ import annotations

import pytest

from moot.cli.render.emphasis import EmphasisReader


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("It is **six hundred** people", ["It is ", ("six hundred", "bold"), " people"]),
        ("first *because* they left", ["first ", ("because", "italic"), " they left"]),
        ("call `a_b` now", ["call ", ("a_b", "cyan"), " now"]),
        ("2 * 3 and snake_case stay", ["2 * 3 and snake_case stay"]),
        ("## The cost", [("The cost", "bold")]),
        ("- one reason", ["• one reason"]),
        ("an **open mark", ["an ", ("open mark", "bold")]),
    ],
)
def test_marks_become_styles(line: str, parts: list[str | tuple[str, str]]) -> None:
    expected = [(part, "") if isinstance(part, str) else part for part in parts]
    assert EmphasisReader().parts(line) == expected


def test_emphasis_goes_on_in_the_next_line_until_a_blank_one() -> None:
    reader = EmphasisReader()
    reader.parts("This is **very")
    assert reader.copy().parts("long** indeed") == [("long", "bold"), (" indeed", "")]
    assert reader.parts("long") == [("long", "bold")]
    reader.parts("")
    assert reader.parts("plain") == [("plain", "")]
