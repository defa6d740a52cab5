"""When debaters and a judge are asked how likely they think it is to win (`DebateOptions.beliefs`), and when
the personas of the model audience vote (`DebateOptions.model_audience`).

Each debater is asked before and after each of its speeches, the first judge that is a model before the first
speech and after every speech. Not within a cross-examination, nor in the middle of a speech that is split by
points of information. People are not asked. In a debate on a question with given answers only judges are
asked, all of them, which answer is right: before the first speech and after each round. The personas vote
before the first speech and after the last; that judge's model answers for them, else the model of the first
debater that is one. A question whose answer was lost because the process stopped is asked again; any other
failure is final: then there is no answer.
"""

from __future__ import annotations

from moot.core.state import Aside, Debate, Turn
from moot.core.terms import EXCHANGE_TONES, Judge, Model, PollName, Slot
from moot.judging.parties import SIDES, parties, party_of
from moot.prompts.personas import personas
from moot.rules.side_questions import SideQuestion, continuation, latest_turns

MAX_LOST = 3
"""After so many lost answers the question is not asked again."""


def beliefs_before(debate: Debate, coming: tuple[Slot, ...]) -> tuple[SideQuestion, ...]:
    """What the speakers of these slots, and before the first speech the judge, are asked."""
    if not _are_asked(debate):
        return ()
    if debate.manner.question is not None:
        return () if debate.has_speeches else _asked_judges(debate, 0, None)
    questions = [
        SideQuestion("confidence", slot.index, slot.seat)
        for slot in coming
        if slot.tone not in (*EXCHANGE_TONES, "continuation") and _is_asked(debate, slot.seat)
    ]
    judge = asked_judge(debate)
    if judge and not debate.has_speeches:
        questions.append(SideQuestion("belief", 0, judge=judge.id))
    return _unanswered(debate, questions)


def beliefs_after(debate: Debate) -> tuple[SideQuestion, ...]:
    """What the latest speakers, and the judge, are asked after their speeches."""
    if not _are_asked(debate):
        return ()
    spoken = [turn for turn in latest_turns(debate) if turn.has_words and _ends_speech(debate, turn)]
    if debate.manner.question is not None:
        last = next(reversed(spoken), None)
        return _asked_judges(debate, last.slot, last.number) if last and _ends_round(debate, last) else ()
    questions = [
        SideQuestion("confidence", turn.slot, turn.seat, turn=turn.number)
        for turn in spoken
        if _is_asked(debate, turn.seat)
    ]
    judge = asked_judge(debate)
    if judge and spoken:
        questions.append(SideQuestion("belief", spoken[-1].slot, judge=judge.id, turn=spoken[-1].number))
    return _unanswered(debate, questions)


def _asked_judges(debate: Debate, slot: int, turn: int | None) -> tuple[SideQuestion, ...]:
    """Every judge that is a model, about the answers to a question."""
    judges = (judge for judge in debate.panel if not judge.model.human)
    return _unanswered(debate, [SideQuestion("belief", slot, judge=judge.id, turn=turn) for judge in judges])


def _ends_round(debate: Debate, turn: Turn) -> bool:
    return all(slot.round != turn.round for slot in debate.remaining_slots())


def asked_judge(debate: Debate) -> Judge | None:
    """The first judge that is a model."""
    return next((judge for judge in debate.panel if not judge.model.human), None)


def persona_votes(debate: Debate, poll: PollName) -> tuple[SideQuestion, ...]:
    """The votes of the model audience that are due before the first speech, or after the last."""
    if not debate.manner.model_audience or debate.is_session or audience_model(debate) is None:
        return ()
    last = next(reversed(latest_turns(debate)), None)
    if len(parties(debate)) != len(SIDES) or (poll == "before") == debate.has_speeches:
        return ()
    slot, turn = (last.slot, last.number) if poll == "after" and last else (0, None)
    votes = [SideQuestion("persona_vote", slot, turn=turn, persona=persona) for persona in personas()]
    return _unanswered(debate, votes)


def audience_model(debate: Debate) -> Model | None:
    """The model that speaks for the personas."""
    if judge := asked_judge(debate):
        return judge.model
    models = (seat.model for party in parties(debate) for seat in party.seats)
    return next((model for model in models if not model.human), None)


def aside_model(debate: Debate, aside: Aside) -> Model:
    """The model that answers: that of the seat, of the judge who is asked, or of the model audience."""
    if aside.persona and (model := audience_model(debate)):
        return model
    if aside.judge is not None:
        return debate.judge(aside.judge).model
    return debate.seat(aside.seat or "").model


def _are_asked(debate: Debate) -> bool:
    return debate.manner.beliefs and not debate.is_session


def _is_asked(debate: Debate, seat_id: str) -> bool:
    return not debate.seat(seat_id).model.human and party_of(debate, seat_id) is not None


def _ends_speech(debate: Debate, turn: Turn) -> bool:
    slot = debate.schedule[turn.slot]
    return slot.tone not in EXCHANGE_TONES and continuation(debate, slot) is None


def _unanswered(debate: Debate, questions: list[SideQuestion]) -> tuple[SideQuestion, ...]:
    """Those that were not asked yet, or whose answer was lost."""
    return tuple(question for question in questions if _is_due(debate, question))


def _is_due(debate: Debate, question: SideQuestion) -> bool:
    key = _key(question)
    earlier = [aside for aside in debate.asides if _key(aside) == key]
    return all(aside.lost for aside in earlier) and len(earlier) < MAX_LOST


def _key(question: SideQuestion | Aside) -> tuple[object, ...]:
    who = question.seat, question.judge, question.persona
    return question.kind, question.slot, question.turn, *who
