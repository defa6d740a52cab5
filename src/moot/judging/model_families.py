"""Which models are kin: judges favour their own family, whoever serves it.

A judge that is a speaker's own model or kin steps aside where another judge remains. Where all speakers are
of one family it favours no side by that, and stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from moot.core.terms import Judge, Model, Seat

MAKERS = (
    ("Anthropic", r"claude"),
    ("OpenAI", r"gpt|chatgpt|o[1-9]\b|o[1-9]-"),
    ("Google", r"gemini|gemma"),
    ("Mistral", r"mistral|ministral|magistral|mixtral|codestral|devstral|pixtral|open-mi"),
    ("Meta", r"(?:code|tiny)?llama"),
    ("Alibaba", r"qwen|qwq"),
    ("DeepSeek", r"deepseek"),
    ("xAI", r"grok"),
    ("Moonshot", r"kimi"),
    ("Zhipu", r"(?:chat)?glm"),
    ("Microsoft", r"phi-?\d"),
    ("Cohere", r"command"),
)


def maker(model: Model) -> str:
    """Who made it, by its own name, not by who serves it; empty where the name does not tell."""
    name = model.name.rpartition("/")[2].lower()
    found = ((re.search(rf"(?<![a-z])(?:{names})", name), who) for who, names in MAKERS)
    # Of a model that was taught by another the first word says whose it is.
    return min(((match.start(), who) for match, who in found if match), default=(0, ""))[1]


def related_seats(seats: Sequence[Seat], model: Model) -> tuple[Seat, ...]:
    """The debaters whose model is of this one's own family, where not all of them are."""
    own = maker(model)
    debaters = [seat for seat in seats if seat.role == "debater"]
    related = tuple(seat for seat in debaters if own and maker(seat.model) == own)
    return related if len(related) < len(debaters) else ()


def judge_bias(seats: Sequence[Seat], model: Model) -> str:
    """What ties a judge of this model to some of the speakers and not to others; empty where nothing does."""
    if model.human:
        return ""
    speaking = {seat.model.label for seat in seats if seat.role == "debater"}
    if model.label in speaking and len(speaking) > 1:
        return "the same model as one of the speakers"
    if related := related_seats(seats, model):
        return f"of the same family as {' and '.join(seat.name for seat in related)}: {maker(model)}"
    return ""


def recuse_biased(judges: Sequence[Judge], seats: Sequence[Seat]) -> tuple[Judge, ...]:
    """The judges, marked where one steps aside. With nobody left to judge, all stay."""
    marked = tuple(replace(judge, recused=judge_bias(seats, judge.model)) for judge in judges)
    return tuple(judges) if all(judge.recused for judge in marked) else marked
