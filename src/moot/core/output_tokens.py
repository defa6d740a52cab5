"""How many output tokens a call may use where a cost limit is to be held.

What a call may use is reserved before it is made. Without a limit a model gets all that it was given; under
one, no more than its speech or ballot needs: the words of its budget with a margin, in tokens of the script
that the motion is written in, and room for the thoughts of a model that may think. What somebody has asked
for (`maxTokens`) is never exceeded. A model that costs nothing is not held to anything. Pure.
"""

from __future__ import annotations

from math import ceil

from moot.core.state import Debate
from moot.core.terms import Effort, Model
from moot.core.word_count import OVERRUN_FACTOR, quarter_tokens

LATIN, OTHER = 2.5, 5.0
"""Tokens a word: 1.4 in English, 2.5 in Finnish, 3.5 in Russian, 5 in Hindi, up to 4 in Chinese, where two
characters count as a word."""
LATIN_QUARTERS = 1.25
"""Quarters of tokens a character, up to which a text counts as written in Latin letters."""
LEAST_SPEECH = 128
THOUGHTS: dict[Effort | None, int] = {
    None: 4096, "none": 0, "minimal": 512, "low": 1024, "medium": 4096, "high": 8192, "xhigh": 12288,
    "max": 16384,
}  # fmt: skip
"""Tokens for thoughts by effort; None: as the model is used to."""
BALLOT, BALLOT_PARTY, BALLOT_CRITERION = 700, 200, 100
"""Tokens of a ballot in a Latin script: its reasoning, what it says of each party, and of each criterion."""


def spoken(debate: Debate, slot: int) -> int:
    """As many tokens as the words of this speech need, without thoughts."""
    words = debate.word_budget(slot) * OVERRUN_FACTOR
    return max(LEAST_SPEECH, ceil(words * _tokens_a_word(debate.motion)))


def for_speech(debate: Debate, slot: int, model: Model) -> int:
    return _held(debate, model, spoken(debate, slot))


def for_ballot(debate: Debate, model: Model, parties: int, criteria: int) -> int:
    latin = BALLOT + BALLOT_PARTY * parties + BALLOT_CRITERION * criteria
    return _held(debate, model, ceil(latin * _tokens_a_word(debate.motion) / LATIN))


def _held(debate: Debate, model: Model, needed: int) -> int:
    free = model.price is None or model.price.free
    if debate.cost_limit is None or free:
        return model.max_tokens
    return min(model.max_tokens, needed + (THOUGHTS[model.effort] if model.thinks else 0))


def _tokens_a_word(text: str) -> float:
    return LATIN if quarter_tokens(text) <= LATIN_QUARTERS * len(text) else OTHER
