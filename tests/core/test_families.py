"""Kinship of models: by who made them, not by who serves them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from moot.debate import EPOCH, Debate
from moot.events import Recorded
from moot.evolve import fold
from moot.judging.families import kin, maker
from moot.terms import Model
from moot.views.outcome import warnings
from tests.factories import opened


@pytest.mark.parametrize(
    ("name", "who"),
    [
        ("claude-3-opus-20240229", "Anthropic"),
        ("anthropic/claude-sonnet-5", "Anthropic"),
        ("gpt-5-mini", "OpenAI"),
        ("openai/gpt-oss-120b", "OpenAI"),
        ("o3-mini", "OpenAI"),
        ("o3", "OpenAI"),
        ("gemini-3.8-flash", "Google"),
        ("mistral-small-latest", "Mistral"),
        ("llama3.2", "Meta"),
        ("qwen2.5-coder-1.5b", "Alibaba"),
        ("olmo-2", ""),
        ("smollm2-135m", ""),
    ],
)
def test_a_maker_is_known_by_the_name_of_the_model(name: str, who: str) -> None:
    assert maker(Model("somewhere", name)) == who


def judged(seats: tuple[str, str], judge: str) -> Debate:
    event = opened()
    event = replace(
        event,
        seats=tuple(
            replace(seat, model=Model("served", name)) for seat, name in zip(event.seats, seats, strict=True)
        ),
        judges=(replace(event.judges[0], model=Model("served", judge)),),
    )
    debate = fold([Recorded("deb_1", 1, EPOCH, 0, event)])
    assert debate is not None
    return debate


def test_a_judge_of_one_speakers_family_is_warned_about() -> None:
    debate = judged(("claude-haiku-5-5", "gpt-6-luna"), "claude-opus-5")
    assert [seat.id for seat in kin(debate, debate.judges[0])] == ["for"]
    assert warnings(debate) == ("The judge is of the same family as For: Anthropic.",)


def test_a_judge_of_everybodys_family_or_of_nobodys_favours_no_side() -> None:
    for seats in (("claude-haiku-5-5", "claude-opus-5"), ("gpt-6-luna", "gemini-3.8-flash")):
        assert warnings(judged(seats, "claude-3-opus-20240229")) == ()


def test_the_same_model_is_said_to_be_the_same() -> None:
    debate = judged(("claude-haiku-5-5", "gpt-6-luna"), "gpt-6-luna")
    assert warnings(debate) == ("The judge is the same model as one of the speakers.",)
