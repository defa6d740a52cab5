"""The stylesheets of the page keep to its scale of text sizes."""

from __future__ import annotations

import re
from pathlib import Path

import moot.web

CSS = Path(moot.web.__file__).parent / "static" / "css"
SIZE = re.compile(r"\bfont(?:-size)?:\s*([^;}]+)")
ABSOLUTE = re.compile(r"\d(?:rem|px|vw|vh)\b")
STAGE = "stage.css"
"""The stage is read from the far end of a room: its sizes follow the screen."""


def test_every_size_of_text_is_one_of_the_scale() -> None:
    own = [
        f"{file.name}: {value}"
        for file in CSS.glob("*.css")
        if file.name != STAGE
        for value in SIZE.findall(file.read_text())
        if ABSOLUTE.search(value)
    ]
    assert not own
