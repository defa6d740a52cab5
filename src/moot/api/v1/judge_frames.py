"""Frames of v1 for the judges: the reasoning of a ballot while it is written, and the verdict.

A judge replies in JSON about speakers under neutral labels. Only its reasoning is sent, with names in place
of the labels. Several ballots are written at the same time, and a client that knows only the nine events
would read them as one text: so the plain stream has the ballot of one judge, the extended stream all. Such a
client also adds up what it is sent: where the judge is asked again after it has written something, the plain
stream has no more of its reasoning, which the verdict has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from moot.api.frames import Frame, SeenEvent
from moot.api.v1.speech_frames import v1_frame
from moot.core.events import BallotCast, BallotSpoiled, CallDelta, SegmentCompleted, VerdictReached
from moot.core.json_types import to_members
from moot.core.state import Call, Debate
from moot.core.terms import Text
from moot.judging.ballots import reasoning_so_far
from moot.judging.neutral_labels import with_names
from moot.views.verdict_views import ballot_view, first_verdict

_UNSURE = re.compile(r"(?:\b(?:Speaker|Team) )?[\w-]*\Z")
"""The end of the text, which may still become a label."""
MAX_UNSURE = 80


def is_leading(debate: Debate, call: Call) -> bool:
    """Whether the reasoning of this call becomes that of the verdict, unless the ballot is spoiled."""
    judging = debate.judging
    models = [judge.id for judge in judging.judges if not judge.model.human] if judging else []
    return call.order == 0 and call.judge == next(iter(models), None)


def _is_shown(debate: Debate, call: Call, *, every: bool) -> bool:
    """Whether the call writes a ballot that is sent while it is written; side questions are not."""
    if call.judge is None or call.aside is not None:
        return False
    judging = debate.judging
    is_first = judging is None or (call.judge, call.order) not in judging.written
    return every or (is_leading(debate, call) and is_first)


def reasoning_delta(seen: SeenEvent, event: CallDelta, *, every: bool) -> Iterator[Frame]:
    call, was = seen.after.call(event.call), seen.before and seen.before.call(event.call)
    if call is None or was is None or not _is_shown(seen.after, call, every=every):
        return
    known, now = shown_reasoning(seen.after, was), shown_reasoning(seen.after, call)
    if len(now) > len(known) and now.startswith(known):
        yield _chunk(seen, call, now[len(known) :])


def reasoning_complete(seen: SeenEvent, event: SegmentCompleted, *, every: bool) -> Iterator[Frame]:
    """The rest of the reasoning when the reply is complete."""
    call = seen.after.call(event.call)
    if call is None or not _is_shown(seen.after, call, every=every):
        return
    known = shown_reasoning(seen.after, call)
    if event.taken_back and known and every:
        yield _chunk(seen, call, "", replace=True)
    if not isinstance(event.segment, Text):
        return
    reasoning = with_names(reasoning_so_far(event.segment.text), seen.after, call.order)
    if reasoning.startswith(known) and reasoning != known:
        yield _chunk(seen, call, reasoning[len(known) :])
    elif every and not known.startswith(reasoning):
        yield _chunk(seen, call, reasoning, replace=True)


def call_failed(seen: SeenEvent, number: int) -> Iterator[Frame]:
    """The reply does not count: the text that was sent is taken back."""
    call = seen.before and seen.before.call(number)
    if call and _is_shown(seen.after, call, every=True):
        yield _chunk(seen, call, "", replace=True)


def private_reasoning(seen: SeenEvent, event: CallDelta) -> Iterator[Frame]:
    call = seen.after.call(event.call)
    if call is None or not event.text or not _is_shown(seen.after, call, every=True):
        return
    who = {"judgeId": call.judge, "order": call.order, "attempt": call.attempt}
    yield v1_frame(seen, "reasoning", kind="reasoning", chunk=event.text, done=False, **who)


def judging_over(seen: SeenEvent) -> Iterator[Frame]:
    """The end of judging: before the verdict, or when judging ended without one."""
    before = seen.before
    if before is None or before.status != "judging":
        return
    judged = isinstance(seen.event, VerdictReached)
    if judged or (seen.after.status != "judging" and not before.verdicts):
        yield v1_frame(seen, "judge", chunk="", done=True)


def verdict_reached(seen: SeenEvent) -> Iterator[Frame]:
    if result := first_verdict(seen.after):
        yield v1_frame(seen, "verdict", **to_members(result))


def ballot_cast(seen: SeenEvent, event: BallotCast) -> Frame:
    ballot = ballot_view(seen.after, event.ballot)
    grounds = {"cites": ballot.cites, "rubric": ballot.rubric, "ranking": ballot.ranking}
    return v1_frame(
        seen,
        "ballot",
        judgeId=ballot.judge,
        judgeName=ballot.judge_name,
        order=ballot.order,
        winner=ballot.winner,
        scores=ballot.scores,
        reasoning=ballot.reasoning,
        criteria=ballot.criteria,
        inconsistent=event.ballot.inconsistent,
        **{name: ground for name, ground in grounds.items() if ground},
    )


def ballot_spoiled(seen: SeenEvent, event: BallotSpoiled) -> Frame:
    name = seen.after.judge(event.judge).name
    return v1_frame(
        seen, "ballot", judgeId=event.judge, judgeName=name, order=event.order, spoiled=event.message
    )


def shown_reasoning(debate: Debate, call: Call) -> str:
    """The reasoning so far, without an end that later text could change."""
    text = reasoning_so_far(call.text)
    unsure = _UNSURE.search(text, max(0, len(text) - MAX_UNSURE))
    return with_names(text[: unsure.start()] if unsure else text, debate, call.order)


def _chunk(seen: SeenEvent, call: Call, text: str, *, replace: bool = False) -> Frame:
    members: dict[str, Any] = {"chunk": text, "done": False}
    if replace:
        members["replace"] = True
    return v1_frame(seen, "judge", **members, judgeId=call.judge, order=call.order, attempt=call.attempt)
