"""What all events of v1 have in common: when it was, and where in the log."""

from __future__ import annotations

from typing import Any

from moot.views.json import moment
from moot.wire.frames import Frame, Seen


def tell(seen: Seen, event: str, **members: Any) -> Frame:
    return Frame(event, {**members, "timestamp": moment(seen.at), "seq": seen.seq})
