"""Asks for replies in JSON, and reads them: of exactly the shape that was asked for, nothing is guessed."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
TWICE = "an object has a member twice; each must stand once"


def object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """A JSON object with exactly these members."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


class UnreadableReply(ValueError):
    """The reply is not what was asked for; the message says why."""


def read_json_reply(reply: str, shape: type[T], *, twice: str = TWICE) -> T:
    """Raises UnreadableReply; with `twice`, where an object has a member more than once."""
    bare = _without_json_fence(reply)
    try:
        read = msgspec.json.decode(bare, type=shape, strict=True)
    except (msgspec.MsgspecError, UnicodeEncodeError) as error:
        raise UnreadableReply(str(error)) from error
    if _is_given_twice(bare):
        raise UnreadableReply(twice)
    return read


def _without_json_fence(reply: str) -> str:
    """The reply without the Markdown fence in which models often wrap JSON."""
    match = re.fullmatch(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", reply, re.DOTALL)
    return match[1] if match else reply


def _is_given_twice(reply: str) -> bool:
    """Whether an object in this JSON has a member more than once, so that its value is ambiguous."""
    twice: list[bool] = []

    def look(members: list[tuple[str, Any]]) -> dict[str, Any]:
        by_name = dict(members)
        twice.append(len(by_name) < len(members))
        return by_name

    json.loads(reply, object_pairs_hook=look)
    return any(twice)
