"""The options `--judges`, `--prompts` and `--exclude`, which several commands of experiments have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from moot.extensions.experiments.measuring.judge_identity import JudgeFilter

Judges = Annotated[
    list[str] | None,
    Parameter(
        negative="", metavar="JUDGE",
        help="Only ballots of this judge, by its whole name or by its model; repeat it for several.",
    ),
]  # fmt: skip
Prompts = Annotated[
    list[str] | None,
    Parameter(
        negative="", metavar="NAME", help="Only judges with this prompt; `none` are those without one."
    ),
]
Exclude = Annotated[
    list[str] | None, Parameter(negative="", metavar="JUDGE", help="Without the ballots of this judge.")
]


def judge_filter(
    judges: Sequence[str] | None, prompts: Sequence[str] | None, exclude: Sequence[str] | None
) -> JudgeFilter:
    return JudgeFilter(tuple(judges or ()), tuple(prompts or ()), tuple(exclude or ()))
