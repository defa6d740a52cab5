"""What a debate will be like, before its first word."""

from __future__ import annotations

from msgspec.structs import replace

from moot import formats
from moot.core.terms import DebateSetup, Judge, Model, Money
from moot.testing.event_factories import seats, table
from moot.views.preview import TOOLS_WARNING, TOOLS_WARNING_LIMITED, preview, usual_order


def test_the_order_names_seats_by_their_places() -> None:
    found = preview(table("oxford", seats=seats("for", "against"))).order
    assert [speech.seat for speech in found[:4]] == [0, 1, 0, 1]
    assert (found[0].title, found[0].tone, found[0].words) == ("Opening statement", "opening", 200)
    assert found[-1].tone == "closing"


def test_a_verdict_of_a_small_judge_is_doubted_beforehand() -> None:
    judge = Judge("judge_1", "Judge", Model("local", "tiny", small=True))
    found = preview(replace(table("oxford"), judges=(judge,)))
    assert "The judge is a very small model: take its verdict lightly." in found.warnings


def test_that_tools_are_not_in_the_estimate_is_said() -> None:
    plain = table("oxford")
    equipped = replace(plain, setup=DebateSetup(tools=("search",)))
    assert preview(plain).warnings == ()
    assert preview(equipped).warnings == (TOOLS_WARNING,)
    limited = replace(equipped, limits=replace(plain.limits, cost_limit=Money(1)))
    assert preview(limited).warnings == (TOOLS_WARNING_LIMITED,)


def test_every_format_has_a_usual_order_on_its_own_chairs() -> None:
    for name in formats.names():
        fmt = formats.load(name)
        order = usual_order(fmt)
        assert {speech.seat for speech in order} == set(range(len(fmt.chairs))), name
        assert all(speech.words for speech in order), name
