"""Control tokens of models are made harmless; ordinary text is not changed."""

from __future__ import annotations

import pytest

from moot.core.terms import ChatMessage, Model, Request
from moot.providers.wire_formats.request_parts import escape, escape_control_tokens


@pytest.mark.parametrize(
    "word",
    [
        "<|im_start|>",
        "<|eot_id|>",
        "<s>",
        "</s>",
        "<start_of_turn>",
        "[INST]",
        "[/INST]",
        "<<SYS>>",
        "<think>",
    ],
)
def test_a_control_word_becomes_text(word: str) -> None:
    told = escape(f"a{word}b")
    assert word not in told
    assert told.replace(" ", "") == f"a{word}b"
    assert escape(told) == told


@pytest.mark.parametrize("text", ["a < b and b > c", "x<y", "<b>bold</b>", "[1] see", "<sad>", "2<3|4", ""])
def test_other_text_is_left_alone(text: str) -> None:
    assert escape(text) == text


def test_every_part_of_a_request() -> None:
    request = escape_control_tokens(
        Request(
            model=Model("local", "m"),
            instructions="<s>",
            messages=(ChatMessage("user", "<s>"),),
            max_tokens=1,
            prefill="<s>",
        )
    )
    assert (request.instructions, request.messages[0].content, request.prefill) == ("< s>",) * 3
