"""When debaters and a judge are asked how likely they think it is to win (the setting `beliefs`), and when
the personas of the model audience vote (`model_audience`).

Each debater is asked before and after each of its speeches, the first judge that is a model before the first
speech and after every speech. Not within a cross-examination, nor in the middle of a speech that is split by
points of information. People are not asked. In a debate on a question with given answers only judges are
asked, all of them, which answer is right: before the first speech and after each round. The personas vote
before the first speech and after the last; that judge's model answers for them, else the model of the first
debater that is one.
"""

from __future__ import annotations

from collections.abc import Iterator

from moot.core.state import Aside, Debate, Turn
from moot.core.terms import EXCHANGE_TONES, Judge, Model, PollName, Slot
from moot.core.visibility import Viewer, may_read_reasoning
from moot.extension import SideQuestions
from moot.extensions.beliefs.personas import personas
from moot.extensions.beliefs.requests import read_reply_to, request_for
from moot.judging.parties import SIDES, parties, party_of
from moot.rules.side_questions import SideQuestion, continuation, latest_turns
from moot.views.participants import participants


def before(debate: Debate, coming: tuple[Slot, ...]) -> Iterator[SideQuestion]:
    """What the personas, the speakers of these slots, and before the first speech the judge, are asked."""
    yield from persona_votes(debate, "before")
    if not _are_asked(debate):
        return
    if debate.setup.question is not None:
        if not debate.has_speeches:
            yield from _asked_judges(debate, 0, None)
        return
    for slot in coming:
        if slot.tone not in (*EXCHANGE_TONES, "continuation") and _is_asked(debate, slot.seat):
            yield SideQuestion("confidence", slot.index, slot.seat)
    judge = asked_judge(debate)
    if judge and not debate.has_speeches:
        yield SideQuestion("belief", 0, judge=judge.id)


def after(debate: Debate) -> Iterator[SideQuestion]:
    """What the latest speakers, and the judge, are asked after their speeches."""
    if not _are_asked(debate):
        return
    spoken = [turn for turn in latest_turns(debate) if turn.has_words and _ends_speech(debate, turn)]
    if debate.setup.question is not None:
        last = next(reversed(spoken), None)
        if last and _ends_round(debate, last):
            yield from _asked_judges(debate, last.slot, last.number)
        return
    for turn in spoken:
        if _is_asked(debate, turn.seat):
            yield SideQuestion("confidence", turn.slot, turn.seat, turn=turn.number)
    judge = asked_judge(debate)
    if judge and spoken:
        yield SideQuestion("belief", spoken[-1].slot, judge=judge.id, turn=spoken[-1].number)


def at_end(debate: Debate) -> Iterator[SideQuestion]:
    """The personas vote once more."""
    return persona_votes(debate, "after")


def _asked_judges(debate: Debate, slot: int, turn: int | None) -> Iterator[SideQuestion]:
    """Every judge that is a model, about the answers to a question."""
    judges = (judge for judge in debate.panel if not judge.model.human)
    return (SideQuestion("belief", slot, judge=judge.id, turn=turn) for judge in judges)


def _ends_round(debate: Debate, turn: Turn) -> bool:
    return all(slot.round != turn.round for slot in debate.remaining_slots())


def asked_judge(debate: Debate) -> Judge | None:
    """The first judge that is a model."""
    return next((judge for judge in debate.panel if not judge.model.human), None)


def persona_votes(debate: Debate, poll: PollName) -> Iterator[SideQuestion]:
    """The votes of the model audience before the first speech, or after the last."""
    if not debate.setup.model_audience or debate.is_session or audience_model(debate) is None:
        return
    last = next(reversed(latest_turns(debate)), None)
    if len(parties(debate)) != len(SIDES) or (poll == "before") == debate.has_speeches:
        return
    slot, turn = (last.slot, last.number) if poll == "after" and last else (0, None)
    for persona in personas():
        yield SideQuestion("persona_vote", slot, turn=turn, persona=persona)


def audience_model(debate: Debate) -> Model | None:
    """The model that speaks for the personas."""
    if judge := asked_judge(debate):
        return judge.model
    models = (seat.model for party in parties(debate) for seat in party.seats)
    return next((model for model in models if not model.human), None)


def _model(debate: Debate, aside: Aside) -> Model | None:
    return audience_model(debate) if aside.persona else None


def _are_asked(debate: Debate) -> bool:
    return debate.setup.beliefs and not debate.is_session


def _is_asked(debate: Debate, seat_id: str) -> bool:
    return not debate.seat(seat_id).model.human and party_of(debate, seat_id) is not None


def _ends_speech(debate: Debate, turn: Turn) -> bool:
    slot = debate.schedule[turn.slot]
    return slot.tone not in EXCHANGE_TONES and continuation(debate, slot) is None


def _visible(debate: Debate, _aside: Aside, viewer: Viewer) -> bool:
    return may_read_reasoning(debate, viewer)


def _doing(debate: Debate, aside: Aside) -> str:
    match aside.kind:
        case "belief":
            return "a judge is asked who is likely to win"
        case "persona_vote":
            return "the model audience votes"
        case _:
            who = participants(debate)[aside.seat or ""].shown
            return f"{who} is asked privately how likely it is to win"


QUESTIONS = SideQuestions(
    kinds=("confidence", "belief", "persona_vote"),
    request=request_for,
    read=read_reply_to,
    before=before,
    after=after,
    at_end=at_end,
    model=_model,
    visible=_visible,
    doing=_doing,
    words=6,
)
