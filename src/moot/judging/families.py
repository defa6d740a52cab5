"""Which models are kin: judges favour their own family, whoever serves it."""

from __future__ import annotations

import re

from moot.debate import Debate
from moot.terms import Judge, Model, Seat

MAKERS = (
    ("Anthropic", r"claude"),
    ("OpenAI", r"gpt|chatgpt|o[1-9]\b|o[1-9]-"),
    ("Google", r"gemini|gemma"),
    ("Mistral", r"mistral|ministral|magistral|mixtral|codestral|devstral|pixtral|open-mi"),
    ("Meta", r"llama"),
    ("Alibaba", r"qwen|qwq"),
    ("DeepSeek", r"deepseek"),
    ("xAI", r"grok"),
    ("Moonshot", r"kimi"),
    ("Zhipu", r"glm"),
    ("Microsoft", r"phi-?\d"),
    ("Cohere", r"command"),
)


def maker(model: Model) -> str:
    """Who made it, by its own name, not by who serves it; empty where the name does not tell."""
    name = model.name.rpartition("/")[2].lower()
    return next((who for who, names in MAKERS if re.match(names, name)), "")


def kin(debate: Debate, judge: Judge) -> tuple[Seat, ...]:
    """The debaters whose model is of the judge's own family, where not all of them are."""
    own = maker(judge.model)
    debaters = [seat for seat in debate.seats if seat.role == "debater"]
    related = tuple(seat for seat in debaters if own and maker(seat.model) == own)
    return related if len(related) < len(debaters) else ()
