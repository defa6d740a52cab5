"""A provider that follows a script, for tests, demos and teaching: `ScriptedProvider` and its cues.

A script is a function from a request to cues; without one, `improvise` makes up plain sentences.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import AsyncGenerator, Callable, Iterable
from pathlib import Path
from typing import Any, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.core.choices import Effort
from moot.core.errors import Fault
from moot.core.terms import FinishReason, Request, ToolCall, Usage
from moot.core.word_count import quarter_tokens, whole_tokens
from moot.providers.contract import (
    Chunk,
    Provider,
    ReplyDelta,
    ReplyDone,
    ReplySegment,
    ReplyStarted,
    Traits,
)


class SayCue(Struct, frozen=True):
    """The model says this."""

    text: str


class ThinkCue(Struct, frozen=True):
    """The model thinks this aloud."""

    text: str


class ToolCue(Struct, frozen=True):
    """A call of a tool. Arguments that are text are sent as they are, JSON or not."""

    name: str
    arguments: dict[str, Any] | str = {}
    id: str = ""


class WaitCue(Struct, frozen=True):
    """Nothing comes for so long."""

    seconds: float


class StallCue(Struct, frozen=True):
    """Nothing more comes, and the call stays open."""


class RefuseCue(Struct, frozen=True):
    """The model declines, with these words."""

    text: str


class FaultCue(Struct, frozen=True):
    """The call fails."""

    fault: Fault


class UsageCue(Struct, frozen=True):
    """How the reply ends, and what the service reports about it."""

    usage: Usage | None = None
    finish: FinishReason = "stop"
    response_id: str | None = None


_FENCE = re.compile(rb"quote-[0-9a-f]{10,16}")
TRAITS = Traits(chaining=True, efforts=get_args(Effort), verbosity=True, tools=True)
"""It accepts an effort, and ignores it."""

Cue = SayCue | ThinkCue | ToolCue | WaitCue | StallCue | RefuseCue | FaultCue | UsageCue
Script = Callable[[Request], Iterable[Cue]]


class LedgerEntry(Struct, frozen=True):
    """One recorded call."""

    number: int
    model: str
    seed: int | None
    attempt: int
    previous_response_id: str | None
    max_tokens: int
    digest: str


CALLS_KEPT = 1000


class ScriptedProvider(Provider):
    """A provider that follows a script, which is a function from a request to cues:

        def script(request):
            return [ThinkCue("Hm."), SayCue("I agree.")]

        async with Arena.open(providers={"scripted": ScriptedProvider(script)}) as arena:
            ...

    Its models are `scripted/NAME`, with any name. `SayCue` and `ThinkCue` are sent word by word, `pace`
    seconds apart. `ToolCue` calls a tool, whose result is in the `exchange` of the next request. `WaitCue`
    pauses, `StallCue` sends nothing more, `RefuseCue` declines, `FaultCue` raises a `Fault`, `UsageCue` sets
    the usage and the ending. Without a script it sends plain sentences, the same for the same request, and
    calls a tool if one is offered.

    `calls` are the last requests; `ledger` is a file with a line for each call, which survives a crash.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        pace: float = 0.0,
        ledger: Path | None = None,
        traits: Traits | None = None,
    ) -> None:
        self._traits = traits or TRAITS
        self.calls: list[Request] = []
        """The last ones."""
        self._count = 0
        self._script = script or improvise
        self._pace = pace
        self._ledger = ledger

    @property
    def traits(self) -> Traits:
        return self._traits

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        self._record_call(request)
        digest = _digest(request)[:8]
        response_id = f"resp_{self._count}_{digest}"
        yield ReplyStarted(response_id)
        said_quarters = thought_quarters = 0
        segment, last = -1, ""
        finish: FinishReason = "stop"
        report: UsageCue | None = None
        for cue in self._script(request):
            if isinstance(cue, ToolCue) or (
                isinstance(cue, SayCue | ThinkCue | RefuseCue) and type(cue).__name__ != last
            ):
                segment, last = segment + 1, type(cue).__name__
            match cue:
                case SayCue(text):
                    for word in split_words(text):
                        await asyncio.sleep(self._pace)
                        yield ReplyDelta(word, "text", segment)
                        said_quarters += quarter_tokens(word)
                case ThinkCue(text):
                    for word in split_words(text):
                        await asyncio.sleep(self._pace)
                        yield ReplyDelta(word, "reasoning", segment)
                        thought_quarters += quarter_tokens(word)
                case ToolCue():
                    finish = "tool"
                    yield ReplySegment(_call(cue, segment, digest))
                case WaitCue(seconds):
                    await asyncio.sleep(seconds)
                case StallCue():
                    await asyncio.Event().wait()
                case RefuseCue(text):
                    finish = "refusal"
                    yield ReplyDelta(text, "text", segment)
                    said_quarters += quarter_tokens(text)
                case FaultCue(fault):
                    raise fault
                case UsageCue():
                    report = cue
        thought = whole_tokens(thought_quarters)
        usage = Usage(_size(request), whole_tokens(said_quarters) + thought, thought)
        if report is not None:
            yield ReplyDone(report.finish, report.usage, report.response_id)
        else:
            yield ReplyDone(finish, usage, response_id)

    def _record_call(self, request: Request) -> None:
        self._count += 1
        self.calls.append(request)
        del self.calls[:-CALLS_KEPT]
        if self._ledger is None:
            return
        entry = LedgerEntry(
            number=self._count,
            model=request.model.label,
            seed=request.seed,
            attempt=request.attempt,
            previous_response_id=request.previous_response_id,
            max_tokens=request.max_tokens,
            digest=_digest(request),
        )
        line = msgspec.json.encode(entry) + b"\n"
        with self._ledger.open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())


def improvise(request: Request) -> Iterable[Cue]:
    """Plain sentences that differ with the request, or a valid ballot if the request has its schema."""
    digest = hashlib.sha256(_digest(request).encode()).digest()
    if request.schema is not None:
        yield SayCue(msgspec.json.encode(_fill(request.schema, digest)).decode())
        return
    yield ThinkCue("First the strongest point, then an example.")
    if request.tools and not request.exchange:
        tool = request.tools[0]
        yield ToolCue(tool.name, _fill({"properties": {}, **tool.schema, "type": "object"}, digest))
        return
    picked = [SENTENCES[byte % len(SENTENCES)] for byte in digest[:6]]
    yield SayCue(" ".join(dict.fromkeys(picked)))


SENTENCES = (
    "The question is who bears the risk when things go wrong.",
    "Rules that are clear cost less than rules that are guessed at.",
    "History shows that early limits are cheaper than late repairs.",
    "Freedom to try is what made every earlier advance possible.",
    "A promise without a way to check it is worth very little.",
    "Those who know the field best are not always those who decide.",
    "What works in a small town need not work in a large country.",
    "The cost falls on people who never had a say.",
    "An honest comparison looks at what we would do otherwise.",
    "My opponent's example proves the opposite of what was claimed.",
    "Trust grows slowly and is lost in a day.",
    "We can begin modestly, measure, and change course.",
)


def split_words(text: str) -> list[str]:
    """Words as a model sends them: each with the space before it."""
    return re.findall(r"\s*\S+\s*$|\s*\S+", text)


def _fill(schema: dict[str, Any], digest: bytes) -> Any:
    """Some value of this JSON schema, chosen by the digest."""
    kind = schema.get("type")
    if "enum" in schema:
        return schema["enum"][digest[0] % max(1, len(schema["enum"]) - 1)]
    if kind == "object":
        properties: dict[str, dict[str, Any]] = schema["properties"]
        return {
            name: _fill(inner, hashlib.sha256(digest + name.encode()).digest())
            for name, inner in properties.items()
        }
    if kind == "array":
        return _fill_array(schema, digest)
    if kind == "integer":
        return (50 + digest[1] % 40) * schema.get("maximum", 100) // 100
    if kind == "boolean":
        return digest[3] % 2 == 0
    return SENTENCES[digest[2] % len(SENTENCES)]


def _fill_array(schema: dict[str, Any], digest: bytes) -> list[Any]:
    """One item, or all choices in some order if as many are required."""
    choices: list[Any] = schema["items"].get("enum", [])
    if schema.get("minItems", 1) == len(choices) > 1:
        start = digest[0] % len(choices)
        return choices[start:] + choices[:start]
    return [_fill(schema["items"], digest)]


def _call(cue: ToolCue, index: int, digest: str) -> ToolCall:
    arguments = cue.arguments
    if not isinstance(arguments, str):
        arguments = msgspec.json.encode(arguments).decode()
    return ToolCall(cue.id or f"call_{digest}_{index}", cue.name, arguments, index)


def _digest(request: Request) -> str:
    """Of what the request says, without what differs from run to run: random names of fences, ids of
    responses, prices. So the same debate is the same whenever it is held."""
    model = replace(request.model, price=None)
    said = replace(request, model=model, previous_response_id=None, fresh=(), resumes=False)
    return hashlib.sha256(_FENCE.sub(b"quote", msgspec.json.encode(said))).hexdigest()


def _size(request: Request) -> int:
    words = (request.instructions, *(m.content for m in request.messages))
    return whole_tokens(sum(map(quarter_tokens, (*words, *map(str, (*request.tools, *request.exchange))))))
