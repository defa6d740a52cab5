"""Without the extension: logs with private beliefs are read and exported, and nobody is asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.golden.reading import HERE

ROOT = Path(__file__).parents[4]
SEEN = """
import asyncio, json, sys
from pathlib import Path
from moot import fold
from moot.api.page_view.sections import view
from moot.api.v1.create_debate import Config
from moot.cli.debate_options import debate_options
from moot.core.events import decode_recorded, encode
from moot.core.setup_table import setup_fields
from moot.core.terms import DebateLimits, DebateSetup
from moot.core.visibility import OBSERVER, OWNER, visible_state
from moot.engine.arena import Arena
from moot.testing.event_factories import table
from moot.views.exports import documents, render
from tests.rules.simulate import Simulation, speak

lines = Path(sys.argv[1]).read_bytes().splitlines()
records = [decode_recorded(line) for line in lines]
debate = fold(records)
held = Simulation(
    table("oxford", limits=DebateLimits(1), setup=DebateSetup(beliefs=True, model_audience=True)), speak
).start().run().debate

async def unknown():
    async with Arena.open() as arena:
        try:
            await arena.setup("Zoos do more good than harm", model="scripted/demo", beliefs=True)
        except TypeError as error:
            return str(error)

print(json.dumps({
    "same": [encode(one) for one in records] == lines,
    "verdict": debate.verdict is not None,
    "asides": len(debate.asides),
    "shown": sum(bool(one.text or one.chances) for one in visible_state(debate, OBSERVER).asides),
    "exports": " ".join(render(form, debate, OWNER).decode() for form in documents()),
    "page": "beliefs" in view(debate, OWNER),
    "held": held.verdict is not None and len(held.asides),
    "settings": [field.name for field in setup_fields()],
    "options": list(debate_options()["How"]),
    "request": list(Config.model_json_schema()["properties"]),
    "library": asyncio.run(unknown()),
}))
"""


@pytest.fixture(scope="module", params=["beliefs", "model-audience"])
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    home = tmp_path_factory.mktemp("home")
    environ = {**os.environ, "MOOT_EXTENSIONS": "-beliefs", "PYTHONPATH": str(ROOT), "MOOT_HOME": str(home)}
    command = [sys.executable, "-c", SEEN, str(HERE / f"{request.param}.jsonl")]
    done = subprocess.run(command, env=environ, cwd=home, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_old_log_is_whole(seen: dict[str, Any]) -> None:
    assert seen["same"]
    assert seen["verdict"]
    assert seen["asides"] > 0


def test_what_was_believed_is_not_shown(seen: dict[str, Any]) -> None:
    assert seen["shown"] == 0
    assert not seen["page"]
    assert "Private beliefs" not in seen["exports"]
    assert "Model audience" not in seen["exports"]
    assert "gave itself" not in seen["exports"]


def test_a_debate_is_held_and_nobody_is_asked(seen: dict[str, Any]) -> None:
    assert seen["held"] == 0
    assert seen["held"] is not False


def test_the_settings_are_unknown(seen: dict[str, Any]) -> None:
    names = {"beliefs", "model_audience", "modelAudience", "--beliefs", "--model-audience"}
    assert not names & {*seen["settings"], *seen["options"], *seen["request"]}
    assert seen["library"] == "Unexpected keyword argument 'beliefs'"
