"""The sections of the view: what is sealed is in none."""

from __future__ import annotations

from moot.api.page_view.sections import view
from moot.core.visibility import OBSERVER, OWNER, Viewer
from tests.api.watching import watch
from tests.golden.reading import log_of


def test_what_is_sealed_is_not_counted_for_anybody() -> None:
    records = log_of("oxford-swing")
    for one in watch(records, OWNER):
        polls = view(one.after, OWNER)["polls"]
        if one.after.polls and any(poll.closed_at is None for poll in one.after.polls):
            assert polls["result"] is None


def test_judges_read_nobodys_ballot() -> None:
    records = log_of("people")
    for one in watch(records, Viewer("judge")):
        shape = view(one.after, Viewer("judge"))
        assert shape["bench"] == {}
        for verdict in shape["verdicts"].values():
            assert [verdict[name] for name in ("ballots", "opinions", "leanings")] == [[], [], []]


def test_why_the_speeches_ended_early_is_told_from_then_on() -> None:
    told = [view(one.after, OBSERVER)["now"].get("earlyEnd") for one in watch(log_of("stalemate"), OBSERVER)]
    assert told[0] is None
    assert told[-1] == "Stopped after speech 3 of 10: both sides repeated themselves."


def test_a_debate_held_to_its_end_has_no_such_member() -> None:
    assert all("earlyEnd" not in view(one.after, OWNER)["now"] for one in watch(log_of("free"), OWNER))
