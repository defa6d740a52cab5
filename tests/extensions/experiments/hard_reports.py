"""Reports that are hard to lay out: long names, many judges, a long motion, unknown costs, nothing at all."""

from __future__ import annotations

from datetime import UTC, datetime

from moot.experiments import JudgeAnswer, question_bank
from moot.extensions.experiments.measuring.debate_beliefs import DebateBeliefs
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.judgments import Judgment
from moot.extensions.experiments.measuring.leg_results import LegResult
from moot.extensions.experiments.measuring.people_votes import PersonVote
from moot.extensions.experiments.measuring.planned_debates import all_legs
from moot.extensions.experiments.measuring.planned_questions import question_legs
from moot.extensions.experiments.measuring.report import ExperimentReport, make_report

LONG_MOTION = (
    "This house, believing that the long-term interests of future generations outweigh those of the present, "
    "would hand all decisions about infrastructure to an independent council chosen by lot for twenty years"
)
MODELS = (
    "anthropic/claude-opus-5-20261015-thinking-high", "openai/gpt-6-luna-2026-10-01-preview",
    "openrouter/meta-llama/llama-5-maverick-400b-instruct:free", "mistral/mistral-large-2512", "xai/grok-5",
    "google/gemini-4-ultra-experimental-exp-1114", "deepseek/deepseek-v5-chat-reasoner-distill-qwen-72b",
    "qwen/qwen4-max-preview", "cohere/command-r-plus-08-2026", "local/smollm2-135m",
    "local/qwen2.5-coder-1.5b-instruct-q4_k_m", "scripted/one",
)  # fmt: skip
JUDGES = (
    "openai/gpt-6-luna-2026-10-01-preview", "moonshot/kimi-k3-20261015-instruct", "xai/grok-5-judge [strict]",
    "google/gemini-4-ultra-experimental-exp-1114", "scripted/coin",
)  # fmt: skip
LARGE = ExperimentDefinition(
    name="a-league-with-long-names-and-many-judges",
    models=MODELS,
    motions=(LONG_MOTION, "Homework should be banned", "Zoos do more good than harm"),
    judges=JUDGES,
)


def large_report() -> ExperimentReport:
    """Twelve models, of which the first hardly ever loses; five judges; no price is known of one model."""
    found = list[LegResult]()
    for number, leg in enumerate(all_legs(LARGE, 2)):
        pro, con = (MODELS.index(model) for model in leg.models)
        beliefs = DebateBeliefs(pro_opening=0.6, pro_closing=0.8, con_opening=0.55, con_closing=0.7)
        found.append(
            LegResult(
                debate=f"deb_{number:026}", status="completed", motion=leg.motion, cost=None, seconds=60,
                judgments=tuple(
                    Judgment(
                        group=leg.group, debate=f"deb_{number:026}", pro=leg.models[0], con=leg.models[1],
                        judge=judge, order=order, winner=_winner(pro, con, number, at, order),
                        motion=leg.motion, pro_words=300 + 60 * (number % 2), con_words=280,
                        pro_cost=None if pro == 3 else 0.01, con_cost=None if con == 3 else 0.02,
                        pro_seconds=10, con_seconds=12, judge_cost=None if at == 4 else 0.004,
                        judge_seconds=3, pro_issues=("refusal",) if number % 50 == 7 else (),
                    )
                    for at, judge in enumerate(JUDGES)
                    for order in (0, 1)
                ),
                beliefs=beliefs if number % 3 == 0 else None,
                votes=(PersonVote("ann", "pro"), PersonVote("bob", "con" if number % 5 else "pro")),
            )
        )  # fmt: skip
    failed = LegResult(debate="deb_x", status="error", motion=LONG_MOTION, headline="The service was down.")
    return _report(LARGE, [*found, failed])


def question_report() -> ExperimentReport:
    asked = question_bank()
    truth = ExperimentDefinition(
        name="truth", models=MODELS[:1], judges=JUDGES[:2], format="", pairing="self", rounds=1,
        questions=asked.questions[:12], passages=asked.passages,
        protocols=("debate", "consultancy", "naive", "single-shot"),
    )  # fmt: skip
    found = [
        LegResult(
            debate=f"deb_{protocol}_{number}", status="completed", protocol=protocol, cost=0.1,
            answers=tuple(
                JudgeAnswer(
                    question=question.id, protocol=protocol, group=question.passage, judge=judge, answer=0,
                    probabilities=(chance, 1 - chance), cost=0.05, readings=(chance, chance),
                    listed_first=(0, 1),
                    argued=number % 2 if protocol == "consultancy" else None,
                )
                for judge in JUDGES[:2]
            ),
        )
        for at, protocol in enumerate(truth.protocols)
        for number, question in enumerate(truth.questions)
        for chance in [0.5 + 0.08 * ((number + at) % 6)]
    ]  # fmt: skip
    return _report(truth, found)


def empty_report() -> ExperimentReport:
    return _report(LARGE, [])


def _winner(pro: int, con: int, number: int, judge: int, order: int):
    if 0 in (pro, con) and number % 7:
        return "pro" if pro == 0 else "con"
    noise = (7 * number + 3 * judge + 5 * order + pro * con) % 11
    if noise == 5:
        return "none" if judge == 2 else "tie"
    return "pro" if (pro < con) == (noise > 3) else "con"


def _report(definition: ExperimentDefinition, found: list[LegResult]) -> ExperimentReport:
    planned = len(question_legs(definition) if definition.questions else all_legs(definition, 2))
    at = datetime(2026, 11, 18, tzinfo=UTC)
    return make_report(definition, found, planned=planned, version="0.1", made_at=at, versions={"numpy": "2"})
