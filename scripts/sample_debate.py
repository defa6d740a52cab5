"""Write src/moot/web/sample_debate.jsonl: the log of the sample debate that plays on the start page.

The speeches and ballots below are written by hand. A debate between them is held by the engine, so that its
log is a log like any other; then it is given the pace of a model that writes while one reads along.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec.structs import replace

from moot import Arena
from moot.core.events import (
    CallDelta,
    DebateOpened,
    DebateReady,
    Event,
    JudgingStarted,
    PointRaised,
    Recorded,
    TurnCompleted,
    TurnStarted,
    VerdictReached,
    encode,
)
from moot.core.terms import Request
from moot.providers.prices import flat_price
from moot.providers.scripted import Cue, SayCue, ScriptedProvider, ThinkCue, split_words
from moot.settings import Settings
from moot.store.memory import MemoryStore

OUT = Path(__file__).resolve().parent.parent / "src" / "moot" / "web" / "sample_debate.jsonl"
START = datetime(2026, 1, 1, 12, tzinfo=UTC)
MOTION = "This house would make public transport free"
FORMAT = """
name = "short"
title = "Short debate"
summary = "An opening and a closing each, with a point of information."
rounds = 2
last_word = "against"

[[chairs]]
name = "Proposition"
side = "for"

[[chairs]]
name = "Opposition"
side = "against"

[[phases]]
key = "opening-for"
title = "Opening"
round = 1
who = "for"
tone = "opening"
words = 90
points_of_information = true

[[phases]]
key = "opening-against"
title = "Opening"
round = 1
who = "against"
tone = "opening"
words = 90

[[phases]]
key = "closing"
title = "Closing"
round = 2
who = "each"
tone = "closing"
words = 60
"""
SPEECHES = {
    "model-a": (
        (
            "Lead with who is kept out, not with the climate. They will raise the cost; let them.",
            "A fare is a small fence around a city. It stops the apprentice who counts coins, and the "
            "pensioner who then stays at home. Streets have no ticket gates, and nobody calls that waste. "
            "**Give the bus what we already give the car.**",
        ),
        (
            "A fair question. Answer it at once, or it becomes the debate.",
            "Everyone who gains, through the taxes that already pay for the road outside. And part of every "
            "fare is spent on machines, inspectors and barriers that do nothing but collect it.",
        ),
        (
            "Grant that frequency matters. Then show that fares are what thins it out.",
            "I want the frequent bus as well. But fares make each line live off riders who can pay, so the "
            "thin lines go first. Fund the network as we fund streets, and frequency becomes a decision, "
            "not a hope.",
        ),
    ),
    "model-b": (
        (
            "Do not argue against generosity. Ask what the same money could buy instead.",
            "My opponent gives away the one thing riders did not ask for. Ask people why they drive, and "
            "they speak of the bus that comes twice an hour. The same money buys **a bus every ten "
            "minutes**. A free bus that does not come is still a bus that does not come.",
        ),
        (
            "Close on the order of steps. One image, nothing new.",
            "We want the same city and differ on the next coin. Spend it on service, and those who most "
            "need the bus can use it at all hours. Make it free once it is good. The price was never the "
            "longest wait.",
        ),
    ),
}
POINT = "If nobody pays at the gate, who pays the driver?"
BALLOTS = {
    "judge-one": (
        (73, 78, "The opposition asked what the money could buy instead, and was not answered."),
        (74, 77, "Both cases stand; the opposition says what to do first."),
    ),
    "judge-two": (
        (77, 75, "The proposition answered the point at once, and made the fare itself the cost."),
        (74, 76, "The frequent bus is the stronger promise, and it was left standing."),
    ),
    "judge-three": (
        (72, 78, "The opposition turned a gift into a choice between two goods, and won that choice."),
        (71, 76, "The closing of the opposition is the one sentence that answers both cases."),
    ),
}
"""Points for the proposition and the opposition in the first reading, then in the second."""
THOUGHT_MS, WORD_MS = 80, 130
"""How long a word is shown before the next."""
PAUSES: dict[type[Any], int] = {
    DebateReady: 300,
    TurnStarted: 1200,
    TurnCompleted: 300,
    PointRaised: 1200,
    JudgingStarted: 1200,
    VerdictReached: 1500,
}
"""Milliseconds before the event."""


class Play:
    def __init__(self) -> None:
        self._given: Counter[str] = Counter()

    def __call__(self, request: Request) -> Iterable[Cue]:
        name = request.model.name
        properties: dict[str, Any] = request.schema["properties"] if request.schema else {}
        if "rise" in properties:
            yield SayCue(json.dumps({"rise": True, "point": POINT}))
        elif "accept" in properties:
            yield SayCue(json.dumps({"accept": True}))
        elif properties:
            yield SayCue(_ballot(request, properties))
        else:
            thought, text = SPEECHES[name][self._given[name]]
            self._given[name] += 1
            yield ThinkCue(thought)
            yield SayCue(text)


def _ballot(request: Request, properties: dict[str, Any]) -> str:
    shown = "\n".join(message.content for message in request.messages)
    pro, con = (re.findall(rf"(\w+) argued {side} the motion", shown)[0] for side in ("for", "against"))
    swapped = shown.index(f"{con} argued") < shown.index(f"{pro} argued")
    mine, theirs, why = BALLOTS[request.model.name][swapped]
    criteria = list(properties["criteria"]["properties"])
    marks = {pro: mine, con: theirs}
    ballot: dict[str, Any] = {
        "reasoning": why,
        "rests_on": properties["rests_on"]["items"]["enum"][1:3],
        "criteria": dict.fromkeys(criteria, ""),
        "rubric": {name: {label: mark // 10 for label, mark in marks.items()} for name in criteria},
        "speakers": {
            label: {"strengths": [], "weaknesses": [], "score": mark} for label, mark in marks.items()
        },
        "winner": pro if mine > theirs else con,
    }
    return json.dumps({name: ballot[name] for name in properties if name in ballot})


async def held(folder: Path) -> list[Recorded]:
    providers = {"sample": ScriptedProvider(Play())}
    free = {f"sample/{name}": flat_price(Decimal(0), Decimal(0)) for name in (*SPEECHES, *BALLOTS)}
    settings = Settings(data=folder, own_formats=folder, prices=free)
    async with Arena.open(settings, store=MemoryStore(), providers=providers) as arena:
        options: dict[str, Any] = {
            "format": "short",
            "models": ("sample/model-a", "sample/model-b"),
            "judges": tuple(f"sample/{judge}" for judge in BALLOTS),
            "rounds": 2,
        }
        return [recorded async for recorded in arena.debate(MOTION, **options)]


def paced(records: Sequence[Recorded]) -> Iterator[Recorded]:
    """The log with a delta for every two words of a speech, and the time between them."""
    at, seq = START, 0
    deltas = [recorded.event for recorded in records if isinstance(recorded.event, CallDelta)]
    speeches = {delta.call for delta in deltas if delta.kind == "reasoning"}
    for recorded in records:
        for event, ms in _steps(recorded.event, speeches):
            at, seq = at + timedelta(milliseconds=ms), seq + 1
            yield replace(recorded, debate="deb_sample", seq=seq, at=at, event=event)


def _steps(event: Event, speeches: set[int]) -> Iterator[tuple[Event, int]]:
    if isinstance(event, DebateOpened):
        judges = (replace(judge, name=f"Judge {number}") for number, judge in enumerate(event.judges, 1))
        yield replace(event, judges=tuple(judges)), 0
    elif not isinstance(event, CallDelta):
        yield event, PAUSES.get(type(event), 0)
    elif event.call not in speeches:
        yield event, 0
    else:
        words = split_words(event.text)
        each = THOUGHT_MS if event.kind == "reasoning" else WORD_MS
        for start in range(0, len(words), 2):
            piece = words[start : start + 2]
            yield replace(event, text="".join(piece)), each * len(piece)


def main() -> None:
    with TemporaryDirectory() as folder:
        Path(folder, "short.toml").write_text(FORMAT)
        records = asyncio.run(held(Path(folder)))
    OUT.write_bytes(b"".join(encode(recorded) + b"\n" for recorded in paced(records)))
    print(f"{OUT}: {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
