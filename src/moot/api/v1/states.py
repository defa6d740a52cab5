"""The states of a debate as v1 names them: six, and `paused`."""

from __future__ import annotations

from typing import Annotated, Literal

from moot.core.json_types import one_of
from moot.core.statuses import Status

State = Literal[
    "initializing", "awaiting_arguments", "debating", "judge_evaluating", "completed", "error", "paused"
]
StateName = Annotated[str, one_of(State)]
"""The member of a reply: an older client also reads the name of a state that it does not know."""

STATES: dict[Status, State] = {
    "created": "initializing",
    "initializing": "initializing",
    "awaiting_arguments": "awaiting_arguments",
    "debating": "debating",
    "paused": "paused",
    "judging": "judge_evaluating",
    "completed": "completed",
    "aborted": "completed",
    "error": "error",
}


def state_of(status: str) -> str:
    """A native status in v1's words; an unknown one as it is."""
    return {str(native): str(state) for native, state in STATES.items()}.get(status, status)


def statuses_of(state: State) -> tuple[Status, ...]:
    return tuple(status for status, api_state in STATES.items() if api_state == state)
