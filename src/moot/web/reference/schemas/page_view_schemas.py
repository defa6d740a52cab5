"""A debate as the page sees it: the view, and the changes to it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from moot.api.v1.states import State
from moot.core.terms import Status
from moot.web.reference.schemas.base_schemas import Count, JudgeId, Moment, Nth, Reply, SeatId


class Trouble(Reply):
    """What keeps the debate from going on."""

    reason: str
    title: str
    text: str
    message: str
    seat: SeatId | None


class Now(Reply):
    """How it stands."""

    status: Status
    state: State
    phase: str
    """What is going on, in a few words."""
    round: Count
    rounds: Count
    speaking: list[str]
    """The speeches under way, by their keys in `turns`."""
    next: Count | None
    """The place in `about.order` of the speech that follows."""
    pausing: bool
    """It is paused, and a speech is still being given to its end."""
    paused_for: str
    step: Literal["turn", "round"] | None
    """It goes on for so much, and pauses by itself."""
    open: list[str]
    """What can be done right now, whoever may do it: `pause`, `say:part_1`, `vote:after`."""
    waiting: list[str]
    """Remarks that nobody has heard yet, by their keys in `remarks`."""
    skipped: list[Count]
    being_judged: bool
    ending: str
    trouble: Trouble | None
    quiet_seconds: Nth
    """Where no word has come for so long, the debate seems stuck; so it does after two failed tries."""
    started_at: Moment | None
    ended_at: Moment | None


class View(Reply):
    about: dict[str, Any]
    """What is settled before the first word: motion, format, seats, judges, the order of speeches."""
    now: Now
    money: dict[str, Any]
    """What it has cost, as text."""
    turns: dict[str, dict[str, Any]]
    """Every speech by its number."""
    remarks: dict[str, dict[str, Any]]
    points: dict[str, dict[str, Any]]
    polls: dict[str, Any]
    """The votes: how many; when nobody can be swayed any more, what."""
    place: dict[str, Any]
    """How things stand for the person of a seat; for others it is empty."""
    bench: dict[str, dict[str, Any]]
    """The judges at work, by judging, judge and order."""
    verdicts: dict[str, dict[str, Any]]
    mishaps: dict[str, list[dict[str, Any]]]
    """What went wrong, by participant; told when the speeches are over."""


class Rights(Reply):
    """What one may do here, whenever the debate is ready for it."""

    open: bool
    """Open debates, this one again among them."""
    inspect: bool
    """See what models were sent."""
    invite: bool
    steer: bool
    vote: bool
    ask: bool
    seats: list[SeatId]
    judges: list[JudgeId]


class Me(Reply):
    name: str
    role: str
    conducts: bool
    seat: SeatId | None
    judge: JudgeId | None
    many: bool
    """A link for a whole hall: join with it first."""
    may: Rights


class ViewResponse(Reply):
    seq: Nth
    """The last event that is in it; changes follow behind this."""
    view: View
    me: Me


class ViewFrame(Reply):
    seq: Nth
    at: Moment
    ops: list[
        Annotated[
            list[Any], Field(min_length=3, max_length=3, examples=[["add", ["turns", "1", "text"], "So"]])
        ]
    ]
    """Changes in order: `["put", path, value]`, or `["add", path, text]` for what is added to a text."""


class FramesResponse(Reply):
    frames: list[ViewFrame]
    """Of an event that changes nothing there is none."""
    after: Count
    next: Count
    """What to ask for as `after` next."""
    has_more: bool
