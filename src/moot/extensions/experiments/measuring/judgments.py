"""One judgment of one debate as a row: who argued which side, who judged, and what came of it.

A `Judgment` has two sides; a `Ranking` is a ballot of a format that ranks several teams. The unit of
measuring is the *group*: one matchup of two models on one motion, held twice with the sides swapped, with all
its repeats. Rows of a group are not independent, so intervals are computed from groups.
`debate_judgments.py` reads rows from stored debates, `judgment_files.py` reads and writes files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from moot.extensions.experiments.measuring.judge_identity import Reading

JudgmentWinner = Literal["pro", "con", "tie", "none"]
"""`none`: the judge was asked and gave no valid ballot."""
SpeechIssue = Literal["refusal", "blank", "wrong_side", "timeout", "failure"]
SCORES: Mapping[JudgmentWinner, float] = {"pro": 1.0, "tie": 0.5, "con": 0.0}
"""What a decided judgment gives the side for the motion."""
JudgingNumber = Annotated[
    int, Meta(description="Which judging of the debate, where it was judged more than once.")
]
JudgeSettings = Annotated[
    str, Meta(description="What was set for its model: effort, temperature, verbosity, max_tokens.")
]
IsOwn = Annotated[
    bool, Meta(description="Whether it is a ballot of the debate's own panel, and not of a later judging.")
]
HowRead = Annotated[
    Reading, Meta(description="How the judge had the speeches: by time, or by side; if recorded.")
]
TranscriptDigest = Annotated[
    str,
    Meta(
        description="A digest of motion, speakers and what was heard. Debates with the same one are the "
        "same word for word, and count once."
    ),
]
PANEL = "panel"
"""The judge of a row that tells the verdict of a whole panel."""


class JudgeAddress(Struct, frozen=True):
    """A sentence of a speech that addresses the judge (`addresses.py`)."""

    speech: int
    """Its number in the debate."""
    model: str
    quotation: str


class Judgment(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What one judge decided about one debate of two sides, after one reading.

    `pro` and `con` are the models that argued for and against the motion. Amounts that are not known are
    None, never 0.
    """

    group: Annotated[
        str,
        Meta(description="The side-swapped matchup on one motion, with all repeats."),
    ]
    debate: Annotated[str, Meta(description="The id of the debate.")]
    pro: Annotated[str, Meta(description="The model that argued for the motion.")]
    con: Annotated[str, Meta(description="The model that argued against it.")]
    judge: Annotated[
        str,
        Meta(
            description="Who judged: model, prompt and settings, as in `xai/grok-5 [strict] (effort high)`; "
            "`#2` is a second one of the same name."
        ),
    ]
    winner: Annotated[
        JudgmentWinner, Meta(description="`none`: the judge was asked and gave no ballot that could be read.")
    ]
    margin: Annotated[
        float | None,
        Meta(description="By how much, in the judge's own points; positive for the side of `pro`."),
    ] = None
    experiment: Annotated[str, Meta(description="The name of the experiment, if it belongs to one.")] = ""
    motion: Annotated[str, Meta(description="What was debated.")] = ""
    format: Annotated[str, Meta(description="The format of the debate.")] = ""
    pro_seat: Annotated[str, Meta(description="The first seat of the side for the motion.")] = ""
    con_seat: Annotated[str, Meta(description="The first seat of the side against it.")] = ""
    judging: JudgingNumber = 1
    prompt: Annotated[str, Meta(description="The name of the judge's prompt; empty for the usual one.")] = ""
    settings: JudgeSettings = ""
    own: IsOwn = True
    reading: HowRead = ""
    order: Annotated[
        int | None,
        Meta(
            description="0: `pro` was shown first; 1: `con` was. Read by time, that is the first label and "
            "the first place in the list of the sides; read by side, the first speeches."
        ),
    ] = None
    pro_label: Annotated[
        str, Meta(description="The label under which the judge read the side for the motion, if recorded.")
    ] = ""
    con_label: Annotated[str, Meta(description="The same of the other side.")] = ""
    read_first: Annotated[
        Literal["pro", "con"] | None,
        Meta(description="The side whose speech the judge read first, if recorded."),
    ] = None
    last_word: Annotated[
        Literal["pro", "con"] | None, Meta(description="The side that spoke last, where only one did.")
    ] = None
    pro_words: Annotated[int | None, Meta(description="Words that were heard of the side for it.")] = None
    con_words: Annotated[int | None, Meta(description="The same of the other side.")] = None
    pro_markup: Annotated[
        int | None, Meta(description="List items, headings and bold words in the speeches for the motion.")
    ] = None
    con_markup: Annotated[int | None, Meta(description="The same of the other side.")] = None
    pro_issues: Annotated[
        tuple[SpeechIssue, ...],
        Meta(description="What went wrong in the speeches for the motion, once for each speech."),
    ] = ()
    con_issues: Annotated[tuple[SpeechIssue, ...], Meta(description="The same of the other side.")] = ()
    pro_cost: Annotated[float | None, Meta(description="US dollars for the speeches for the motion.")] = None
    con_cost: Annotated[float | None, Meta(description="The same of the other side.")] = None
    pro_seconds: Annotated[
        float | None, Meta(description="Seconds of the calls for the speeches for the motion.")
    ] = None
    con_seconds: Annotated[float | None, Meta(description="The same of the other side.")] = None
    judge_cost: Annotated[
        float | None, Meta(description="US dollars for this ballot, attempts that failed included.")
    ] = None
    judge_seconds: Annotated[float | None, Meta(description="Seconds of the calls for this ballot.")] = None
    pro_addresses: Annotated[
        int | None, Meta(description="Sentences for the motion that address the judge; if they were counted.")
    ] = None
    con_addresses: Annotated[int | None, Meta(description="The same of the other side.")] = None
    repeat: Annotated[int, Meta(description="Which repeat of the matchup, from 1.")] = 1
    seed: Annotated[int | None, Meta(description="The seed of the debate; each repeat has another.")] = None
    transcript: TranscriptDigest = ""
    eligible: Annotated[bool, Meta(description="Whether it counts for ratings.")] = True


class Ranking(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What one judge decided about one debate of three or more teams."""

    group: Annotated[str, Meta(description="The same models on one motion, each in every position.")]
    debate: Annotated[str, Meta(description="The id of the debate.")]
    judge: Annotated[str, Meta(description="Who judged: model, prompt and settings.")]
    models: Annotated[tuple[str, ...], Meta(description="One for each team, in the order of the format.")]
    seats: Annotated[
        tuple[str, ...], Meta(description="The position of each team, such as Opening Government.")
    ]
    ranking: Annotated[
        tuple[int, ...],
        Meta(
            description="Places in `models`, counted from 0, from best to worst. Teams that are left out are "
            "below those named, in no order."
        ),
    ]
    experiment: Annotated[str, Meta(description="The name of the experiment, if it belongs to one.")] = ""
    motion: Annotated[str, Meta(description="What was debated.")] = ""
    format: Annotated[str, Meta(description="The format of the debate.")] = ""
    judging: JudgingNumber = 1
    prompt: Annotated[str, Meta(description="The name of the judge's prompt; empty for the usual one.")] = ""
    settings: JudgeSettings = ""
    own: IsOwn = True
    reading: HowRead = ""
    order: Annotated[
        int | None,
        Meta(
            description="0: shown in the order of the format; 1: in reverse. Read by time, that is the "
            "order of the labels; read by side, the order of the speeches."
        ),
    ] = None
    labels: Annotated[
        tuple[str, ...], Meta(description="The label under which the judge read each team, if recorded.")
    ] = ()
    read_first: Annotated[
        int | None,
        Meta(description="The place in `models` of the team that the judge read first, if recorded."),
    ] = None
    costs: Annotated[
        tuple[float | None, ...], Meta(description="US dollars for the speeches of each team.")
    ] = ()
    issues: Annotated[
        tuple[tuple[SpeechIssue, ...], ...],
        Meta(description="What went wrong in the speeches of each team, once for each speech."),
    ] = ()
    repeat: Annotated[int, Meta(description="Which repeat of the matchup, from 1.")] = 1
    seed: Annotated[int | None, Meta(description="The seed of the debate; each repeat has another.")] = None
    transcript: TranscriptDigest = ""
    eligible: Annotated[bool, Meta(description="Whether it counts for ratings.")] = True


Judged = TypeVar("Judged", Judgment, Ranking)


def group_name(motion: str, format: str, models: Sequence[str]) -> str:
    """The group of a debate that names none: the same models on the same motion, on whichever sides."""
    return " | ".join((motion, format, *sorted(models)))


def with_own_marked(row: Judged) -> Judged:
    """A row of a release that did not record whether it is of the debate's own panel: a further judging was
    one of `moot experiment rejudge`."""
    return replace(row, own=False) if row.judging > 1 and not row.reading else row


def counted_as(row: Judgment | Ranking) -> str:
    """What counts once: the debate, with those that are the same word for word."""
    return row.transcript or row.debate
