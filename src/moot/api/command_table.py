"""Every command that people give in a debate, one row each.

The REST routes, the WebSocket, the page's buttons, the description of the API and the command line read this
table. A row names the right it needs, the body it takes, the command of `rules` that the body becomes, and
the reply. Whether a debate accepts the command as it stands is for `rules.commands.decide`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal

from msgspec import Struct

from moot.api.auth import Identity
from moot.api.problems import Problem
from moot.api.rights import Action, check, require_judge, require_questioner
from moot.api.shapes.command_replies import (
    ActionResponse,
    InjectResponse,
    PauseDebateResponse,
    ResumeDebateResponse,
    StopDebateResponse,
    SubmitRoundResponse,
    TriggerJudgeResponse,
)
from moot.api.v1 import bodies, command_replies, people_bodies
from moot.api.v1.people_bodies import ballot_of
from moot.core.state import Debate
from moot.extension import Loaded, loaded
from moot.providers.redaction import redact
from moot.rules import commands as rules
from moot.rules import participation
from moot.rules.commands import Command

CommandTag = Literal["Steering", "People", "Judging and voting"]


class CommandContext(Struct, frozen=True):
    """Who gives a command, and where."""

    identity: Identity
    seat: str = ""
    """The seat it is given at, for commands that have one."""
    debate: Debate | None = None
    """Loaded only for rows with `reads_debate`."""

    @property
    def loaded_debate(self) -> Debate:
        if self.debate is None:
            raise LookupError("the row of this command does not say that it reads the debate")
        return self.debate


class Button(Struct, frozen=True):
    """A button of the page's controls, shown while `decide` would accept its command."""

    name: str
    """The action in `now.open`. Some have a dialog of their own: see `web/static/parts/controls.js`."""
    command: Command
    label: str = ""
    """Without one, another part of the page has the button."""
    key: str = ""
    place: Literal["first", "bar", "more"] = "more"
    """Shown before the others; if there is room; in the menu."""
    body: Mapping[str, Any] = {}
    kind: Literal["", "bad"] = ""


class DebateCommand(Struct, frozen=True, kw_only=True):
    name: str
    """Also the operation id of the route."""
    path: str
    """Below `/debates/{debateId}/`."""
    method: Literal["POST", "PUT"] = "POST"
    action: Action
    """The right that it needs."""
    body: type[bodies.Body] = bodies.Nothing
    to_command: Callable[[Any, CommandContext], Command]
    """From a body that was checked."""
    prepared_by_arena: bool = False
    """The arena completes the command before it is recorded: `Arena.rejudge` chooses and prices judges."""
    reply: Callable[[Debate], Struct]
    reply_type: type[Struct] = ActionResponse
    status: int = 200
    takes_keys: bool = False
    """The debate may need a runner afterwards, so the client may send provider keys along."""
    needs_debate: bool = False
    precondition: Callable[[Identity, Debate], None] | None = None
    """Raises where this person may not give the command in the present state of the debate."""
    socket_name: str = ""
    """The `type` over a WebSocket; empty where it cannot be sent there."""
    own_socket_body: type[bodies.Body] | None = None
    """Where it differs from `body` in more than the seat."""
    buttons: tuple[Button, ...] = ()
    """What the page offers."""
    seat_button: tuple[str, Callable[[str], Command]] | None = None
    """The same for each seat."""
    label: str
    """The summary of the route: two or three words."""
    tag: CommandTag = "Steering"
    """The section of the description of the API."""
    description: str
    response_description: str

    @property
    def socket_body(self) -> type[bodies.Body]:
        """Over a WebSocket a body names the seat, which is in the path of the HTTP route."""
        return self.own_socket_body or (people_bodies.at_seat(self.body) if self.at_seat else self.body)

    @property
    def at_seat(self) -> bool:
        return "{seat}" in self.path

    @property
    def reads_debate(self) -> bool:
        return self.at_seat or self.needs_debate or self.precondition is not None

    def check_preconditions(self, context: CommandContext) -> None:
        """Raises Problem for an unknown seat, and what `precondition` raises."""
        debate = context.debate
        if debate is None:
            return
        if self.at_seat and all(seat.id != context.seat for seat in debate.seats):
            raise Problem("not-found", "There is no such seat")
        if self.precondition is not None:
            self.precondition(context.identity, debate)


def socket_command(name: str, data: dict[str, Any], identity: Identity, debate: Debate) -> Command:
    """The command that a WebSocket message becomes.

    Raises Problem where the sender lacks the right or the data are wrong, KeyError for an unknown name.
    """
    row = socket_commands()[name]
    check(identity, row.action)
    body = bodies.check_body(row.socket_body, data)
    seat = getattr(body, "seat", None) if row.at_seat else None
    check(identity, row.action, seat=seat)
    if row.precondition is not None:
        row.precondition(identity, debate)
    return row.to_command(body, CommandContext(identity, seat or "", debate))


def _cast_ballot(body: people_bodies.CastBallot, context: CommandContext) -> Command:
    judge = require_judge(context.identity, body.judge)
    return participation.SubmitBallot(ballot_of(body, context.loaded_debate, judge))


COMMANDS: tuple[DebateCommand, ...] = (
    DebateCommand(
        name="resume_debate",
        path="resume",
        action="steer",
        body=bodies.Resume,
        to_command=lambda body, _: rules.ResumeDebate(body.step),
        reply=command_replies.resumed_reply,
        reply_type=ResumeDebateResponse,
        takes_keys=True,
        socket_name="RESUME",
        buttons=(
            Button("resume", rules.ResumeDebate(), "Resume", "space", "first"),
            Button("step", rules.ResumeDebate("turn"), "Run 1 speech", ".", "bar", {"step": "turn"}),
            Button("step", rules.ResumeDebate("round"), "Run 1 round", ",", "bar", {"step": "round"}),
        ),
        label="Resume",
        description="Continues where the debate was paused. With `step` it runs for one speech or to the end "
        "of the round and pauses again. A debate that uses a client's own keys waits after a restart of the "
        "server: send the keys again with this request.",
        response_description="The debate continues.",
    ),
    DebateCommand(
        name="skip_speech",
        path="skip",
        action="steer",
        body=bodies.Skip,
        to_command=lambda body, context: rules.SkipTurn(
            by=context.identity.name, turn=body.turn, slot=body.slot
        ),
        reply=command_replies.action_reply("The speech is skipped."),
        socket_name="SKIP",
        buttons=(Button("skip", rules.SkipTurn(), "Skip turn", "s", "bar"),),
        label="Skip the speech",
        description="The speech under way ends here; its text so far is kept. Name it by its `turn`, so that "
        "a repeated request does not skip the next speech; `speech` names one by its place in the order, "
        "even before it has begun. Without either it is refused (409) while no one is speaking.",
        response_description="The speech is skipped.",
    ),
    DebateCommand(
        name="pause_debate",
        path="pause",
        action="steer",
        body=bodies.Pause,
        to_command=lambda body, context: rules.PauseDebate(now=body.now, by=context.identity.name),
        reply=command_replies.paused_reply,
        reply_type=PauseDebateResponse,
        socket_name="PAUSE",
        buttons=(
            Button("pause", rules.PauseDebate(), "Pause", "space", "first"),
            Button("cut", rules.PauseDebate(now=True), "Stop speech", "x", "bar", {"now": True}),
        ),
        label="Pause",
        description="The debate pauses at once. A speech under way is completed first unless `now` cuts it.",
        response_description="The debate is paused.",
    ),
    DebateCommand(
        name="start_round",
        path="rounds",
        action="steer",
        body=bodies.SubmitRound,
        to_command=lambda body, _: rules.NextRound() if body.action == "next_round" else rules.SkipToJudge(),
        reply=command_replies.round_reply,
        reply_type=SubmitRoundResponse,
        status=202,
        takes_keys=True,
        buttons=(Button("round", rules.NextRound(), "Next round", "r", "first", {"action": "next_round"}),),
        label="Next round",
        description="For debates with `autoProgress: false`: starts the next round, or goes to the judge.",
        response_description="The round or the judging is about to begin; its events come on the stream.",
    ),
    DebateCommand(
        name="retry_debate",
        path="retry",
        action="steer",
        to_command=lambda _body, _context: rules.Retry(),
        reply=command_replies.action_reply("The speech will be given again."),
        status=202,
        takes_keys=True,
        buttons=(Button("retry", rules.Retry(), "Retry turn", "y", "bar"),),
        label="Retry",
        description="After an error that stopped the debate: the speech that failed is given again.",
        response_description="The speech will be given again.",
    ),
    DebateCommand(
        name="inject_remark",
        path="inject",
        action="steer",
        body=bodies.Inject,
        to_command=lambda body, context: rules.AddRemark(
            redact(body.text), by=context.identity.name, to=body.to, question=body.question
        ),
        reply=command_replies.remark_reply,
        reply_type=InjectResponse,
        status=202,
        socket_name="INJECT_CONTEXT",
        own_socket_body=bodies.InjectContext,
        buttons=(Button("inject", rules.AddRemark("?"), "Say something", "i", "bar"),),
        label="Add a remark",
        description="Adds a remark that later speakers hear: all of them, or one. With `question` everyone "
        "hears it and it is to be answered. It is refused (409) where no speech begins any more that would "
        "hear it: during the last one, or while a decision is awaited. Text that looks like an API key is "
        "redacted.",
        response_description="It is heard from the next speech on; `message` says by whom.",
    ),
    DebateCommand(
        name="ask_question",
        path="questions",
        action="ask",
        body=people_bodies.Question,
        to_command=lambda body, context: rules.AddRemark(
            redact(body.text), by=context.identity.name, to=body.to, question=True
        ),
        precondition=require_questioner,
        reply=command_replies.action_reply(
            "It is answered in the next speech of the one it is put to, or when the floor is heard."
        ),
        status=202,
        socket_name="QUESTION",
        buttons=(Button("ask", rules.AddRemark("?", question=True), "Ask a question", "q"),),
        label="Ask a question",
        tag="People",
        description="Open to the audience. Everyone hears the question; it is answered by the participant in "
        "`to`, or by all where the format takes questions from the floor. Each member of the audience may "
        "ask five.",
        response_description="The question waits for its answer.",
    ),
    DebateCommand(
        name="extend_debate",
        path="extend",
        action="steer",
        body=people_bodies.Extend,
        to_command=lambda body, context: rules.ExtendDebate(
            body.seconds or 0.0, body.rounds or 0, by=context.identity.name
        ),
        reply=command_replies.action_reply("There is more time."),
        socket_name="EXTEND",
        buttons=(
            Button("time", rules.ExtendDebate(seconds=60.0), "One more minute", "e", body={"seconds": 60}),
            Button("rounds", rules.ExtendDebate(rounds=1), "One more round", "E", body={"rounds": 1}),
        ),
        label="Give more time",
        description="More seconds for the speech under way, or more rounds where the format repeats one.",
        response_description="The time or the rounds are added.",
    ),
    DebateCommand(
        name="judge_debate",
        path="judge",
        action="steer",
        body=bodies.TriggerJudge,
        to_command=lambda body, _: rules.JudgeNow(body.reason),
        reply=command_replies.judge_reply,
        reply_type=TriggerJudgeResponse,
        status=202,
        takes_keys=True,
        buttons=(Button("judge", rules.JudgeNow(), "Judge now", "j", "bar"),),
        label="Judge now",
        description="Judges the debate before its last round, or once more after the judges have failed.",
        response_description="The judges evaluate the speeches so far.",
    ),
    DebateCommand(
        name="decide_winner",
        path="decide",
        action="steer",
        body=bodies.Decide,
        to_command=lambda body, _: rules.DecideWinner(body.seat, body.reason),
        reply=command_replies.action_reply("The debate is decided."),
        buttons=(Button("decide", rules.DecideWinner(None), "Declare a winner", "w"),),
        label="Decide",
        description="Names the winner by hand: for debates with `winningCondition: user-decides`, or where "
        "the judges reached no verdict.",
        response_description="The debate is decided.",
    ),
    DebateCommand(
        name="stop_debate",
        path="stop",
        action="steer",
        body=bodies.Ending,
        to_command=lambda body, _: rules.Stop(body.reason),
        reply=command_replies.stopped_reply,
        reply_type=StopDebateResponse,
        takes_keys=True,
        socket_name="STOP",
        buttons=(Button("stop", rules.Stop(), "End the debate", "S", "bar", kind="bad"),),
        label="Stop and judge",
        description="No further speech; what was said is judged. A panel's Moderator sums up first; a second "
        "stop leaves that out too. Where a person decides (`user-decides`) the "
        "debate ends without a verdict: `decide` ends it with one.",
        response_description="The debate is stopped.",
    ),
    DebateCommand(
        name="abort_debate",
        path="abort",
        action="steer",
        body=bodies.Ending,
        to_command=lambda body, _: rules.Abort(body.reason),
        reply=command_replies.action_reply("The debate was aborted; nothing is judged."),
        buttons=(Button("abort", rules.Abort(), "Abort the debate", "A", kind="bad"),),
        label="Abort",
        description="Ends the debate without judging it. Its status is `completed` with `stopped: true`.",
        response_description="The debate is aborted.",
    ),
    DebateCommand(
        name="rejudge_debate",
        path="rejudge",
        action="steer",
        body=people_bodies.Rejudge,
        to_command=lambda body, _: rules.JudgeAgain(reason=body.reason, allowance=body.cost_limit),
        prepared_by_arena=True,
        reply=command_replies.action_reply("It is judged again; the first verdict stays what it was."),
        status=202,
        buttons=(Button("rejudge", rules.JudgeAgain()),),
        label="Judge again",
        tag="Judging and voting",
        description="Judges a finished debate again, by other judges or the same. The first verdict stays "
        "unchanged; the new one is listed beside it, and its events come on the log stream alone.",
        response_description="The debate is being judged again.",
    ),
    DebateCommand(
        name="close_poll",
        path="polls/close",
        action="steer",
        to_command=lambda _, context: participation.ClosePoll(by=context.identity.name),
        reply=command_replies.action_reply("The vote is closed."),
        buttons=(Button("close", participation.ClosePoll(), "Close the vote", "c", "bar"),),
        label="Close the vote",
        tag="Judging and voting",
        description="Closes the vote that is open. The debate continues.",
        response_description="The vote is closed.",
    ),
    DebateCommand(
        name="take_seat",
        path="seats/{seat}/take",
        action="speak",
        to_command=lambda _, context: participation.TakeSeat(context.seat, by=context.identity.name),
        reply=command_replies.action_reply("The seat is yours."),
        socket_name="TAKE",
        seat_button=("take", participation.TakeSeat),
        label="Take the seat",
        tag="People",
        description="A person takes the seat of a model. That model becomes the stand-in and speaks again "
        "when the person leaves.",
        response_description="The seat is taken.",
    ),
    DebateCommand(
        name="leave_seat",
        path="seats/{seat}/leave",
        action="speak",
        to_command=lambda _, context: participation.LeaveSeat(context.seat, by=context.identity.name),
        reply=command_replies.action_reply("From now on the stand-in speaks."),
        socket_name="LEAVE",
        seat_button=("leave", participation.LeaveSeat),
        label="Leave the seat",
        tag="People",
        description="From now on the stand-in speaks; it also gives the speech under way.",
        response_description="The seat is left.",
    ),
    DebateCommand(
        name="save_draft",
        path="seats/{seat}/draft",
        method="PUT",
        action="speak",
        body=people_bodies.Draft,
        to_command=lambda body, context: participation.KeepDraft(
            context.seat, redact(body.text), live=body.live
        ),
        reply=command_replies.action_reply("The draft is kept."),
        socket_name="DRAFT",
        label="Save the draft",
        tag="People",
        description="Saves everything written so far. No one else sees it, unless it is `live` during the "
        "writer's turn; when time runs out, the draft becomes the speech.",
        response_description="The draft is saved.",
    ),
    DebateCommand(
        name="give_speech",
        path="seats/{seat}/speech",
        action="speak",
        body=people_bodies.Say,
        to_command=lambda body, context: participation.GiveSpeech(
            context.seat, None if body.text is None else redact(body.text)
        ),
        reply=command_replies.action_reply("The speech is given."),
        socket_name="SAY",
        seat_button=("say", lambda seat: participation.GiveSpeech(seat, "?")),
        label="Give the speech",
        tag="People",
        description="During the person's turn: the text, or the draft, becomes the speech.",
        response_description="The speech is given.",
    ),
    DebateCommand(
        name="offer_point",
        path="seats/{seat}/points",
        action="speak",
        body=people_bodies.Point,
        to_command=lambda body, context: participation.OfferPoint(context.seat, redact(body.text)),
        reply=command_replies.action_reply("The point is put to the speaker at the break."),
        socket_name="POINT",
        seat_button=("point", lambda seat: participation.OfferPoint(seat, "?")),
        label="Offer a point",
        tag="People",
        description="Offers a point of information while the other side gives a speech that allows it. The "
        "speaker accepts or declines it at the next break; only an accepted point is heard.",
        response_description="The point is put to the speaker.",
    ),
    DebateCommand(
        name="answer_point",
        path="seats/{seat}/answer",
        action="speak",
        body=people_bodies.Answer,
        to_command=lambda body, context: participation.AnswerPoint(context.seat, body.accept),
        reply=command_replies.action_reply("The point is answered."),
        socket_name="ANSWER",
        seat_button=("answer", lambda seat: participation.AnswerPoint(seat, accept=True)),
        label="Answer the point",
        tag="People",
        description="For the speaker to whom a point of information was offered.",
        response_description="The point is accepted or declined.",
    ),
    DebateCommand(
        name="cast_vote",
        path="votes",
        action="vote",
        body=people_bodies.Vote,
        to_command=lambda body, context: participation.CastVote(
            context.identity.voter, body.choice, body.poll
        ),
        reply=command_replies.action_reply("Your vote is counted."),
        status=201,
        socket_name="VOTE",
        label="Vote",
        tag="Judging and voting",
        description="Each member of the audience has one vote in each poll and cannot change it. A single "
        "vote is never shown; the totals are, once the last poll has closed. Late votes are counted apart.",
        response_description="The vote is counted.",
    ),
    DebateCommand(
        name="cast_ballot",
        path="ballots",
        action="ballot",
        body=people_bodies.CastBallot,
        to_command=_cast_ballot,
        needs_debate=True,
        reply=command_replies.action_reply("The ballot is cast."),
        status=201,
        label="Cast a ballot",
        tag="Judging and voting",
        description="For a human judge, once: the winner, the reasons, and the speeches they rest on.",
        response_description="The ballot is cast.",
    ),
)
"""Our own; `all_commands()` has those of extensions too."""


def all_commands() -> tuple[DebateCommand, ...]:
    return _all_commands(loaded())


def socket_commands() -> dict[str, DebateCommand]:
    """The commands of a WebSocket by the `type` of the message."""
    return _socket_commands(loaded())


@lru_cache(maxsize=2)
def _all_commands(extensions: Loaded) -> tuple[DebateCommand, ...]:
    brought = extensions.of(lambda extension: extension.debate_commands)
    return (*COMMANDS, *(row for _, rows in brought for row in rows))


@lru_cache(maxsize=2)
def _socket_commands(extensions: Loaded) -> dict[str, DebateCommand]:
    return {row.socket_name: row for row in _all_commands(extensions) if row.socket_name}
