"""Judgments that were published elsewhere. They are no part of this project: tests that use them are skipped
where the file is absent."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from moot.experiments import Judgment, read_judgments


def file() -> Path:
    """The file that `MOOT_JUDGMENTS` names, or the one that lies beside the repository."""
    named = os.environ.get("MOOT_JUDGMENTS")
    return (
        Path(named) if named else Path(__file__).resolve().parents[4] / "shared/data/debate-judgments.jsonl"
    )


needs_public_judgments = pytest.mark.skipif(
    not file().exists(),
    reason=f"no judgments in {file()}: put them there, or name the file in MOOT_JUDGMENTS",
)


@cache
def public_judgments() -> tuple[Judgment, ...]:
    return read_judgments(file())
