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
from moot.installation import install_command

if TYPE_CHECKING:
    from moot.extensions.experiments.measuring.adaptive_pairing import (
        ExpectedWidths,
        adaptive_round,
        expected_team_widths,
        expected_widths,
        pair_gains,
    )
    from moot.extensions.experiments.measuring.agreement import agreement_with_people, judge_agreement
    from moot.extensions.experiments.measuring.bank_motions import (
        BankMotion,
        draw_motions,
        find_motions,
        motion_bank,
    )
    from moot.extensions.experiments.measuring.belief_measures import BeliefMeasures, measure_beliefs
    from moot.extensions.experiments.measuring.calibration import (
        ProtocolScore,
        compare_protocols,
        protocol_scores,
    )
    from moot.extensions.experiments.measuring.data_tables import (
        DebateRow,
        RatingRow,
        SpeechRow,
        data_dictionary,
        debate_row,
        speech_rows,
    )
    from moot.extensions.experiments.measuring.debate_judgments import (
        judgment_from_summary,
        judgments_from_debate,
        rankings_from_debate,
    )
    from moot.extensions.experiments.measuring.elo import elo_ratings
    from moot.extensions.experiments.measuring.estimates import Estimate
    from moot.extensions.experiments.measuring.judge_answers import JudgeAnswer
    from moot.extensions.experiments.measuring.judge_identity import JudgeFilter, filter_judges
    from moot.extensions.experiments.measuring.judge_measures import JudgeReport, judge_report
    from moot.extensions.experiments.measuring.judgment_files import (
        judgment_from_row,
        read_judgments,
        read_rankings,
        write_csv,
        write_jsonl,
    )
    from moot.extensions.experiments.measuring.judgments import Judgment, Ranking
    from moot.extensions.experiments.measuring.loading import ExperimentData, load
    from moot.extensions.experiments.measuring.motion_balance import MotionBalance, motion_balances
    from moot.extensions.experiments.measuring.pairing import Matchup, matchup, round_robin, swiss_round
    from moot.extensions.experiments.measuring.people_agreement import PeopleAgreement, compare_with_people
    from moot.extensions.experiments.measuring.protocol_tables import truth_tables
    from moot.extensions.experiments.measuring.questions import (
        Question,
        QuestionSet,
        question_bank,
        read_questions,
    )
    from moot.extensions.experiments.measuring.rankings import rate_rankings, simulate_rankings
    from moot.extensions.experiments.measuring.rating_report import (
        RatingReport,
        make_rating_report,
        rating_markdown,
        rating_tables,
    )
    from moot.extensions.experiments.measuring.rating_rows import rating_rows
    from moot.extensions.experiments.measuring.ratings import (
        RatingOptions,
        Ratings,
        rate_components,
        rate_models,
        rate_style_controlled,
    )
    from moot.extensions.experiments.measuring.reliability import ModelReliability, model_reliability
    from moot.extensions.experiments.measuring.sensitivity import (
        leave_one_judge_out,
        leave_one_motion_out,
        ratings_by_judge,
    )
    from moot.extensions.experiments.measuring.simulation import (
        SimulatedJudge,
        SimulatedWorld,
        rows_of,
        simulate,
    )
    from moot.extensions.experiments.measuring.table_files import read_table, write_table
    from moot.extensions.experiments.measuring.tables import JudgmentTable, as_table
    from moot.extensions.experiments.measuring.truth_report import TruthReport, make_truth_report

_HOMES = {
    "calibration": (
        "ProtocolScore",
        "compare_protocols",
        "protocol_scores",
    ),
    "data_tables": (
        "DebateRow",
        "RatingRow",
        "SpeechRow",
        "data_dictionary",
        "debate_row",
        "speech_rows",
    ),
    "elo": ("elo_ratings",),
    "loading": ("ExperimentData", "load"),
    "rating_rows": ("rating_rows",),
    "table_files": ("read_table", "write_table"),
    "judge_answers": ("JudgeAnswer",),
    "agreement": ("agreement_with_people", "judge_agreement"),
    "judge_identity": ("JudgeFilter", "filter_judges"),
    "judge_measures": ("JudgeReport", "judge_report"),
    "sensitivity": ("leave_one_judge_out", "leave_one_motion_out", "ratings_by_judge"),
    "belief_measures": ("BeliefMeasures", "measure_beliefs"),
    "people_agreement": ("PeopleAgreement", "compare_with_people"),
    "bank_motions": (
        "BankMotion",
        "draw_motions",
        "find_motions",
        "motion_bank",
    ),
    "questions": ("Question", "QuestionSet", "question_bank", "read_questions"),
    "truth_report": ("TruthReport", "make_truth_report"),
    "protocol_tables": ("truth_tables",),
    "rankings": (
        "rate_rankings",
        "simulate_rankings",
    ),
    "rating_report": (
        "RatingReport",
        "make_rating_report",
        "rating_markdown",
        "rating_tables",
    ),
    "reliability": (
        "ModelReliability",
        "model_reliability",
    ),
    "adaptive_pairing": (
        "ExpectedWidths",
        "adaptive_round",
        "expected_team_widths",
        "expected_widths",
        "pair_gains",
    ),
    "motion_balance": ("MotionBalance", "motion_balances"),
    "pairing": ("Matchup", "matchup", "round_robin", "swiss_round"),
    "judgment_files": ("judgment_from_row", "read_judgments", "read_rankings", "write_csv", "write_jsonl"),
    "debate_judgments": ("judgment_from_summary", "judgments_from_debate", "rankings_from_debate"),
    "judgments": ("Judgment", "Ranking"),
    "ratings": ("RatingOptions", "Ratings", "rate_components", "rate_models", "rate_style_controlled"),
    "estimates": ("Estimate",),
    "simulation": ("SimulatedJudge", "SimulatedWorld", "rows_of", "simulate"),
    "tables": ("JudgmentTable", "as_table"),
}
__all__ = [
    "BankMotion",
    "BeliefMeasures",
    "DebateRow",
    "Estimate",
    "ExpectedWidths",
    "ExperimentData",
    "JudgeAnswer",
    "JudgeFilter",
    "JudgeReport",
    "Judgment",
    "JudgmentTable",
    "Matchup",
    "ModelReliability",
    "MotionBalance",
    "PeopleAgreement",
    "ProtocolScore",
    "Question",
    "QuestionSet",
    "Ranking",
    "RatingOptions",
    "RatingReport",
    "RatingRow",
    "Ratings",
    "SimulatedJudge",
    "SimulatedWorld",
    "SpeechRow",
    "TruthReport",
    "adaptive_round",
    "agreement_with_people",
    "as_table",
    "compare_protocols",
    "compare_with_people",
    "data_dictionary",
    "debate_row",
    "draw_motions",
    "elo_ratings",
    "expected_team_widths",
    "expected_widths",
    "filter_judges",
    "find_motions",
    "judge_agreement",
    "judge_report",
    "judgment_from_row",
    "judgment_from_summary",
    "judgments_from_debate",
    "leave_one_judge_out",
    "leave_one_motion_out",
    "load",
    "make_rating_report",
    "make_truth_report",
    "matchup",
    "measure_beliefs",
    "model_reliability",
    "motion_balances",
    "motion_bank",
    "pair_gains",
    "protocol_scores",
    "question_bank",
    "rankings_from_debate",
    "rate_components",
    "rate_models",
    "rate_rankings",
    "rate_style_controlled",
    "rating_markdown",
    "rating_rows",
    "rating_tables",
    "ratings_by_judge",
    "read_judgments",
    "read_questions",
    "read_rankings",
    "read_table",
    "round_robin",
    "rows_of",
    "simulate",
    "simulate_rankings",
    "speech_rows",
    "swiss_round",
    "truth_tables",
    "write_csv",
    "write_jsonl",
    "write_table",
]


def __getattr__(name: str) -> object:
    """Import a public name at its first use; raises `Unavailable` where the extra is not installed."""
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'moot.experiments' has no attribute {name!r}")
    try:
        found = getattr(import_module(f"moot.extensions.experiments.measuring.{home}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("moot"):
            raise
        raise Unavailable(
            f"{error.name} is not installed, which measuring needs.", install_command("experiments")
        ) from error
    globals()[name] = found
    return found
