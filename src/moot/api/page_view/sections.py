"""The view of a debate, section by section: plain values, with names and sentences in place of rules.

Each section names the fields of the state that it reads. While these are the same objects the section is not
computed again, so that a token costs the same in the hundredth speech as in the first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from statistics import fmean

from msgspec import Struct, to_builtins

from moot.api.page_view.actions import open_actions
from moot.api.page_view.speeches import Shape, turns
from moot.api.v1 import people_replies
from moot.api.v1.judge_frames import shown_reasoning
from moot.api.v1.replies import config_reply
from moot.api.v1.states import STATES
from moot.core.json_types import choose, to_members
from moot.core.state import Debate, Judging, Turn
from moot.core.statuses import FAILURES
from moot.core.terms import Judge, Slot
from moot.core.visibility import Viewer, may_read_reasoning, visible_state
from moot.extension import DebateReport, Loaded, loaded
from moot.judging.ballots import orders
from moot.judging.parties import parties
from moot.prompts.first_words import first_words_note, is_begun_by_moot
from moot.rules.turn_by_turn import following_slots
from moot.views import participants
from moot.views.costs import bill, costs, dollars
from moot.views.early_end import early_end
from moot.views.headlines import verdict_headline
from moot.views.outcome import ballot_problem, ending, party_name, remedy, warnings
from moot.views.report_blocks import DebateBlock, VoteCount
from moot.views.speech_issues import find_issues
from moot.views.transcript import speech_title
from moot.views.transcript_json import moment, votes
from moot.views.transcript_shapes import ReachedVerdict
from moot.views.verdict_views import VerdictView, verdict_views

QUIET_SECONDS = 20
"""After this time without a token the page shows that the debate waits. Deadlines end a call later."""


class ViewSection(Struct, frozen=True):
    make: Callable[[Debate, Viewer], Shape]
    reads: tuple[str, ...]
    """The fields of the state that it depends on; with none of them named, it depends on all."""

    def changed_fields(self, before: Debate, after: Debate) -> list[str]:
        return [field for field in self.reads if getattr(before, field) is not getattr(after, field)]

    def same(self, before: Debate, after: Debate) -> bool:
        """Whether the section is certainly the same in both states."""
        return before is after or bool(self.reads and not self.changed_fields(before, after))


def about(debate: Debate, viewer: Viewer) -> Shape:
    """The setup of the debate. It changes only when people take or leave a seat, or rounds are added."""
    return {
        "id": debate.id,
        "motion": debate.motion,
        "title": debate.title,
        "format": debate.format.name,
        "formatTitle": debate.format.title,
        "scripted": debate.format.scripted,
        "repeats": debate.format.repeat is not None,
        "result": debate.format.result,
        "createdAt": moment(debate.created_at),
        "config": to_members(config_reply(debate)),
        "seats": [
            {
                **to_members(participants.participant(seat)),
                "name": seat.shown,
                "seatName": seat.name,
                "place": seat.place,
                "persona": seat.persona,
                "objective": debate.seats[seat.place].objective,
                "role": debate.seats[seat.place].role,
                "begun": is_begun_by_moot(debate.seats[seat.place]),
            }
            for seat in participants.participants(debate).values()
        ],
        "parties": [
            {
                "id": party.id,
                "name": party_name(debate, party.id),
                "seats": [seat.id for seat in party.seats],
            }
            for party in parties(debate)
        ],
        "judges": [_judge(judge) for judge in debate.judges],
        "order": [
            {
                "slot": slot.index,
                "seat": slot.seat,
                "round": slot.round,
                "tone": slot.tone,
                "kind": debate.format.phases[slot.phase].kind,
                "key": debate.format.phases[slot.phase].key,
                "title": debate.format.phases[slot.phase].title,
                "words": slot.words or debate.format.phases[slot.phase].words,
                "group": slot.group,
                "to": slot.to,
            }
            for slot in debate.schedule
        ],
        "rounds": debate.rounds_planned,
        "warnings": list(warnings(debate)),
        "firstWordsNote": first_words_note(debate),
    }


def _judge(judge: Judge) -> Shape:
    return {**to_members(participants.judge_seat(judge)), "criteria": list(judge.criteria)}


def now(debate: Debate, viewer: Viewer) -> Shape:
    turn = debate.live[0] if debate.live else None
    return {
        "status": debate.status,
        "state": STATES[debate.status],
        "phase": _phase(debate, turn),
        "round": _round(debate, turn),
        "rounds": debate.rounds_planned,
        "speaking": [str(turn.number) for turn in debate.live],
        "next": next((slot.index for slot in _following(debate)), None),
        "pausing": debate.status == "paused" and bool(debate.live),
        "pausedFor": debate.paused_for,
        "step": debate.step,
        "open": open_actions(debate),
        "waiting": [str(remark.number) for remark in debate.unheard_remarks] if not debate.final else [],
        "skipped": list(debate.skipped),
        "beingJudged": debate.being_judged,
        "ending": ending(debate),
        **({"earlyEnd": early} if (early := early_end(debate)) else {}),
        "remedy": remedy(debate),
        "trouble": _trouble(debate),
        "quietSeconds": QUIET_SECONDS,
        "startedAt": moment(debate.started_at),
        "endedAt": moment(debate.ended_at),
        **_facts(debate, viewer),
    }


def _facts(debate: Debate, viewer: Viewer) -> Shape:
    """Figures of extensions; nothing where none has any."""
    facts = loaded().facts(debate, viewer)
    return {"facts": [{"label": fact.label, "text": fact.text} for fact in facts]} if facts else {}


def _phase(debate: Debate, turn: Turn | None) -> str:
    """The phase of the debate in a few words."""
    if debate.verdicts and debate.final:
        return verdict_headline(debate, debate.verdicts[0])
    if debate.failure:
        return "Failed"
    if debate.final:
        return "Ended without a verdict"
    if debate.status == "judging":
        return "Judging"
    if turn is not None:
        return speech_title(debate, turn)
    if any(poll.closed_at is None for poll in debate.polls):
        return "The audience votes"
    following = _following(debate)
    return debate.phase(following[0].index).title if following else "The speeches are over"


def _round(debate: Debate, turn: Turn | None) -> int:
    """The round of the phase that is shown: between two speeches, that of the next one."""
    reached = max(debate.round, 1 if debate.running else 0)
    if turn is not None or reached == 0 or debate.being_judged:
        return reached
    following = _following(debate)
    return max(reached, following[0].round) if following else reached


def _following(debate: Debate) -> tuple[Slot, ...]:
    """The speeches that are still to be given."""
    return () if debate.final or debate.in_circles else following_slots(debate)


def _trouble(debate: Debate) -> Shape | None:
    """Why the debate does not continue."""
    if debate.failure is None:
        return None
    turn = next((turn for turn in reversed(debate.turns) if turn.state == "failed"), None)
    return {
        "reason": debate.failure,
        "title": FAILURES[debate.failure].title,
        "text": _cause(debate, turn),
        "remedy": remedy(debate),
        "provider": debate.seat(turn.seat).model.provider if turn else "",
        "message": turn.message if turn else "",
        "seat": turn.seat if turn else None,
    }


def _cause(debate: Debate, turn: Turn | None) -> str:
    """The cause, said once: the title says already that a model cannot be used."""
    if debate.failure == "permanent_fault" and turn is not None and turn.message:
        return turn.message
    return ending(debate)


def money(debate: Debate, viewer: Viewer) -> Shape:
    figures, limit = costs(debate), debate.limits.cost_limit
    return {
        "spent": dollars(figures.total),
        "bill": bill(figures),
        "limit": dollars(limit) if limit is not None else None,
        "share": round(min(1.0, float(debate.counted / limit)), 4) if limit else None,
        "tokens": figures.usage.total,
        "models": [
            {
                "model": model,
                "cost": dollars(used.known_cost),
                "calls": used.calls,
                "input": used.usage.input,
                "output": used.usage.output,
                "reasoning": used.usage.reasoning,
            }
            for model, used in figures.models.items()
        ],
        "estimated": figures.estimated,
        "unpriced": list(figures.unpriced),
        "warned": debate.warned,
        "exhausted": debate.exhausted,
    }


# --- people -------------------------------------------------------------------------------------------


def remarks(debate: Debate, viewer: Viewer) -> Shape:
    return {
        str(remark.number): {
            "number": remark.number,
            "seq": remark.seq,
            "text": remark.text,
            "by": remark.by,
            "to": remark.to,
            "question": remark.question,
            "at": moment(remark.at),
        }
        for remark in debate.remarks
    }


def points(debate: Debate, viewer: Viewer) -> Shape:
    return {
        str(point.number): {
            "number": point.number,
            "seq": point.seq,
            "turn": point.turn,
            "seat": point.seat,
            "accepted": point.accepted,
            "text": point.text,
        }
        for point in debate.points
    }


def polls(debate: Debate, viewer: Viewer) -> Shape:
    """The number of votes; the votes themselves once the last poll has closed."""
    if not debate.setup.polls:
        return {}
    shape: Shape = {poll.poll: to_members(poll) for poll in people_replies.poll_replies(debate)}
    totals = people_replies.poll_totals(debate)
    hidden = totals.sealed or (viewer.role == "judge" and debate.being_judged)
    return {**shape, "choices": totals.choices, "result": None if hidden else to_members(totals)}


def place(debate: Debate, viewer: Viewer) -> Shape:
    """The state of the viewer's seat; empty for viewers without one."""
    if viewer.seat is None:
        return {}
    seat = people_replies.seat_reply(debate, viewer.seat, debate.updated_at)
    members = to_members(seat)
    return {name: value for name, value in members.items() if name not in ("secondsLeft", "debateId")}


# --- judging ------------------------------------------------------------------------------------------


def judges_at_work(debate: Debate, viewer: Viewer) -> Shape:
    """The judges at work, each with its readings; judges do not see it."""
    if viewer.role == "judge":
        return {}
    return {
        f"{judging.number}.{judge.id}.{order}": _judge_at_work(debate, judging, judge, order, viewer)
        for judging in debate.judgings
        for judge in judging.judges
        for order in orders(judge)
    }


def _judge_at_work(debate: Debate, judging: Judging, judge: Judge, order: int, viewer: Viewer) -> Shape:
    call = next(
        (c for c in debate.calls if c.judge == judge.id and c.order == order and c.aside is None), None
    )
    last = judging is debate.judging
    ballot = next((b for b in judging.ballots if b.judge == judge.id and b.order == order), None)
    state = "waiting"
    if ballot is not None:
        state = "cast"
    elif (judge.id, order) in judging.waived:
        state = "waived"
    elif (judge.id, order) in judging.spoiled:
        state = "spoiled"
    elif judging.closed:
        state = "missing"
    elif call is not None and last:
        state = "writing"
    writing = call if state == "writing" else None
    return {
        "judging": judging.number,
        "judge": judge.id,
        "name": judge.name,
        "model": participants.judge_seat(judge).who,
        "person": judge.model.human,
        "order": order,
        "state": state,
        "attempt": writing.attempt if writing else 0,
        "text": shown_reasoning(debate, writing) if writing else "",
        "reasoning": writing.reasoning if writing and may_read_reasoning(debate, viewer) else "",
        "winner": (ballot.winner or "tie") if ballot else None,
        "problem": next(
            (ballot_problem(one) for one in judging.causes if (one.judge, one.order) == (judge.id, order)), ""
        ),
    }


def verdicts(debate: Debate, viewer: Viewer) -> Shape:
    """The verdicts. Judges do not see the ballots: they may be asked again."""
    sealed: Shape = {"ballots": [], "leanings": [], "opinions": []} if viewer.role == "judge" else {}
    return {
        str(index): {
            **to_members(choose(ReachedVerdict, result)),
            "title": result.title,
            "coinFlip": result.coin_flip,
            "marginWords": result.margin_words,
            "sentence": result.sentence,
            "readings": result.readings,
            "leanings": [
                {"judge": one.judge, "margins": list(one.margins), "flipped": one.flipped}
                for one in result.leanings
            ],
            "average": _average(result),
            "opinions": [
                {
                    "judge": opinion.judge.id,
                    "name": opinion.judge.name,
                    "who": opinion.judge.who,
                    "decision": opinion.decision,
                    "flipped": opinion.flipped,
                    "spoiled": opinion.spoiled,
                    "problem": opinion.problem,
                }
                for opinion in result.opinions
            ],
            "weights": {name: result.weights.get(name, 1.0) for name in result.rubric or ()},
            **sealed,
        }
        for index, result in enumerate(verdict_views(debate))
    }


def _average(result: VerdictView) -> Shape | None:
    """The margins of the judges, and the largest to either side."""
    means = [fmean(one.margins) for one in result.leanings]
    if not means:
        return None
    low, high = (
        min(min(one.margins) for one in result.leanings),
        max(max(one.margins) for one in result.leanings),
    )
    return {"margin": round(fmean(means), 2), "low": low, "high": high}


def mishaps(debate: Debate, viewer: Viewer) -> Shape:
    """Issues in the speeches, by seat; only after the last speech."""
    if not (debate.final or debate.judgings):
        return {}
    issues = find_issues(debate)
    return {
        seat: [
            {"kind": kind, "text": issues.words(kind, numbers), "turns": list(numbers)}
            for kind, numbers in kinds.items()
        ]
        for seat, kinds in issues.by_seat.items()
    }


SECTIONS: dict[str, ViewSection] = {
    "about": ViewSection(about, ("seats", "schedule", "judges", "limits", "setup")),
    # Streamed text cannot change it, nor can time: no rule looks at the clock.
    "now": ViewSection(now, ("id", "unstreamed_seq")),
    "money": ViewSection(money, ("tallies", "counted", "warned", "exhausted")),
    "turns": ViewSection(turns, ("turns", "live", "status", "schedule", "paused_at", "seats")),
    "remarks": ViewSection(remarks, ("remarks",)),
    "points": ViewSection(points, ("points",)),
    "polls": ViewSection(polls, ("polls", "votes", "status", "judgings")),
    "place": ViewSection(place, ()),
    "bench": ViewSection(judges_at_work, ("judgings", "calls")),
    "verdicts": ViewSection(verdicts, ("verdicts", "judgings")),
    "mishaps": ViewSection(mishaps, ("turns", "judgings", "status")),
}
"""Our own; `sections()` has those of extensions too."""


def sections() -> dict[str, ViewSection]:
    return _all_sections(loaded())


@lru_cache(maxsize=4)
def _all_sections(extensions: Loaded) -> dict[str, ViewSection]:
    """Those of extensions stand before the last of ours."""
    *first, last = SECTIONS.items()
    brought = {
        extension.name: ViewSection(partial(_report, extension.name, report), report.reads)
        for extension, report in extensions.of(lambda extension: extension.report)
    }
    return dict(first) | brought | dict((last,))


def _report(name: str, report: DebateReport, debate: Debate, viewer: Viewer) -> Shape:
    """What an extension tells of the debate; empty where that is nothing."""
    try:
        if report.page is not None:
            return report.page(debate, viewer)
        found = tuple(report.sections(debate, viewer))
    except Exception as error:
        loaded().leave_out(name, "report", error)
        return {}
    sections = [{"title": one.title, "blocks": [*map(_block, one.blocks)]} for one in found]
    return {"title": report.title, "sections": sections} if sections else {}


def _block(block: DebateBlock) -> Shape:
    if not isinstance(block, VoteCount):
        return to_builtins(block)
    models = block.report.tally.voters == "models"
    return {"type": "votes", "result": to_members(votes(block.report)), "models": models}


def view(debate: Debate, viewer: Viewer) -> Shape:
    """The complete view of a debate for this viewer."""
    known = visible_state(debate, viewer)
    return {name: section.make(known, viewer) for name, section in sections().items()}
