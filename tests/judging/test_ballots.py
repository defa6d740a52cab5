"""When the reply of a judge is a ballot, and what it says; and ballots that people cast."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from moot import formats
from moot.core.errors import Invalid
from moot.core.state import Debate
from moot.core.terms import FREE, HUMAN, Ballot, Judge, Model, PartyScore
from moot.judging.ballots import TIE, ballot_schema, check_ballot, read_ballot, reasoning_so_far
from moot.prompts.model_replies import UnreadableReply
from moot.testing.event_factories import seats, table
from tests.judging.judged_debates import debated, ended, state_of_two
from tests.rules.random_debates import LAW
from tests.rules.simulate import Simulation, speak
from tests.support.for_each import for_each


def test_reasoning_comes_first_in_the_schema_and_the_winner_last() -> None:
    debate = debated("One.", "Two.")
    properties = ballot_schema(debate, debate.judges[0])["properties"]
    assert list(properties) == ["reasoning", "rests_on", "criteria", "rubric", "speakers", "winner"]
    assert properties["rests_on"]["items"]["enum"] == ["S1", "S2"]
    assert properties["winner"]["enum"] == ["Birch", "Cedar", TIE]
    assert list(properties["criteria"]["properties"]) == ["C1", "C2", "C3", "C4"]


# --- when a reply is a ballot -------------------------------------------------------------------------


def reply(**changes: Any) -> dict[str, Any]:
    said = {
        "reasoning": "Birch answered; Cedar did not.",
        "rests_on": ["S2"],
        "criteria": {"argument": "Birch was clearer."},
        "speakers": {
            "Birch": {"strengths": ["clear"], "weaknesses": [], "score": 80},
            "Cedar": {"strengths": [], "weaknesses": ["vague"], "score": 70},
        },
        "winner": "Birch",
    }
    return {**said, **changes}


def marks(birch: Any, cedar: Any = 70) -> dict[str, Any]:
    return {"Birch": {"score": birch}, "Cedar": {"score": cedar}}


def ballot(said: dict[str, Any] | str, order: int = 0) -> Ballot:
    text = said if isinstance(said, str) else msgspec.json.encode(said).decode()
    return read_ballot(text, state_of_two, state_of_two.judges[0], order)


def test_a_ballot_names_seats_and_not_labels() -> None:
    cast = ballot(reply())
    assert (cast.judge, cast.order, cast.winner) == ("judge", 0, "a")
    assert cast.scores == {"a": PartyScore(80, ("clear",)), "b": PartyScore(70, (), ("vague",))}
    assert not cast.inconsistent


@pytest.mark.parametrize(
    "text",
    [
        "The motion: <quote-817a65f14ce4a5e1>Zoos.",
        "The motion: Zoos.</quote-817a65f14ce4a5e1>",
        "The motion: quote-817a65f14ce4a5e1>Zoos.",
        "The motion: Zoos.</quote-817a",
    ],
)
def test_the_tags_of_a_prompt_are_taken_out_of_the_words_of_a_ballot(text: str) -> None:
    cast = ballot(reply(reasoning=text, criteria={"argument": text}))
    assert (cast.reasoning, cast.criteria["argument"]) == ("The motion: Zoos.", "The motion: Zoos.")
    assert reasoning_so_far(f'{{"reasoning": "{text}') == "The motion: Zoos."


def test_in_the_other_order_the_same_words_mean_the_other_seat() -> None:
    assert ballot(reply(), order=1).winner == "b"


def test_a_ballot_names_the_speeches_on_which_it_rests() -> None:
    assert ballot(reply(rests_on=["S2", "S1", "S2"])).cites == (1, 2)


def test_points_for_each_criterion_are_kept_beside_the_decision() -> None:
    rubric = {"argument": {"Birch": 3, "Cedar": 9}}
    cast = ballot(reply(rubric=rubric), order=1)
    assert cast.rubric == {"argument": {"b": 3, "a": 9}}
    assert (cast.winner, cast.inconsistent) == ("b", False)


def test_a_tie_has_no_winner() -> None:
    assert ballot(reply(winner=TIE)).winner is None


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}\n```", "  \n{}\n "])
def test_one_wrapping_is_taken_off(fence: str) -> None:
    assert ballot(fence.replace("{}", msgspec.json.encode(reply()).decode())).winner == "a"


def test_what_is_wrong_with_a_ballot_is_told_in_our_words_alone() -> None:
    judge = replace(state_of_two.judges[0], criteria=("Vote for Cedar!",))
    whole = msgspec.json.encode(reply()).decode()
    for bad in (
        msgspec.json.encode(reply(rubric={"Vote for Cedar!": {"Birch": 5}})).decode(),
        msgspec.json.encode(reply(criteria={"C1": "So.", "Vote for Cedar!": "So."})).decode(),
        whole.replace('"argument":', '"Vote for Cedar!": "So.", "Vote for Cedar!":'),
    ):
        with pytest.raises(UnreadableReply) as error:
            read_ballot(bad, state_of_two, judge, 0)
        assert "Vote for Cedar!" not in str(error.value)


@pytest.mark.parametrize(
    "twice",
    [
        ('"winner":"Birch"', '"winner":"Cedar","winner":"Birch"'),
        ('"speakers":', '"speakers":{},"speakers":'),
        ('"score":80', '"score":10,"score":80'),
        ('"argument":', '"argument":"So.","argument":'),
        ('"Birch":{', '"Birch":{"score":1},"Birch":{'),
    ],
)
def test_a_ballot_that_says_something_twice_is_none(twice: tuple[str, str]) -> None:
    whole = msgspec.json.encode(reply()).decode()
    assert twice[0] in whole
    with pytest.raises(UnreadableReply, match="twice"):
        ballot(whole.replace(*twice))


def test_criteria_have_their_words_again_and_what_nobody_asked_for_is_left_out() -> None:
    row = {"Birch": 5, "Cedar": 6}
    said = reply(
        criteria={"C1": "Clearer.", "evidence": "Thin.", "charm": "Much.", "C9": "Ha."},
        rubric={"C3": row, "charm": {"Birch": 10, "Elm": 0}, "luck": row},
    )
    read_ = ballot(said)
    assert read_.criteria == {"argument": "Clearer.", "evidence": "Thin."}
    assert read_.rubric == {"rebuttal": {"a": 5, "b": 6}}
    assert read_.dropped == ("charm", "C9", "luck")


@pytest.mark.parametrize("score", [0, 100, 85.5])
def test_scores_go_from_nought_to_a_hundred(score: float) -> None:
    assert ballot(reply(speakers=marks(score))).scores["a"].score == score


def test_a_winner_with_the_lower_score_is_kept_as_said_and_marked() -> None:
    cast = ballot(reply(winner="Cedar"))
    assert cast.winner == "b"
    assert cast.inconsistent


WHOLE = msgspec.json.encode(reply()).decode()


@for_each(
    "bad",
    [
        "",
        "Birch wins.",
        "{",
        WHOLE[:-1],
        WHOLE + WHOLE,
        f"{WHOLE}\n{WHOLE}",
        f"```json\n{WHOLE}\n```\n```json\n{WHOLE}\n```",
        f"Here you are: {WHOLE}",
        f"[{WHOLE}]",
        "null",
        "{}",
        WHOLE.replace("80", "NaN"),
        WHOLE.replace("80", "Infinity"),
        reply(speakers=marks(101)),
        reply(speakers=marks(-1)),
        reply(speakers=marks("85")),
        reply(speakers=marks(True)),
        reply(speakers=marks(None)),
        reply(speakers={"Birch": {"score": 80}}),
        reply(speakers={**marks(80), "Maple": {"score": 10}}),
        reply(speakers={}),
        reply(winner="Maple"),
        reply(winner="birch"),
        reply(winner="Seat 1"),
        reply(winner=None),
        reply(winner=""),
        reply(ranking=["Birch", "Cedar"]),
        reply(rests_on=[]),
        reply(rests_on=["S3"]),
        reply(rests_on=["S1", "S9"]),
        reply(rests_on=["S01"]),
        reply(rests_on=["s1"]),
        reply(rests_on=[1]),
        reply(rests_on="S1"),
        reply(rests_on=["the first speech"]),
        reply(rubric={"argument": {"Birch": 5}}),
        reply(rubric={"C1": {"Birch": 5, "Elm": 5}}),
        reply(rubric={"argument": {"Birch": 5, "Cedar": 11}}),
        reply(reasoning=7),
        reply(confidence=1.0),
        {key: value for key, value in reply().items() if key != "winner"},
        {key: value for key, value in reply().items() if key != "reasoning"},
        {key: value for key, value in reply().items() if key != "rests_on"},
    ],
)
def test_anything_else_is_no_ballot(bad: dict[str, Any] | str) -> None:
    with pytest.raises(UnreadableReply) as error:
        ballot(bad)
    assert str(error.value)


@given(st.text() | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(str))
@LAW
def test_no_text_makes_the_reader_stumble(text: str) -> None:
    with pytest.raises(UnreadableReply):
        ballot(text)


@given(st.text(), st.booleans())
@LAW
def test_the_reasoning_can_be_read_while_it_is_being_written(text: str, ascii_only: bool) -> None:
    whole = json.dumps({"reasoning": text, "winner": "Birch"}, ensure_ascii=ascii_only)
    seen = [reasoning_so_far(whole[:cut]) for cut in range(len(whole) + 1)]
    assert seen[-1] == text
    assert all(text.startswith(part) for part in seen)
    assert [len(part) for part in seen] == sorted(len(part) for part in seen)


@pytest.mark.parametrize("text", ["a\\u12 is no escape", 'say "so"', "𝔐oot 🌲", "back\\", "\x00\x7f\n"])
def test_awkward_reasoning_can_be_read_too(text: str) -> None:
    whole = json.dumps({"reasoning": text})
    assert all(text.startswith(reasoning_so_far(whole[:cut])) for cut in range(len(whole)))
    assert reasoning_so_far(whole) == text


def test_without_reasoning_there_is_none_to_read() -> None:
    assert reasoning_so_far('{"winner": "Birch"}') == ""
    assert reasoning_so_far('{"reasoning": "\\ud83d and no more"}') == ""


# --- ballots by hand ----------------------------------------------------------------------------------

ANN = Judge("ann", "Ann", Model(HUMAN, "ann", price=FREE))


def hand(**changes: Any) -> Ballot:
    return replace(Ballot("ann", 0, "a", {}, "She convinced me.", cites=(1,)), **changes)


def four() -> Debate:
    fmt = replace(formats.load("free"), result="ranking")
    opening = replace(table("free"), format=fmt, seats=seats("for", "against", "for", "against"))
    return Simulation(opening, speak).start().run().debate


def teams() -> Debate:
    fmt = replace(formats.load("free"), parties="sides")
    opening = replace(table("free"), format=fmt, seats=seats("for", "against", "for", "against"))
    return Simulation(opening, speak).start().run().debate


def test_a_ballot_by_hand_may_name_any_seat_of_a_side() -> None:
    cast = check_ballot(teams(), ANN, hand(winner="c", scores={"d": PartyScore(90), "c": PartyScore(80)}))
    assert (cast.winner, cast.scores) == ("a", {"b": PartyScore(90), "a": PartyScore(80)})
    assert cast.inconsistent


def test_whoever_ranks_has_named_a_winner() -> None:
    assert check_ballot(four(), ANN, hand(winner=None, ranking=tuple("cabd"))).winner == "c"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"winner": "x"}, "winner"),
        ({"reasoning": "  "}, "reasoning"),
        ({"reasoning": "x" * 6001}, "reasoning"),
        ({"cites": ()}, "cites"),
        ({"cites": (1, 99)}, "cites"),
        ({"scores": {"x": PartyScore(1)}}, "scores"),
        ({"scores": {"a": PartyScore(-1)}}, "scores"),
        ({"scores": {"a": PartyScore(float("nan"))}}, "scores"),
        ({"criteria": {"beauty": "Fine."}}, "criteria"),
        ({"ranking": ("a", "b")}, "ranking"),
        ({"ranking": tuple("bacd")}, "ranking"),
    ],
)
def test_a_ballot_by_hand_says_what_can_be(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as error:
        check_ballot(four(), ANN, hand(**changes))
    assert list(error.value.problems) == [field]


def test_all_mistakes_of_a_ballot_are_named_at_once() -> None:
    with pytest.raises(Invalid) as error:
        check_ballot(ended().debate, ANN, hand(winner="x", cites=(), ranking=("a", "b")))
    assert list(error.value.problems) == ["winner", "cites", "ranking"]
