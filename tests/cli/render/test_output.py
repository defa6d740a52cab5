"""How wide text is in a terminal."""

from __future__ import annotations

from moot.cli.render.output import pad, shorten


def test_wide_letters_are_counted_as_wide():
    assert pad("漢字", 6) == "漢字  "
    assert shorten("漢字漢字", 5) == "漢字…"
