"""Models that find the crux of a speech, for the extension crux of docs/extending.md; and an extension that
brings them, for debates in the terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from moot import Cue, Request, SayCue, ScriptedProvider
from moot.extension import Extension
from moot.providers.scripted import improvise

ASKS = "claim on which it rests"


def quote(request: Request) -> Iterable[Cue]:
    """Plain sentences; asked for the crux of a speech, its first one."""
    if ASKS not in request.instructions:
        return improvise(request)
    return _crux("Its first sentence.", re.split(r"(?<=[.])\s", _speech(request))[0])


def quote_three() -> ScriptedProvider:
    """The same; what is quoted of the fourth speech is made up."""
    speeches: list[str] = []

    def script(request: Request) -> Iterable[Cue]:
        if ASKS in request.instructions and _speech(request) not in speeches:
            speeches.append(_speech(request))
        is_fourth = ASKS in request.instructions and len(speeches) > 3
        return _crux("Made up.", "Nobody said this.") if is_fourth else quote(request)

    return ScriptedProvider(script)


def _speech(request: Request) -> str:
    """Between the two lines of the fence."""
    return request.messages[0].content.split("\n")[1]


def _crux(claim: str, quoted: str) -> list[Cue]:
    return [SayCue(json.dumps({"claim": claim, "quote": quoted}))]


MODELS = Extension(
    "quoting",
    "Models that quote.",
    providers=lambda: {"quoting": lambda: ScriptedProvider(quote)},
)
