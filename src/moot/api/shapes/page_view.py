"""A debate as the page shows it: the view at one point of the log, its changes, and what the viewer may do.

The server builds views and changes as dictionaries, which it compares member by member (`api/page_view`);
`View` and `ViewFrame` describe them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct

from moot.api.v1.states import StateName
from moot.core.json_types import SCHEMA_TEMPLATE, Count, JudgeId, Nth, SeatId, Timestamp, one_of
from moot.core.statuses import Status
from moot.core.terms import StepSize
from moot.extension import DebateReport, loaded

Members = dict[str, Any]


class Trouble(Struct, frozen=True, rename="camel", kw_only=True):
    """Why the debate cannot continue."""

    reason: str
    title: str
    text: str
    remedy: Annotated[str, Meta(description="What to do about it.")]
    provider: Annotated[str, Meta(description="The provider of the model that failed, if one did.")]
    message: str
    seat: SeatId | None


class ShownFact(Struct, frozen=True, rename="camel", kw_only=True):
    """A figure of an extension in words."""

    label: str
    text: str


class Now(Struct, frozen=True, rename="camel", kw_only=True):
    """The present state of the debate."""

    status: Annotated[str, one_of(Status)]
    state: StateName
    phase: Annotated[str, Meta(description="What is happening, in a few words.")]
    round: Count
    rounds: Count
    speaking: Annotated[
        tuple[str, ...], Meta(description="The speeches under way, by their keys in `turns`.")
    ]
    next: Annotated[Count | None, Meta(description="The index in `about.order` of the speech that follows.")]
    pausing: Annotated[bool, Meta(description="It is paused, and a speech is still being finished.")]
    paused_for: str
    step: Annotated[
        Annotated[str, one_of(StepSize)] | None,
        Meta(description="It is held for so much, and then pauses by itself."),
    ]
    open: Annotated[
        tuple[str, ...],
        Meta(description="What can be done now, by those who may: `pause`, `say:part_1`, `vote:after`."),
    ]
    waiting: Annotated[
        tuple[str, ...],
        Meta(description="Remarks that no participant has heard yet, by their keys in `remarks`."),
    ]
    skipped: tuple[Count, ...]
    being_judged: bool
    ending: str
    early_end: Annotated[
        str | UnsetType,
        Meta(description="Why the speeches ended before the end of the format, in a sentence."),
    ] = UNSET
    remedy: Annotated[str, Meta(description="What to do about a debate that ended without a verdict.")]
    trouble: Trouble | None
    quiet_seconds: Annotated[
        Nth,
        Meta(
            description="If no word arrives for so long, the debate seems stuck; also after two failed tries."
        ),
    ]
    started_at: Timestamp | None
    ended_at: Timestamp | None
    facts: Annotated[
        tuple[ShownFact, ...] | UnsetType, Meta(description="Figures of extensions, where they have any.")
    ] = UNSET


class _Sections(Struct, frozen=True, rename="camel", kw_only=True):
    """Those of the core but the last."""

    about: Annotated[
        Members,
        Meta(
            description="What is known before the first word: motion, format, seats, judges, the order of "
            "speeches."
        ),
    ]
    now: Now
    money: Annotated[Members, Meta(description="The costs so far, as text.")]
    turns: Annotated[dict[str, Members], Meta(description="Every speech by its number.")]
    remarks: dict[str, Members]
    points: dict[str, Members]
    polls: Annotated[
        Members, Meta(description="The number of votes, and the results once the last poll has closed.")
    ]
    place: Annotated[Members, Meta(description="The seat of the viewer; empty for those who have none.")]
    bench: Annotated[dict[str, Members], Meta(description="The judges at work, by judging, judge and order.")]
    verdicts: dict[str, Members]


def _member(name: str, report: DebateReport) -> tuple[str, Any]:
    return name, Annotated[Members, Meta(description=report.page_description or report.title)]


# A type checker sees no sections of extensions.
if TYPE_CHECKING:

    class _WithReports(_Sections, frozen=True, rename="camel", kw_only=True): ...
else:
    _WithReports = defstruct(
        "_WithReports",
        [_member(extension.name, report) for extension, report in loaded().of(lambda one: one.report)],
        bases=(_Sections,),
        module=__name__,
        frozen=True,
        rename="camel",
        kw_only=True,
    )


class View(_WithReports, frozen=True, rename="camel", kw_only=True):
    """The sections of the page."""

    mishaps: Annotated[
        dict[str, tuple[Members, ...]],
        Meta(description="What went wrong, by participant; shown when the speeches are over."),
    ]


class Rights(Struct, frozen=True, rename="camel", kw_only=True):
    """What the viewer may do, whenever the debate is ready for it."""

    open: Annotated[bool, Meta(description="Open debates, also this one again.")]
    inspect: Annotated[bool, Meta(description="See the requests that models were sent.")]
    invite: bool
    steer: bool
    vote: bool
    ask: bool
    seats: tuple[SeatId, ...]
    judges: tuple[JudgeId, ...]


class ControlButton(Struct, frozen=True, rename="camel", kw_only=True):
    """A command that the viewer may give while `now.open` has its name."""

    name: str
    label: str
    key: str
    place: str
    right: str
    path: Annotated[str, Meta(description="Below the address of the debate; the body is sent there.")]
    body: Members
    kind: str


class Me(Struct, frozen=True, rename="camel", kw_only=True):
    """The viewer."""

    name: str
    role: str
    conducts: bool
    seat: SeatId | None
    judge: JudgeId | None
    many: Annotated[bool, Meta(description="A shared link: join with it first.")]
    may: Rights
    buttons: tuple[ControlButton, ...]


class ViewResponse(Struct, frozen=True, rename="camel", kw_only=True):
    seq: Annotated[Nth, Meta(description="The last event in the view; its changes follow after this.")]
    view: Annotated[Members, Meta(extra_json_schema={"$ref": SCHEMA_TEMPLATE.format(name="View")})]
    me: Me


Change = Annotated[
    tuple[Any, ...],
    Meta(
        extra_json_schema={
            "prefixItems": [
                {"type": "string", "enum": ["put", "add"]},
                {"type": "array", "items": {"type": "string"}},
                {"description": "A value to put, or a text to append."},
            ],
            "minItems": 3,
            "maxItems": 3,
        },
        examples=[["add", ["turns", "1", "text"], "So"]],
    ),
]


class ViewFrame(Struct, frozen=True, rename="camel", kw_only=True):
    """What one event changed in the view."""

    seq: Nth
    at: Timestamp
    ops: Annotated[
        tuple[Change, ...],
        Meta(
            description='Changes in order: `["put", path, value]`, or `["add", path, text]` to append to a '
            "text."
        ),
    ]


class FramesResponse(Struct, frozen=True, rename="camel", kw_only=True):
    frames: Annotated[
        tuple[
            Annotated[Members, Meta(extra_json_schema={"$ref": SCHEMA_TEMPLATE.format(name="ViewFrame")})],
            ...,
        ],
        Meta(description="An event that changes nothing has none."),
    ]
    after: Count
    next: Annotated[Count, Meta(description="What to send as `after` next.")]
    has_more: bool
