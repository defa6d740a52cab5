"""What is told to one viewer alone and has no place in the log: no id leads back to it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from moot.api.frames import Frame
from moot.api.v1.states import STATES
from moot.core.state import Debate
from moot.views.transcript_json import moment


def deleted() -> Frame:
    """The last thing that those hear who watched a debate while it was deleted."""
    return _error(message="The debate was deleted.")


def rejected(code: str, message: str, members: Mapping[str, Any]) -> Frame:
    """Why a command over a WebSocket was not carried out."""
    return _error(code=code, message=message, **members)


def acknowledged(kind: str, debate: Debate, *, replayed: bool = False) -> Frame:
    """A command over a WebSocket is in the log. A remark waits for the speech under way to end."""
    status = "queued" if kind == "INJECT_CONTEXT" else "done"
    return Frame(
        "ack",
        {
            "type": kind,
            "status": status,
            "debateId": debate.id,
            "currentStatus": STATES[debate.status],
            "seq": debate.seq,
            "timestamp": moment(debate.updated_at),
            **({"replayed": True} if replayed else {}),
        },
    )


def _error(**members: Any) -> Frame:
    now = moment(datetime.now(UTC))
    return Frame("error", {"type": "validation", **members, "retryable": False, "timestamp": now})
