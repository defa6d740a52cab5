"""What strict services insist on, and how a request complies.

Turns alternate, the user's come first and none is blank. What a service's grammar cannot hold of a schema is
told to the model in words instead. Thinking that is measured in tokens gets a share of those that the reply
may have, since services count both together.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, cast

from moot.core.terms import ChatMessage, Effort

FIRST_MESSAGE = "Begin."
THINKING_SHARES: dict[Effort, float] = {
    "none": 0.0, "minimal": 0.1, "low": 0.25, "medium": 0.5, "high": 0.65, "xhigh": 0.75, "max": 0.75,
}  # fmt: skip
MAX_THINKING_SHARE = 0.75
"""Of the tokens of a reply: the rest is for the speech."""
SCHEMA_MAPS = {"properties", "$defs", "definitions"}
"""Keywords that hold schemas by names of the author's choice, which are no keywords."""

RoleText = tuple[str, str]
"""Role and words."""


def alternate_roles(messages: Iterable[ChatMessage]) -> list[RoleText]:
    """Messages of one role in a row become one turn."""
    non_blank = (message for message in messages if message.content.strip())
    turns: list[RoleText] = [
        (role, "\n\n".join(message.content for message in group))
        for role, group in itertools.groupby(non_blank, key=lambda message: message.role)
    ]
    return turns if turns and turns[0][0] == "user" else [("user", FIRST_MESSAGE), *turns]


def without_keywords(schema: Any, unheld: frozenset[str]) -> Any:
    """The schema without these keywords; what they asked for goes into the description."""
    if isinstance(schema, list):
        return [without_keywords(item, unheld) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    given = cast("dict[str, Any]", schema)
    kept: dict[str, Any] = {
        key: _each_without(value, unheld) if key in SCHEMA_MAPS else without_keywords(value, unheld)
        for key, value in given.items()
        if key not in unheld
    }
    lost = [f"{key}: {value}" for key, value in given.items() if key in unheld]
    if lost:
        kept["description"] = f"{given.get('description', '')} ({', '.join(lost)})".lstrip()
    return kept


def _each_without(schemas: dict[str, Any], unheld: frozenset[str]) -> dict[str, Any]:
    return {name: without_keywords(schema, unheld) for name, schema in schemas.items()}


def can_think(least: int, max_tokens: int) -> bool:
    """Whether a service that thinks with no fewer tokens than these leaves any for the speech."""
    return MAX_THINKING_SHARE * max_tokens >= least


def thinking_budget(effort: Effort, max_tokens: int) -> int:
    """How many of the reply's tokens may go into thought."""
    return int(THINKING_SHARES[effort] * max_tokens)
