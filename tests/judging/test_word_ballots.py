"""Judges that are asked for one word: what they are sent, and how the word and its probabilities are read."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from moot.core.state import Debate
from moot.core.terms import Ballot, DebateLimits, DebateQuestion, DebateSetup, Judge, PartyScore, TokenOdds
from moot.judging.answer_ballots import read_answer_ballot
from moot.judging.ballots import reasoning_so_far
from moot.judging.judge_request import judge_request, repair_request
from moot.judging.neutral_labels import labels
from moot.judging.word_ballots import read_word_ballot, word_shares
from moot.prompts.model_replies import UnreadableReply
from moot.prompts.question_answers import read_answer_reply
from moot.prompts.question_prompts import answer_request
from moot.testing.event_factories import SCRIPTED, seats, table
from tests.rules.simulate import Reply, Sent, Simulation, one_word, speak

WREN = replace(SCRIPTED, name="wren", small=True, answers="word")
BEGINNING = "The better arguments came from"
WORDS = (" Birch, because", " Cedar, because")
SAID = f"{BEGINNING} Cedar, because it gave reasons."


def debated(*sides: str, **changes: object) -> Debate:
    """A debate up to its judging by a judge that gives one word."""
    sides = sides or ("for", "against")
    opening = replace(
        table("free", limits=DebateLimits(1, turns=len(sides))),
        seats=seats(*sides),  # pyright: ignore[reportArgumentType]
        judges=(Judge("judge", "Judge", WREN),),
        **changes,
    )
    return Simulation(opening, speak).start().run_until(lambda d: d.status == "judging").debate


def token(text: str, **odds: float) -> TokenOdds:
    return TokenOdds(text, {f" {name}": share for name, share in odds.items()})


def read(reply: str, *tokens: TokenOdds, debate: Debate | None = None, order: int = 0) -> Ballot:
    debate = debate or debated()
    return read_word_ballot(reply, tokens, debate, debate.judges[0], order)


# --- the request --------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [0, 1])
def test_the_judge_is_asked_for_a_label_and_for_no_json(order: int) -> None:
    debate = debated()
    request = judge_request(debate, debate.judges[0], order)
    assert (request.schema, request.prefill, request.words) == (None, BEGINNING, WORDS)
    assert "JSON" not in request.instructions
    assert "argued for the motion" in request.messages[0].content


def test_such_a_reading_reserves_few_tokens() -> None:
    debate = debated()
    full = judge_request(debate, replace(debate.judges[0], model=replace(WREN, answers="json")), 0)
    assert judge_request(debate, debate.judges[0], 0).max_tokens < full.max_tokens / 10


def test_an_unreadable_word_is_asked_for_again_without_a_word_about_json() -> None:
    debate = debated()
    request = judge_request(debate, debate.judges[0], 0)
    assert repair_request(request, "Nobody.", "it names none") == replace(request, attempt=2)


# --- the word -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("order", "winner"), [(0, "b"), (1, "a")])
def test_the_word_names_the_winner_and_its_probability_is_how_sure_the_judge_was(
    order: int, winner: str
) -> None:
    cast = read(SAID, token(" Cedar", The=0.2, Bir=0.2, Cedar=0.6), order=order)
    assert (cast.winner, cast.order, cast.reasoning) == (winner, order, SAID)
    assert cast.scores[winner] == PartyScore(75.0)
    assert sum(score.score for score in cast.scores.values()) == 100
    assert not cast.inconsistent


@pytest.mark.parametrize(
    "reply", ["", "Cedar", BEGINNING, f"{BEGINNING} nobody, because.", '{"winner": "Cedar"}']
)
def test_a_reply_that_names_no_label_is_no_ballot(reply: str) -> None:
    with pytest.raises(UnreadableReply, match="Birch, Cedar"):
        read(reply, token(" Cedar", Cedar=0.9))


def test_without_probabilities_the_word_counts_and_has_no_points() -> None:
    assert read(SAID).winner == "b"
    assert read(SAID).scores == {}


def test_a_reason_that_was_cut_off_ends_with_its_last_sentence_and_has_no_tags() -> None:
    assert read(f"{SAID} And <quote-0123456789> also", token(" Cedar", Cedar=0.9)).reasoning == SAID
    assert read(f"{BEGINNING} Cedar, because of the").reasoning == f"{BEGINNING} Cedar, because of the"


def test_the_reason_can_be_read_while_it_is_being_written() -> None:
    assert reasoning_so_far(SAID[:40]) == SAID[:40]


def test_four_parties_are_ranked_by_the_probabilities() -> None:
    ranked = replace(table("free").format, result="ranking")
    debate = debated("for", "against", "for", "against", format=ranked)
    names = labels(debate, 0)
    assert list(names.values()) == ["Birch", "Cedar", "Maple", "Rowan"]
    odds = token(" Cedar", Bir=0.1, Cedar=0.3, Map=0.04, Row=0.06)
    cast = read(SAID, odds, debate=debate)
    assert [names[party] for party in cast.ranking] == ["Cedar", "Birch", "Rowan", "Maple"]
    assert cast.winner == cast.ranking[0]


def test_an_answer_to_a_question_has_the_probabilities_of_the_words() -> None:
    setup = DebateSetup(question=DebateQuestion(("red", "blue")))
    debate = debated(setup=setup)
    said = "The right answer is Cedar, because it is blue."
    assert judge_request(debate, debate.judges[0], 0).prefill == "The right answer is"
    cast = read(said, token(" Cedar", Bir=0.2, Cedar=0.6), debate=debate)
    assert (cast.probabilities, cast.winner) == ((0.25, 0.75), "b")
    with pytest.raises(UnreadableReply, match="how probable"):
        read(said, debate=debate)


def test_a_seat_of_such_a_model_answers_a_question_without_reasoning() -> None:
    question = DebateQuestion(("red", "blue"))
    debate = debated(setup=DebateSetup(question=question))
    little = replace(debate, seats=seats("for", "against", model=WREN))
    request = answer_request(little, little.turns[0], question)
    assert request.schema is not None
    assert list(request.schema["properties"]) == ["answer", "percent"]
    assert "reasoning" not in request.instructions
    answer, shares = read_answer_reply('{"answer": "B", "percent": 75}', ("A", "B"))
    assert (answer.reasoning, shares) == ("", (0.25, 0.75))
    with pytest.raises(UnreadableReply, match="no reasoning"):
        read_answer_ballot('{"answer": "Cedar", "percent": 75}', debate, debate.judges[0], 0)


# --- the probabilities --------------------------------------------------------------------------------


def test_words_count_from_the_first_token_that_tells_them_apart() -> None:
    tokens = [
        TokenOdds(" Ba", {" Ba": 0.5, " Ce": 0.1, " The": 0.4}),
        TokenOdds("la", {"la": 0.8, "lo": 0.2}),
        TokenOdds("b", {"b": 0.3, "d": 0.7}),
    ]
    shares = word_shares((" Balab", " Balod", " Cedar"), tokens)
    assert shares == pytest.approx((0.4 / 0.6, 0.1 / 0.6, 0.1 / 0.6), abs=1e-6)


def test_other_tokens_and_bare_spaces_count_for_no_word() -> None:
    tokens = [
        TokenOdds(" Cedar", {" ": 0.5, "": 0.1, " Cedars": 0.1, " Cedar": 0.2, " B": 0.06, " Bir": 0.1})
    ]
    assert word_shares(WORDS, tokens) == pytest.approx((1 / 3, 2 / 3), abs=1e-6)


def test_nothing_is_known_without_listed_words() -> None:
    assert word_shares(WORDS, []) == ()
    assert word_shares(WORDS, [TokenOdds("!", {"!": 1.0})]) == ()


# --- a whole debate -----------------------------------------------------------------------------------


def test_a_judge_that_names_the_same_label_both_times_has_not_decided() -> None:
    def script(sent: Sent) -> Reply:
        return speak(sent) if sent.purpose.judge is None else one_word(sent, (0.1, 0.3))

    opening = replace(table("free", limits=DebateLimits(1, turns=2)), judges=(Judge("judge", "Judge", WREN),))
    verdict = Simulation(opening, script).start().run().debate.verdicts[0]
    assert (verdict.outcome, verdict.winner, verdict.flips) == ("too-close", None, 1)


def test_a_judge_without_a_readable_word_gives_no_verdict() -> None:
    def script(sent: Sent) -> Reply:
        return speak(sent) if sent.purpose.judge is None else Reply("Well.")

    opening = replace(table("free", limits=DebateLimits(1, turns=2)), judges=(Judge("judge", "Judge", WREN),))
    debate = Simulation(opening, script).start().run().debate
    assert (debate.status, debate.verdicts) == ("error", ())
