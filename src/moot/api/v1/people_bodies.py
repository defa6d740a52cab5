"""Request bodies of people: invitations, drafts and speeches, ballots and votes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, get_args

from pydantic import Field, create_model

from moot.api.v1.bodies import LEFT_OUT, Body, Example, JudgeChoice, Nothing
from moot.api.v1.fields import (
    SEAT_ID,
    Dollars,
    JudgeId,
    Reason,
    Seat,
    SeatId,
    Winner,
    more_than,
)
from moot.api.v1.validation_messages import (
    FixedMessage,
    OptionalField,
    address_name,
    between,
    line,
    lines,
    matching,
    one_of,
)
from moot.core.errors import Invalid, Refused
from moot.core.state import Debate
from moot.core.terms import MAX_CRITERIA, MAX_JUDGES, Ballot, InvitationRole, PartyScore, PollName, TokenRole
from moot.judging.ballots import MAX_REASONING_CHARS, TIES
from moot.providers.redaction import redact
from moot.providers.saved_keys import MAX_KEY_LENGTH, NOT_A_KEY
from moot.rules.commands import MAX_EXTENSION_SECONDS, MAX_REMARK_CHARS
from moot.rules.participation import MAX_POINT_CHARS, MAX_SPEECH_CHARS

MAX_NAME_LENGTH = 60
MAX_TOKEN_NAME = 64
MAX_REMARKS = 20
MAX_CITES = 100
MAX_BALLOT_ENTRIES = 8
"""The most participants or teams that one ballot scores or ranks."""

GuestName = Annotated[str | None, OptionalField(str), address_name(MAX_NAME_LENGTH)]
SpeechText = Annotated[str, lines(1, MAX_SPEECH_CHARS)]
OptionalNumber = Annotated[float | None, OptionalField(float)]
_PART = "[A-Za-z0-9_.-]+"
INSTALL_SOURCE = (
    f"(?:hf:{_PART}/{_PART}(?:/{_PART})*/{_PART}[.]gguf"
    f"|ollama/[A-Za-z0-9][A-Za-z0-9_.:@/-]*|[A-Za-z0-9]{_PART})"
)
NOT_A_SOURCE = "Must be hf:owner/repo/file.gguf, ollama/NAME, or a name from the list of models to install"
NOT_AUDIENCE = tuple(role for role in get_args(InvitationRole) if role != "audience")


class Invite(Body):
    example: ClassVar[Example] = {"role": "audience", "many": True}
    role: Annotated[InvitationRole, FixedMessage(one_of(get_args(InvitationRole)))]
    seat: SeatId = LEFT_OUT
    """The participant in whose place they sit; for the role `participant`."""
    judge: JudgeId = LEFT_OUT
    """The judge whose ballot they cast; for the role `judge`."""
    name: GuestName = LEFT_OUT
    """By which the invitation is listed and withdrawn; one is made up where it is left out."""
    days: Annotated[OptionalNumber, between(0.01, 365)] = LEFT_OUT
    """How long it counts; as long as the debate where it is left out."""
    many: bool = False
    """For a whole audience: each of them joins with it, and gets an invitation of their own."""

    @classmethod
    def together(cls, shape: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        for role, member in (("participant", "seat"), ("judge", "judge")):
            if shape.get("role") == role and member not in shape:
                yield member, f"Needed for the role {role}"
            if (
                shape.get("role") in get_args(InvitationRole)
                and shape.get("role") != role
                and member in shape
            ):
                yield member, f"Only for the role {role}"
        if shape.get("many") is True and shape.get("role") in NOT_AUDIENCE:
            yield "many", "Only for the role audience"


class Join(Body):
    optional: ClassVar[bool] = True
    example: ClassVar[Example] = {"name": "Zoë"}
    name: GuestName = LEFT_OUT


class Draft(Body):
    example: ClassVar[Example] = {"text": "Rules that are clear cost less than", "live": True}
    text: Annotated[str, lines(0, MAX_SPEECH_CHARS)]
    """All that has been written so far."""
    live: bool = False
    """Show it as it is typed, for as long as nothing typed before is changed."""


class Say(Body):
    optional: ClassVar[bool] = True
    example: ClassVar[Example] = {"text": "Rules that are clear cost less than rules that are not."}
    text: Annotated[str | None, OptionalField(str), lines(1, MAX_SPEECH_CHARS)] = LEFT_OUT
    """The whole speech; the draft where it is left out."""


class Point(Body):
    example: ClassVar[Example] = {"text": "Who would pay for that?"}
    text: Annotated[str, lines(1, MAX_POINT_CHARS)]


class Answer(Body):
    example: ClassVar[Example] = {"accept": True}
    accept: bool


class Marks(Body):
    score: Annotated[float, between(0, 100)]
    strengths: Annotated[list[Annotated[str, lines(1, 500)]], Field(max_length=MAX_REMARKS)] = Field(
        default_factory=list[str]
    )
    weaknesses: Annotated[list[Annotated[str, lines(1, 500)]], Field(max_length=MAX_REMARKS)] = Field(
        default_factory=list[str]
    )


class CastBallot(Body):
    example: ClassVar[Example] = {"winner": "tie", "reasoning": "Neither answered the other.", "cites": [1]}
    judge: JudgeId = LEFT_OUT
    """Whose ballot it is; the one person on the panel where it is left out."""
    winner: Winner
    reasoning: Annotated[str, lines(1, MAX_REASONING_CHARS)]
    """The reason for the decision."""
    cites: Annotated[list[Annotated[int, between(1, 100_000)]], Field(max_length=MAX_CITES)] = Field(
        default_factory=list[int]
    )
    """The speeches, by the numbers of their turns, on which it rests."""
    scores: Annotated[dict[str, Marks], Field(max_length=MAX_BALLOT_ENTRIES)] = Field(
        default_factory=dict[str, Marks]
    )
    criteria: Annotated[dict[str, Annotated[str, lines(1, 2_000)]], Field(max_length=MAX_CRITERIA)] = Field(
        default_factory=dict[str, str]
    )
    ranking: Annotated[list[Seat], Field(max_length=MAX_BALLOT_ENTRIES)] = Field(default_factory=list[str])
    """Participants from best to worst, where the format ranks them."""


class Vote(Body):
    example: ClassVar[Example] = {"choice": "undecided"}
    choice: Annotated[
        str,
        matching(
            f"(?:for|against|undecided|{SEAT_ID})", 45, "Must be for, against, undecided or a participant id"
        ),
    ]
    """A side, or a participant where there are no two sides; or `undecided`."""
    poll: Annotated[PollName | None, OptionalField(PollName), FixedMessage(one_of(get_args(PollName)))] = (
        LEFT_OUT
    )
    """Without it, the one that is open."""


class Question(Body):
    example: ClassVar[Example] = {"text": "What about small companies?"}
    text: Annotated[str, lines(1, MAX_REMARK_CHARS)]
    to: SeatId = LEFT_OUT
    """Who is to answer it; everybody where it is left out."""


class Extend(Body):
    example: ClassVar[Example] = {"seconds": 60}
    seconds: Annotated[OptionalNumber, between(1, MAX_EXTENSION_SECONDS)] = LEFT_OUT
    """More time for the speech under way."""
    rounds: Annotated[int | None, OptionalField(int), between(1, 10)] = LEFT_OUT
    """So many rounds more."""

    @classmethod
    def together(cls, shape: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        if "seconds" not in shape and "rounds" not in shape:
            yield "seconds", "Give seconds or rounds"


class Rejudge(Body):
    optional: ClassVar[bool] = True
    example: ClassVar[Example] = {"reason": "A second opinion."}
    judges: Annotated[list[JudgeChoice], Field(max_length=MAX_JUDGES)] = Field(
        default_factory=list[JudgeChoice]
    )
    """Who judges it now; without any, the judges of the debate."""
    reason: Reason = ""
    cost_limit: Annotated[Dollars, more_than(0, "0")] = LEFT_OUT
    """US dollars that it may cost beyond what the debate has cost."""


class NewToken(Body):
    example: ClassVar[Example] = {"name": "zoe", "role": "viewer", "days": 30}
    name: Annotated[str, address_name(MAX_TOKEN_NAME)]
    """By which it is listed and revoked, such as that of its bearer."""
    role: Annotated[TokenRole, FixedMessage(one_of(get_args(TokenRole)))] = "owner"
    """`owner` and `moderator` steer, and see what is secret; a `viewer` watches."""
    owner: Annotated[str | None, OptionalField(str), line(0, MAX_TOKEN_NAME)] = LEFT_OUT
    """Whose debates it is for; those of its name where it is left out."""
    days: Annotated[Dollars, between(0.01, 36_500)] = LEFT_OUT
    """How long it counts; until it is revoked where it is left out."""


class NewInstall(Body):
    example: ClassVar[Example] = {
        "source": "hf:Qwen/Qwen2.5-1.5B-Instruct-GGUF/qwen2.5-1.5b-instruct-q4_k_m.gguf"
    }
    source: Annotated[str, matching(INSTALL_SOURCE, 400, NOT_A_SOURCE)]
    """`hf:owner/repo/file.gguf`, `ollama/NAME`, or a name of `GET /api/v1/installs`."""


class NewKey(Body):
    example: ClassVar[Example] = {"key": "the-key-that-the-service-has-shown"}
    key: Annotated[str, matching("[!-~]+", MAX_KEY_LENGTH, NOT_A_KEY)]
    """The key of the model service."""


@cache
def at_seat(body: type[Body]) -> type[Body]:
    """The body with the seat in it, as it is sent over a WebSocket."""
    name = "AtSeat" if body is Nothing else f"{body.__name__}At"
    shape = create_model(name, __base__=body, __module__=__name__, seat=(Seat, ...))
    shape.optional = False
    return shape


def ballot_of(body: CastBallot, debate: Debate, judge: str | None) -> Ballot:
    """Where no judge is named, it is that of the one person who judges."""
    return Ballot(
        judge=judge or _only_human_judge(debate),
        order=0,
        winner=None if body.winner in TIES else body.winner,
        scores={
            seat: PartyScore(
                marks.score,
                tuple(redact(text) for text in marks.strengths),
                tuple(redact(text) for text in marks.weaknesses),
            )
            for seat, marks in body.scores.items()
        },
        reasoning=redact(body.reasoning),
        criteria={name: redact(text) for name, text in body.criteria.items()},
        cites=tuple(body.cites),
        ranking=tuple(body.ranking),
    )


def _only_human_judge(debate: Debate) -> str:
    judging = debate.judging
    people = [judge.id for judge in (judging.judges if judging else debate.panel) if judge.model.human]
    if not people:
        raise Refused("No person sits among the judges.", debate.status)
    if len(people) > 1:
        raise Invalid("Whose ballot?", {"judge": ["Name the judge whose ballot it is"]})
    return people[0]
