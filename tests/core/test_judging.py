"""What a judge is asked, when its reply is a ballot, and how ballots become a verdict."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from moot import formats
from moot.commands import SkipTurn
from moot.debate import Debate
from moot.judging.asking import judge_request, repair_request, repair_room, speech_frame
from moot.judging.ballots import LABELS, TIE, Unreadable, labels, named, read, reasoning_so_far, schema
from moot.judging.verdicts import reach
from moot.pricing import input_bound
from moot.terms import Ballot, Judge, Limits, Request, Score, Seat, Side
from tests.core.plots import LAW
from tests.core.simulate import Reply, Simulation, in_turn, speak, speeches, words
from tests.factories import SCRIPTED, opened, seats, table

ORDERS = pytest.mark.parametrize("order", [0, 1])


def debated(*texts: str, **changes: Any) -> Debate:
    """A debate with these speeches, up to its judging."""
    opening = table("free", limits=Limits(1, turns=len(texts) or 2), **changes)
    return Simulation(opening, speeches(*texts)).start().run_until(lambda d: d.status == "judging").debate


def asked(debate: Debate, order: int = 0) -> Request:
    return judge_request(debate, debate.judges[0], order)


# --- what a judge is sent -----------------------------------------------------------------------------


def test_the_seats_are_shown_both_ways_round_under_neutral_labels() -> None:
    debate = debated("One.", "Two.")
    assert labels(debate, 0) == {"a": "Birch", "b": "Cedar"}
    assert labels(debate, 1) == {"b": "Birch", "a": "Cedar"}


def test_four_seats_are_shown_both_ways_round() -> None:
    debate = debated("One.", "Two.", "Three.", "Four.", seats=seats("for", "against", "for", "against"))
    assert list(labels(debate, 0)) == ["a", "b", "c", "d"]
    assert list(labels(debate, 1)) == ["d", "c", "b", "a"]


@ORDERS
def test_every_speech_stands_in_a_fence_under_its_label(order: int) -> None:
    debate = debated("The first speech.", "The second speech.")
    text = asked(debate, order).messages[0].content
    names = labels(debate, order)
    for seat, speech in (("a", "The first speech."), ("b", "The second speech.")):
        before, _, after = text.partition(speech)
        assert before.rstrip().splitlines()[-2].startswith(f"{names[seat]}, opening")
        assert before.rstrip().splitlines()[-1].startswith("<quote-")
        assert after.lstrip().startswith("</quote-")


@ORDERS
def test_speeches_stay_in_the_order_in_which_they_were_given(order: int) -> None:
    text = asked(debated("The first.", "The second."), order).messages[0].content
    assert text.index("The first.") < text.index("The second.")


@ORDERS
def test_neither_names_nor_models_are_shown(order: int) -> None:
    request = asked(debated("One.", "Two."), order)
    text = request.instructions + request.messages[0].content + str(request.schema)
    for hidden in ("Seat 1", "Seat 2", SCRIPTED.name, SCRIPTED.provider):
        assert hidden not in text


def test_both_orders_differ_in_labels_and_fences_alone() -> None:
    debate = debated("One.", "Two.")
    first, second = (asked(debate, order).messages[0].content for order in (0, 1))
    swapped = second.replace("Birch", "?").replace("Cedar", "Birch").replace("?", "Cedar")
    fences = [text.split("<quote-")[1].split(">")[0] for text in (first, second)]
    assert fences[0] != fences[1]
    assert sorted(swapped.replace(fences[1], fences[0]).splitlines()) == sorted(first.splitlines())


def test_a_seat_bound_to_neither_side_is_introduced_as_such() -> None:
    debate = debated("One.", "Two.", seats=seats("for", "neutral"))
    assert "Cedar was bound to neither side." in asked(debate).messages[0].content


def test_what_was_cut_or_refused_is_noted() -> None:
    replies = [Reply("I would rather not.", finish="refusal"), Reply("And so on and", finish="length")]
    debate = Simulation(table("free"), in_turn([*replies, Reply("Cut he", piece=3)])).start()
    debate.run_until(lambda d: any(live.number == 3 and live.text for live in d.live))
    debate.ask(SkipTurn())
    debate.run_until(lambda d: len(d.turns) == 3)
    text = asked(debate.debate).messages[0].content
    assert "opening (declined to answer):" in text
    assert "opening (broke off):" in text
    assert "reply (cut short):" in text


def test_a_judge_is_told_of_a_refusal_without_a_word() -> None:
    replies = [Reply("Trees are tall."), Reply(finish="refusal")]
    debate = Simulation(table(), in_turn(replies)).start().run_until(lambda d: len(d.turns) == 2).debate
    sent = judge_request(debate, debate.judges[0], 0).messages[0].content
    assert "(declined to answer)" in sent


def test_the_moderator_is_not_judged() -> None:
    chaired = (*seats("for", "against"), Seat("m", "Mo", "neutral", SCRIPTED, role="moderator"))
    script = speeches(*(words(n) for n in range(6)), "In sum: both.")
    simulation = Simulation(table("panel", seats=chaired), script).start()
    debate = simulation.run_until(lambda d: d.status == "judging").debate
    assert set(labels(debate, 0)) == {"a", "b"}
    assert "In sum" not in asked(debate).messages[0].content


def test_a_speech_longer_than_it_was_allowed_to_be_is_clipped() -> None:
    wordy = replace(SCRIPTED, max_tokens=10)
    debate = debated("x" * 500, "Two.", seats=seats("for", "against", model=wordy))
    text = asked(debate).messages[0].content
    assert "x" * 60 + " …" in text
    assert "x" * 61 not in text


def test_a_small_judge_is_asked_in_few_words() -> None:
    little = Judge("judge", "Judge", replace(SCRIPTED, small=True))
    debate = debated("One.", "Two.", judges=(little,))
    assert len(asked(debate).instructions) < len(asked(debated("One.", "Two.")).instructions) / 2
    assert asked(debate).max_tokens <= 700


def test_reasoning_comes_first_in_the_schema_and_the_winner_last() -> None:
    debate = debated("One.", "Two.")
    properties = schema(debate, debate.judges[0])["properties"]
    assert list(properties) == ["reasoning", "criteria", "speakers", "winner"]
    assert properties["winner"]["enum"] == ["Birch", "Cedar", TIE]
    assert list(properties["criteria"]["properties"]) == list(debate.judges[0].criteria)


def test_both_orders_have_the_same_schema() -> None:
    debate = debated("One.", "Two.")
    assert asked(debate, 0).schema == asked(debate, 1).schema


@given(st.text(max_size=2000), st.text(max_size=600))
@LAW
def test_a_repair_adds_no_more_than_its_room(reply: str, problem: str) -> None:
    request = replace(asked(state_of_two), max_tokens=20)
    again = repair_request(request, reply, problem)
    assert input_bound(again) <= input_bound(request) + repair_room(request)
    assert again.messages[: len(request.messages)] == request.messages
    assert [message.role for message in again.messages[-2:]] == ["assistant", "user"]


@given(st.text(min_size=1, max_size=40).filter(str.strip), st.sampled_from(("stop", "length", "refusal")))
@LAW
def test_a_speech_adds_no_more_than_its_words_and_a_frame(words: str, finish: Any) -> None:
    oxford = formats.load("oxford")
    titled = replace(oxford, phases=tuple(replace(phase, title="木" * 90) for phase in oxford.phases))
    opening = replace(table("oxford", limits=Limits(2)), format=titled)
    simulation = Simulation(opening, in_turn([Reply("One."), Reply(words, finish=finish)])).start()
    before = simulation.run_until(lambda d: len(d.turns) == 1).debate
    after = simulation.run_until(lambda d: len(d.turns) == 2).debate
    added = input_bound(asked(after)) - input_bound(asked(before))
    assert added <= len(words.encode()) + speech_frame(after)


state_of_two = debated("One.", "Two.")


# --- when a reply is a ballot -------------------------------------------------------------------------


def reply(**changes: Any) -> dict[str, Any]:
    said = {
        "reasoning": "Birch answered; Cedar did not.",
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
    return read(text, state_of_two, state_of_two.judges[0], order)


def test_a_ballot_names_seats_and_not_labels() -> None:
    cast = ballot(reply())
    assert (cast.judge, cast.order, cast.winner) == ("judge", 0, "a")
    assert cast.scores == {"a": Score(80, ("clear",)), "b": Score(70, (), ("vague",))}
    assert not cast.inconsistent


def test_in_the_other_order_the_same_words_mean_the_other_seat() -> None:
    assert ballot(reply(), order=1).winner == "b"


def test_a_tie_has_no_winner() -> None:
    assert ballot(reply(winner=TIE)).winner is None


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}\n```", "  \n{}\n "])
def test_one_wrapping_is_taken_off(fence: str) -> None:
    assert ballot(fence.replace("{}", msgspec.json.encode(reply()).decode())).winner == "a"


@pytest.mark.parametrize("score", [0, 100, 85.5])
def test_scores_go_from_nought_to_a_hundred(score: float) -> None:
    assert ballot(reply(speakers=marks(score))).scores["a"].score == score


def test_a_winner_with_the_lower_score_is_kept_as_said_and_marked() -> None:
    cast = ballot(reply(winner="Cedar"))
    assert cast.winner == "b"
    assert cast.inconsistent


WHOLE = msgspec.json.encode(reply()).decode()


@pytest.mark.parametrize(
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
        reply(reasoning=7),
        reply(confidence=1.0),
        {key: value for key, value in reply().items() if key != "winner"},
        {key: value for key, value in reply().items() if key != "reasoning"},
    ],
)
def test_anything_else_is_no_ballot(bad: dict[str, Any] | str) -> None:
    with pytest.raises(Unreadable) as error:
        ballot(bad)
    assert str(error.value)


@given(st.text() | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(str))
@LAW
def test_no_text_makes_the_reader_stumble(text: str) -> None:
    with pytest.raises(Unreadable):
        ballot(text)


# --- words back to people -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (0, "Seat 1 beat Seat 2; Seat 1's case held. Birches sway."),
        (1, "Seat 2 beat Seat 1; Seat 2's case held. Birches sway."),
    ],
)
def test_names_take_the_place_of_labels(order: int, expected: str) -> None:
    text = "Birch beat Cedar; Speaker Birch's case held. Birches sway."
    assert named(text, state_of_two, order) == expected


def test_a_name_that_is_a_label_is_put_in_once() -> None:
    first, second = seats("for", "against")
    swapped = (replace(first, name="Cedar"), replace(second, name="Birch"))
    debate = debated("One.", "Two.", seats=swapped)
    assert named("Birch beat Cedar.", debate, 0) == "Cedar beat Birch."


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


# --- verdicts -----------------------------------------------------------------------------------------


def cast(judge: str, order: int, winner: str | None, a: float = 80, b: float = 70) -> Ballot:
    scores = {"a": Score(a, ("Birch is clear",)), "b": Score(b, (), ("Cedar is vague",))}
    return Ballot(judge, order, winner, scores, "Birch won.", {"argument": "Birch's."})


def both(judge: str, first: str | None, second: str | None) -> tuple[Ballot, Ballot]:
    return cast(judge, 0, first), cast(judge, 1, second)


def test_both_orders_agree_and_there_is_a_winner() -> None:
    verdict = reach(state_of_two, both("judge", "a", "a"))
    assert verdict
    assert (verdict.outcome, verdict.winner, verdict.by) == ("win", "a", "judges")
    assert (verdict.margin, verdict.agreement, verdict.flips) == (10.0, 1.0, 0)


def test_a_judge_who_changes_with_the_order_has_not_decided() -> None:
    verdict = reach(state_of_two, both("judge", "a", "b"))
    assert verdict
    assert (verdict.outcome, verdict.winner, verdict.flips, verdict.agreement) == ("too-close", None, 1, 0.5)


def test_a_tie_in_both_orders_is_a_draw() -> None:
    verdict = reach(state_of_two, both("judge", None, None))
    assert verdict
    assert (verdict.outcome, verdict.winner, verdict.flips) == ("draw", None, 0)


def test_a_tie_in_one_order_is_too_close() -> None:
    verdict = reach(state_of_two, both("judge", "a", None))
    assert verdict
    assert (verdict.outcome, verdict.flips) == ("too-close", 1)


@pytest.mark.parametrize("ballots", [(), (cast("judge", 0, "a"),), (cast("j", 0, "a"), cast("k", 1, "a"))])
def test_without_both_orders_of_one_judge_there_is_no_verdict(ballots: tuple[Ballot, ...]) -> None:
    assert reach(state_of_two, ballots) is None


def test_a_judge_with_one_order_does_not_count_beside_one_with_both() -> None:
    verdict = reach(state_of_two, (*both("j", "a", "a"), cast("k", 0, "b")))
    assert verdict
    assert (verdict.winner, verdict.agreement) == ("a", 1.0)


@pytest.mark.parametrize(
    ("minds", "winner", "outcome"),
    [
        (["aa", "aa", "bb"], "a", "win"),
        (["aa", "bb"], None, "too-close"),
        (["aa", "ab", "ab"], None, "too-close"),
        (["aa", "aa", "ab"], "a", "win"),
        (["bb", "bb", "bb"], "b", "win"),
    ],
)
def test_a_winner_needs_more_than_half_of_the_judges(
    minds: list[str], winner: str | None, outcome: str
) -> None:
    ballots = [b for place, mind in enumerate(minds) for b in both(f"j{place}", *mind)]
    verdict = reach(state_of_two, tuple(ballots))
    assert verdict
    assert (verdict.winner, verdict.outcome) == (winner, outcome)


def test_the_margin_is_signed_from_the_first_seats_side() -> None:
    verdict = reach(state_of_two, (cast("j", 0, "b", 60, 75), cast("j", 1, "b", 65, 75)))
    assert verdict
    assert verdict.margin == -12.5
    assert verdict.scores["a"].score == 62.5


def test_figures_are_given_to_one_decimal_and_shares_to_two() -> None:
    ballots = [
        cast(f"j{n}", order, "ab"[n == 2], 60 + n * n * order, 50) for n in range(3) for order in (0, 1)
    ]
    verdict = reach(state_of_two, tuple(ballots))
    assert verdict
    assert verdict.scores["a"].score == 60.8
    assert verdict.agreement == 0.67


def test_with_more_seats_the_margin_is_that_of_the_best_over_the_next() -> None:
    debate = debated("One.", "Two.", "Three.", seats=seats("for", "against", "for"))
    scores = {"a": Score(50), "b": Score(90), "c": Score(70)}
    verdict = reach(debate, tuple(Ballot("j", order, "b", scores, "") for order in (0, 1)))
    assert verdict
    assert (verdict.winner, verdict.margin) == ("b", 20.0)


def test_the_verdict_speaks_of_people_by_their_names() -> None:
    verdict = reach(state_of_two, both("judge", "a", "a"))
    assert verdict
    assert verdict.reasoning == "Seat 1 won."
    assert verdict.criteria == {"argument": "Seat 1's."}
    assert verdict.scores["a"].strengths == ("Seat 1 is clear", "Seat 2 is clear")


def test_doubt_about_one_ballot_is_doubt_about_the_verdict() -> None:
    one, other = both("judge", "a", "a")
    verdict = reach(state_of_two, (one, replace(other, inconsistent=True)))
    assert verdict
    assert verdict.inconsistent


minds = st.tuples(st.sampled_from("ab-"), st.sampled_from("ab-"), st.integers(0, 100))


@given(st.lists(minds, min_size=1, max_size=5))
@LAW
def test_a_verdict_is_never_made_up(minds: list[tuple[str, str, int]]) -> None:
    ballots = [
        cast(f"j{place}", order, None if mind == "-" else mind, score)
        for place, (*pair, score) in enumerate(minds)
        for order, mind in enumerate(pair)
    ]
    verdict = reach(state_of_two, tuple(ballots))
    assert verdict
    sure = [first for first, second, _ in minds if first == second != "-"]
    if verdict.winner:
        assert sure.count(verdict.winner) * 2 > len(minds)
    else:
        assert all(sure.count(seat) * 2 <= len(minds) for seat in "ab")
    assert (verdict.outcome == "win") == (verdict.winner is not None)
    assert 0 < verdict.agreement <= 1
    assert verdict.flips == sum(first != second for first, second, _ in minds)


def test_there_are_labels_for_the_largest_table() -> None:
    assert len(set(LABELS)) == len(LABELS) >= 8
    sides: tuple[Side, ...] = ("for", "against") * 4
    debate = Simulation(opened(seats=seats(*sides)), speak).debate
    assert len(labels(debate, 1)) == 8
