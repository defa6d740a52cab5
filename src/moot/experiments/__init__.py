"""Measuring: what many debates say about models, judges and protocols.

    from moot.experiments import rate_models, read_judgments

    board = rate_models(read_judgments("judgments.jsonl"))
    print(board.rows())

Functions take rows, mappings or a DataFrame, and return plain structs whose `rows()` a DataFrame can be made
of. Everything here is pure. What computes needs the extra `experiments` (numpy, evalica), so every name is
imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from moot.core.errors import Unavailable

if TYPE_CHECKING:
    from moot.experiments.adaptive_pairing import ExpectedWidths, adaptive_round, expected_widths
    from moot.experiments.judgment_files import (
        judgment_from_row,
        read_judgments,
        read_rankings,
        write_csv,
        write_jsonl,
    )
    from moot.experiments.judgments import (
        Judgment,
        Ranking,
        judgment_from_summary,
        judgments_from_debate,
        rankings_from_debate,
    )
    from moot.experiments.pairing import Matchup, matchup, round_robin, swiss_round
    from moot.experiments.ratings import (
        RatingOptions,
        Ratings,
        rate_components,
        rate_models,
        rate_style_controlled,
    )
    from moot.experiments.resampling import Estimate
    from moot.experiments.simulation import SimulatedJudge, SimulatedWorld, rows_of, simulate
    from moot.experiments.tables import JudgmentTable, as_table

_HOMES = {
    "adaptive_pairing": ("ExpectedWidths", "adaptive_round", "expected_widths"),
    "pairing": ("Matchup", "matchup", "round_robin", "swiss_round"),
    "judgment_files": ("judgment_from_row", "read_judgments", "read_rankings", "write_csv", "write_jsonl"),
    "judgments": (
        "Judgment",
        "Ranking",
        "judgment_from_summary",
        "judgments_from_debate",
        "rankings_from_debate",
    ),
    "ratings": ("RatingOptions", "Ratings", "rate_components", "rate_models", "rate_style_controlled"),
    "resampling": ("Estimate",),
    "simulation": ("SimulatedJudge", "SimulatedWorld", "rows_of", "simulate"),
    "tables": ("JudgmentTable", "as_table"),
}
__all__ = [
    "Estimate",
    "ExpectedWidths",
    "Judgment",
    "JudgmentTable",
    "Matchup",
    "Ranking",
    "RatingOptions",
    "Ratings",
    "SimulatedJudge",
    "SimulatedWorld",
    "adaptive_round",
    "as_table",
    "expected_widths",
    "judgment_from_row",
    "judgment_from_summary",
    "judgments_from_debate",
    "matchup",
    "rankings_from_debate",
    "rate_components",
    "rate_models",
    "rate_style_controlled",
    "read_judgments",
    "read_rankings",
    "round_robin",
    "rows_of",
    "simulate",
    "swiss_round",
    "write_csv",
    "write_jsonl",
]


def __getattr__(name: str) -> object:
    """Import a public name at its first use; raises `Unavailable` where the extra is not installed."""
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'moot.experiments' has no attribute {name!r}")
    try:
        found = getattr(import_module(f"moot.experiments.{home}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("moot"):
            raise
        raise Unavailable(
            f"{error.name} is not installed, which measuring needs.", "pip install 'moot[experiments]'"
        ) from error
    globals()[name] = found
    return found
