"""Replies about the server: models, formats, tools, tokens, health, cost estimates, statistics."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from moot.core.choices import Effort
from moot.core.json_types import Amount, Count, Dollars, Nth, Timestamp, one_of
from moot.core.pricing import CountRange
from moot.core.schedule import ScheduledSpeech
from moot.core.terms import HostedTool, SeatRole, Side, TokenRole
from moot.extension import PagePlace
from moot.views.statistics_tables import FormatRecord, JudgeRecord, PairRecord, TopicCount, WinRecord

Minutes = Annotated[float, Meta(extra_json_schema={"minimum": 0})]
TwoOrMore = Annotated[int, Meta(extra_json_schema={"minimum": 2})]
DefaultModel = Annotated[str, Meta(description="The model that is used where a request names none.")]
Missing = Annotated[str | None, Meta(description="What to do so that it can be used.")]

# --- extensions ---------------------------------------------------------------------------------------


class ExtensionModule(Struct, frozen=True, rename="camel", kw_only=True):
    """A JavaScript module that an extension adds to the page."""

    extension: str
    place: Annotated[str, one_of(PagePlace)]
    path: str
    address: Annotated[str, Meta(description="Of a page of its own; empty for a part of a page.")]
    title: str


class LoadedExtension(Struct, frozen=True, rename="camel", kw_only=True):
    name: str
    summary: str
    source: Annotated[str, Meta(description="The package it comes from: `moot` for our own.")]
    commands: Annotated[tuple[str, ...], Meta(description="Its commands in the terminal.")]
    modules: tuple[ExtensionModule, ...]
    problem: Annotated[str, Meta(description="Why it was left out; empty where it works.")] = ""
    failed_field: Annotated[
        str, Meta(description="The field of `Extension` that failed; empty where it was not even imported.")
    ] = ""


class ExtensionsResponse(Struct, frozen=True, rename="camel", kw_only=True):
    extensions: tuple[LoadedExtension, ...]


# --- models and providers -----------------------------------------------------------------------------


class Price(Struct, frozen=True, rename="camel", kw_only=True):
    """US dollars for a million tokens."""

    input_per_million: Dollars
    output_per_million: Dollars


class OfferedModel(Struct, frozen=True, rename="camel", kw_only=True):
    """A model that this server can use, or could use."""

    provider: str
    model_id: str
    name: str
    available: Annotated[bool, Meta(description="Whether it can be used now.")]
    missing: Missing
    price: Annotated[Price | None, Meta(description="null where the price is not known.")]
    price_text: Annotated[str, Meta(description="The price in a few words.")]
    thinks: bool
    efforts: Annotated[
        tuple[Annotated[str, one_of(Effort)], ...], Meta(description="What `config.effort` may be.")
    ]
    context_tokens: Count | None
    output_tokens: Count | None
    local: Annotated[
        bool, Meta(description="Whether it runs on a machine of the operator's, and costs nothing.")
    ]
    small: Annotated[
        bool,
        Meta(description="Whether it needs short speeches and close guidance; its verdicts carry little."),
    ]
    recommended: Annotated[bool, Meta(description="Whether it is a good one to begin with.")]
    install: Annotated[
        str | None, Meta(description="What to install in order to have it: see `POST /installs/{model}`.")
    ]

    @property
    def label(self) -> str:
        return f"{self.provider}/{self.model_id}"


class ModelsResponse(Struct, frozen=True, rename="camel", kw_only=True):
    models: tuple[OfferedModel, ...]
    default: DefaultModel


class OfferedProvider(Struct, frozen=True, rename="camel", kw_only=True):
    name: str
    title: str
    ready: bool
    local: bool
    key_name: Annotated[str | None, Meta(description="The environment variable that may hold its key.")]
    why: Annotated[str | None, Meta(description="Why it is ready; for the operator.")]
    missing: Missing
    models: tuple[str, ...]


class ProvidersResponse(Struct, frozen=True, rename="camel", kw_only=True):
    providers: tuple[OfferedProvider, ...]
    default: DefaultModel
    token: Annotated[bool, Meta(description="Whether every request needs a token.")]
    operator: Annotated[bool, Meta(description="Whether the client may install models and make tokens.")]
    version: Annotated[str, Meta(description="The version of the server.")]


class ReachableResponse(Struct, frozen=True, rename="camel", kw_only=True):
    provider: str
    reachable: Annotated[
        bool | None, Meta(description="Whether it answers at its address; null where it has none to ask.")
    ]


class InstallResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """A model that runs on the server's own machine."""

    name: Annotated[str, Meta(description="By which it is installed, stopped and found in this list.")]
    label: Annotated[str, Meta(description="What it is called in a debate: `provider/model`.")]
    title: str
    bytes: Annotated[Count, Meta(description="The size of its file; rounded until the hub was asked.")]
    licence: str
    summary: str
    small: bool
    source: Annotated[
        str | None, Meta(description="`hf:owner/repo/file.gguf` for a file of the Hugging Face Hub.")
    ]
    memory_bytes: Annotated[Count | None, Meta(description="Memory that it needs: an estimate.")]
    tokens_per_second: Annotated[
        Count | None, Meta(description="Its speed on a laptop without a graphics card: an estimate.")
    ]
    fits: Annotated[bool, Meta(description="Whether the server's machine has that much memory.")]
    state: Literal["absent", "installing", "installed", "failed"]
    done: Annotated[Count, Meta(description="Bytes that are here.")]
    total: Count
    error: Annotated[
        str | None, Meta(description="What went wrong, and what to do about it; for the operator.")
    ]


class InstallPreviewResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """What the hub says of a model, before it is downloaded."""

    source: str
    name: str
    title: str
    bytes: Count
    licence: str
    small: bool
    memory_bytes: Annotated[Count, Meta(description="Memory that it needs: an estimate.")]
    tokens_per_second: Annotated[
        Count, Meta(description="Its speed on a laptop without a graphics card: an estimate.")
    ]
    fits: Annotated[bool, Meta(description="Whether the server's machine has that much memory.")]
    installed: bool


class InstallsResponse(Struct, frozen=True, rename="camel", kw_only=True):
    models: tuple[InstallResponse, ...]
    operator: Annotated[bool, Meta(description="Whether the client may install them.")]


# --- keys ---------------------------------------------------------------------------------------------


class KeyStatus(Struct, frozen=True, rename="camel", kw_only=True):
    """Whether a provider has a key. The key itself is never sent."""

    provider: str
    title: str
    set: bool
    source: Annotated[
        Literal["settings", "environment", "file"] | None,
        Meta(description="Where the key that is used comes from: saved, a variable, or `moot.toml`."),
    ]
    variable: Annotated[str, Meta(description="The environment variable that holds its key, or may hold it.")]
    variable_set: Annotated[
        bool, Meta(description="Whether that variable is set; a saved key comes before it.")
    ]
    saved: Annotated[bool, Meta(description="Whether a key is saved, which `DELETE` removes.")]
    needed: Annotated[bool, Meta(description="Whether it can be used only with a key.")]
    host: Annotated[str | None, Meta(description="Where the key is sent.")]
    test: Annotated[
        Literal["untested", "accepted", "failed"] | None,
        Meta(
            description="What the last test of a saved key showed. Until one is accepted, its models are "
            "used only where they are named."
        ),
    ]


class KeysResponse(Struct, frozen=True, rename="camel", kw_only=True):
    keys: tuple[KeyStatus, ...]
    editable: Annotated[bool, Meta(description="Whether this client can save, remove and test keys.")]
    reason: Annotated[str | None, Meta(description="Why it cannot.")]


class KeyTestResponse(Struct, frozen=True, rename="camel", kw_only=True):
    provider: str
    ok: Annotated[bool, Meta(description="Whether the service accepted the key.")]
    message: Annotated[str, Meta(description="What came of it, in one sentence.")]
    fix: Annotated[str | None, Meta(description="What to do about it.")]


# --- formats ------------------------------------------------------------------------------------------


class Chair(Struct, frozen=True, rename="camel", kw_only=True):
    """A place for a participant that the format has."""

    name: str
    position: Annotated[str, one_of(Side)]
    role: Annotated[str, one_of(SeatRole)]
    team: str


class FormatPhase(Struct, frozen=True, rename="camel", kw_only=True):
    key: str
    title: str
    round: Nth
    who: Annotated[str, Meta(description="Who speaks: each, for, against, neutral or moderator.")] = field(
        name="speaker"
    )
    speaker: Annotated[Count, Meta(description="Which speaker of that team; 0 for each in turn.")] = field(
        name="member"
    )
    team: str
    speaks_as: str
    to: Annotated[str | None, Meta(description="Whom the speaker questions.")]
    kind: str
    tone: str
    minutes: Minutes
    words: Count
    clock: Annotated[
        Count, Meta(description="Words of each side for the whole exchange; 0 where there is no clock.")
    ]
    exchanges: Count
    new_arguments: bool
    simultaneous: bool
    points_of_information: bool
    protected: Count


class OfferedFormat(Struct, frozen=True, rename="camel", kw_only=True):
    name: str
    title: str
    summary: str
    min_participants: TwoOrMore
    max_participants: TwoOrMore
    rounds: Nth
    max_rounds: Nth
    scripted: Annotated[
        bool, Meta(description="Whether the format lists every speech; else its rounds repeat.")
    ]
    result: str
    parties: Annotated[str, Meta(description="Who wins: seats for themselves, or sides.")]
    either_first: Annotated[
        bool, Meta(description="Whether a toss decides which side opens: `config.opens`.")
    ]
    last_word: str | None
    prep_words: Count
    chairs: tuple[Chair, ...]
    phases: tuple[FormatPhase, ...]
    order: Annotated[
        tuple[ScheduledSpeech, ...],
        Meta(description="Every speech, with the format's own chairs and its usual rounds."),
    ]


SettingKind = Literal["switch", "number", "choice", "text", "list", "polls"]


class SettingChoice(Struct, frozen=True, rename="camel", kw_only=True):
    value: str
    label: str


class OfferedSetting(Struct, frozen=True, rename="camel", kw_only=True):
    """A member of `config`, with what a form says of it."""

    name: str
    kind: Annotated[str, one_of(SettingKind)]
    default: Annotated[
        bool | float | str | tuple[str, ...] | None, Meta(description="What a form begins with.")
    ]
    label: str
    hint: str
    placeholder: str
    choices: tuple[SettingChoice, ...]
    minimum: float | None
    maximum: Annotated[float | None, Meta(description="Of a number, the characters of a text, or the items.")]
    step: str
    negated: Annotated[bool, Meta(description="The label says what happens where it is off.")]
    needs: Annotated[str, Meta(description="The member of a format without which the setting has no effect.")]
    brief: Annotated[str, Meta(description="A setup in one line says this where it is not the default.")]
    place: Annotated[Count, Meta(description="Its place among switches, and in that line.")]


class FormatsResponse(Struct, frozen=True, rename="camel", kw_only=True):
    formats: tuple[OfferedFormat, ...]
    settings: Annotated[
        tuple[OfferedSetting, ...], Meta(description="What can be set in `config` of a new debate.")
    ]


# --- tools --------------------------------------------------------------------------------------------


class OfferedTool(Struct, frozen=True, rename="camel", kw_only=True):
    name: Annotated[str, Meta(description="`server/tool`, as in `config.tools`.")]
    title: str
    description: Annotated[str, Meta(description="As its server describes it.")]


class ToolServer(Struct, frozen=True, rename="camel", kw_only=True):
    name: Annotated[str, Meta(description="In `config.tools` it allows all tools of the server.")]
    title: str
    missing: Annotated[str | None, Meta(description="Why it has no tools now.")]
    tools: tuple[OfferedTool, ...]


class ToolsResponse(Struct, frozen=True, rename="camel", kw_only=True):
    servers: Annotated[
        tuple[ToolServer, ...], Meta(description="The servers that the operator has configured.")
    ]
    hosted: Annotated[
        tuple[Annotated[str, one_of(HostedTool)], ...],
        Meta(description="What `config.tools` may also contain, for models whose provider has it."),
    ]


# --- tokens -------------------------------------------------------------------------------------------


class TokenResponse(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """A token of the server. The secret and the warning are only in the reply that made it."""

    name: str
    role: TokenRole
    owner: Annotated[str, Meta(description="Whose debates it is for.")]
    created_at: Timestamp
    expires_at: Timestamp | None
    expired: bool
    token: Annotated[str, Meta(description="The secret. The server keeps only its digest.")] = ""
    warning: Annotated[
        str | UnsetType | None, Meta(description="What changes with the first token of a server.")
    ] = UNSET


class TokensResponse(Struct, frozen=True, rename="camel", kw_only=True):
    tokens: tuple[TokenResponse, ...]
    needed: Annotated[bool, Meta(description="Whether every request needs a token.")]


# --- the cost of a debate ------------------------------------------------------------------------------


class ModelEstimate(Struct, frozen=True, rename="camel", kw_only=True):
    model: str
    low: Annotated[Amount | None, Meta(description="null where the price is not known.")]
    expected: Amount | None
    high: Amount | None
    calls: CountRange
    input_tokens: CountRange
    output_tokens: CountRange


class EstimateResponse(Struct, frozen=True, rename="camel", kw_only=True):
    currency: Annotated[str, Meta(extra_json_schema={"const": "USD"})]
    low: Annotated[Amount | None, Meta(description="US dollars, if speeches are short and no model reasons.")]
    expected: Annotated[
        Amount | None,
        Meta(description="US dollars, if speakers use the words of the format and reason as usual."),
    ]
    high: Annotated[Amount | None, Meta(description="US dollars, if every call takes all that it may.")]
    low_text: str
    high_text: str
    text: Annotated[str, Meta(description="The same in a sentence, with what the limit holds.")]
    limited: Annotated[bool, Meta(description="It could cost more if `costLimit` did not hold it.")]
    smallest_limit: Annotated[
        Amount | None,
        Meta(
            description="The smallest `costLimit` under which a first round can be held and judged: a "
            "smaller one is refused. null where a price is not known."
        ),
    ]
    whole_limit: Annotated[
        Amount | None,
        Meta(
            description="The smallest `costLimit` under which all rounds are planned, at full length and "
            "with two readings by each judge. null where a price is not known."
        ),
    ]
    holds: Annotated[str, Meta(description="What `costLimit` will hold, in words; empty without one.")]
    speeches: Count
    calls: CountRange
    tokens: CountRange
    models: tuple[ModelEstimate, ...]
    unpriced: tuple[str, ...]
    order: Annotated[tuple[ScheduledSpeech, ...], Meta(description="Who speaks when.")]
    warnings: Annotated[
        tuple[str, ...],
        Meta(
            description="What will weaken the verdict, why there are fewer rounds than were asked for, "
            "and what is not in the estimate: tools."
        ),
    ]


# --- statistics of many debates ------------------------------------------------------------------------


class ModelBill(Struct, frozen=True, rename="camel", kw_only=True):
    model: str
    cost: Annotated[
        Dollars | None, Meta(description="US dollars, as far as prices are known; null where none is.")
    ]
    cost_text: str
    tokens: Count
    debates: Count


class DayFigures(Struct, frozen=True, rename="camel", kw_only=True):
    day: Annotated[str, Meta(description="A date in UTC.")]
    debates: Count
    cost: Dollars
    cost_text: str


class Totals(Struct, frozen=True, rename="camel", kw_only=True):
    debates: Count
    statuses: dict[str, Count]
    speeches: Count
    cost: Annotated[Dollars, Meta(description="US dollars, as far as prices are known.")]
    cost_text: str
    unpriced: Annotated[Count, Meta(description="Debates with calls whose price is not known.")]
    silent: Annotated[Count, Meta(description="Debates in which a speaker said nothing in a turn.")] = 0


class StatisticsResponse(Struct, frozen=True, rename="camel", kw_only=True):
    totals: Totals
    models: tuple[WinRecord, ...]
    sides: tuple[WinRecord, ...]
    pairs: tuple[PairRecord, ...]
    formats: tuple[FormatRecord, ...]
    topics: tuple[TopicCount, ...]
    costs: tuple[ModelBill, ...]
    judges: JudgeRecord
    days: Annotated[
        tuple[DayFigures, ...],
        Meta(description="The days on which a debate was opened, of the last year."),
    ]


# --- health -------------------------------------------------------------------------------------------


class HealthResponse(Struct, frozen=True, rename="camel", kw_only=True):
    status: Annotated[str, one_of(Literal["ok", "degraded", "starting", "stopping", "unhealthy"])]
    store: Annotated[str, one_of(Literal["ok", "unreachable", "not writable"])] | UnsetType = UNSET
    bus: Annotated[str, one_of(Literal["unreachable"])] | UnsetType = UNSET


class ServicesResponse(Struct, frozen=True, rename="camel", kw_only=True):
    status: Annotated[str, one_of(Literal["healthy", "degraded", "unhealthy"])]
    services: Annotated[
        dict[str, Annotated[str, one_of(Literal["up", "down", "unconfigured"])]],
        Meta(
            description="The services with a key, by the result of their last calls; always `groq` and "
            "`langgraph`, which stands for the engine.",
            examples=[{"groq": "unconfigured", "langgraph": "up"}],
        ),
    ]
