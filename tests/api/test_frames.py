"""The log as it is, for those who may see it."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from moot.api.frames import NativeFrames, as_sse
from moot.api.shapes.records import EventPage
from moot.api.v1.replies import event_page_reply
from moot.core.events import BudgetWarned, decode_event
from moot.core.terms import DebateSetup, Money
from moot.core.visibility import OBSERVER, OWNER, Viewer
from tests.api.watching import EXTENDED, NAMES, PLAIN, sent, told, watch
from tests.golden.reading import log_of
from tests.support.for_each import for_each
from tests.views.logs import Log, held

NATIVE = NativeFrames()


def entries(log: Log, viewer: Viewer = OBSERVER) -> list[Any]:
    return [sent(frame) for _, frame in told(NATIVE, watch(log.records, viewer))]


@for_each("name", NAMES)
def test_every_event_is_told_as_it_was_written(name: str):
    seen = watch(log_of(name), OWNER)
    frames = told(NATIVE, seen)
    assert [int(id) for id, _ in frames] == list(range(1, len(seen) + 1))
    for one, (id, frame) in zip(seen, frames, strict=True):
        data = sent(frame)
        assert (data["seq"], frame.event) == (int(id), "")
        if one.event is None:
            # What a person writes and does not say is hidden from owners, too.
            assert data["event"] == {"type": "hidden"}
            continue
        assert decode_event(json.dumps(data["event"])) == one.event


def test_what_a_viewer_may_not_see_leaves_its_place():
    log = held(setup=DebateSetup(show_reasoning=False))
    seen = entries(log)
    assert [entry["seq"] for entry in seen] == list(range(1, log.debate.seq + 1))
    assert {"type": "hidden"} in [entry["event"] for entry in seen]
    assert "Lead with safety" not in str(seen)
    assert "Lead with safety" in str(entries(log, OWNER))


def test_amounts_are_strings():
    log = Log().add(BudgetWarned(Money("3.10"), Money("3.25")))
    assert entries(log)[-1]["event"] == {"type": "budget.warned", "threshold": "3.10", "spent": "3.25"}


def test_a_frame_has_no_name_and_the_time_of_the_log():
    line = as_sse(told(NATIVE, watch(Log().start().records))[1][1], "2")
    assert line == (
        b'id: 2\ndata: {"seq":2,"at":"2026-03-01T12:00:02Z","event":{"type":"debate.started"}}\n\n'
    )


def test_the_log_goes_on_after_the_end():
    assert not any(NATIVE.ends(one) for one in watch(held().records))


def test_every_dialect_has_a_name_of_its_own():
    assert {dialect.name for dialect in (NATIVE, PLAIN, EXTENDED)} == {"native", "v1", "v1-extended"}


def test_a_page_of_the_log_says_where_the_next_one_begins():
    seen = watch(Log().start().records)
    page = json.loads(msgspec.json.encode(event_page_reply(seen[1:2], after=1, head=3)))
    assert [entry["seq"] for entry in page["events"]] == [2]
    assert (page["after"], page["next"], page["hasMore"]) == (1, 2, True)
    assert event_page_reply(seen[1:], after=1, head=3).has_more is False
    assert event_page_reply([], after=3, head=3) == EventPage(events=(), after=3, next=3, has_more=False)
