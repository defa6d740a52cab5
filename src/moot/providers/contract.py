"""What a provider promises: a request goes in, chunks come out in the provider's own order, or a Fault.

A provider yields `ReplyStarted` when the service has answered, `ReplyDelta` for words, `ReplySegment` for
each finished segment with everything the service sent about it, `KeepAlive` for a sign of life without words,
and exactly one `ReplyDone` at the end. Anything else raises a `Fault`. Closing the iterator cancels the call.
A segment without a `ReplySegment` is made from its words; if both differ, the `ReplySegment` is right.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, ExitStack, nullcontext
from typing import Literal, Protocol

from msgspec import Struct

from moot.core.choices import Effort
from moot.core.errors import Fault
from moot.core.terms import (
    AnswerKind,
    DeltaKind,
    FinishReason,
    HostedTool,
    Model,
    PartStart,
    Request,
    Segment,
    TokenOdds,
    Usage,
)

CONNECT_SECONDS = 10.0
"""How long a connection may take, unless the settings say otherwise."""
OWN_ID_PREFIX = "moot_"
"""How the ids begin that we give to tool calls which have none."""
BUILT_IN_PROVIDERS = ("local", "scripted", "human")
MODEL_SERVERS = ("ollama", "lmstudio", "llamacpp", "vllm")
"""Endpoints that run models on one's own machine."""


class ReplyStarted(Struct, frozen=True):
    """The service has answered: the first chunk of every reply."""

    response_id: str | None = None
    request_id: str = ""
    """The id under which the service's support finds this call."""


class ReplyDelta(Struct, frozen=True, gc=False):
    """Some more words. Those of one segment have one number and one kind; the numbers rise."""

    text: str
    kind: DeltaKind = "text"
    segment: int = 0
    part: PartStart | None = None
    """With the first words of a part, if the service names and numbers its items."""


class ReplySegment(Struct, frozen=True):
    """A segment is complete: everything that the service sent about it."""

    segment: Segment


class KeepAlive(Struct, frozen=True):
    """A sign of life without words."""

    usage: Usage | None = None
    """The figures so far, if the reply is about to fail."""
    final: bool = False
    """The service reported them together with the failure: it bills them."""


class ReplyDone(Struct, frozen=True):
    """The reply is complete: its last chunk."""

    finish: FinishReason = "stop"
    usage: Usage | None = None
    """None if the service reports nothing."""
    response_id: str | None = None
    degraded: str = ""
    """What was not as it should be: values of `Degradation`, separated by commas."""
    reason: str = ""
    """Why it ended, in the service's own term."""
    model: str = ""
    """The model that answered, as the service names it."""
    stored: bool = True
    """Whether a later call may refer to this one by its id."""
    unread: int = 0
    """How many events of unknown kinds were ignored."""
    tokens: tuple[TokenOdds, ...] = ()
    """The first tokens with their probabilities, if the service sent them."""
    refusal_category: str = ""
    """Of a refusal: the policy that it rests on, as the service names it."""
    unbilled: bool = False
    """The service does not bill this reply, whatever figures it reports."""
    service_tier: str = ""
    """The tier at which it was answered, in the service's own term."""


Degradation = Literal["chain", "utf8", "mended"]
"""chain: the history was sent in full although the service could have stored it; utf8: a broken character was
replaced; mended: the final text differed from the words that were streamed."""

Chunk = ReplyStarted | ReplyDelta | ReplySegment | KeepAlive | ReplyDone


class Traits(Struct, frozen=True):
    """What a model can do at an endpoint, as data."""

    chaining: bool = False
    """It stores its responses, and the next request may refer to the last by its id."""
    deadlines: bool = True
    """False: it may be slow without being broken (a local model on a busy laptop)."""
    prefill: bool = False
    schema: Literal["strict", "json", "words"] = "strict"
    """How it is made to answer in JSON: by a schema, as any JSON, or by the words of the prompt alone."""
    small: bool = False
    """Needs short turns and strict instructions."""
    answers: AnswerKind = "json"
    """`word` only where the reply says how probable each word was."""
    thinks: bool = False
    """It reasons before it answers, and can be asked to show it."""
    efforts: tuple[Effort, ...] = ()
    """The efforts it accepts. Empty: none may be sent."""
    thinking: Literal["effort", "budget"] = "effort"
    """What the effort is sent as: a word, or (older models) the tokens that may be spent on thinking."""
    verbosity: bool = False
    sampling: bool = True
    """Accepts a temperature and a seed; many reasoning models refuse them."""
    tools: bool = False
    """It can call tools that we run."""
    hosted: tuple[HostedTool, ...] = ()
    """The tools that the service runs itself."""
    service_tiers: tuple[str, ...] = ()
    """The tiers that a request may name: none of them costs more than the usual one."""
    context: int | None = None
    output: int | None = None
    """The most tokens of a prompt, and of a reply."""


class Provider(Protocol):
    """A service, or something that answers like one. Only `traits` and `stream` have no default."""

    @property
    def traits(self) -> Traits:
        """What its models can do, if nothing is known of the single one."""
        ...

    def traits_of(self, model: str) -> Traits:
        """What one model can do, by its name."""
        return self.traits

    async def prepare(self, model: Model) -> None:
        """Download or start what the first call needs. May raise Unavailable."""

    async def look_up(self, model: Model) -> Fault | None:
        """What is certainly wrong with this model or its key, found at no cost; None where nothing is known
        to be, or there is no free way to ask."""
        return None

    def admit(self, model: Model) -> AbstractAsyncContextManager[object]:
        """Waits until a call may begin; held while it lasts. The clock of a speech does not run meanwhile."""
        return nullcontext()

    def admit_at_once(self, model: Model) -> ExitStack | None:
        """The place of a call that may begin now, to be closed when it is over; None where it has to wait."""
        return ExitStack()

    def report_timeout(self, model: Model) -> None:
        """The caller gave up on a call before the first word came."""

    def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Call the model and yield its reply as it comes. Raises Fault. Closing it cancels the call."""
        ...

    async def close(self) -> None:
        """Release connections and processes."""
