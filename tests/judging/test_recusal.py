"""Models are of one family by who made them, not by who serves them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from moot import formats
from moot.core.errors import Invalid
from moot.core.events import Recorded
from moot.core.evolve import fold
from moot.core.state import EPOCH, Debate
from moot.core.terms import HUMAN, Model
from moot.judging.recusal import maker, related_seats, with_free_ids
from moot.rules.commands import JudgeAgain
from moot.rules.debate_setup import JudgeSetup, SeatSetup, Setup, opening_event
from moot.testing.event_factories import opened, state
from moot.views.outcome import warnings
from tests.judging.judged_debates import LATER, ended


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
        ("meta-llama-3.1-8b-instruct", "Meta"),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "Anthropic"),
        ("ft:gpt-4o-mini:acme", "OpenAI"),
        ("deepseek-r1-distill-llama-70b", "DeepSeek"),
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
    assert [seat.id for seat in related_seats(debate.seats, debate.judges[0].model)] == ["for"]
    assert warnings(debate) == ("The judge is of the same family as For: Anthropic.",)


def test_a_judge_of_everybodys_family_or_of_nobodys_favours_no_side() -> None:
    for seats in (("claude-haiku-5-5", "claude-opus-5"), ("gpt-6-luna", "gemini-3.8-flash")):
        assert warnings(judged(seats, "claude-3-opus-20240229")) == ()


def test_the_same_model_is_said_to_be_the_same() -> None:
    debate = judged(("claude-haiku-5-5", "gpt-6-luna"), "gpt-6-luna")
    assert warnings(debate) == ("The judge is the same model as one of the speakers.",)


# --- who steps aside ----------------------------------------------------------------------------------


def sat(
    *judges: str, speakers: tuple[str, str] = ("claude-haiku-5-5", "gpt-6-luna"), recuse: bool = True
) -> Debate:
    def served(name: str) -> Model:
        return Model(HUMAN if name == HUMAN else "served", name)

    setup = Setup(
        motion="Trees give shade",
        format=formats.load("free"),
        seats=tuple(SeatSetup(served(name)) for name in speakers),
        judges=tuple(JudgeSetup(served(name)) for name in judges),
        recuse=recuse,
    )
    return state(opening_event(setup))


def test_a_judge_of_a_speakers_own_kind_steps_aside_where_another_remains() -> None:
    debate = sat("claude-opus-5", "gemini-3.8-flash", "gpt-6-luna")
    assert [judge.model.name for judge in debate.panel] == ["gemini-3.8-flash"]
    assert warnings(debate) == (
        "Judge was not asked: it is of the same family as For: Anthropic.",
        "Judge 3 was not asked: it is the same model as one of the speakers.",
    )


def test_with_nobody_left_all_judges_stay_and_are_warned_about() -> None:
    debate = sat("claude-opus-5", "gpt-6-luna")
    assert len(debate.panel) == 2
    assert warnings(debate) == (
        "Judge is of the same family as For: Anthropic.",
        "Judge 2 is the same model as one of the speakers.",
    )


def test_a_person_remains_and_is_nobodys_kin() -> None:
    debate = sat("claude-opus-5", HUMAN)
    assert [judge.model.human for judge in debate.panel] == [True]


def test_who_wants_the_speakers_own_kind_to_judge_may_have_it() -> None:
    assert len(sat("claude-opus-5", "gemini-3.8-flash", recuse=False).panel) == 2


def test_a_judge_of_everybodys_kind_need_not_step_aside() -> None:
    debate = sat("claude-opus-5", "gemini-3.8-flash", speakers=("claude-haiku-5-5", "claude-opus-5"))
    assert [bool(judge.recused) for judge in debate.judges] == [True, False]
    kindred = sat("claude-sonnet-5", "gemini-3.8-flash", speakers=("claude-haiku-5-5", "claude-opus-5"))
    assert len(kindred.panel) == 2


def test_a_panel_has_at_most_nine_judges_with_names_of_their_own() -> None:
    assert [judge.name for judge in sat(*["owl"] * 9).judges][:3] == ["Judge", "Judge 2", "Judge 3"]
    with pytest.raises(Invalid, match="Maximum 9 judges"):
        sat(*["owl"] * 10)


@pytest.mark.parametrize("weights", [{"style": 1.0}, {"argument": 0.0}, {"argument": float("inf")}])
def test_only_criteria_have_weights_and_each_counts_for_something(weights: dict[str, float]) -> None:
    seats = tuple(SeatSetup(Model("served", "owl")) for _ in range(2))
    judge = JudgeSetup(Model("served", "owl"), weights=weights)
    setup = Setup("Trees give shade", formats.load("free"), seats, (judge,))
    with pytest.raises(Invalid) as error:
        opening_event(setup)
    assert list(error.value.problems) == ["judges"]


# --- judges who come later ----------------------------------------------------------------------------


def test_a_judge_who_comes_later_keeps_an_id_that_is_free() -> None:
    assert with_free_ids(ended().debate, (LATER,)) == (LATER,)


def test_nobody_gets_the_id_of_another() -> None:
    debate = ended().debate
    others = (replace(LATER, id="judge"), replace(LATER, id="judge_1"), replace(LATER, id="judge_1"))
    assert [judge.id for judge in with_free_ids(debate, others)] == ["judge_1", "judge_2", "judge_3"]


def test_the_same_judge_is_the_same_judge() -> None:
    debate = ended().debate
    assert with_free_ids(debate, debate.judges) == debate.judges


def test_a_judge_of_a_later_judging_keeps_its_id_too() -> None:
    simulation = ended()
    simulation.ask(JudgeAgain((replace(LATER, id="judge"),)))
    simulation.run()
    (judge,) = with_free_ids(simulation.debate, (replace(LATER, id="judge_1", name="Another"),))
    assert judge.id == "judge_2"
