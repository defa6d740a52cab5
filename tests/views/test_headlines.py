"""The headline names the model that won, and the seat where there are more than two parties."""

from __future__ import annotations

from msgspec.structs import replace

from moot import formats
from moot.core.terms import DebateVerdict
from moot.views.headlines import verdict_headline
from tests.views.logs import Log, seat


def test_among_three_parties_the_seat_of_the_winner_stands_in_brackets() -> None:
    seats = (
        seat("for", "Ann", model="a"),
        seat("against", "Bob", model="b"),
        replace(seat("for", "Cid", model="c"), id="third"),
    )
    log = (
        Log(seats=seats, format=replace(formats.load("oxford"), parties="seats"))
        .start()
        .verdict(DebateVerdict("win", "third", "judges"))
    )
    assert log.debate.verdict is not None
    assert verdict_headline(log.debate, log.debate.verdict) == "c wins (Cid)"
