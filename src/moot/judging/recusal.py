"""Who judges: recusals, and the ids of judges who are added later.

Judges favour models of their own family, whichever service runs them. A judge whose model is a speaker's own
or of the same family is recused where another judge remains. Where all speakers are of one family, that
favours no side and the judge stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count

from msgspec.structs import replace

from moot.core.state import Debate
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
    """Who made the model, by its name, whichever service runs it; empty where the name does not say."""
    name = model.name.rpartition("/")[2].lower()
    matches = ((re.search(rf"(?<![a-z])(?:{names})", name), who) for who, names in MAKERS)
    # For a model distilled from another, the first name counts.
    return min(((match.start(), who) for match, who in matches if match), default=(0, ""))[1]


def related_seats(seats: Sequence[Seat], model: Model) -> tuple[Seat, ...]:
    """The debaters whose model is of this one's own family, where not all of them are."""
    own = maker(model)
    debaters = [seat for seat in seats if seat.role == "debater"]
    related = tuple(seat for seat in debaters if own and maker(seat.model) == own)
    return related if len(related) < len(debaters) else ()


def judge_bias(seats: Sequence[Seat], model: Model) -> str:
    """Why a judge of this model may favour some of the speakers; empty where there is no reason."""
    if model.human:
        return ""
    speaking = {seat.model.label for seat in seats if seat.role == "debater"}
    if model.label in speaking and len(speaking) > 1:
        return "the same model as one of the speakers"
    if related := related_seats(seats, model):
        return f"of the same family as {' and '.join(seat.name for seat in related)}: {maker(model)}"
    return ""


def recuse_biased(judges: Sequence[Judge], seats: Sequence[Seat]) -> tuple[Judge, ...]:
    """The judges, with the reason for each recusal. Where no judge would be left, none is recused."""
    marked = tuple(replace(judge, recused=judge_bias(seats, judge.model)) for judge in judges)
    return tuple(judges) if all(judge.recused for judge in marked) else marked


def with_free_ids(debate: Debate, judges: Sequence[Judge]) -> tuple[Judge, ...]:
    """The judges, with new ids where theirs belong to earlier judges."""
    past = (judge for judging in debate.judgings for judge in judging.judges)
    known = {judge.id: judge for judge in (*past, *debate.judges)}
    free = (f"judge_{number}" for number in count(1))
    sitting: list[Judge] = []
    for judge in judges:
        if known.get(judge.id, judge) != judge or any(judge.id == other.id for other in sitting):
            judge = replace(judge, id=next(one for one in free if one not in known))
        known[judge.id] = judge
        sitting.append(judge)
    return tuple(sitting)
