"""Replies about experiments: how far each is, and what its debates show so far."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from moot.core.json_types import Count, DebateId, Dollars, Nth, Seconds, Timestamp, one_of

Share = Annotated[float, Meta(extra_json_schema={"minimum": 0, "maximum": 1})]
IntervalEnd = Annotated[float | None, Meta(description="null where the data sets no limit on that side.")]


class ExperimentSummary(Struct, frozen=True, rename="camel", kw_only=True):
    """How far an experiment is."""

    name: str
    state: Annotated[
        str,
        one_of(Literal["running", "stopping", "stopped", "done", "interrupted"]),
        Meta(
            description="`interrupted`: its process was killed some seconds ago or more; "
            "`moot experiment resume NAME` continues it."
        ),
    ]
    planned: Annotated[Count, Meta(description="Debates that it will hold in all.")]
    held: Annotated[Count, Meta(description="Debates that are over, without those that failed.")]
    failed: Count
    running: Annotated[Count, Meta(description="Debates that are under way.")]
    cost: Annotated[
        Dollars, Meta(description="US dollars for the debates that are over, as far as prices are known.")
    ]
    cost_text: str
    budget: Annotated[Dollars | None, Meta(description="US dollars for all debates together.")]
    models: tuple[str, ...]
    motions: Annotated[Count, Meta(description="How many motions are debated.")]
    format: Annotated[str, Meta(description="Empty where there are questions: each protocol has its own.")]
    questions: Annotated[Count, Meta(description="How many questions with a known answer are asked.")] = 0
    created_at: Timestamp
    updated_at: Annotated[Timestamp, Meta(description="When it was last started, stopped or completed.")]


class ExperimentsResponse(Struct, frozen=True, rename="camel", kw_only=True):
    experiments: tuple[ExperimentSummary, ...]


class MeasuredFigure(Struct, frozen=True, rename="camel", kw_only=True):
    """A figure with its 95 % interval; null where there is too little data."""

    value: float | None
    low: float | None
    high: float | None


class RatedModel(Struct, frozen=True, rename="camel", kw_only=True):
    """A line of the leaderboard. 400 points are odds of ten to one; the mean of all models is 1500."""

    model: str
    rank: Nth
    best_rank: Annotated[Nth, Meta(description="No model above this rank can be told apart from it.")]
    worst_rank: Nth
    rating: float
    low: IntervalEnd
    high: IntervalEnd
    win_share: Share
    debates: Count


class MatchupResult(Struct, frozen=True, rename="camel", kw_only=True):
    """How two models did against each other."""

    first: str
    second: str
    share: Annotated[Share, Meta(description="Of the debates, the share of `first`; a tie counts half.")]
    debates: Count
    low: IntervalEnd = None
    high: IntervalEnd = None
    motions: Annotated[Count, Meta(description="How many motions the interval rests on.")] = 0


class AgreementFigures(Struct, frozen=True, rename="camel", kw_only=True):
    """How often judges of the same debate decide the same."""

    raw: Annotated[
        MeasuredFigure, Meta(description="The share of pairs of judges that name the same result.")
    ]
    alpha: Annotated[
        MeasuredFigure, Meta(description="Krippendorff's alpha: 1 always the same, 0 as by chance.")
    ]
    debates: Annotated[Count, Meta(description="Debates with two judges or more.")]


class JudgeFigures(Struct, frozen=True, rename="camel", kw_only=True):
    """One judge. Biases are in log-odds; null where the data does not show them."""

    judge: str
    judgments: Count
    undecided: Annotated[Count, Meta(description="Ballots that could not be read.")]
    pro_share: Annotated[MeasuredFigure, Meta(description="How often the side for the motion won.")]
    flips: Annotated[
        MeasuredFigure, Meta(description="How often another result was named in the second reading.")
    ]
    side: MeasuredFigure | None
    order: Annotated[
        MeasuredFigure | None, Meta(description="Of being shown first, where nothing more exact is recorded.")
    ]
    length: MeasuredFigure | None
    family: MeasuredFigure | None
    own: Annotated[bool, Meta(description="Whether it sat on the experiment's own panel.")] = True
    primacy: Annotated[MeasuredFigure | None, Meta(description="Of being read first.")] = None
    label: Annotated[MeasuredFigure | None, Meta(description="Of having the first label.")] = None
    self_preference: Annotated[MeasuredFigure | None, Meta(description="Of being the model that judges.")] = (
        None
    )
    address: Annotated[MeasuredFigure | None, Meta(description="Of addressing the judge.")] = None


class JudgeFault(Struct, frozen=True, rename="camel", kw_only=True):
    """A fault that a test found in a judge."""

    judge: str
    fault: Annotated[
        str,
        Meta(description="`first-listed`, `read-first`, `longer`, `coin` and so on: docs/experiments.md."),
    ]
    text: Annotated[str, Meta(description="What the judge does.")]
    figure: MeasuredFigure
    corrected: Annotated[
        float, Meta(description="Its probability by chance, corrected for the number of tests.")
    ]


class ReliabilityFigures(Struct, frozen=True, rename="camel", kw_only=True):
    """What went wrong in the debates of a model, and what one debate took of it."""

    model: str
    debates: Count
    issue_share: Annotated[Share, Meta(description="The share of its debates with an issue.")]
    refusals: Count
    blanks: Count
    wrong_sides: Count
    timeouts: Count
    failures: Count
    words: Annotated[float | None, Meta(description="Of a debate.")]
    seconds: Seconds | None
    cost: Annotated[Dollars | None, Meta(description="US dollars a debate; null where it is not known.")]


class DebateToRead(Struct, frozen=True, rename="camel", kw_only=True):
    debate: DebateId
    motion: str
    pro: Annotated[str, Meta(description="The model for the motion.")]
    con: str
    share: Annotated[Share, Meta(description="The share of ballots for the side of the motion.")]


class FailureReason(Struct, frozen=True, rename="camel", kw_only=True):
    reason: str
    debate: Annotated[DebateId, Meta(description="A debate that failed for this reason.")]


class ConfidenceFigures(Struct, frozen=True, rename="camel", kw_only=True):
    """What a model gave itself in private, and how often it won."""

    model: str
    debates: Count
    opening: MeasuredFigure
    closing: MeasuredFigure
    won: MeasuredFigure
    overconfidence: Annotated[MeasuredFigure, Meta(description="Closing less won.")]


class BeliefFigures(Struct, frozen=True, rename="camel", kw_only=True):
    models: tuple[ConfidenceFigures, ...]
    sentences: tuple[str, ...]
    turning: Annotated[tuple[str, ...], Meta(description="The largest moves of a judge's belief, in words.")]


class PeopleFigures(Struct, frozen=True, rename="camel", kw_only=True):
    """How often each judge names what most people named."""

    judges: dict[str, MeasuredFigure]
    sentence: str


class BlindSide(Struct, frozen=True, rename="camel", kw_only=True):
    """A side of a debate that a person judges, without its model."""

    name: Annotated[str, one_of(Literal["A", "B"])]
    argues: Annotated[
        str, Meta(description="`for` or `against` the motion; of a question, the answer that it argues for.")
    ]


class BlindSpeech(Struct, frozen=True, rename="camel", kw_only=True):
    number: Annotated[Nth | None, Meta(description="null for a question between the speeches.")]
    side: Annotated[str | None, Meta(description="A or B; null for a question by others.")]
    heading: str
    text: Annotated[str, Meta(description="What was heard, as Markdown.")]


class BlindDebate(Struct, frozen=True, rename="camel", kw_only=True):
    """A debate as a person judges it: without models, seats, ballots and verdict."""

    debate: DebateId
    motion: str
    is_question: Annotated[bool, Meta(description="Whether the motion is a question with two answers.")]
    sides: tuple[BlindSide, ...]
    speeches: tuple[BlindSpeech, ...]


class JudgingQueueResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """What one voter has judged, and the debate that comes next."""

    judged: Annotated[Count, Meta(description="Debates on which this voter has voted.")]
    total: Annotated[Count, Meta(description="Debates that people can judge.")]
    debate: Annotated[BlindDebate | None, Meta(description="null where there is none left.")]


class ReliabilityBin(Struct, frozen=True, rename="camel", kw_only=True):
    """Answers of about the same confidence."""

    count: Count
    confidence: Annotated[Share, Meta(description="The mean probability of the answer thought right.")]
    accuracy: Annotated[Share, Meta(description="How often that answer was right.")]


class ProtocolFigures(Struct, frozen=True, rename="camel", kw_only=True):
    """How often judges were right after a protocol, and how sure; null where nothing was answered."""

    protocol: str
    asked: Count
    answered: Annotated[Count, Meta(description="Answers that were given and could be read.")]
    confidence: Share | None
    cost: Annotated[Dollars | None, Meta(description="US dollars an answer; null where it is not known.")]
    accuracy: MeasuredFigure | None
    brier: Annotated[MeasuredFigure | None, Meta(description="0 is best, 0.25 is 50 : 50.")]
    log_score: Annotated[MeasuredFigure | None, Meta(description="0 is best, 0.69 is 50 : 50.")]
    against_naive: Annotated[
        MeasuredFigure | None,
        Meta(description="Its accuracy less that of the naive judge, on the same questions."),
    ]
    against_consultancy: MeasuredFigure | None
    bins: Annotated[tuple[ReliabilityBin, ...], Meta(description="The reliability curve.")]


class ReportItem(Struct, frozen=True, rename="camel", kw_only=True):
    """A point of a list."""

    text: str
    debate: Annotated[str, Meta(description="The id of the debate that it is about; empty for none.")] = ""
    turn: Annotated[Count, Meta(description="The speech of that debate that it is about; 0 for none.")] = 0


class ReportBlock(Struct, frozen=True, rename="camel", kw_only=True):
    """A part of a section. Which members say anything depends on `kind`."""

    kind: Annotated[str, one_of(Literal["sentences", "bullets", "table"])]
    title: str = ""
    texts: Annotated[tuple[str, ...], Meta(description="`sentences`: a paragraph each.")] = ()
    items: Annotated[tuple[ReportItem, ...], Meta(description="`bullets`: a point each.")] = ()
    number: Annotated[Count, Meta(description="`table`: its number in the report.")] = 0
    headings: tuple[str, ...] = ()
    rows: Annotated[
        tuple[tuple[str, ...], ...],
        Meta(description="`table`: its cells as text, with intervals in brackets."),
    ] = ()
    rests_on: Annotated[str, Meta(description="`table`: how much it rests on.")] = ""
    note: Annotated[str, Meta(description="`table`: how to read it.")] = ""
    words: Annotated[
        tuple[int, ...],
        Meta(description="`table`: the columns of words, counted from 0; others are figures."),
    ] = ()


class ReportSection(Struct, frozen=True, rename="camel", kw_only=True):
    title: str
    blocks: tuple[ReportBlock, ...]


class ExperimentResponse(ExperimentSummary, frozen=True, rename="camel", kw_only=True):
    """How far an experiment is, and what it shows. Figures may be some seconds older than the progress."""

    measured_at: Annotated[
        Timestamp | None, Meta(description="When the figures were computed; null where there are none.")
    ]
    leaderboard: tuple[RatedModel, ...]
    matchups: tuple[MatchupResult, ...]
    agreement: AgreementFigures | None
    judges: tuple[JudgeFigures, ...]
    faults: Annotated[
        tuple[JudgeFault, ...], Meta(description="Of judges that are compromised; empty where none is.")
    ] = ()
    reliability: tuple[ReliabilityFigures, ...]
    closest: Annotated[
        tuple[DebateToRead, ...], Meta(description="The debates that were decided most narrowly.")
    ]
    notes: Annotated[tuple[str, ...], Meta(description="What to beware of, a sentence each.")]
    failures: Annotated[
        tuple[FailureReason, ...], Meta(description="Why debates failed, each reason once, at most ten.")
    ] = ()
    beliefs: Annotated[
        BeliefFigures | None, Meta(description="null where nobody was asked for private beliefs.")
    ] = None
    people: Annotated[PeopleFigures | None, Meta(description="null without votes of people.")] = None
    protocols: Annotated[
        tuple[ProtocolFigures, ...], Meta(description="Where it has questions with a known answer.")
    ] = ()
    sections: Annotated[
        tuple[ReportSection, ...],
        Meta(
            description="The report as text: the sentences and tables that HTML and Markdown have, in order."
        ),
    ] = ()
