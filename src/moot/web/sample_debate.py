"""The sample debate: the start page plays it, and the examples of the API's description are about it.

Its log is stored with the package and written by `scripts/sample_debate.py`. The frames of the replay are
made from the log by this version of the server, so that the page can always show them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

import msgspec

from moot.api.page_view.view_frames import ViewFrames
from moot.core.events import Recorded, decode_recorded
from moot.core.evolve import evolve
from moot.core.state import Debate
from moot.core.visibility import OBSERVER
from moot.web.replay_file import ReplayChange, replay_changes, replay_data

LOG = "sample_debate.jsonl"


def sample_log() -> Iterator[Recorded]:
    for line in files("moot.web").joinpath(LOG).read_bytes().splitlines():
        yield decode_recorded(line)


@cache
def sample_replay() -> bytes:
    """JSON in the form that the page's player reads."""
    changes: list[ReplayChange] = []
    debate: Debate | None = None
    dialect = ViewFrames(OBSERVER)
    for recorded in sample_log():
        before, debate = debate, evolve(debate, recorded)
        changes += replay_changes(dialect, recorded, before, debate, reasoning=True)
    return msgspec.json.encode(replay_data(changes))
