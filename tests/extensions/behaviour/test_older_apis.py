"""The compatibility APIs stream the same debate as v1, on the golden logs and on random ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from moot.api.frames import Dialect, NativeFrames, SeenEvent, as_lines, parse_cursor
from moot.core.events import AsideAnswered, Recorded
from moot.core.state import Debate, Turn
from moot.core.terms import DebateLimits, DebateSetup
from moot.core.visibility import OBSERVER, OWNER, Viewer, seen_event
from moot.extensions.arena_api.frames import ArenaFrames, debate_reply, seat_letter
from moot.extensions.turn_sessions.frames import TurnFrames
from moot.testing.event_factories import table
from moot.views.transcript import transcript
from moot.views.transcript_json import to_json
from moot.web.streaming.plain_streams import end_seq, turns_by_slot
from tests.api.watching import NAMES, PLAIN, named, sent, told, watch
from tests.extensions.older_apis import BOUTS, OLDER_APIS, QUICK, path_of, snapshots
from tests.golden.reading import log_of
from tests.rules.random_debates import law
from tests.rules.simulate import Reply, Sent, Simulation, aside
from tests.support.for_each import for_each
from tests.views.logs import held

QUICK_MEMBERS = {
    "agent_start": {"agent", "round", "timestamp"},
    "token": {"content", "agent"},
    "agent_end": {"agent", "round", "fullMessage", "tokenCount"},
    "round_complete": {"round", "totalRounds"},
    "debate_complete": {"summary", "totalTokens", "duration", "transcript"},
    "error": {"message", "code", "retryable"},
}
BOUT_MEMBERS = {
    "debate.started": {"debate"},
    "turn.started": {"speaker", "turnNumber"},
    "token": {"speaker", "content"},
    "turn.completed": {"speaker", "turnNumber", "fullContent"},
    "action.processed": {"action"},
    "decision.awaited": {"choices"},
    "debate.completed": {"winner", "reason"},
}
CODES = {"INVALID_TOPIC", "RATE_LIMIT", "LLM_ERROR", "INTERNAL_ERROR"}


def tales(dialect: Dialect, seen: Sequence[SeenEvent]) -> list[dict[str, Any]]:
    return [sent(frame) for _, frame in told(dialect, seen)]


class Listener:
    """A client that adds tokens, and begins anew where a speech does."""

    def __init__(self) -> None:
        self.words: dict[str, str] = {}
        self.ended: list[tuple[str, str]] = []

    def hear(self, told: dict[str, Any]) -> None:
        who = told.get("agent") or told.get("speaker") or ""
        match told["type"]:
            case "agent_start" | "turn.started":
                self.words[who] = ""
            case "token":
                self.words[who] += told["content"]
            case "agent_end":
                self.ended.append((who, told["fullMessage"]))
                assert self.words[who] == told["fullMessage"]
            case "turn.completed":
                self.ended.append((who, told["fullContent"]))
                assert "status" in told or self.words[who] == told["fullContent"]
            case _:
                pass


def check_words(seen: Sequence[SeenEvent]) -> None:
    """At any moment the words that were added up are those of the log."""
    quick, bouts = Listener(), Listener()
    for one in seen:
        for dialect, listener in ((QUICK, quick), (BOUTS, bouts)):
            for frame in dialect.frames(one):
                listener.hear(sent(frame))
        for turn in one.after.live if not end_seq(one.after) else ():
            assert quick.words[one.after.seat(turn.seat).name] == turn.text
            assert bouts.words[seat_letter(one.after, turn.seat)] == turn.text
    heard = [text for _, text in bouts.ended if text]
    assert [text for _, text in quick.ended if text] == heard


def check_shapes(seen: Sequence[SeenEvent]) -> None:
    over = end_seq(seen[-1].after)
    for dialect, members in ((QUICK, QUICK_MEMBERS), (BOUTS, BOUT_MEMBERS)):
        frames = [frame for _, frame in told(dialect, seen)]
        for frame in frames:
            data = sent(frame)
            assert frame.event == ""
            assert data.keys() >= {*members[data["type"]], "seq"}
            assert as_lines(frame, "").startswith(b'data: {"type":')
            assert as_lines(frame, "").count(b"\n") == 2
        ends = [data for data in map(sent, frames) if data["type"] in ("debate_complete", "debate.completed")]
        assert len(ends) <= 1
        if over:
            assert sent(frames[-1])["type"] in ("debate_complete", "debate.completed", "error")
            assert sent(frames[-1])["seq"] == over
    quick = tales(QUICK, seen)
    assert {data["code"] for data in quick if data["type"] == "error"} <= CODES
    rounds = [data["round"] for data in quick if data["type"] == "round_complete"]
    assert rounds == list(range(1, len(rounds) + 1))


def check_resuming(seen: Sequence[SeenEvent]) -> None:
    """What came before any event, and what comes from where it says one was, make the whole."""
    for dialect in (QUICK, BOUTS):
        told_in_all = tales(dialect, seen)
        for place, data in enumerate(told_in_all, 1):
            if place % 5 and "part" not in data:
                continue
            cursor = parse_cursor(f"{data['seq']}.{data['part']}" if "part" in data else str(data["seq"]))
            rest = tales(dialect, seen[cursor.complete_seq :])
            assert told_in_all[:place] + rest[cursor.part :] == told_in_all


def check_agreement(records: Sequence[Recorded]) -> None:
    """All dialects tell the same words, the same costs and the same winner."""
    seen = watch(records)
    debate = end_of(seen)
    counting = [turn for turn in turns_by_slot(debate) if turn.has_words]
    words = [turn.text for turn in counting]
    costs, result = float(debate.cost_so_far), debate.verdict
    page = json.loads(to_json(transcript(debate)))
    speeches = {one["turn"]: one["content"] for part in page["rounds"] for one in part["responses"]}
    assert [speeches[turn.number] for turn in counting] == words
    native = [sent(frame)["event"] for _, frame in told(NativeFrames(), watch(records, OWNER))[: debate.seq]]
    assert [fold_words(native, turn) for turn in counting if not turn.segments] == [
        turn.text for turn in counting if not turn.segments
    ]
    check_turns([turn for turn in counting if turn.state == "completed"], seen)
    shape = debate_reply(debate, OBSERVER)
    assert [one["content"] for one in shape["turns"] if one["content"]] == words
    assert [one["content"] for one in shape["transcript"]] == words
    assert shape["totalCost"] is None or shape["totalCost"] == costs
    if not debate.ended_seq or debate.failed_seq:
        return
    (v1,) = named(told(PLAIN, seen), "complete")
    quick, ended = tales(QUICK, seen)[-1], tales(BOUTS, seen)[-1]
    assert [one["content"] for one in quick["transcript"]] == words
    assert {v1["finalCost"], ended["totalCost"] or 0.0, quick["totalCost"] or 0.0} == {costs}
    if debate.status == "aborted" or result is None:
        assert (ended["winner"], quick["winner"], v1["verdict"]) == (None, None, None)
        return
    if result.winner is None:
        assert (ended["winner"], quick["winner"], v1["verdict"]["winner"]) == ("draw", "draw", "tie")
        return
    assert v1["verdict"]["winner"] == page["verdict"]["winner"] == result.winner
    assert (ended["winner"], shape["winner"]) == (seat_letter(debate, result.winner),) * 2
    assert debate.seat(result.winner).name in quick["winner"]


def check_turns(turns: Sequence[Turn], seen: Sequence[SeenEvent]) -> None:
    """Each for itself, as those are told who ask for one turn at a time."""
    for turn in turns:
        (whole,) = named(told(TurnFrames(turn.number, turn.since), seen), "complete")
        assert whole["content"] == turn.text
        assert turn.cost is None or whole["cost"]["total"] == float(turn.cost)
        assert whole["tokenUsage"]["total_tokens"] == turn.usage.total


def end_of(seen: Sequence[SeenEvent]) -> Debate:
    """As it stood when it was over: what came later is told nowhere but in the log."""
    over = end_seq(seen[-1].after)
    return seen[over - 1].after if over else seen[-1].after


def fold_words(native: Sequence[dict[str, Any]], turn: Turn) -> str:
    """The words of a turn as somebody adds them up who reads nothing but the log."""
    call, words = None, ""
    for shape in native:
        if shape["type"] == "call.started" and shape.get("turn") == turn.number:
            call, words = shape["call"], ""
        elif shape["type"] == "call.delta" and shape["call"] == call and shape["kind"] == "text":
            words += shape["text"]
    return words


def check(records: Sequence[Recorded]) -> None:
    seen = watch(records)
    check_words(seen)
    check_shapes(seen)
    check_agreement(records)


@for_each("name", NAMES)
def test_a_golden_log_is_told_alike_at_every_door(name: str) -> None:
    check(log_of(name))
    check_resuming(watch(log_of(name)))


@law(examples=20)
def test_any_debate_is_told_alike_at_every_door_and_no_secret_comes_through(simulation: Simulation) -> None:
    records = simulation.records
    check(records)
    seats = watch(records)[-1].after.seats
    for viewer in (OBSERVER, Viewer("participant", seats[0].id), Viewer("judge")):
        seen = watch(records, viewer)
        said = [sent(frame) for door in (QUICK, ArenaFrames(viewer)) for _, frame in told(door, seen)]
        shown = json.dumps([*said, debate_reply(seen[-1].after, viewer)], ensure_ascii=False)
        for seat in seats:
            for secret in filter(None, (seat.objective, seat.system_prompt)):
                assert viewer.seat == seat.id or secret not in shown
        assert "thought<" not in json.dumps(said)
        assert viewer == OBSERVER or "thought<" not in shown


@for_each("name", NAMES)
def test_a_golden_log_is_told_as_it_always_was(name: str) -> None:
    for extension in OLDER_APIS:
        for ending, text in snapshots(extension, watch(log_of(name))).items():
            assert text == path_of(extension, name, ending).read_text(encoding="utf-8")


def test_the_doors_have_names_of_their_own() -> None:
    assert {QUICK.name, BOUTS.name, PLAIN.name} == {"quick", "bouts", "v1"}


def test_thoughts_and_aims_stand_at_the_address_for_those_who_may_read_them() -> None:
    log = held(setup=DebateSetup(show_reasoning=False))
    aimed = replace(
        log.debate, seats=(replace(log.debate.seats[0], objective="To win."), *log.debate.seats[1:])
    )
    assert "Lead with safety" in str(debate_reply(aimed, OWNER)["turns"])
    assert debate_reply(aimed, OWNER)["debaterA"]["objective"] == "To win."
    assert "Lead with safety" not in str(debate_reply(aimed, OBSERVER))
    assert "To win." not in str(debate_reply(aimed, OBSERVER))


def test_a_table_of_any_size_has_letters() -> None:
    debate = held().debate
    more = tuple(replace(debate.seats[0], id=f"guest_{n}") for n in range(4))
    crowded = debate_reply(replace(debate, seats=(*debate.seats, *more)), OWNER)
    assert crowded.keys() >= {"debaterA", "debaterB", "debaterE", "debaterF"}


@pytest.mark.parametrize("name", ["lincoln-douglas-blind", "simultaneous"])
def test_who_speaks_at_the_same_time_hears_the_others_afterwards(name: str) -> None:
    records = log_of(name)
    debate = end_of(watch(records))
    for seat in debate.seats:
        viewer, listener = Viewer("participant", seat.id), Listener()
        whole: dict[int, str] = {}
        for data in tales(ArenaFrames(viewer), watch(records, viewer)):
            listener.hear(data)
            if data["type"] == "turn.completed":
                whole[data["turnNumber"]] = data["fullContent"]
        assert [whole[turn.slot + 1] for turn in turns_by_slot(debate)] == [
            turn.text for turn in turns_by_slot(debate)
        ]


def test_a_watcher_is_told_too_when_what_was_asked_before_is_not_theirs_to_read() -> None:
    setup = DebateSetup(winning="user-decides")
    opening = table("free", limits=DebateLimits(1, turns=2), setup=setup, judges=())

    def script(asked: Sent) -> Reply:
        return Reply(aside(asked, yes=False)) if asked.purpose.aside else Reply("I agree.")

    simulation = Simulation(opening, script).start().run()
    hidden = simulation.records[-1]
    assert isinstance(hidden.event, AsideAnswered)
    for viewer in (OWNER, Viewer()):
        seen = seen_event(hidden, simulation.states[-2], simulation.states[-1], viewer)
        assert [sent(frame)["type"] for frame in ArenaFrames(viewer).frames(seen)] == ["decision.awaited"]
