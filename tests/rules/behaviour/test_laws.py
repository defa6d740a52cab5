"""Laws that hold for every debate, whatever people do, models say and machines suffer."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence

from hypothesis import strategies as st
from msgspec.structs import replace

from moot.core.errors import FAULT_MESSAGES, Refused
from moot.core.events import (
    AsideAsked,
    BallotSpoiled,
    CallCompleted,
    CallDelta,
    CallFailed,
    CallStarted,
    DebatePaused,
    DebateResumed,
    DraftKept,
    Event,
    JudgingStarted,
    PollOpened,
    Recorded,
    RoundStarted,
    SegmentCompleted,
    TurnStarted,
    VoteCast,
    decode_event,
    decode_recorded,
    encode,
)
from moot.core.evolve import evolve, fold
from moot.core.pricing import ballot_tokens
from moot.core.schedule import opposed
from moot.core.state import Aside, Debate, Turn
from moot.core.statuses import Status
from moot.core.terms import HUMAN, ChatMessage, Money, Request, Slot, Usage
from moot.core.visibility import OBSERVER, OWNER, Viewer, visible_event
from moot.judging.judge_request import judge_request
from moot.judging.parties import parties
from moot.prompts.speech_prompts import turn_request
from moot.rules import budget, runner_decisions
from moot.rules.commands import Retry, decide
from moot.rules.dry_run import UNJUDGED_RULES
from moot.rules.plan import plan
from tests.rules.random_debates import (
    COMMANDS,
    greedy,
    law,
    plots,
    remark_canary,
    secrets,
    thought_canary,
)
from tests.rules.simulate import MUCH_LATER, Sent, Simulation

FEWER = 20
LIMITED = st.one_of(plots(limited=True), greedy())


def everything(request: Request) -> str:
    said = [message.content for message in (*request.messages, *request.fresh)]
    return "\n".join([request.instructions, *said, request.prefill, str(request.schema)])


def speaker(sent: Sent) -> Turn | None:
    return sent.debate.turn(sent.purpose.turn) if sent.purpose.turn else None


def asked(sent: Sent) -> Aside | None:
    return sent.debate.aside(sent.purpose.aside) if sent.purpose.aside else None


def reader(sent: Sent) -> str | None:
    """The seat whose words are wanted; None for judges and referees."""
    turn, aside = speaker(sent), asked(sent)
    if aside is not None:
        return None if aside.kind == "referee" else aside.seat
    return turn.seat if turn else None


def by_hand(simulation: Simulation) -> set[int]:
    """The turns that people gave."""
    calls = (event for event in simulation.events if isinstance(event, CallStarted))
    return {call.turn for call in calls if call.turn is not None and call.model.startswith(HUMAN)}


def at_rest(simulation: Simulation) -> list[Debate]:
    """The states that somebody could see."""
    return [state for state in simulation.states if state.seq in simulation.settled]


# --- the log ------------------------------------------------------------------------------------------


@law(examples=FEWER)
def test_a_log_folds_the_same_wherever_it_is_cut(simulation: Simulation) -> None:
    records = simulation.records
    whole = fold(records)
    # Every cut of an ordinary log; of a very long one, some.
    for cut in range(0, len(records) + 1, len(records) // 150 + 1):
        assert fold(records[cut:], fold(records[:cut])) == whole


@law(examples=FEWER)
def test_a_log_read_back_is_the_log_that_was_written(simulation: Simulation) -> None:
    for recorded in simulation.records:
        assert decode_recorded(encode(recorded)) == recorded
        assert decode_event(encode(recorded.event)) == recorded.event
    assert fold(decode_recorded(encode(recorded)) for recorded in simulation.records) == simulation.debate


@law(examples=FEWER)
def test_the_state_knows_its_place_in_the_log(simulation: Simulation) -> None:
    unstreamed = 0
    for recorded, state in zip(simulation.records, simulation.states, strict=True):
        unstreamed = unstreamed if isinstance(recorded.event, CallDelta | SegmentCompleted) else recorded.seq
        assert (state.seq, state.unstreamed_seq, state.epoch) == (recorded.seq, unstreamed, recorded.epoch)
        assert state.updated_at == recorded.at


# --- the course of a debate ---------------------------------------------------------------------------

EDGES: dict[Status, tuple[Status, ...]] = {
    "created": ("initializing", "completed", "aborted"),
    "initializing": ("awaiting_arguments", "paused", "completed", "aborted"),
    "awaiting_arguments": ("debating", "paused", "judging", "completed", "aborted", "error"),
    "debating": ("awaiting_arguments", "paused", "judging", "completed", "aborted", "error"),
    "paused": (
        "initializing", "awaiting_arguments", "debating", "judging", "completed", "aborted", "error",
    ),
    "judging": ("completed", "aborted", "error"),
    "error": ("debating", "judging", "completed", "aborted"),
    "completed": (),
    "aborted": (),
}  # fmt: skip


@law()
def test_the_status_moves_along_legal_edges(simulation: Simulation) -> None:
    states = simulation.states
    for before, after in itertools.pairwise(states):
        assert after.status == before.status or after.status in EDGES[before.status]


@law()
def test_every_debate_comes_to_an_end_that_leaves_nothing_open(simulation: Simulation) -> None:
    debate = simulation.debate
    assert debate.status in ("completed", "aborted", "error")
    assert not debate.live
    assert not debate.calls
    assert (debate.ended is None) == (debate.status == "error")


@law()
def test_nothing_starts_after_an_acknowledged_pause_until_it_is_lifted(simulation: Simulation) -> None:
    paused = False
    for recorded in simulation.records:
        match recorded.event:
            case DebatePaused():
                paused = True
            case DebateResumed():
                paused = False
            case TurnStarted() | AsideAsked() | PollOpened() if recorded.seq not in simulation.commanded:
                assert not paused
            case JudgingStarted():
                assert not paused or recorded.seq in simulation.commanded
                paused = False
            case _:
                pass


@law()
def test_a_step_goes_no_further_than_one_group_or_one_round(simulation: Simulation) -> None:
    steps: list[Slot] = []
    for recorded, before, after in zip(
        simulation.records[1:], simulation.states[:-1], simulation.states[1:], strict=True
    ):
        match recorded.event:
            case DebateResumed():
                steps = []
            case TurnStarted() if before.step:
                steps.append(after.schedule[recorded.event.slot])
                assert len({slot.group if before.step == "turn" else slot.round for slot in steps}) == 1
            case DebatePaused(by="step"):
                assert before.step
            case _:
                pass
        assert after.step is None or after.running or after.status == "paused"


@law()
def test_after_an_abort_nothing_starts(simulation: Simulation) -> None:
    for state, event in zip(simulation.states[:-1], simulation.events[1:], strict=True):
        if state.status == "aborted":
            assert not isinstance(event, TurnStarted | AsideAsked | PollOpened | RoundStarted)
            assert not isinstance(event, CallStarted) or state.being_judged


@law()
def test_nothing_is_asked_aside_while_somebody_speaks(simulation: Simulation) -> None:
    for recorded, state in zip(simulation.records, simulation.states, strict=True):
        if isinstance(recorded.event, AsideAsked) and recorded.seq not in simulation.commanded:
            assert not state.live


@law()
def test_a_point_is_put_by_the_other_side_and_once_in_a_speech(simulation: Simulation) -> None:
    debate = simulation.debate
    assert len({point.turn for point in debate.points}) == len(debate.points)
    for point in debate.points:
        turn = debate.turn(point.turn)
        assert turn is not None
        assert opposed(debate.seats, point.seat, turn.seat)


@law()
def test_everybody_votes_once_in_each_poll(simulation: Simulation) -> None:
    votes = Counter((vote.poll, vote.voter) for vote in simulation.debate.votes)
    assert not votes or max(votes.values()) == 1


@law()
def test_the_first_verdict_stays_what_it_was(simulation: Simulation) -> None:
    for before, after in itertools.pairwise(simulation.states):
        assert before.verdict is None or after.verdict == before.verdict
        assert len(before.verdicts) <= len(after.verdicts)


@law()
def test_in_manual_mode_no_round_begins_that_was_not_asked_for(simulation: Simulation) -> None:
    if not simulation.debate.setup.auto:
        for state in simulation.states:
            assert all(turn.round <= state.rounds_asked for turn in (*state.turns, *state.live))


@law()
def test_no_turn_asks_a_model_more_than_five_times(simulation: Simulation) -> None:
    calls = Counter(sent.purpose.turn for sent in simulation.sent if sent.purpose.turn)
    assert not calls or max(calls.values()) <= 5


@law()
def test_each_slot_is_used_up_at_most_once(simulation: Simulation) -> None:
    for state in simulation.states:
        used = Counter([turn.slot for turn in state.turns if turn.used_slot] + list(state.skipped))
        assert not used or max(used.values()) == 1
        assert not {turn.slot for turn in state.live} & set(used)


@law()
def test_a_live_turn_has_a_call_under_way_or_another_one_coming(simulation: Simulation) -> None:
    ended: dict[int, CallCompleted | CallFailed] = {}
    for recorded, state in zip(simulation.records, simulation.states, strict=True):
        if isinstance(recorded.event, CallCompleted | CallFailed):
            ended[recorded.event.call] = recorded.event
        if recorded.seq not in simulation.settled:
            continue
        for turn in state.live:
            if turn.call is None or state.call(turn.call):
                continue
            last = ended[turn.call]
            assert isinstance(last, CallFailed)
            assert last.retry_in_ms is not None
        owners = Counter((call.turn, call.judge, call.order, call.aside) for call in state.calls)
        assert not owners or max(owners.values()) == 1


@law(examples=FEWER)
def test_a_turn_keeps_the_words_of_its_last_call(simulation: Simulation) -> None:
    people = by_hand(simulation)
    small = {sent.purpose.turn for sent in simulation.sent if sent.request.model.small}
    for turn in simulation.debate.turns:
        if turn.number in people | small:
            continue
        said = [
            recorded.event.text
            for recorded in simulation.records
            if isinstance(recorded.event, CallDelta)
            and recorded.event.call == turn.call
            and recorded.event.kind == "text"
            and turn.ended_at
            and recorded.at <= turn.ended_at
        ]
        assert turn.text == "".join(said)


@law(examples=FEWER)
def test_recovery_leaves_nothing_open_but_what_people_do_and_is_done_once(simulation: Simulation) -> None:
    for state in at_rest(simulation):
        draft = runner_decisions.EventBatch(state)
        draft.add(*runner_decisions.recover(state, MUCH_LATER))
        speaking = {turn.number for turn in draft.debate.live}
        assert all(state.seat(turn.seat).model.human for turn in draft.debate.live)
        assert {call.turn for call in draft.debate.calls} == speaking
        assert all(runner_decisions.is_for_human(state, aside) for aside in draft.debate.open_asides)
        assert runner_decisions.recover(draft.debate, MUCH_LATER) == ()


def _unpriced(events: Sequence[Event]) -> list[Event]:
    """Only the estimate of what a call cost that the end cuts goes by the words that are known of it."""
    return [
        replace(event, usage=Usage(), cost=None, counted=None) if isinstance(event, CallFailed) else event
        for event in events
    ]


@law(examples=FEWER)
def test_neither_commands_nor_plans_look_at_words_in_flight(simulation: Simulation) -> None:
    for state in at_rest(simulation):
        if not (state.live or state.calls):
            continue
        mute = replace(
            state,
            live=tuple(replace(turn, text="", reasoning="", segments=()) for turn in state.live),
            calls=tuple(replace(call, text="", reasoning="") for call in state.calls),
        )
        assert plan(mute) == plan(state)
        assert runner_decisions.advance(mute) == runner_decisions.advance(state)
        for command in COMMANDS:
            deaf, hearing = decide(mute, command), decide(state, command)
            if isinstance(hearing, Refused) or isinstance(deaf, Refused):
                assert isinstance(deaf, Refused)
                assert isinstance(hearing, Refused)
            else:
                assert _unpriced(deaf) == _unpriced(hearing)


@law(examples=FEWER)
def test_a_refusal_names_the_status_and_writes_nothing(simulation: Simulation) -> None:
    for seq, _, decision in simulation.asked:
        if isinstance(decision, Refused):
            assert decision.status == simulation.states[seq - 1].status
            assert decision.reason


# --- who hears what -----------------------------------------------------------------------------------


@law()
def test_nobody_is_sent_what_a_model_thought(simulation: Simulation) -> None:
    thoughts = [thought_canary(sent.call) for sent in simulation.sent]
    for sent in simulation.sent:
        text = everything(sent.request)
        assert not any(thought in text for thought in thoughts)


@law()
def test_no_one_is_sent_what_a_debater_or_a_judge_believes(simulation: Simulation) -> None:
    told = [chance for aside in simulation.debate.asides for chance in aside.chances.values()]
    marks = {text for chance in told if 100 * chance % 1 for text in (f"{chance:g}", f"{100 * chance:g}")}
    for sent in simulation.sent:
        text = everything(sent.request)
        assert not any(mark in text for mark in marks)
    seats = [Viewer("participant", seat.id) for seat in simulation.debate.seats]
    for viewer in (*seats, Viewer("judge")):
        seen = hidden_from(viewer, simulation)
        assert b'"chances"' not in seen
        assert b'"persona_vote"' not in seen


@law()
def test_what_a_seat_alone_was_told_reaches_that_seat_alone(simulation: Simulation) -> None:
    for sent in simulation.sent:
        text, told = everything(sent.request), reader(sent)
        for seat in simulation.debate.seats:
            for secret in (seat.persona, seat.objective, seat.system_prompt):
                if secret and "<" in secret:
                    assert (secret in text) == (told == seat.id)


@law()
def test_a_remark_is_heard_once_by_every_turn_that_starts_after_it(simulation: Simulation) -> None:
    for sent in simulation.sent:
        turn, aside = speaker(sent), asked(sent)
        text = "\n".join(message.content for message in sent.request.messages)
        before = turn.seq if turn else aside.seq if aside else sent.debate.seq
        for remark in simulation.debate.remarks:
            times = text.count(remark_canary(remark.number))
            may = remark.seq < before and (remark.question or remark.to in (None, reader(sent)))
            # A question waits for the speech that can answer it, and judges read it with the answer. A small
            # model is told the latest few only.
            must = turn is not None and not remark.question and not sent.request.model.small
            assert times == 1 if may and must else times <= may


@law(examples=FEWER)
def test_what_is_written_aside_reaches_its_own_seat_alone(simulation: Simulation) -> None:
    hidden = dict(secrets(simulation))
    for sent in simulation.sent:
        text = everything(sent.request)
        for secret, seat in hidden.items():
            assert secret not in text or reader(sent) == seat
    for viewer in (OBSERVER, *(Viewer("participant", seat.id) for seat in simulation.debate.seats)):
        seen = hidden_from(viewer, simulation).decode()
        for secret, seat in hidden.items():
            assert secret not in seen or viewer.seat == seat


@law(examples=FEWER)
def test_a_draft_that_was_not_said_is_known_to_its_writer_alone(simulation: Simulation) -> None:
    said = "\n".join(turn.text for turn in simulation.debate.turns)
    drafts = {event.text: event.seat for event in simulation.events if isinstance(event, DraftKept)}
    hidden = {text: seat for text, seat in drafts.items() if "<" in text and text not in said}
    requests = "\n".join(everything(sent.request) for sent in simulation.sent)
    assert not any(text in requests for text in hidden)
    for viewer in (OWNER, OBSERVER, *(Viewer("participant", seat.id) for seat in simulation.debate.seats)):
        seen = hidden_from(viewer, simulation).decode()
        assert all(viewer.seat == seat for text, seat in hidden.items() if text in seen)


@law(examples=FEWER)
def test_words_beyond_the_budget_are_heard_by_nobody(simulation: Simulation) -> None:
    debate = simulation.debate
    for turn in debate.turns:
        heard = debate.heard_text(turn)
        unheard = [mark for mark in re.findall(r"beyond<\d+>", turn.text) if mark not in heard]
        others = (sent for sent in simulation.sent if reader(sent) != turn.seat)
        assert not any(mark in everything(sent.request) for sent in others for mark in unheard)


@law(examples=FEWER)
def test_nobody_sees_how_anybody_voted(simulation: Simulation) -> None:
    requests = "\n".join(everything(sent.request) for sent in simulation.sent)
    assert "voter<" not in requests
    for viewer in (OWNER, OBSERVER, Viewer("judge"), Viewer("participant", simulation.debate.seats[0].id)):
        shown = [
            visible_event(state, recorded, viewer)
            for state, recorded in zip(simulation.states, simulation.records, strict=True)
            if isinstance(recorded.event, VoteCast)
        ]
        votes = [recorded.event for recorded in shown if recorded]
        assert all(isinstance(vote, VoteCast) and not (vote.voter or vote.choice) for vote in votes)


@law()
def test_a_prompt_depends_only_on_the_log_before_its_turn(simulation: Simulation) -> None:
    for sent in simulation.sent:
        turn = speaker(sent)
        if turn is not None:
            again = turn_request(sent.debate, turn, sent.attempt)
            assert replace(again, max_tokens=sent.request.max_tokens) == sent.request


@law()
def test_a_chained_request_adds_up_to_the_whole_history(simulation: Simulation) -> None:
    known: dict[str, tuple[ChatMessage, ...]] = {}
    owner: dict[str, str] = {}
    for sent in simulation.sent:
        turn, request = speaker(sent), sent.request
        if turn is None:
            assert request.previous_response_id is None
            continue
        previous = request.previous_response_id
        if previous is not None:
            assert owner[previous] == turn.seat
            assert known[previous] + (request.fresh or request.messages[-1:]) == request.messages
        ended = simulation.debate.turn(turn.number)
        if ended and ended.response_id:
            known[ended.response_id] = (*request.messages, ChatMessage("assistant", ended.text))
            owner[ended.response_id] = turn.seat


@law()
def test_the_beginning_of_a_request_stays_the_same_from_turn_to_turn(simulation: Simulation) -> None:
    if any(isinstance(command, Retry) for _, command, _ in simulation.asked):
        return
    last: dict[str, tuple[Turn, Request]] = {}
    for sent in simulation.sent:
        turn = speaker(sent)
        if turn is None or sent.request.model.small:
            continue
        if turn.seat in last:
            earlier, request = last[turn.seat]
            heard = sent.debate.turn(earlier.number)
            if heard and heard.has_words:
                kept = (*request.messages, ChatMessage("assistant", heard.text))
                assert sent.request.messages[: len(kept)] == kept
                assert sent.request.instructions == request.instructions
        last[turn.seat] = turn, sent.request


def hidden_from(viewer: Viewer, simulation: Simulation) -> bytes:
    """All that a viewer sees of a debate, as bytes."""
    debate: Debate | None = None
    seen: list[Recorded] = []
    for recorded in simulation.records:
        debate = evolve(debate, recorded)
        if shown := visible_event(debate, recorded, viewer):
            seen.append(shown)
    return b"\n".join(encode(recorded) for recorded in seen)


@law(examples=FEWER)
def test_viewers_see_no_secret_and_participants_no_thought(simulation: Simulation) -> None:
    seats = simulation.debate.seats
    for state, recorded in zip(simulation.states, simulation.records, strict=True):
        if not isinstance(recorded.event, VoteCast | DraftKept):
            assert visible_event(state, recorded, OWNER) == recorded
    for viewer in (OBSERVER, *(Viewer("participant", seat.id) for seat in seats)):
        text = hidden_from(viewer, simulation).decode()
        for seat in seats:
            for secret in filter(None, (seat.objective, seat.system_prompt)):
                assert (secret in text) == (viewer.seat == seat.id)
        assert viewer == OBSERVER or "thought<" not in text


# --- money --------------------------------------------------------------------------------------------


@law(LIMITED)
def test_the_cost_limit_holds_at_every_moment(simulation: Simulation) -> None:
    limit = simulation.debate.limits.cost_limit
    assert limit is not None
    for state in simulation.states:
        if state.judging and state.judging.allowance is not None:
            limit = max(limit, state.judging.counted + state.judging.allowance)
        assert state.counted + state.reserved <= limit
        assert state.cost_so_far <= state.counted


@law(LIMITED)
def test_the_judging_is_held_back_from_the_first_speech_on(simulation: Simulation) -> None:
    limit = simulation.debate.limits.cost_limit
    assert limit is not None
    if simulation.debate.setup.winning in UNJUDGED_RULES:
        return
    for state in at_rest(simulation):
        if state.has_speeches and state.judging is None:
            assert state.counted + state.reserved + budget.one_reading_cost(state) <= limit


@law(st.one_of(plots(limited=True, judge_faults=False), greedy()))
def test_a_debate_that_reaches_its_limit_is_still_judged(simulation: Simulation) -> None:
    if simulation.debate.setup.winning in UNJUDGED_RULES or simulation.epoch > 1:
        return
    for sent in simulation.sent:
        if sent.purpose.judge and not sent.purpose.repair and not sent.debate.final:
            judge = simulation.debate.judge(sent.purpose.judge)
            most = judge_request(sent.debate, judge, 0).max_tokens
            text = ballot_tokens(sent.debate, len(parties(sent.debate)), len(judge.criteria))
            assert sent.request.max_tokens >= min(most, text)
    for event, state in zip(simulation.events, simulation.states, strict=True):
        unpaid = isinstance(event, BallotSpoiled) and event.message == FAULT_MESSAGES["budget"]
        assert not unpaid or event.waived or state.final


@law()
def test_what_was_spent_is_the_sum_of_the_calls(simulation: Simulation) -> None:
    ended = [event for event in simulation.events if isinstance(event, CallCompleted | CallFailed)]
    debate = simulation.debate
    assert debate.cost_so_far == sum((event.cost or Money(0) for event in ended), Money(0))
    assert sum(tally.calls for tally in debate.tallies.values()) == len(ended) == debate.calls_made
    assert sum(tally.unpriced for tally in debate.tallies.values()) == sum(e.cost is None for e in ended)
