"""The sample debate of the start page, as the frames of a replay.

Its log is stored with the package and written by `scripts/sample_debate.py`. The frames are made from the log
by this version of the server, so that the page can always show them.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from moot.api.page_view.view_frames import ViewFrames
from moot.core.events import decode_recorded
from moot.core.evolve import evolve
from moot.core.state import Debate
from moot.core.visibility import OBSERVER
from moot.web.replay_file import ReplayChange, replay_changes, replay_data

LOG = "sample_debate.jsonl"


@cache
def sample_replay() -> bytes:
    """JSON in the form that the page's player reads."""
    changes: list[ReplayChange] = []
    debate: Debate | None = None
    dialect = ViewFrames(OBSERVER)
    for line in files("moot.web").joinpath(LOG).read_bytes().splitlines():
        recorded = decode_recorded(line)
        before, debate = debate, evolve(debate, recorded)
        changes += replay_changes(dialect, recorded, before, debate, reasoning=True)
    return msgspec.json.encode(replay_data(changes))
