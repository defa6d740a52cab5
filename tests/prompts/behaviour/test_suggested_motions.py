"""The motions that the page suggests for very small models are ones that their prompts can take apart."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import moot.web
from moot.core.terms import Side
from moot.prompts.small_model_prompts import stance_for

MOTIONS = Path(moot.web.__file__).parent / "static" / "lib" / "motions.js"
SIDES: tuple[Side, ...] = ("for", "against")
MIDDLE_CAPITAL = re.compile(r"(?<![.:?!])\s+(?!I\b)[A-Z]")


def suggested() -> list[str]:
    script = f"import({json.dumps(MOTIONS.as_uri())}).then((m) => console.log(JSON.stringify(m.MOTIONS)))"
    reply = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True, timeout=60)
    return [motion["text"] for motion in json.loads(reply.stdout) if motion["level"] == "simple"]


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_each_suggested_motion_gives_both_sides_a_claim_about_its_topic() -> None:
    motions = suggested()
    assert len(motions) > 10
    for motion in motions:
        for side in SIDES:
            words = stance_for(motion, side).opening()
            assert not MIDDLE_CAPITAL.search(words), words
            assert "The answer is" not in words, words
            assert "this idea" not in words, words


def test_the_topic_has_no_capital_in_the_middle_of_a_sentence() -> None:
    assert "benefit of a hot dog is" in stance_for("Is a hot dog a sandwich?", "for").opening()
    assert "of A" not in stance_for("A four-day week should be the law", "for").opening()
