"""The vocabulary of a debate, as frozen values.

A debate has *seats*. A model or a person holds each seat and argues a *side*. A *format* is a table of
*phases*, from which the *schedule* follows: a list of *slots* that say who speaks when, in which round. A
speech that is given in a slot is a *turn* (`state.py`). *Judges* cast *ballots*, which lead to a *verdict*.

What a model sends is kept as *segments* in the provider's order. Money is exact: decimals of US dollars.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, get_args

from msgspec import NODEFAULT, Struct, defstruct, field
from msgspec.structs import force_setattr

from moot.core.choices import Effort, Verbosity
from moot.core.setup_field import REQUIRED, Settings
from moot.core.setup_table import (
    DEFAULT_READING,
    DEFAULT_WINNING_RULE,
    ContractLimits,
    ContractOptions,
    LimitFields,
    OptionFields,
    added_fields,
)
from moot.core.statuses import DecidedBy, VerdictOutcome

Money = Decimal
Side = Literal["for", "against", "neutral"]
SeatRole = Literal["debater", "moderator"]
TokenRole = Literal["owner", "moderator", "viewer", "monitor"]
InvitationRole = Literal["observer", "moderator", "participant", "judge", "audience"]
MarkupName = Literal["markdown", "html"]
DocumentName = Literal["json", MarkupName]
"""What is made of a transcript alone; `moot export --format` takes it."""
ExportName = Literal[DocumentName, "replay"]
"""What a server can make; `?format=` takes it. `views/exports.py` has a row for each."""
DEFAULT_CRITERIA = ("argument", "evidence", "rebuttal", "clarity")
"""What a judge looks at where neither the setup nor the format says."""
StepSize = Literal["turn", "round"]
"""How much is held before the debate pauses by itself."""
AnswerKind = Literal["json", "word"]
"""How a model gives a decision: in JSON or, if it is too small for that, by one of a few words, of which the
probabilities are read."""
FinishReason = Literal["stop", "length", "filter", "refusal", "tool", "pause", "unknown"]
Truncation = Literal["timeout", "max_tokens", "cap", "filter"]


class PriceTier(Struct, frozen=True):
    """From `start` input tokens on, a million tokens cost this much."""

    start: int
    per_million: Money


class ModelPrice(Struct, frozen=True, omit_defaults=True):
    """What a model cost when the debate was opened."""

    input: tuple[PriceTier, ...]
    output: tuple[PriceTier, ...]
    cached_input: tuple[PriceTier, ...] = ()
    cache_write: tuple[PriceTier, ...] = ()
    per_call: Money = Money(0)
    source: str = ""
    service_tiers: tuple[tuple[str, ModelPrice], ...] = ()
    """What it costs where the service says that it answered at this tier; only of the one asked for."""

    def at(self, service_tier: str) -> ModelPrice:
        """A tier without a price of its own costs as much as the usual one."""
        return dict(self.service_tiers).get(service_tier, self)

    @property
    def free(self) -> bool:
        tiers = (*self.input, *self.output, *self.cached_input, *self.cache_write)
        return not self.per_call and not any(tier.per_million for tier in tiers)


HUMAN = "human"
"""The provider name of people."""
FREE = ModelPrice(input=(PriceTier(0, Money(0)),), output=(PriceTier(0, Money(0)),), source="local")


class Model(Struct, frozen=True, omit_defaults=True):
    """A model with its settings, or a person. `price` is None where it is unknown: unknown is never free."""

    provider: str
    name: str
    temperature: float | None = None
    max_tokens: int = 4096
    effort: Effort | None = None
    verbosity: Verbosity | None = None
    seed: int | None = None
    small: bool = False
    """Too small for long prompts: it gets short ones, and first words to continue."""
    price: ModelPrice | None = None
    alias: str = ""
    """The name that the client used for it, where that is another."""
    thinks: bool = True
    """It may reason before it answers. False where it is known not to."""
    answers: AnswerKind = "json"
    own_limit: bool = False
    """The user has set `max_tokens`: a cost limit does not lower it unless the money forces it to."""
    service_tier: str = ""
    """The tier that its service is asked for, such as `flex`: slower, for less. Empty: the usual one."""

    @property
    def label(self) -> str:
        """Its full name: `provider/name`."""
        return f"{self.provider}/{self.name}"

    @property
    def human(self) -> bool:
        """Whether this is a person: no model is called, and the debate waits for a limited time."""
        return self.provider == HUMAN


class Seat(Struct, frozen=True, omit_defaults=True):
    """A place in the debate: who holds it, for which side, in which role."""

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
    """The model that speaks when the person of this seat is absent."""


class Judge(Struct, frozen=True, omit_defaults=True):
    id: str
    name: str
    model: Model
    criteria: tuple[str, ...] = DEFAULT_CRITERIA
    weights: dict[str, float] = {}
    """The weight of each criterion in the rubric, where they differ."""
    recused: str = ""
    """Why this judge does not judge; empty where it does."""
    variant: str = ""
    """The name of its guidance, which tells it apart from the same model without it."""
    guidance: str = ""
    """How to judge, in the words of those who set up the judging: added to the prompt."""


class PollSettings(Struct, frozen=True, omit_defaults=True):
    """The audience votes after the speeches and, where the change is what counts, before them."""

    before: bool = True
    seconds: float | None = None
    """How long each vote is open. None: until it is closed by a command."""


class SeriesTag(Struct, frozen=True, omit_defaults=True):
    """The series that a debate belongs to: debates with a budget for all of them, which an extension keeps
    (`engine/bookings.py`)."""

    name: str
    group: str
    """The debates of it that differ only in who has which side."""
    repeat: int = 1
    """Which of the repeats of the group."""
    dice: str = ""
    """What is left to chance in the debate follows from this, the same in every run of the series."""


class DebateQuestion(Struct, frozen=True, omit_defaults=True):
    """The motion is a question with two possible answers. Seats for it argue for the first, seats against it
    for the second. Which of them is right is not known here, so that no prompt can tell it."""

    choices: tuple[str, str]
    passage: str = ""
    """Secret: the text that the question is about. Seats read it, judges never do."""
    both_orders: bool = False
    """Of seats that answer by themselves, every second one reads the answers in the other order."""
    quote_words: int | None = None
    """How many words each seat may quote from the passage in the whole debate and have marked as found."""
    revise: bool = False
    """Before each speech its speaker writes a draft, and a critic, the same model, says how to better it.
    Both are notes of the speaker."""

    def choice_of(self, side: Side) -> int | None:
        """The index of the answer for which this side argues; None for a neutral seat."""
        return {"for": 0, "against": 1, "neutral": None}[side]


def settings_struct(
    name: str, *parts: type[Settings], base: type[Struct] = Struct, kw_only: bool = True
) -> Any:
    """A struct with the settings of these parts as its fields, under the names of the log."""
    rows = [field for part in parts for field in part.fields()]
    return defstruct(
        name,
        [(row.name, row.type, NODEFAULT if row.default is REQUIRED else row.default) for row in rows],
        bases=(base,),
        module=__name__,
        rename={row.name: row.stored for row in rows},
        frozen=True,
        omit_defaults=True,
        kw_only=kw_only,
    )


# A type checker sees the attributes of the table.
if TYPE_CHECKING:

    class _Limits(ContractLimits, LimitFields, Struct, frozen=True, kw_only=False): ...

    class _Options(ContractOptions, OptionFields, Struct, frozen=True): ...
else:
    _Limits = settings_struct("_Limits", ContractLimits, LimitFields, kw_only=False)
    _Options = settings_struct("_Options", ContractOptions, OptionFields)


class DebateLimits(_Limits, frozen=True, omit_defaults=True):
    """The limits that `setup_table.py` defines."""

    rounds_asked: int = 0
    """How many rounds were asked for, where the cost limit holds fewer; 0: as many as there are."""


class DebateSetup(_Options, frozen=True, omit_defaults=True, kw_only=True):
    """How the debate is conducted: the settings that `setup_table.py` defines, and what the server adds."""

    beliefs: bool = False
    model_audience: bool = False
    """Settings of the extension `beliefs`, where logs have always had them."""
    language: str = ""
    lent: tuple[str, ...] = ()
    """Providers whose key the user gave for this debate; the keys are in no log."""
    experiment: SeriesTag | None = None
    question: DebateQuestion | None = None
    extensions: dict[str, Any] = {}  # noqa: RUF012 - the field of a struct
    """Settings of extensions, by their names."""

    def __post_init__(self) -> None:
        # msgspec leaves a default out only if it is the same object. Python shares equal strings between
        # modules only if they look like identifiers, so without this the hyphen would decide what is written.
        if self.winning == DEFAULT_WINNING_RULE:
            force_setattr(self, "winning", DEFAULT_WINNING_RULE)
        if self.reading == DEFAULT_READING:
            force_setattr(self, "reading", DEFAULT_READING)


KEPT_BESIDE_OURS = ("beliefs", "model_audience")
"""Members of `DebateSetup` that are settings only where their extension is loaded."""


def settings_of(limits: DebateLimits, options: DebateSetup) -> dict[str, Any]:
    """The settings that a debate keeps, by their names."""
    kept = {name: getattr(part, name) for part in (limits, options) for name in part.__struct_fields__}
    added = {
        field.name: options.extensions.get(field.name, field.default)
        for field in added_fields()
        if field.in_extensions
    }
    return {**kept, **added}


# --- formats ------------------------------------------------------------------------------------------

PhaseSpeaker = Literal["each", "for", "against", "neutral", "moderator"]
ExchangeKind = Literal["cross-examination", "crossfire", "exchange"]
PhaseKind = Literal["speech", ExchangeKind, "notes", "vote", "questions"]
EXCHANGE_KINDS: tuple[ExchangeKind, ...] = get_args(ExchangeKind)
"""The kinds of phase in which two seats speak in alternation."""
Tone = Literal[
    "opening", "rebuttal", "closing", "summary", "question", "answer", "continuation", "floor",
]  # fmt: skip
"""`continuation`: the second half of a speech, after a point of information; `floor`: answers to the
audience."""
EXCHANGE_TONES: tuple[Tone, ...] = ("question", "answer")
WORDS_PER_MINUTE = 150
SESSION_FORMAT = "turns"
"""The format of debates in which a client asks for each turn: see `rules/turn_by_turn.py`."""


class Phase(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One row of a format's speech table."""

    key: str
    title: str
    who: PhaseSpeaker
    round: int = 1
    """Phases with the same number make one round."""
    closes: bool = False
    """Given at the end of the last round, whatever its number."""
    tone: Tone = "rebuttal"
    kind: PhaseKind = "speech"
    speaker: int = 1
    """Which member of the team speaks; smaller teams start again with the first. 0: each in turn."""
    to: PhaseSpeaker | None = None
    """Whom the speaker questions, in cross-examination and the like."""
    to_speaker: int = 1
    exchanges: int = 1
    """Questions in a cross-examination, each with its answer; turns of each side in an exchange."""
    words: int = 180
    minutes: float = 0
    """Speaking time of people; where a file has no `words`, they are 150 for each minute."""
    clock: int = 0
    """Words that each side has for the whole phase, where the phase is on a clock."""
    held: bool = True
    """Text far beyond `words` is not heard. False: the number is only advice."""
    new_arguments: bool = True
    simultaneous: bool = False
    """Speakers of this phase do not hear each other, nor those of a simultaneous phase next to it."""
    points_of_information: bool = False
    protected: int = 0
    """Words at the start and end of the speech in which no point of information may be offered."""
    guide: str = ""
    """What the speech must do, for its speaker."""
    speaks_as: str = ""
    """The speaker's title in the format: Prime Minister, 2A, third speaker."""
    team: str = ""
    """Which team speaks, where a side has several."""


class SeatTemplate(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A seat as the format suggests it."""

    name: str
    side: Side
    role: SeatRole = "debater"
    persona: str = ""
    team: str = ""
    """The team, where a side has several that are ranked separately."""


MIN_MOTION_CHARS, MAX_MOTION_CHARS = 10, 500
MOTION_LENGTH = f"Must be between {MIN_MOTION_CHARS} and {MAX_MOTION_CHARS} characters"
"""The length of a motion, for every way to open a debate but the compatibility APIs."""
MAX_PARTICIPANTS = 4
"""The most that the API and the page accept, whatever the format allows."""
SEAT_COLOURS = ("#0B6E6E", "#B3432B", "#6D28D9", "#A16207")
"""The colours of seats that were given none, in this order; with more seats they repeat."""
MAX_JUDGES = 9
MAX_CRITERIA = 20
"""The most criteria of one judge."""
DecisionRule = Literal["majority", "consensus", "ranking", "swing", "summary", "none"]
"""How the result is made. `swing`: by the audience's change of mind; without an audience, by the majority of
the judges."""
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
    """Not `MAX_PARTICIPANTS`: old logs that leave it out mean four."""
    rounds: int = 5
    """The usual number of rounds."""
    max_rounds: int = 10
    turns: int | None = None
    """Counted in turns instead of rounds; this many usually."""
    max_turns: int | None = None
    scripted: bool = False
    """A fixed table of speeches: rounds can be left out but not repeated, and only the table ends the
    debate."""
    repeat: int | None = None
    """The round of the table that is repeated to fill the requested number of rounds."""
    rotate: bool = False
    """A different seat opens each round."""
    either_first: bool = False
    """A toss decides which side opens."""
    last_word: Side | None = None
    result: DecisionRule = "majority"
    parties: PartyUnit = "seats"
    """Who wins: a seat for itself, or all seats of a side together."""
    criteria: dict[str, float] = {}
    """The default criteria of its judges, with their weights."""
    prep_words: int = 0
    """Words of private notes that each team (those who win together) may make in all."""


class Slot(Struct, frozen=True):
    """One speech in the schedule."""

    index: int
    round: int
    phase: int
    seat: str
    tone: Tone
    to: str | None = None
    group: int = 0
    """Slots of one group are given at the same time."""
    words: int = 0
    """Its word budget, where the speech is split in two; 0: that of the phase."""


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
    """The reported figures cannot be true; the larger of report and estimate counts."""

    @property
    def total(self) -> int:
        """Input and output."""
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
    """The numbers that a service gives to an item and to the part of it that begins."""

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
    """Words that the model said."""

    text: str
    index: int = 0
    item_id: str = ""
    sequence_number: int | None = None
    phase: str = ""
    """Some models mark text on the way (commentary) and in the end (final_answer)."""
    annotations: tuple[dict[str, Any], ...] = ()
    """Citations and the like, as the service sent them."""


class Reasoning(Struct, frozen=True, omit_defaults=True, tag="reasoning"):
    """What the model thought. It never enters another's request: see `hears` in `visibility.py`."""

    parts: tuple[ReasoningPart, ...]
    index: int = 0
    item_id: str = ""
    sequence_number: int | None = None
    effort: str = ""
    tokens: int | None = None
    opaque: str = ""
    """A signature or encrypted content that goes back to the provider unread."""
    redacted: bool = False
    """The service showed no text of the reasoning, only `opaque`."""
    phase: str = ""
    """`commentary`: sent as a message, but on the way and not meant for the audience."""
    incomplete: bool = False
    """The reply ended within its last part."""

    @property
    def text(self) -> str:
        """All parts, with a blank line between them."""
        return "\n\n".join(part.text for part in self.parts)


CLIENT_TOOL_KINDS = ("function", "function_call", "custom_tool_call", "tool_use", "functionCall")
"""Kinds of tool calls that wait for our answer; the others ran at the provider."""


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
    """The tool's server in `moot.toml`, or the provider's own label."""
    title: str = ""
    """The tool's name for people."""
    error: str = ""
    """Why a tool that ran at the provider failed."""

    @property
    def needs_answer(self) -> bool:
        """Whether we have to carry it out and answer."""
        return self.kind in CLIENT_TOOL_KINDS


class ToolResult(Struct, frozen=True, omit_defaults=True, tag="tool_result"):
    """What the tool call with this id brought; `error` says why it failed."""

    id: str
    output: str
    error: str = ""
    index: int = 0


class CompletionStatus(Struct, frozen=True, omit_defaults=True, tag="completion_status"):
    """How a call ended: the last segment of a speech."""

    status: Literal["complete", "partial", "error"]
    detail: str = ""
    index: int = 0


class UnknownItem(Struct, frozen=True, omit_defaults=True, tag="unknown_item"):
    """An item of an unknown kind, as the service sent it. It may hold reasoning, and is hidden like it."""

    kind: str
    item: dict[str, Any]
    index: int = 0
    item_id: str = ""
    sequence_number: int | None = None


Segment = Text | Reasoning | ToolCall | ToolResult | CompletionStatus | UnknownItem


class TokenOdds(Struct, frozen=True):
    """One token of a reply, and how probable each of the most probable tokens was in its place."""

    text: str
    odds: dict[str, float]


# --- what models are sent -----------------------------------------------------------------------------


class EncryptedReasoning(Struct, frozen=True):
    """A model's earlier reasoning, encrypted by its provider: it goes back to it unread."""

    item_id: str
    data: str


class ChatMessage(Struct, frozen=True, omit_defaults=True):
    """One message of the conversation that a model is sent."""

    role: Literal["user", "assistant"]
    content: str
    sealed: tuple[EncryptedReasoning, ...] = ()


class Tool(Struct, frozen=True, omit_defaults=True):
    """A tool as it is described to a model."""

    name: str
    """At most 64 letters, digits, `_` and `-`."""
    description: str
    schema: dict[str, Any]
    server: str = ""
    title: str = ""


HostedTool = Literal["web_search", "code"]
"""Tools that run at the provider."""


class Request(Struct, frozen=True, omit_defaults=True):
    """One call as a value; each provider encodes it in its own wire format."""

    model: Model
    instructions: str
    messages: tuple[ChatMessage, ...]
    max_tokens: int
    schema: dict[str, Any] | None = None
    """JSON schema that the reply must match."""
    prefill: str = ""
    """The first words of the reply, which the model continues; they count as its own."""
    words: tuple[str, ...] = ()
    """One of these must come next, and the reply says how probable each was; a sentence may follow it."""
    previous_response_id: str | None = None
    fresh: tuple[ChatMessage, ...] = ()
    """With a previous response: only the messages since then. Empty means the last message."""
    stop: tuple[str, ...] = ()
    seed: int | None = None
    attempt: int = 1
    thoughts: bool = True
    """Ask for the model's reasoning. Some accounts may not see it."""
    trimmed: int = 0
    """So many of the oldest messages were left out, because all of them were too long for the model."""
    tools: tuple[Tool, ...] = ()
    hosted: tuple[HostedTool, ...] = ()
    exchange: tuple[Segment, ...] = ()
    """What this speech has brought so far, in order: reasoning, text, tool calls and their results. It
    follows the messages, and the model continues from there."""
    resumes: bool = False
    """The previous response belongs to this speech: of the exchange, only the results at its end are new."""
    enough: bool = False
    """It has called tools often enough: now it must speak."""


# --- judging ------------------------------------------------------------------------------------------


class PartyScore(Struct, frozen=True, omit_defaults=True):
    score: float
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()


class Ballot(Struct, frozen=True, omit_defaults=True):
    """One judge's decision after one reading. Parties are named by the id of their first seat; without a
    winner it is a tie."""

    judge: str
    order: int
    """Which reading: 0 the first, 1 the second, with the labels swapped (`judging/readings.py`)."""
    winner: str | None
    scores: dict[str, PartyScore]
    """Of a judge that was asked for one word: how sure it was of each party, in percent."""
    reasoning: str
    criteria: dict[str, str] = field(default_factory=dict[str, str])
    inconsistent: bool = False
    """The winner does not have the highest score; the ballot counts as cast."""
    cites: tuple[int, ...] = ()
    """The speeches on which the decision rests, by turn."""
    rubric: dict[str, dict[str, float]] = {}
    """Points by criterion and party, beside the decision."""
    ranking: tuple[str, ...] = ()
    """From best to worst, where the format ranks the parties."""
    dropped: tuple[str, ...] = ()
    """Criteria in the reply that were not asked for; they do not count."""
    probabilities: tuple[float, ...] = ()
    """How probable each answer is, where the motion is a question with given answers."""
    labels: dict[str, str] = {}
    """The label under which the judge read each party; empty for people, and in older logs."""
    read_first: str | None = None
    """The party whose speech the judge read first; None for people, and in older logs."""


class DebateVerdict(Struct, frozen=True, omit_defaults=True):
    """The result with its doubts. `outcome` says why there is no winner where there is none."""

    outcome: VerdictOutcome
    winner: str | None
    by: DecidedBy
    margin: float = 0.0
    """Mean score of the first seat less that of the second (of the best less the next, with more seats)."""
    agreement: float = 1.0
    """The share of ballots that name the winner."""
    flips: int = 0
    """Judges who named another winner in their second reading."""
    scores: dict[str, PartyScore] = field(default_factory=dict[str, PartyScore])
    reasoning: str = ""
    criteria: dict[str, str] = field(default_factory=dict[str, str])
    inconsistent: bool = False
    cites: tuple[int, ...] = ()
    rubric: dict[str, dict[str, float]] = {}
    totals: dict[str, float] = {}
    """Weighted rubric points by party, where criteria have weights."""
    ranking: tuple[str, ...] = ()
    last_word: str | None = None
    """The seat that spoke last: judges tend to favour it."""
    probabilities: tuple[float, ...] = ()
    """The mean of the ballots for each answer, where the motion is a question with given answers."""
    read_once: int = 0
    """Judges for whose second reading the cost limit left no room."""


AsideKind = Literal["notes", "point", "leave", "concession", "referee"]
"""Questions beside the speeches: `notes` to make notes, `point` whether to offer a point of information,
`leave` whether the speaker accepts it, `concession` whether the speaker has conceded, `referee` whether that
is so. Extensions have further kinds (`moot.extension.SideQuestions`), whose answers are only recorded."""
ASIDE_KINDS: tuple[AsideKind, ...] = get_args(AsideKind)
PollName = Literal["before", "after"]


class SimilarTurns(Struct, frozen=True):
    """Evidence of a stalemate: two similar turns, the scorer and its figure."""

    turn: int
    other: int
    scorer: str
    ratio: float
    text: str
    other_text: str
