"""How many tokens a text can have at most, for what a call may cost.

Where the tokenizer of a model is known and installed (the extra `tokenizers`, which carries its tables), the
text is counted with it. Elsewhere it is counted by script, upwards: lower-case letters make 0.65 tokens
each, capitals 0.85, digits and signs 1, a character of two bytes 1.1, longer ones as many as they have bytes.
Prose has a third of that; strings of random letters, numbers and rare scripts come close to it. How many
tokens a text is likely to have is estimated in `word_count.py`.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from math import ceil
from typing import Any

from moot.core.terms import Model

TOKENIZERS = (
    (re.compile(r"openai/"), "o200k_base"),
    (re.compile(r"mistral/"), "mistral_v3"),
    (re.compile(r"deepseek/"), "deepseek_v3"),
    (re.compile(r"google/gem"), "gemma3"),
    (re.compile(r"groq/openai/gpt-oss"), "o200k_base"),
)
"""Models by label, and the tokenizer that counts as they do, or slightly more."""
MARGIN = 1.05
"""A service may know a few special tokens that the tables do not have."""
LOWER, UPPER, TWO_BYTES, ALONE = 0.65, 0.85, 1.1, 0.35

_LOWER, _UPPER = bytes(range(0x61, 0x7B)), bytes(range(0x41, 0x5B))
_ASCII, _TWO = bytes(range(0x80)), bytes(range(0xC0, 0xE0))
_FREE_SPACES = re.compile(rb" (?=[A-Za-z])")
"""A blank before a word is part of the word's first token."""
_SINGLE_LETTERS = re.compile(rb"(?<![A-Za-z])[A-Za-z](?![A-Za-z])")


def most_tokens(text: str, model: Model) -> int:
    """No tokenizer in use for this model makes more tokens of the text than this."""
    name = _tokenizer_name(model.label)
    return tokens_by_tokenizer(text, name) if _tokenizer(name) is not None else tokens_by_script(text)


# Both are kept for the latest texts: the speeches of a debate are counted again with each call.
@lru_cache(maxsize=512)
def tokens_by_tokenizer(text: str, name: str) -> int:
    return ceil(len(_tokenizer(name).encode(text)) * MARGIN)


@lru_cache(maxsize=512)
def tokens_by_script(text: str) -> int:
    data = text.encode()
    lower, upper = _count(data, _LOWER), _count(data, _UPPER)
    two = _count(data, _TWO)
    longer = len(data) - _count(data, _ASCII) - 2 * two
    signs = _count(data, _ASCII) - lower - upper - len(_FREE_SPACES.findall(data))
    letters = LOWER * lower + UPPER * upper + ALONE * len(_SINGLE_LETTERS.findall(data))
    return ceil(letters + signs + TWO_BYTES * two + longer)


def _count(data: bytes, which: bytes) -> int:
    return len(data) - len(data.translate(None, which))


@lru_cache(maxsize=1024)
def _tokenizer_name(label: str) -> str:
    return next((name for pattern, name in TOKENIZERS if pattern.match(label)), "")


@cache
def _tokenizer(name: str) -> Any:
    """None where there is none of that name, or the extra is not installed."""
    if not name:
        return None
    try:
        import splintr  # 38 MB, and needed only under a cost limit
    except ImportError:
        return None
    return splintr.Tokenizer.from_pretrained(name)
