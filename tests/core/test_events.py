"""The codec: what is written can be read, by its tag, for good."""

from __future__ import annotations

import re
from typing import get_args

import msgspec
import pytest

from moot.core.events import Event, TurnCompleted, decode_event, decode_recorded, encode, tag_of
from moot.core.terms import Money
from tests.core.sample_events import EVENTS, thought, whisper, whole_thought
from tests.support.event_factories import call_started, log
from tests.support.for_each import for_each


def test_tags_are_ours_and_each_is_used_once() -> None:
    tags = [str(kind.__struct_config__.tag) for kind in get_args(Event)]
    assert len(set(tags)) == len(tags)
    assert all(re.fullmatch(r"[a-z]+\.[a-z]+", tag) for tag in tags)


@for_each("event", [*EVENTS, thought, whisper, whole_thought], ids=tag_of)
def test_every_event_can_be_read_back(event: Event) -> None:
    data = encode(event)
    assert decode_event(data) == event
    assert msgspec.json.decode(data)["type"] == tag_of(event)
    recorded = log(event)[0]
    assert decode_recorded(encode(recorded)) == recorded
    assert encode(decode_recorded(encode(recorded))) == encode(recorded)


def test_money_is_written_as_text_to_the_last_digit() -> None:
    event = call_started(reserved=Money("0.00123456789123456789"))
    assert b'"0.00123456789123456789"' in encode(event)
    assert decode_event(encode(event)) == event


def test_an_unknown_event_is_not_guessed_at() -> None:
    with pytest.raises(msgspec.ValidationError):
        decode_event(b'{"type":"debate.exploded"}')


def test_a_field_that_a_newer_version_wrote_does_no_harm() -> None:
    assert decode_event(b'{"type":"turn.completed","turn":1,"words":2,"applause":3}') == TurnCompleted(1, 2)
