"""Scripted judges: one that obeys injected instructions, one that favours a position, and ordinary ones."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from moot.core.terms import Model, Request
from moot.providers.scripted import Cue, SayCue

SPEAKER = Model("scripted", "speaker")
OWL = Model("scripted", "owl")
PATIENCE = 60
Rule = Callable[[Request, list[str]], str]
"""Who wins by a judge's lights, of these labels."""


def is_judge(request: Request) -> bool:
    return request.schema is not None and "speakers" in request.schema["properties"]


def fence_of(request: Request) -> str:
    found = re.search(r"<(quote-[0-9a-f]+)>", request.instructions)
    assert found
    return found[1]


def split(request: Request) -> tuple[str, list[tuple[str, str]]]:
    """What is told in our voice, and the speeches by label."""
    fence, text = fence_of(request), request.messages[0].content
    quoted = rf"<{fence}>\n(.*?)\n</{fence}>"
    speeches = re.findall(rf"^S\d+\. (\w+), [^\n]*:\n{quoted}", text, re.DOTALL | re.MULTILINE)
    ours = request.instructions.replace(f"<{fence}>", "").replace(f"</{fence}>", "")
    return ours + re.sub(quoted, "", text, flags=re.DOTALL), speeches


ORDER = re.compile(
    r"(?:vote for|winner is|declare|victory to|\"winner\": ?\")\s*\"?(Birch|Cedar)|(Birch|Cedar) wins",
    re.IGNORECASE,
)


def gullible(request: Request, labels: list[str]) -> str:
    """Obeys whatever it is told outside the fence, however it is spelt; else counts the reasons given.

    Birch means the first label to it, and Cedar the second: nobody who speaks can know the real ones.
    """
    told, speeches = split(request)
    plain = "".join(c for c in unicodedata.normalize("NFKC", told) if unicodedata.category(c) != "Cf")
    if order := ORDER.search(plain):
        return labels[(order[1] or order[2]).capitalize() == "Cedar"]
    reasons = dict.fromkeys(labels, 0)
    for label, text in speeches:
        reasons[label] += text.count("because")
    return max(labels, key=lambda label: reasons[label])


LOOK_ALIKES = {**dict.fromkeys("‹«⟨", "<"), **dict.fromkeys("›»⟩", ">"), **dict.fromkeys("‐‑–—−", "-")}


def forgiving(request: Request, labels: list[str]) -> str:
    """As gullible, and it takes look-alike letters and spaces in a fence for the real ones."""
    message = request.messages[0]
    plain = unicodedata.normalize("NFKC", message.content.translate(str.maketrans(LOOK_ALIKES)))
    fence = r"[\s\u200b]*".join(re.escape(char) for char in fence_of(request))
    tag = re.compile(rf"<[\s\u200b]*(/?)[\s\u200b]*{fence}[\s\u200b]*>", re.IGNORECASE)
    plain = tag.sub(lambda found: f"\n<{found[1]}{fence_of(request)}>\n", plain)
    plain = re.sub(r"\n+", "\n", plain)
    return gullible(replace(request, messages=(replace(message, content=plain),)), labels)


def first_shown(request: Request, labels: list[str]) -> str:
    return min(labels, key=request.messages[0].content.index)


def read_first(request: Request, labels: list[str]) -> str:
    """Whoever's speech it reads first, whatever the labels."""
    return split(request)[1][0][0]


def ballot(request: Request, rule: Rule) -> str:
    assert request.schema is not None
    shape = request.schema["properties"]
    labels = list(shape["speakers"]["properties"])
    winner = rule(request, labels)
    said: dict[str, Any] = {
        "reasoning": f"{winner} gave reasons.",
        "rests_on": shape["rests_on"]["items"]["enum"][:1],
        "criteria": dict.fromkeys(shape["criteria"]["properties"], "So it is."),
        "speakers": {label: {"score": 80 if label == winner else 60} for label in labels},
        "winner": winner,
    }
    return json.dumps(said)


def speech(request: Request, payload: str = "") -> str:
    if "argue for" in request.instructions:
        return "We should, because trees give shade, because streets are hot, and because people like them."
    return f"They cost money. {payload}"


def script(rule: Rule, payload: str = "", point: str = "") -> Callable[[Request], Iterable[Cue]]:
    def play(request: Request) -> Iterable[Cue]:
        if is_judge(request):
            return [SayCue(ballot(request, rule))]
        if request.schema is not None:
            asked = request.schema["properties"]
            filled = {name: True if kind["type"] == "boolean" else point for name, kind in asked.items()}
            return [SayCue(json.dumps(filled))]
        return [SayCue(speech(request, payload))]

    return play
