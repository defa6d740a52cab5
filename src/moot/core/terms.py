"""The vocabulary of a debate, as plain frozen values.

A debate has *seats*; each seat is held by a model or a person and argues a *side*. A *format* is a table of
*phases* from which a *schedule* of *slots* is laid out: slot by slot, who speaks when, in which round. What a
model sends is kept as *segments* in the provider's order. Money is exact: decimals of US dollars.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal

from msgspec import Struct, field

Money = Decimal
Side = Literal["for", "against", "neutral"]
OpeningSide = Literal["for", "against"]
SeatRole = Literal["debater", "moderator"]
Status = Literal[
    "created", "initializing", "awaiting_arguments", "debating", "paused",
    "judging", "completed", "aborted", "error",
]  # fmt: skip
StepSize = Literal["turn", "round"]
"""How far a debate goes on before it pauses by itself."""
WinningRule = Literal["ai-judge", "self-terminate", "user-decides", "audience"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Verbosity = Literal["low", "medium", "high"]
FinishReason = Literal["stop", "length", "filter", "refusal", "tool", "pause", "unknown"]
Truncation = Literal["timeout", "max_tokens", "cap", "filter"]


class PriceTier(Struct, frozen=True):
    """From this many input tokens on, a million tokens cost this much."""

    start: int
    per_million: Money


class Price(Struct, frozen=True, omit_defaults=True):
    """What a model costs, as it stood when the debate was opened."""

    input: tuple[PriceTier, ...]
    output: tuple[PriceTier, ...]
    cached_input: tuple[PriceTier, ...] = ()
    cache_write: tuple[PriceTier, ...] = ()
    per_call: Money = Money(0)
    source: str = ""

    @property
    def free(self) -> bool:
        tiers = (*self.input, *self.output, *self.cached_input, *self.cache_write)
        return not self.per_call and not any(tier.per_million for tier in tiers)


HUMAN = "human"
"""The provider of whoever types by hand."""
FREE = Price(input=(PriceTier(0, Money(0)),), output=(PriceTier(0, Money(0)),), source="local")


class Model(Struct, frozen=True, omit_defaults=True):
    """Who is asked, and how. `price` is None where nobody knows it: unknown is never free."""

    provider: str
    name: str
    temperature: float | None = None
    max_tokens: int = 4096
    effort: Effort | None = None
    verbosity: Verbosity | None = None
    seed: int | None = None
    small: bool = False
    """Too small for long prompts: it is given short ones, and a first few words to go on from."""
    price: Price | None = None
    alias: str = ""
    """As whoever asked for it calls it, where that is not its name."""
    thinks: bool = True
    """It may reason before it speaks. False where it is known not to."""

    @property
    def label(self) -> str:
        return f"{self.provider}/{self.name}"

    @property
    def human(self) -> bool:
        """A person sits here: nobody is called, and the debate waits with a clock."""
        return self.provider == HUMAN


class Seat(Struct, frozen=True, omit_defaults=True):
    """One place at the table."""

    id: str
    name: str
    side: Side
    model: Model
    role: SeatRole = "debater"
    persona: str = ""
    objective: str = ""
    """Secret: shown to this seat, the owner and the moderator."""
    system_prompt: str = ""
    colour: str = ""
    team: str = ""
    stand_in: Model | None = None
    """Speaks where the person of this seat is not there."""


class Judge(Struct, frozen=True, omit_defaults=True):
    id: str
    name: str
    model: Model
    criteria: tuple[str, ...] = ("argument", "evidence", "rebuttal", "clarity")
    weights: dict[str, float] = {}
    """What each criterion counts in the rubric, where they do not all count the same."""
    recused: str = ""
    """Why this judge is not asked; empty where it is."""


class DebateLimits(Struct, frozen=True, omit_defaults=True):
    rounds: int
    turns: int | None = None
    """Formats counted in turns (free) stop here."""
    turn_seconds: float = 120.0
    person_seconds: float = 300.0
    """How long a person has for a speech, and a judge of flesh and blood for a ballot."""
    cost: Money | None = None
    warn_at: Money | None = None


class PollSettings(Struct, frozen=True, omit_defaults=True):
    """The audience votes after the speeches and, where the change is what counts, before them."""

    before: bool = True
    seconds: float | None = None
    """How long each vote is open. None: until somebody closes it."""


class DebateOptions(Struct, frozen=True, omit_defaults=True):
    """How the debate is conducted."""

    auto: bool = True
    """False is manual mode: each round waits to be asked for."""
    auto_judge: bool = True
    winning: WinningRule = "ai-judge"
    intensity: int = 3
    show_reasoning: bool = True
    language: str = ""
    lent: tuple[str, ...] = ()
    """Providers whose key somebody lends for this debate; it is kept in no log."""
    objective: str = ""
    """What the debate is to settle: told to every seat and every judge."""
    prep: bool = False
    """Speakers make private notes before their speeches, as far as the format gives them time."""
    blind: bool = False
    """Openings are given at the same time, so that nobody answers or copies."""
    opens: OpeningSide | None = None
    """The side that won the toss and speaks first, where the format leaves it to one."""
    polls: PollSettings | None = None
    tools: tuple[str, ...] = ()
    """What the seats may use: a server of `moot.toml`, one tool of it (`server/tool`), or the tools that a
    provider has itself (`web_search`, `code`). Nothing unless it stands here."""


# --- formats ------------------------------------------------------------------------------------------

PhaseSpeaker = Literal["each", "for", "against", "neutral", "moderator"]
PhaseKind = Literal["speech", "cross-examination", "crossfire", "exchange", "notes", "vote", "questions"]
Tone = Literal[
    "opening", "rebuttal", "closing", "summary", "question", "answer", "continuation", "floor",
]  # fmt: skip
"""`continuation`: the rest of a speech after a point of information; `floor`: answers to the audience."""
WORDS_PER_MINUTE = 150


class Phase(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One row of a format's speech table."""

    key: str
    title: str
    who: PhaseSpeaker
    round: int = 1
    """Rows with the same number make one round."""
    closes: bool = False
    """Given at the end of the last round, whichever that is."""
    tone: Tone = "rebuttal"
    kind: PhaseKind = "speech"
    speaker: int = 1
    """Which member of the team gives it; counted round and round in smaller teams. 0: each in turn."""
    to: PhaseSpeaker | None = None
    """Whom the speaker questions."""
    to_speaker: int = 1
    exchanges: int = 1
    """Questions in a cross-examination, each with its answer; turns of each side in an exchange."""
    words: int = 180
    minutes: float = 0
    """What people are given for it; a file that says nothing of words means 150 for each minute."""
    clock: int = 0
    """Words that each side has for the whole row, where the row is on a clock."""
    held: bool = True
    """What goes far beyond `words` is not heard. False: the number is advice."""
    new_arguments: bool = True
    simultaneous: bool = False
    """Nobody in this row hears the others of this row, nor of the one beside it that is simultaneous too."""
    points_of_information: bool = False
    protected: int = 0
    """Words at either end of the speech in which no point of information is offered."""
    guide: str = ""
    """What this speech must do, told to its speaker."""
    speaks_as: str = ""
    """Whose speech it is in the format's own words: Prime Minister, 2A, third speaker."""
    team: str = ""
    """The chair whose team gives it, where a side has several teams."""


class SeatTemplate(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A seat as the format suggests it when nobody says otherwise."""

    name: str
    side: Side
    role: SeatRole = "debater"
    persona: str = ""
    team: str = ""
    """Where a side has several teams that are ranked apart."""


MOST_PARTICIPANTS = 4
"""That a debate can have over the API and on the page, whatever its format allows."""
DecisionRule = Literal["majority", "consensus", "ranking", "swing", "summary", "none"]
"""How a result is made. `swing`: the audience's change of mind; without an audience the judges' majority."""
PartyUnit = Literal["seats", "sides"]


class Format(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A debate format as data: what `formats/*.toml` says."""

    name: str
    title: str
    summary: str
    chairs: tuple[SeatTemplate, ...]
    phases: tuple[Phase, ...]
    min_seats: int = 2
    max_seats: int = 4
    rounds: int = 5
    """The usual number of rounds."""
    max_rounds: int = 10
    turns: int | None = None
    """Counted in turns instead of rounds; this many usually."""
    max_turns: int | None = None
    scripted: bool = False
    """A fixed table: rounds can be cut short but never repeated, and nothing but the table ends it."""
    repeat: int | None = None
    """The round that repeats to fill the number of rounds asked for."""
    rotate: bool = False
    """Another seat opens each round."""
    either_first: bool = False
    """A toss decides which side opens."""
    last_word: Side | None = None
    result: DecisionRule = "majority"
    parties: PartyUnit = "seats"
    """Who wins: a seat for itself, or all seats of a side together."""
    criteria: dict[str, float] = {}
    """By what its judges weigh, and how much each counts, where nobody says otherwise."""
    prep_words: int = 0
    """Words of private notes that each team may make in all: those who win and lose together."""


class Slot(Struct, frozen=True):
    """One speech in the laid-out schedule."""

    index: int
    round: int
    phase: int
    seat: str
    tone: Tone
    to: str | None = None
    group: int = 0
    """Slots of one group are given at the same time."""
    words: int = 0
    """Its word budget, where the row is shared out; 0 is the row's own."""


# --- what models send ---------------------------------------------------------------------------------


class Usage(Struct, frozen=True, omit_defaults=True):
    """Tokens of one call. `output` includes `reasoning`; `input` includes `cached`."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cached: int = 0
    cache_write: int = 0
    estimated: bool = False
    suspect: bool = False
    """Reported figures that cannot be true; the larger one counts."""

    @property
    def total(self) -> int:
        return self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
            cached=self.cached + other.cached,
            cache_write=self.cache_write + other.cache_write,
            estimated=self.estimated or other.estimated,
            suspect=self.suspect or other.suspect,
        )


DeltaKind = Literal["text", "reasoning"]


class PartStart(Struct, frozen=True, omit_defaults=True, gc=False):
    """What a service tells of an item, and of the part of it whose first words come."""

    item_id: str = ""
    sequence_number: int | None = None
    """Of the item."""
    summary_index: int = 0
    part_number: int | None = None
    """The sequence number of the part."""


class ReasoningPart(Struct, frozen=True, omit_defaults=True):
    text: str
    summary_index: int = 0
    sequence_number: int | None = None


class Text(Struct, frozen=True, omit_defaults=True, tag="text"):
    text: str
    index: int = 0
    item_id: str = ""
    sequence_number: int | None = None
    phase: str = ""
    """Some models mark what they say on the way (commentary) and what they say in the end (final_answer)."""
    annotations: tuple[dict[str, Any], ...] = ()
    """Citations and the like, as the service gave them."""


class Reasoning(Struct, frozen=True, omit_defaults=True, tag="reasoning"):
    """What the model thought. It has no way into anyone else's request: see `hears`."""

    parts: tuple[ReasoningPart, ...]
    index: int = 0
    item_id: str = ""
    sequence_number: int | None = None
    effort: str = ""
    tokens: int | None = None
    opaque: str = ""
    """A signature or encrypted content that goes back to the provider unread."""
    redacted: bool = False
    """There were thoughts; all we were given is `opaque`."""

    @property
    def text(self) -> str:
        return "\n\n".join(part.text for part in self.parts)


CLIENT_TOOL_KINDS = ("function", "function_call", "tool_use", "functionCall")
"""Kinds of calls that wait for our answer; the others ran at the provider's."""


class ToolCall(Struct, frozen=True, omit_defaults=True, tag="tool_call"):
    """`kind` is the provider's own word; a tool that ran on its side leaves its `output` or `error` here."""

    id: str
    name: str
    arguments: str
    index: int = 0
    item_id: str = ""
    sequence_number: int | None = None
    kind: str = "function"
    status: str = ""
    output: str = ""
    opaque: str = ""
    """A signature that goes back to the provider unread."""
    server: str = ""
    """Whose tool it is: a server of `moot.toml`, or the provider's own label."""
    title: str = ""
    """What people call the tool."""
    error: str = ""
    """Why a tool that ran at the provider's gave nothing."""

    @property
    def needs_answer(self) -> bool:
        """Somebody is to carry it out and to answer."""
        return self.kind in CLIENT_TOOL_KINDS


class ToolResult(Struct, frozen=True, omit_defaults=True, tag="tool_result"):
    id: str
    output: str
    error: str = ""
    index: int = 0


class CompletionStatus(Struct, frozen=True, omit_defaults=True, tag="completion_status"):
    status: Literal["complete", "partial", "error"]
    detail: str = ""
    index: int = 0


class UnknownItem(Struct, frozen=True, omit_defaults=True, tag="unknown_item"):
    """Something of a kind that we do not know, as the service sent it. It may hold thoughts, and is kept from
    all who may not read those."""

    kind: str
    item: dict[str, Any]
    index: int = 0
    item_id: str = ""
    sequence_number: int | None = None


Segment = Text | Reasoning | ToolCall | ToolResult | CompletionStatus | UnknownItem


# --- what models are sent -----------------------------------------------------------------------------


class EncryptedReasoning(Struct, frozen=True):
    """A model's own earlier thoughts, encrypted by its provider: they go back to it unread."""

    item_id: str
    data: str


class ChatMessage(Struct, frozen=True, omit_defaults=True):
    role: Literal["user", "assistant"]
    content: str
    sealed: tuple[EncryptedReasoning, ...] = ()


class Tool(Struct, frozen=True, omit_defaults=True):
    """A tool as a model is told of it."""

    name: str
    """By which the model calls it: letters, digits, `_` and `-`, at most 64."""
    description: str
    schema: dict[str, Any]
    server: str = ""
    title: str = ""


HostedTool = Literal["web_search", "code"]
"""Tools that run at the provider's."""


class Request(Struct, frozen=True, omit_defaults=True):
    """One call as a value; each provider writes it in its own tongue."""

    model: Model
    instructions: str
    messages: tuple[ChatMessage, ...]
    max_tokens: int
    schema: dict[str, Any] | None = None
    """The reply must be JSON of this shape."""
    prefill: str = ""
    """Words put into the model's mouth; they count as its own."""
    previous_response_id: str | None = None
    fresh: tuple[ChatMessage, ...] = ()
    """With a previous id: only what is new since then. Empty means the last message."""
    stop: tuple[str, ...] = ()
    seed: int | None = None
    attempt: int = 1
    thoughts: bool = True
    """Ask to be shown what the model thinks. Some accounts may not."""
    trimmed: int = 0
    """So many of the oldest messages were left out, because the whole was too long for the model."""
    tools: tuple[Tool, ...] = ()
    hosted: tuple[HostedTool, ...] = ()
    exchange: tuple[Segment, ...] = ()
    """What this speech has brought so far, in order: thoughts, words, what it asked of tools, what they gave.
    It stands after the messages, and the model goes on from there."""
    resumes: bool = False
    """The previous response is the one that this speech goes on from: of the exchange, only the results that
    stand at its end are new to it."""
    enough: bool = False
    """It has asked its tools often enough: now it must speak."""


# --- judging ------------------------------------------------------------------------------------------


class Score(Struct, frozen=True, omit_defaults=True):
    score: float
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()


class Ballot(Struct, frozen=True, omit_defaults=True):
    """One judge's view with the seats shown in one order. Seats are named by id; no winner is a tie."""

    judge: str
    order: int
    winner: str | None
    scores: dict[str, Score]
    reasoning: str
    criteria: dict[str, str] = field(default_factory=dict[str, str])
    inconsistent: bool = False
    """The winner has the lower score: kept as said."""
    cites: tuple[int, ...] = ()
    """The turns on which the decision rests."""
    rubric: dict[str, dict[str, float]] = {}
    """Points by criterion and seat: a diagnosis beside the decision."""
    ranking: tuple[str, ...] = ()
    """Seats from best to worst, where the format ranks them."""
    dropped: tuple[str, ...] = ()
    """Criteria that it gave and nobody had asked for; they count for nothing."""


class Verdict(Struct, frozen=True, omit_defaults=True):
    """The result with its doubts. `outcome` says why there is no winner where there is none."""

    outcome: Literal["win", "too-close", "draw"]
    winner: str | None
    by: Literal["judges", "hand", "stalemate", "concession", "audience"]
    margin: float = 0.0
    """Mean score of the first seat less that of the second (of the best less the next, with more seats)."""
    agreement: float = 1.0
    """The share of ballots that name the winner."""
    flips: int = 0
    """Judges who changed their mind when the order changed."""
    scores: dict[str, Score] = field(default_factory=dict[str, Score])
    reasoning: str = ""
    criteria: dict[str, str] = field(default_factory=dict[str, str])
    inconsistent: bool = False
    cites: tuple[int, ...] = ()
    rubric: dict[str, dict[str, float]] = {}
    totals: dict[str, float] = {}
    """What the rubric comes to by seat, where some criteria count more than others."""
    ranking: tuple[str, ...] = ()
    last_word: str | None = None
    """The seat that spoke last: judges favour it."""


AsideKind = Literal["notes", "point", "leave", "concession", "referee"]
"""What is asked beside the speeches: to make notes; whether one rises on a point of information; whether the
speaker takes it; whether one has conceded; and of a referee, whether that is so."""
PollName = Literal["before", "after"]


class SimilarTurns(Struct, frozen=True):
    """Evidence that the debate goes in circles: two turns, the scorer and its figure."""

    turn: int
    other: int
    scorer: str
    ratio: float
    text: str
    other_text: str
