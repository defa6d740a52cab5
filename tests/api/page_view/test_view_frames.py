"""Frames of the view: no needless ones, and the same wherever one begins."""

from __future__ import annotations

from random import Random

import pytest

from moot.api.page_view.view_frames import ViewFrames, patches
from tests.api.viewers import viewers
from tests.api.watching import NAMES, watch
from tests.golden.reading import log_of


@pytest.mark.parametrize("name", NAMES)
def test_frames_do_not_depend_on_what_was_framed_before(name: str) -> None:
    """Sections are kept from event to event; a page of earlier events may be framed in between."""
    records = log_of(name)
    for viewer in viewers(watch(records)[-1].after)[:4]:
        seen = watch(records, viewer)
        fresh = [ViewFrames(viewer).frames(one) for one in seen]
        dialect, dice = ViewFrames(viewer), Random(name)
        assert [dialect.frames(one) for one in seen] == fresh
        for start in dice.choices(range(len(seen)), k=10):
            assert [dialect.frames(one) for one in seen[start : start + 10]] == fresh[start : start + 10]


def test_what_has_grown_is_added_and_what_is_gone_is_put_anew() -> None:
    old = {"turns": {"1": {"text": "So", "flags": []}, "2": {"text": ""}}, "now": {"open": ["pause"]}}
    new = {"turns": {"1": {"text": "So it", "flags": ["a"]}, "2": {"text": "x"}}, "now": {"open": []}}
    assert list(patches(old, new)) == [
        ("add", ("turns", "1", "text"), " it"),
        ("put", ("turns", "1", "flags"), ["a"]),
        ("put", ("turns", "2", "text"), "x"),
        ("put", ("now", "open"), []),
    ]
    assert list(patches(old, {**old, "turns": {"2": {"text": ""}}})) == [
        ("put", ("turns",), {"2": {"text": ""}})
    ]
    assert list(patches(old, old)) == []
