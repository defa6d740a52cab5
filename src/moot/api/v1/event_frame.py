"""What all events of v1 have in common: when it was, and where in the log."""

from __future__ import annotations

from typing import Any

from moot.api.frames import Frame, SeenEvent
from moot.views.transcript_json import moment


def v1_frame(seen: SeenEvent, event: str, **members: Any) -> Frame:
    return Frame(event, {**members, "timestamp": moment(seen.at), "seq": seen.seq})
