"""The sections of the view: what is sealed is in none."""

from __future__ import annotations

from moot.api.page_view.sections import view
from moot.core.visibility import OWNER, Viewer
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
