"""A model that is not installed, in an experiment's file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Moot = Callable[..., tuple[int, str, str]]


def test_a_model_that_is_missing_is_named_with_its_command(moot: Moot, tmp_path: Path):
    file = tmp_path / "league.toml"
    file.write_text(
        'name = "league"\nmodels = ["local/smollm2-135m", "local/qwen2.5-1.5b"]\nmotions = ["Ban homework"]\n'
    )
    code, out, err = moot("experiment", "run", str(file))
    assert (code, out) == (2, "")
    missing = "local/qwen2.5-1.5b is not installed. Install it: moot models install qwen2.5-1.5b"
    assert " ".join(err.split()) == missing
