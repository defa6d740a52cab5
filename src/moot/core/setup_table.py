"""The settings of a debate, each defined once: one attribute below, with all that is said of it.

From this table come the fields of the log (`terms.py`), the check (`rules/debate_setup.py`), the request and
the reply of v1, the client's `DebateConfig`, the terminal's options and help, the arguments of the tool by
which models hold debates, what all debates of a series can have, the form of the page, and the table in
docs/api.md. A new setting is one row in `OptionFields`, and the place where it takes effect.

The order is that of the form, of requests and of replies; `place` is another order, where it is needed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from moot.core.choices import Effort, OpeningSide, ReadingOrder, WinningRule
from moot.core.setup_field import (
    AtMost,
    Between,
    FormField,
    MoreThan,
    Option,
    Settings,
    SetupField,
    setup_field,
)
from moot.extension import Loaded, loaded

if TYPE_CHECKING:
    from moot.core.terms import Money, PollSettings

DEFAULT_WINNING_RULE: WinningRule = "ai-judge"
DEFAULT_READING: ReadingOrder = "chronological"
MAX_TOOLS = 16
"""The most tools that the seats of one debate may use."""


class ContractLimits(Settings, kw_only=False):
    """Limits that v1 calls otherwise."""

    rounds: int = setup_field(
        wire="maxRounds",
        request_limit=Between(1, 10),
        request_default=5,
        reply="always",
        option=Option(
            "--rounds N", "How many rounds. [default: 3 in oxford, else the format's own]", place=1
        ),
        form=FormField("Rounds", start=3),
        argument="As many as the format has, unless told.",
        series=False,
    )
    turns: int | None = setup_field(
        default=None,
        sentence="The most turns, in formats counted in turns (free).",
        wire="maxTurns",
        request=False,
        option=Option("--turns N", "How many speeches, in a free debate.", place=2),
        form=None,
        argument=None,
    )
    cost_limit: Money | None = setup_field(
        default=None,
        stored="cost",
        sentence="US dollars that are never exceeded; the judging is paid for out of them too.",
        limit=MoreThan(0),
        request_limit=MoreThan(0.10),
        option=Option(
            "--cost-limit USD", "Never spend more than this, the verdict included.", "Limits", type=str
        ),
        form=FormField("Cost limit (USD)", placeholder="No limit", step="any", start=1),
        argument="US dollars, never exceeded, the judging included; null: none.",
        series=False,
    )
    warn_at: Money | None = setup_field(
        default=None,
        sentence="US dollars; less than `costLimit`.",
        wire="warnAtCost",
        limit=MoreThan(0),
        option=Option("--warn-at USD", "Warn when the cost passes this.", "Limits", type=str),
        form=FormField("Warn at cost (USD)", placeholder="No warning", step="any"),
        argument=None,
        series=False,
    )
    turn_seconds: float = setup_field(
        default=120.0,
        sentence="Seconds that a speech may take. What was said by then stands.",
        wire="timeoutPerRound",
        limit=MoreThan(0),
        request_limit=Between(30, 300),
        reply="always",
        option=Option("--timeout SECONDS", "How long a speech may take. [default: 120]", "Limits"),
        form=FormField("Time per speech (seconds)", step="10"),
        argument=None,
    )


class LimitFields(Settings):
    person_seconds: float = setup_field(
        default=300.0,
        sentence="How long a person has for a speech, and a judge of flesh and blood for a ballot.",
        limit=MoreThan(0, most=3600),
        request_limit=Between(10, 3600),
        reply="always",
        option=Option(
            "--person-seconds SECONDS", "How long a person has for a speech. [default: 300]", "Limits"
        ),
        form=FormField("Time for a person (seconds)", step="10"),
        argument=None,
        series=False,
    )


class SpeakerFields(Settings):
    """What becomes a setting of each speaker's model."""

    effort: Effort | None = setup_field(
        default=None,
        sentence="How hard the participants think, as far as their models let themselves be told.",
        option=None,
        form=FormField("Reasoning effort", choices=(("", "Model default"),)),
        argument=None,
        series=False,
    )


class ContractOptions(Settings):
    """How the debate is conducted, where v1 calls it otherwise."""

    auto: bool = setup_field(
        default=True,
        sentence="Without it each round waits for `POST …/rounds`.",
        wire="autoProgress",
        reply="always",
        option=Option(
            "--manual",
            "Each round waits for a command: `moot next-round`, `moot judge`.",
            place=5,
            setup=False,
        ),
        form=FormField(
            "Start each round by hand",
            "Every round waits for you.",
            negated=True,
            brief="rounds started by hand",
            place=9,
        ),
        argument=None,
        series=False,
    )
    winning: WinningRule = setup_field(
        default=DEFAULT_WINNING_RULE,
        sentence="`self-terminate`: the debate also ends when one side gives way or both go in circles. "
        "`audience`: its\nvotes decide.",
        wire="winningCondition",
        reply="always",
        option=Option(
            "--winning HOW",
            "What decides: ai-judge, self-terminate (one side gives way), user-decides or audience. "
            "[default: ai-judge]",
            place=14,
            setup=False,
        ),
        form=FormField(
            "Decided by",
            choices=(
                ("ai-judge", "Judges"),
                ("self-terminate", "Judges, or a side that concedes"),
                ("audience", "Audience votes"),
                ("user-decides", "You"),
            ),
        ),
        argument=None,
        series=False,
    )


class OptionFields(Settings):
    """How the debate is conducted: in the log, told to every viewer."""

    auto_judge: bool = setup_field(
        default=True,
        sentence="Judge by itself after the last round.",
        reply="always",
        option=None,
        form=FormField(
            "Start the judging by hand",
            "After the last round the judges wait for you.",
            negated=True,
            place=10,
        ),
        argument=None,
        series=False,
    )
    intensity: int = setup_field(
        default=3,
        sentence="From courteous (1) to fierce (5).",
        limit=Between(1, 5),
        reply="always",
        option=Option(
            "--intensity 1-5", "From a gentle exchange (1) to a fierce one (5). [default: 3]", place=3
        ),
        form=FormField(
            "Intensity",
            choices=(
                ("1", "courteous"), ("2", "friendly"), ("3", "spirited"), ("4", "sharp"), ("5", "fierce"),
            ),
        ),
        argument="From courteous to fierce.",
    )  # fmt: skip
    show_reasoning: bool = setup_field(
        default=True,
        sentence="Whether viewers see what models think aloud.",
        reply="always",
        option=None,
        form=FormField(
            "Show reasoning",
            "The audience sees what models think. Opponents and judges never do.",
            brief="reasoning hidden",
            place=1,
        ),
        argument=None,
        series=False,
    )
    objective: str = setup_field(
        default="",
        sentence="What the debate is to settle: told to everybody.",
        limit=AtMost(2000),
        option=Option("--objective TEXT", "What the debate is to settle; all are told.", place=6),
        form=FormField(
            "Objective of the debate", placeholder="Optional. All speakers and judges are told it."
        ),
        argument="What the debate is to settle; all are told.",
    )
    prep: bool = setup_field(
        default=False,
        sentence="Speakers make private notes before their speeches, where the format gives them time.",
        reply="always",
        option=Option("--prep", "Speakers make private notes first, where the format allows.", place=7),
        form=FormField(
            "Preparation",
            "Each speaker writes private notes before a speech.",
            needs="prepWords",
            brief="preparation",
            place=5,
        ),
        argument=None,
    )
    blind: bool = setup_field(
        default=False,
        sentence="Openings are given at the same time, so that nobody answers or copies.",
        reply="always",
        option=Option("--blind", "Openings are simultaneous; neither side hears the other.", place=8),
        form=FormField(
            "Blind openings",
            "Opening speeches are written at the same time, so that none answers another.",
            brief="blind openings",
            place=4,
        ),
        argument=None,
    )
    opens: OpeningSide | None = setup_field(
        default=None,
        sentence="The side that speaks first, where the format leaves that to a toss (`eitherFirst`).",
        option=Option(
            "--opens SIDE", "Who speaks first, for or against, where a toss decides: public-forum.", place=9
        ),
        form=FormField(
            "Who opens",
            choices=(("", "As in the format"), ("for", "The side for"), ("against", "The side against")),
            needs="eitherFirst",
        ),
        argument=None,
        series=False,
    )
    polls: PollSettings | None = setup_field(
        default=None,
        sentence="The audience votes.",
        option=Option(
            "--audience SECONDS",
            "An audience votes before and after, for this long: `moot vote last for`.",
            place=13,
            setup=False,
            type=float,
        ),
        form=FormField("Audience votes", "Everyone who watches can vote.", brief="audience votes", place=2),
        argument=None,
        series=False,
    )
    reading: ReadingOrder = setup_field(
        default=DEFAULT_READING,
        sentence="In which order judges read the speeches: `chronological`, or `by-side`, each side's "
        "speeches together and numbered by time. By side, the second of a judge's two readings swaps which "
        "side comes first.",
        option=Option(
            "--reading HOW",
            "How judges read the speeches: chronological, or by-side, which swaps who is read first. "
            "[default: chronological]",
            place=12,
        ),
        form=FormField(
            "Judges read the speeches",
            choices=(("chronological", "By time"), ("by-side", "By side, swapped in the second reading")),
            brief="judges read by side",
            place=8,
        ),
        argument="How judges read the speeches: by time, or each side's together; by-side swaps which side "
        "is read first in the second reading.",
    )
    tools: tuple[str, ...] = setup_field(
        default=(),
        sentence="What the participants may use: a server of `GET /tools`, one tool of it (`server/tool`), "
        "or what their\nproviders have themselves (`web_search`, `code`).",
        limit=AtMost(MAX_TOOLS, "tools"),
        option=Option(
            "--tool NAME",
            "What the speakers may use: a server, server/tool, web_search or code: `moot tools`.",
            place=15,
        ),
        form=FormField("Tools for speakers"),
        argument="What the speakers may use, of the tools this server has.",
    )


class SetupFields(Settings):
    """What shapes the setup and is not kept as such."""

    recuse: bool = setup_field(
        default=True,
        sentence="A judge that is a debater's own model, or of its family, is not asked if there is another.",
        reply="no",
        option=None,
        form=FormField(
            "Exclude judges from a debater’s model family", "Only if another judge is left.", place=11
        ),
        argument=None,
    )


class LocalFields(Settings):
    """What the API does not take."""

    seed: int | None = setup_field(
        default=None,
        sentence="The same seed and local model give the same debate.",
        request=False,
        option=Option("--seed N", "The same seed and local model give the same debate.", place=4),
        form=None,
        argument=None,
        series=False,
    )


PARTS = (
    ContractLimits, LimitFields, SpeakerFields, ContractOptions, OptionFields, SetupFields, LocalFields,
)  # fmt: skip
_OURS = tuple(field for part in PARTS for field in part.fields())


def setup_fields() -> tuple[SetupField, ...]:
    """All settings: ours, and those of extensions at their places."""
    return _setup_fields(loaded())


@lru_cache(maxsize=2)
def _setup_fields(extensions: Loaded) -> tuple[SetupField, ...]:
    fields = list(_OURS)
    for added in _added_fields(extensions):
        names = [field.name for field in fields]
        fields.insert(names.index(added.after) + 1 if added.after in names else len(fields), added)
    return tuple(fields)


def added_fields() -> tuple[SetupField, ...]:
    """Those of extensions; their values are kept in `DebateSetup.extensions`, or beside ours where logs
    have them there (`SetupField.in_extensions`). Request, reply and options are made from the table when
    their modules are loaded."""
    return _added_fields(loaded())


@lru_cache(maxsize=2)
def _added_fields(extensions: Loaded) -> tuple[SetupField, ...]:
    added: list[SetupField] = []
    for extension, fields in extensions.of(lambda extension: extension.settings):
        taken = {name for field in (*_OURS, *added) for name in (field.name, field.wire)}
        if twice := next((field.name for field in fields if {field.name, field.wire} & taken), ""):
            error = ValueError(f"there is a setting {twice!r} already")
            extensions.leave_out(extension.name, "settings", error)
            continue
        added += fields
    return tuple(added)
