"""What the server has to offer and how it went so far: models, formats, statistics, estimates, health."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from moot.core.terms import Effort, HostedTool, Side
from moot.store.contract import TokenRole
from moot.web.reference.schemas.base_schemas import LEFT_OUT, Count, Dollars, Moment, Nth, Reply


class Price(Reply):
    """US dollars for a million tokens."""

    input_per_million: Dollars
    output_per_million: Dollars


class OfferedModel(Reply):
    provider: str
    model_id: str
    name: str
    available: bool
    """Ready to be used."""
    missing: str | None
    """What to do so that it is."""
    price: Price | None
    """null where nobody knows it."""
    price_text: str
    """The same in a few words."""
    thinks: bool
    efforts: list[Effort]
    """What `config.effort` may be."""
    context_tokens: Count | None
    output_tokens: Count | None
    local: bool
    """It runs on a machine of one's own, and costs nothing."""
    small: bool
    """It needs short speeches and a firm hand; its verdicts are to be taken lightly."""
    recommended: bool
    """A good one to begin with."""
    install: str | None
    """What to install so that it is here: see `POST /installs/{model}`."""


class ModelsResponse(Reply):
    models: list[OfferedModel]
    default: str
    """What is used where nobody names a model."""


class OfferedProvider(Reply):
    name: str
    title: str
    ready: bool
    local: bool
    key_name: str | None
    """The variable that may hold its key."""
    why: str | None
    """Why it is ready."""
    missing: str | None
    """What to do so that it is."""
    models: list[str]


class ProvidersResponse(Reply):
    providers: list[OfferedProvider]
    default: str
    """What is used where nobody names a model."""
    token: bool
    """Every request needs a token."""
    operator: bool
    """The asker may install models and make tokens."""
    version: str
    """Of the server."""


class ServerToken(Reply):
    name: str
    role: TokenRole
    owner: str
    """Whose debates it is for."""
    created_at: Moment
    expires_at: Moment | None
    expired: bool


class TokensResponse(Reply):
    tokens: list[ServerToken]
    needed: bool
    """Every request needs a token."""


class TokenResponse(ServerToken):
    token: str
    """Told this once; only its digest is kept."""
    warning: str | None
    """Of the first token: what is different from now on."""


class Chair(Reply):
    name: str
    position: Side
    role: Literal["debater", "moderator"]
    team: str


class FormatPhase(Reply):
    key: str
    title: str
    round: Nth
    speaker: str
    """Whose turn it is: each, for, against, neutral or moderator."""
    member: Count
    """Which speaker of that team; 0 for each in turn."""
    team: str
    speaks_as: str
    to: str | None
    """Whom the speaker questions."""
    kind: str
    tone: str
    minutes: Annotated[float, Field(ge=0)]
    words: Count
    clock: Count
    """Words of each side for the whole exchange; 0 where there is no clock."""
    exchanges: Count
    new_arguments: bool
    simultaneous: bool
    points_of_information: bool
    protected: Count


class OrderedSpeech(Reply):
    seat: Count
    """The place of its speaker among the participants, counted from 0."""
    round: Nth
    tone: str
    title: str
    words: Count


class OfferedFormat(Reply):
    name: str
    title: str
    summary: str
    min_participants: Annotated[int, Field(ge=2)]
    max_participants: Annotated[int, Field(ge=2)]
    rounds: Nth
    max_rounds: Nth
    scripted: bool
    """Every speech stands in the format; else its rounds repeat."""
    result: str
    parties: str
    """Who wins: seats for themselves, or sides."""
    either_first: bool
    """A toss decides which side opens: `config.opens`."""
    last_word: str | None
    prep_words: Count
    chairs: list[Chair]
    phases: list[FormatPhase]
    order: list[OrderedSpeech]
    """Speech by speech, with the format's own chairs and its usual rounds."""


class FormatsResponse(Reply):
    formats: list[OfferedFormat]


class OfferedTool(Reply):
    name: str
    """`server/tool`, as `config.tools` may have it."""
    title: str
    description: str
    """In the words of its server."""


class ToolServer(Reply):
    name: str
    """In `config.tools` it allows all its tools."""
    title: str
    missing: str | None
    """Why it has none now."""
    tools: list[OfferedTool]


class ToolsResponse(Reply):
    servers: list[ToolServer]
    """Those that the operator has named, and no others."""
    hosted: list[HostedTool]
    """What `config.tools` may also have, for models whose provider has it."""


class HealthResponse(Reply):
    status: Literal["ok", "stopping", "unhealthy"]
    store: Literal["ok", "unreachable"] = LEFT_OUT
