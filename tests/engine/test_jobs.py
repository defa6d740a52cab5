"""The parts that models play: what they are asked, which answers will do, what is written down."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from moot.core.errors import Fault
from moot.core.events import BallotCast, BallotSpoiled, SegmentCompleted, TurnCompleted, TurnFailed
from moot.core.terms import DebateLimits, FinishReason, Reasoning, ReasoningPart, Text
from moot.engine.call import CallResult
from moot.engine.jobs import BallotJob, SpeechJob
from moot.providers.contract import ReplyDone
from moot.rules.commands import PauseDebate, ResumeDebate, Retry, SkipTurn
from moot.rules.runner_decisions import CallPurpose
from moot.testing.event_factories import SCRIPTED, seats, table
from moot.views.speech_issues import find_issues
from tests.rules.simulate import Reply, Sent, Simulation, in_turn, speak


def heard(text: str, finish: FinishReason = "stop", thought: str = "") -> CallResult:
    said = CallResult(call=1, done=ReplyDone(finish))
    if thought:
        said.add_delta(0, "reasoning", thought)
    if text:
        said.add_delta(1, "text", text)
    return said


def speech(**changes: Any) -> SpeechJob:
    debate = Simulation(table(**changes), speak).start().run_until(lambda d: d.is_live(1)).debate
    return SpeechJob(debate, debate.live[0])


def vote() -> BallotJob:
    simulation = Simulation(table("free", limits=DebateLimits(1, turns=2)), speak).start()
    return BallotJob(simulation.run_until(lambda d: d.status == "judging").debate, "judge", 0)


# --- a speech -----------------------------------------------------------------------------------------


def test_a_speech_is_completed_with_its_words_counted() -> None:
    assert speech().accept(heard("One two three.")) == TurnCompleted(1, 3)
    assert speech().purpose == CallPurpose(turn=1)


@pytest.mark.parametrize("text", ["", "  \n"])
def test_silence_will_not_do(text: str) -> None:
    with pytest.raises(Fault) as fault:
        speech().accept(heard(text))
    assert (fault.value.kind, fault.value.severity) == ("empty", "unusable")


def test_thoughts_without_words_will_not_do() -> None:
    with pytest.raises(Fault):
        speech().accept(heard("", thought="I had better say nothing."))


def test_what_a_filter_withheld_will_not_do() -> None:
    with pytest.raises(Fault) as fault:
        speech().accept(heard("", "filter"))
    assert fault.value.kind == "filtered"


def test_what_a_filter_cut_short_is_kept() -> None:
    assert speech().accept(heard("One two", "filter")) == TurnCompleted(1, 2, truncated="filter")


def test_a_refusal_is_a_turn_even_without_words() -> None:
    assert speech().accept(heard("I will not.", "refusal")) == TurnCompleted(1, 3, refusal=True)
    assert speech().accept(heard("", "refusal")) == TurnCompleted(1, 0, refusal=True)


def test_a_speech_that_ran_into_its_limit_is_kept_and_marked() -> None:
    assert speech().accept(heard("One two", "length")) == TurnCompleted(1, 2, truncated="max_tokens")
    capped = heard("One two")
    capped.truncated = "cap"
    assert speech().accept(capped) == TurnCompleted(1, 2, truncated="cap")


def test_words_that_are_not_recorded_are_not_counted() -> None:
    """The speech of a small model ends with its last whole sentence."""
    part = speech(seats=seats("for", "against", model=replace(SCRIPTED, small=True)))
    reply = heard("Trees give shade to all. And they also", "length")
    assert part.accept(reply) == TurnCompleted(1, 5, truncated="max_tokens")
    (recorded,) = part.unwritten_segments(reply)
    assert recorded.segment == Text("Trees give shade to all.", 1)


def test_a_speech_may_run_over_by_a_quarter() -> None:
    fits, over = (speech().accept(heard("word " * count)) for count in (250, 251))
    assert isinstance(fits, TurnCompleted)
    assert isinstance(over, TurnCompleted)
    assert (fits.over_length, over.over_length) == (False, True)


def test_when_the_time_is_up_what_was_said_is_kept() -> None:
    assert speech().on_timeout(heard("One two")) == TurnCompleted(1, 2, truncated="timeout")
    silence = speech().on_timeout(heard(""))
    assert isinstance(silence, TurnFailed)
    assert silence.kind == "timeout"


def test_giving_up_says_why_in_our_words() -> None:
    end = speech().on_failure(Fault("overloaded", detail="upstream said: sk-123"))
    assert end == TurnFailed(1, "overloaded", "The provider is overloaded.")


def test_each_attempt_asks_the_same() -> None:
    part = speech()
    assert replace(part.request(2), attempt=1) == part.request(1)


def third_speech() -> SpeechJob:
    debate = Simulation(table(), speak).start().run_until(lambda d: d.is_live(3)).debate
    return SpeechJob(debate, debate.live[0])


def test_a_chain_that_was_lost_is_not_referred_to_again() -> None:
    part = third_speech()
    assert part.request(1).previous_response_id == "resp_1"
    part.adapt_to(Fault("chain_lost", "unusable"))
    again = part.request(2)
    assert (again.previous_response_id, again.fresh, again.trimmed) == (None, (), 0)
    assert [message.role for message in again.messages] == ["user", "assistant", "user"]


def test_encrypted_thoughts_that_were_refused_are_not_sent_again() -> None:
    thinks = Reply("Trees are tall.", reasoning="Hm.", items=True, sealed="c2VhbGVk", stored=False)
    debate = Simulation(table(), in_turn([thinks])).start().run_until(lambda d: d.is_live(3)).debate
    part = SpeechJob(debate, debate.live[0])
    assert "c2VhbGVk" in str(part.request(1))
    part.adapt_to(Fault("seal_refused", "unusable"))
    assert "c2VhbGVk" not in str(part.request(2))


def test_what_was_too_long_is_cut_at_its_oldest_end_and_says_so() -> None:
    part = third_speech()
    whole = part.request(1)
    part.adapt_to(Fault("too_long", "unusable"))
    short = part.request(2)
    assert short.previous_response_id is None
    assert short.trimmed == 1
    assert len(short.messages) < len(whole.messages)
    assert "left out" in short.messages[0].content
    done = part.accept(heard("One two three."))
    assert isinstance(done, TurnCompleted)
    assert done.degraded == "context_trimmed"


def test_who_may_not_show_its_thoughts_is_not_asked_to_again() -> None:
    for part in (third_speech(), vote()):
        assert part.request(1).thoughts
        part.adapt_to(Fault("summary_refused", "unusable"))
        assert not part.request(2).thoughts


def test_a_judge_who_cannot_read_it_all_is_not_asked_the_same_again() -> None:
    fault = Fault("too_long", "unusable")
    vote().adapt_to(fault)
    assert fault.severity == "permanent"


def test_a_repair_that_is_too_long_goes_without_the_reply_it_repairs() -> None:
    part = vote()
    with pytest.raises(Fault):
        part.accept(heard("no ballot " * 50))
    assert len(part.request(2).messages) == 3
    fault = Fault("too_long", "unusable")
    part.adapt_to(fault)
    assert (len(part.request(3).messages), fault.severity) == (1, "unusable")


def test_other_faults_change_nothing_in_what_is_asked() -> None:
    part = third_speech()
    part.adapt_to(Fault("overloaded"))
    assert part.request(2) == replace(part.request(1), attempt=2)


def test_a_small_model_that_strays_is_given_one_more_try() -> None:
    part = speech(seats=seats("for", "against", model=replace(SCRIPTED, small=True)))
    astray = heard("No.")
    with pytest.raises(Fault) as fault:
        part.accept(astray)
    assert fault.value.kind == "off_side"
    assert isinstance(part.accept(astray), TurnCompleted)


def test_a_small_models_speech_ends_with_a_whole_sentence() -> None:
    part = speech(seats=seats("for", "against", model=replace(SCRIPTED, small=True)))
    (segment,) = part.unwritten_segments(heard("It is so. It is really so. And the", "length"))
    assert segment == SegmentCompleted(1, Text("It is so. It is really so.", 1))


# --- what was heard -----------------------------------------------------------------------------------


def test_what_the_service_did_not_finish_is_made_from_its_words() -> None:
    said = CallResult()
    said.add_delta(0, "reasoning", "Hm")
    said.add_delta(0, "reasoning", "m.")
    said.add_delta(1, "text", "Yes.")
    assert (said.text, said.reasoning, said.chars, said.reasoning_chars) == ("Yes.", "Hmm.", 4, 4)
    said.call = 3
    assert said.unfinished_segments() == (
        SegmentCompleted(3, Reasoning((ReasoningPart("Hmm."),), 0)),
        SegmentCompleted(3, Text("Yes.", 1)),
    )


def test_what_the_service_finished_counts_and_is_not_written_again() -> None:
    said = CallResult()
    said.add_delta(0, "text", "Yse")
    said.segments[0] = Text("Yes.", 0)
    said.add_delta(1, "text", " No.")
    assert said.text == "Yes. No."
    said.call = 1
    assert said.unfinished_segments() == (SegmentCompleted(1, Text(" No.", 1)),)


def test_segments_come_in_the_providers_order() -> None:
    said = CallResult()
    said.add_delta(2, "text", "two.")
    said.add_delta(1, "text", "One, ")
    assert said.text == "One, two."


# --- a vote -------------------------------------------------------------------------------------------

GOOD = (
    '{"reasoning": "", "rests_on": ["S1"], "criteria": {}, "winner": "Birch",'
    ' "speakers": {"Birch": {"score": 2}, "Cedar": {"score": 1}}}'
)


def test_a_readable_reply_is_a_ballot() -> None:
    result = vote().accept(heard(GOOD))
    assert isinstance(result, BallotCast)
    assert (result.judging, result.ballot.winner) == (1, "a")


def test_an_unreadable_reply_is_repaired_with_what_was_wrong_with_it() -> None:
    part = vote()
    first = part.request(1)
    with pytest.raises(Fault) as fault:
        part.accept(heard("Birch!"))
    assert (fault.value.kind, fault.value.severity) == ("malformed", "unusable")
    assert part.purpose == CallPurpose(judge="judge", order=0, repair=True)
    repair = part.request(2)
    assert repair.messages[: len(first.messages)] == first.messages
    assert repair.messages[-2].content == "Birch!"
    assert "could not be read" in repair.messages[-1].content
    assert isinstance(part.accept(heard(GOOD)), BallotCast)


def test_a_second_unreadable_reply_is_not_added_to_the_first() -> None:
    part = vote()
    for reply in ("Birch!", "Birch?"):
        with pytest.raises(Fault):
            part.accept(heard(reply))
    assert "Birch?" not in str(part.request(3).messages)


def test_a_judge_who_cannot_be_held_to_a_schema_is_asked_in_words() -> None:
    part = vote()
    assert part.request(1).schema is not None
    part.adapt_to(Fault("schema_refused", "unusable"))
    assert part.request(2).schema is None


def test_an_endless_reply_is_no_ballot() -> None:
    endless = heard(GOOD)
    endless.truncated = "cap"
    with pytest.raises(Fault):
        vote().accept(endless)


def test_a_judge_who_says_nothing_in_time_spoils_the_ballot() -> None:
    assert vote().on_timeout(heard(GOOD)) == BallotSpoiled(
        1, "judge", 0, "The model did not answer in time.", "timeout", "transient"
    )
    spoiled = vote().on_failure(Fault("overloaded"))
    assert spoiled == BallotSpoiled(1, "judge", 0, "The provider is overloaded.", "overloaded", "transient")


# --- the provider's memory ----------------------------------------------------------------------------


@pytest.mark.parametrize("taken_back", [False, True])
def test_no_memory_was_lost_where_a_command_cut_the_speech_or_took_it_back(taken_back: bool) -> None:
    def script(sent: Sent) -> Reply:
        # As the service marks every request that brings the history and names no response.
        whole = len(sent.request.messages) > 1 and sent.request.previous_response_id is None
        return replace(speak(sent), degraded="chain" if whole else "")

    begun = Simulation(table("oxford"), script).start().run_until(lambda d: bool(d.live and d.live[0].text))
    begun.ask(SkipTurn())
    if taken_back:
        begun.run_until(lambda d: len(d.turns) == 3)
        begun.ask(PauseDebate())
        begun.ask(Retry())
        begun.ask(ResumeDebate())
    debate = begun.run().debate
    assert debate.turns[0].by == "skip"
    assert {turn.degraded for turn in debate.turns} == {""}
    assert "degraded_chain" not in find_issues(debate).by_kind
