"""What is in every released database, so that it can be made and recognised."""

from __future__ import annotations

from pathlib import Path

from tests.support import old_rows

HERE = Path(__file__).parent
GOLDEN = ("aborted", "by-hand", "brought")
"""Short ones; the last is a session that was begun elsewhere."""
CLIENT, TOKEN, INVITED = "Ann's browser", "moot_ann", "moot_bob"
EXPERIMENT = """
name = "league"
models = ["scripted/one", "scripted/two"]
motions = ["Zoos do more good than harm"]
judges = ["scripted/coin"]
format = "free"
repeats = 1
seed = 7
options = {turns = 2}
"""
IMPORTED = old_rows.rows(6)
