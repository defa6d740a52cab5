"""How a debate stands, why it ended, and how it was decided: closed lists, each with what it means.

Plain data, which SQL, shapes, terminal and views read. What people are told about an end stands beside it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Status = Literal[
    "created", "initializing", "awaiting_arguments", "debating", "paused",
    "judging", "completed", "aborted", "error",
]  # fmt: skip
RUNNING: tuple[Status, ...] = ("initializing", "awaiting_arguments", "debating")
"""Speeches are held, or about to be."""
ACTIVE: tuple[Status, ...] = (*RUNNING, "judging")
"""A runner may be needed."""
FINAL: tuple[Status, ...] = ("completed", "aborted")
ENDED: tuple[Status, ...] = (*FINAL, "error")
"""Over, though a debate that failed may still be retried."""

EndReason = Literal["rounds", "stopped", "budget", "concession", "stalemate", "judged", "decided", "aborted"]
STOPPED: tuple[EndReason, ...] = ("stopped", "aborted")
"""Ended early by a command."""
ENDINGS: dict[EndReason, str] = {
    "rounds": "All rounds were held.",
    "stopped": "The debate was stopped early.",
    "budget": "The cost limit was reached.",
    "concession": "One side gave way.",
    "stalemate": "The debate went in circles.",
    "judged": "The debate was judged early.",
    "decided": "The debate was decided by hand.",
    "aborted": "The debate was aborted; nothing was judged.",
}

FailReason = Literal["permanent_fault", "all_failed", "judge_failed", "internal", "budget"]


class FailureWords(NamedTuple):
    title: str
    text: str
    remedy: str
    """What to do about it. What is wrong with a provider is in its own message."""


FAILURES: dict[FailReason, FailureWords] = {
    "permanent_fault": FailureWords(
        "A model cannot be used",
        "A model cannot be used.",
        "You can also skip the speech, or judge what was said so far.",
    ),
    "all_failed": FailureWords(
        "All models failed",
        "All models failed in round {round}: {cause}",
        "Check the provider in Settings, then retry, or judge what was said so far.",
    ),
    "judge_failed": FailureWords(
        "No verdict",
        "The judge gave no usable ballot, so there is no verdict.",
        "Judge it again with another model, or declare the winner yourself.",
    ),
    "internal": FailureWords(
        "An internal error occurred",
        "Something unexpected went wrong.",
        "Retry, or judge what was said so far. The server's log has the details.",
    ),
    "budget": FailureWords(
        "Cost limit too small",
        "The cost limit is too small for this debate.",
        "Start a rematch with a higher cost limit, or with cheaper models.",
    ),
}

VerdictOutcome = Literal["win", "too-close", "draw"]
DecidedBy = Literal["judges", "hand", "stalemate", "concession", "audience"]
COIN_FLIP = "A coin flip"
"""The headline where the judges cannot tell the sides apart."""
TOO_CLOSE, DRAW = "Too close to call", "A draw"
UNDECIDED: dict[VerdictOutcome, str] = {"too-close": TOO_CLOSE, "draw": DRAW, "win": DRAW}
"""The headline without a winner; a win without one is in no log that Moot writes."""


def sql_list(words: tuple[str, ...]) -> str:
    """The words as the right side of an SQL `IN`: ('completed', 'aborted')."""
    return f"({', '.join(repr(word) for word in words)})"
