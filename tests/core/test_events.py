"""The codec: what is written can be read, by its tag, for good."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any, get_args

import msgspec
import pytest
from msgspec import Struct
from msgspec.inspect import DictType, StructType, UnionType, VarTupleType, type_info

from moot.core.events import Event, TurnCompleted, decode_event, decode_recorded, encode
from moot.core.terms import DebateSetup, Money
from moot.testing.event_factories import call_started, log
from tests.core.sample_events import EVENTS, tag_of, thought, whisper, whole_thought
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


ENCODED_AFTER = """
import importlib, sys
for module in sys.argv[1:]:
    importlib.import_module(module)
from moot.core.events import encode
from moot.core.terms import DebateSetup
from moot.core.choices import WinningRule
from msgspec import convert, json
from msgspec.structs import replace
from pydantic import TypeAdapter
from typing import get_args
from moot.testing.event_factories import opened
rule = "".join(["ai", "-", "judge"])
for options in (
    DebateSetup(),
    DebateSetup(winning="ai-judge"),
    DebateSetup(winning=rule),
    DebateSetup(winning=get_args(WinningRule)[0]),
    DebateSetup(winning=TypeAdapter(WinningRule).validate_json(b'"ai-judge"')),
    replace(DebateSetup(winning="audience"), winning="ai-judge"),
    json.decode(b'{"winning": "ai-judge"}', type=DebateSetup),
    convert({"winning": rule}, DebateSetup),
):
    print(encode(replace(opened(), setup=options)).decode())
"""


def test_the_bytes_of_a_log_do_not_depend_on_the_order_of_imports() -> None:
    """`typing` keeps the first of two equal `Literal` types, with the strings of that module."""
    # The older API has a `Literal` of its own.
    modules = ("moot.cli.commands.debate", "moot.extensions.arena_api.routes", "moot.rules.debate_setup")
    written = {
        line
        for first in ([], *([module] for module in modules))
        for line in subprocess.run(
            [sys.executable, "-c", ENCODED_AFTER, *first], stdout=subprocess.PIPE, text=True, check=True
        ).stdout.splitlines()
    }
    assert len(written) == 1
    assert "winning" not in written.pop()


def test_a_default_is_left_out_of_the_log_wherever_its_text_comes_from() -> None:
    """An identifier is the same object in every module; any other text must be made so by its struct."""
    defaults = {(kind, name): text for kind in event_structs() for name, text in text_defaults(kind)}
    assert (DebateSetup, "winning") in defaults
    for (kind, name), text in defaults.items():
        if text.isidentifier():
            assert text is sys.intern("".join(list(text))), (kind, name)
        else:
            copy = "".join(list(text))
            assert copy is not text
            assert getattr(kind(**{name: copy}), name) is text, (kind, name)


def event_structs() -> set[type[Struct]]:
    """Every struct that occurs in an event."""
    kinds: set[type[Struct]] = set()
    waiting: list[Any] = [type_info(Event)]
    while waiting:
        match waiting.pop():
            case StructType() as info if info.cls not in kinds:
                kinds.add(info.cls)
                waiting += [field.type for field in info.fields]
            case UnionType(types=types):
                waiting += types
            case VarTupleType(item_type=item) | DictType(value_type=item):
                waiting.append(item)
            case _:
                pass
    return kinds


def text_defaults(kind: type[Struct]) -> list[tuple[str, str]]:
    if not kind.__struct_config__.omit_defaults:
        return []
    return [
        (field.name, field.default)
        for field in msgspec.structs.fields(kind)
        if isinstance(field.default, str) and field.default
    ]


def test_money_is_written_as_text_to_the_last_digit() -> None:
    event = call_started(reserved=Money("0.00123456789123456789"))
    assert b'"0.00123456789123456789"' in encode(event)
    assert decode_event(encode(event)) == event


def test_an_unknown_event_is_not_guessed_at() -> None:
    with pytest.raises(msgspec.ValidationError):
        decode_event(b'{"type":"debate.exploded"}')


def test_a_field_that_a_newer_version_wrote_does_no_harm() -> None:
    assert decode_event(b'{"type":"turn.completed","turn":1,"words":2,"applause":3}') == TurnCompleted(1, 2)
