"""The v1 API of a Moot server without asyncio: the methods of `AsyncClient`, blocking.

Generated from `async_client.py` by `make format`: do not edit.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Literal, overload

from moot.client.async_client import DEFAULTS, Action, AsyncClient, JsonObject, Step
from moot.client.run_sync import SyncRunner
from moot.client.shapes import (
    Conversation,
    ConversationEvents,
    Conversations,
    Created,
    DebateConfig,
    DebaterConfig,
    Debates,
    Done,
    Event,
    Experiment,
    ExperimentSummary,
    Form,
    Install,
    Invitation,
    JudgeConfig,
    JudgingQueue,
    ModelConfig,
    Models,
    Record,
    Records,
    Score,
    SeatState,
    Status,
    Tallied,
    Token,
    Verdicts,
)
from moot.client.streams import StreamTimeouts
from moot.core.terms import InvitationRole, MarkupName, PollName, TokenRole


class Client(SyncRunner):
    """A client of a Moot server, with blocking calls.

        with Client("https://moot.example", token="…") as moot:
            for event in moot.stream("deb_…"):
                print(event.name, event.data)

    `server` defaults to MOOT_SERVER or this machine, `token` to MOOT_TOKEN. `keys` are your own provider keys
    (`{"openai": "…"}`), sent with each request that opens or steers a debate. Methods raise `ApiError`,
    `Unreachable` or `Unreadable`.
    """

    def __init__(
        self,
        server: str | None = None,
        *,
        token: str | None = None,
        keys: Mapping[str, str] | None = None,
        timeouts: StreamTimeouts | None = None,
    ) -> None:
        super().__init__(AsyncClient(server, token=token, keys=keys, timeouts=timeouts))

    @property
    def server(self) -> str:
        """The address of the server."""
        return self._client.server

    @property
    def disconnected(self) -> bool:
        """Whether a stream has lost the server and is trying to reconnect."""
        return self._client.disconnected

    # --- opening a debate -----------------------------------------------------------------------------

    def create(
        self,
        topic: str,
        *,
        participants: Sequence[DebaterConfig],
        judge: JudgeConfig | ModelConfig | str,
        judges: Sequence[JudgeConfig | ModelConfig | str] = (),
        format: str = "oxford",
        config: DebateConfig = DEFAULTS,
        key: str = "",
    ) -> Created:
        """Open a debate, which begins at once.

        `judges` are further judges beside `judge`. A participant or judge `human` is a person. Repeating a
        request with the same `key` returns the same debate; without one a random key is used.
        """
        return self._run(
            self._client.create(
                topic,
                participants=participants,
                judge=judge,
                judges=judges,
                format=format,
                config=config,
                key=key,
            )
        )

    def estimate(
        self,
        topic: str,
        *,
        participants: Sequence[DebaterConfig],
        judge: JudgeConfig | ModelConfig | str,
        judges: Sequence[JudgeConfig | ModelConfig | str] = (),
        format: str = "oxford",
        config: DebateConfig = DEFAULTS,
    ) -> JsonObject:
        """The least and the most such a debate would cost."""
        return self._run(
            self._client.estimate(
                topic, participants=participants, judge=judge, judges=judges, format=format, config=config
            )
        )

    # --- reading --------------------------------------------------------------------------------------

    def status(self, id: str) -> Status:
        """The state of a debate: round, participants, speeches so far, costs, verdict."""
        return self._run(self._client.status(id))

    def list(self, *, status: str = "", search: str = "", limit: int = 20, offset: int = 0) -> Debates:
        """Debates, newest first; with `search`, those whose motion contains it."""
        return self._run(self._client.list(status=status, search=search, limit=limit, offset=offset))

    @overload
    def transcript(
        self, id: str, format: Literal["json"] = "json", *, reasoning: bool = False, seat: str = ""
    ) -> JsonObject: ...

    @overload
    def transcript(
        self,
        id: str,
        format: Literal[MarkupName, "replay"],
        *,
        reasoning: bool = False,
        seat: str = "",
    ) -> str: ...

    def transcript(
        self,
        id: str,
        format: Literal["json", MarkupName, "replay"] = "json",
        *,
        reasoning: bool = False,
        seat: str = "",
    ) -> JsonObject | str:
        """The whole debate as decoded JSON or as text.

        `reasoning` adds what the speakers thought, where you may read it. `seat` shows no more than the
        person of that seat may see; so it does in the methods below.
        """
        return self._run(self._client.transcript(id, format, reasoning=reasoning, seat=seat))

    def document(
        self, id: str, format: str = "markdown", *, reasoning: bool = False, seat: str = ""
    ) -> bytes:
        """The whole debate as a file in one of the export formats, byte for byte as the server made it."""
        return self._run(self._client.document(id, format, reasoning=reasoning, seat=seat))

    def events(self, id: str, *, after: int = 0, limit: int = 100, seat: str = "") -> Records:
        """A page of the native log."""
        return self._run(self._client.events(id, after=after, limit=limit, seat=seat))

    def view(self, id: str, *, seat: str = "") -> JsonObject:
        """The debate as the page shows it: `seq`, `view`, and in `me` what you may do."""
        return self._run(self._client.view(id, seat=seat))

    def setup(self, id: str) -> JsonObject:
        """The request body that opened the debate. For owners and moderators."""
        return self._run(self._client.setup(id))

    def call(self, id: str, number: int) -> JsonObject:
        """One request to a model, and its reply. For owners and moderators."""
        return self._run(self._client.call(id, number))

    def models(self) -> Models:
        """The models the server knows, which of them can be used, and the default one."""
        return self._run(self._client.models())

    def formats(self) -> JsonObject:
        """The debate formats of the server."""
        return self._run(self._client.formats())

    def tools(self) -> JsonObject:
        """The tools a debate may allow its speakers: `DebateConfig(tools=[...])`."""
        return self._run(self._client.tools())

    def statistics(self) -> JsonObject:
        """Results of past debates, by model and motion."""
        return self._run(self._client.statistics())

    def health(self) -> JsonObject:
        """The state of the server."""
        return self._run(self._client.health())

    # --- following ------------------------------------------------------------------------------------

    def stream(
        self, id: str, *, after: str | int = 0, extended: bool = False, seat: str = ""
    ) -> Generator[Event, None, None]:
        """Events after the one with the id `after`, until `complete` or a failure of the debate.

        Broken connections are opened again. After `retry` or `rejudge`, call this again with the last id as
        `after`. `extended` adds further event names to the nine of v1, among them `reasoning`.
        """
        return self._iterate(self._client.stream(id, after=after, extended=extended, seat=seat))

    def log(self, id: str, *, after: int = 0, seat: str = "") -> Generator[Record, None, None]:
        """Records of the native log, for as long as the debate exists."""
        return self._iterate(self._client.log(id, after=after, seat=seat))

    def view_changes(self, id: str, *, after: int = 0, seat: str = "") -> Generator[JsonObject, None, None]:
        """Changes of the view after its `seq`, for as long as the debate exists: `seq`, `at`, `ops`."""
        return self._iterate(self._client.view_changes(id, after=after, seat=seat))

    def ticket(self, id: str) -> str:
        """A ticket that lets a browser open one stream of this debate, once and soon, without the token."""
        return self._run(self._client.ticket(id))

    # --- steering -------------------------------------------------------------------------------------

    def command(self, id: str, *path: str, **members: Any) -> Done:
        """Give any command of the API by its path, with the members of its body: `command(id, "pause")`."""
        return self._run(self._client.command(id))

    def rounds(self, id: str, action: Action = "next_round") -> Done:
        """Begin the next round of a debate without automatic progress, or go straight to judging."""
        return self._run(self._client.rounds(id, action))

    def judge(self, id: str, reason: str = "") -> Done:
        """End the speeches and begin judging now."""
        return self._run(self._client.judge(id, reason))

    def pause(self, id: str, *, now: bool = False) -> Done:
        """Pause after the current speech; with `now` that speech is cut, and given again later."""
        return self._run(self._client.pause(id, now=now))

    def resume(self, id: str, *, step: Step | None = None) -> Done:
        """Resume a paused debate; with `step` only for one speech, or to the end of the round."""
        return self._run(self._client.resume(id, step=step))

    def stop(self, id: str, reason: str = "") -> Done:
        """End the debate; the speeches so far are judged."""
        return self._run(self._client.stop(id, reason))

    def abort(self, id: str, reason: str = "") -> Done:
        """End the debate without a verdict."""
        return self._run(self._client.abort(id, reason))

    def skip(self, id: str, *, turn: int | None = None, speech: int | None = None) -> Done:
        """Skip the current speech, the one of this `turn`, or the `speech` at this place of the order.

        Raises ApiError (409) if none is named and no one is speaking. A skip that names its speech can be
        repeated safely: it never skips the next one.
        """
        return self._run(self._client.skip(id, turn=turn, speech=speech))

    def inject(self, id: str, text: str, *, to: str = "", question: bool = False) -> Done:
        """Add a remark that all later speakers hear, or only the participant with the id `to`.

        A `question` is heard by all, and answered by that participant, or by every participant.
        """
        return self._run(self._client.inject(id, text, to=to, question=question))

    def extend(self, id: str, *, seconds: float = 0, rounds: int = 0) -> Done:
        """Give the current speech more time, or the debate more rounds."""
        return self._run(self._client.extend(id, seconds=seconds, rounds=rounds))

    def retry(self, id: str) -> Done:
        """Have the last failed or interrupted speech given again."""
        return self._run(self._client.retry(id))

    def decide(self, id: str, winner: str, reason: str = "") -> Done:
        """Name the winner: a participant's id, or `tie`."""
        return self._run(self._client.decide(id, winner, reason))

    def delete(self, id: str) -> None:
        """Delete the debate and everything that belongs to it."""
        return self._run(self._client.delete(id))

    # --- invitations ----------------------------------------------------------------------------------

    def invite(
        self,
        id: str,
        role: InvitationRole,
        *,
        seat: str = "",
        judge: str = "",
        name: str = "",
        days: float | None = None,
        many: bool = False,
    ) -> Invitation:
        """A token for this debate alone. With `many`, one for an audience: each member joins with it."""
        return self._run(
            self._client.invite(id, role, seat=seat, judge=judge, name=name, days=days, many=many)
        )

    def invitations(self, id: str) -> tuple[Invitation, ...]:
        """The invitations to this debate, without their tokens."""
        return self._run(self._client.invitations(id))

    def uninvite(self, id: str, name: str) -> None:
        """Revoke the invitation with this name."""
        return self._run(self._client.uninvite(id, name))

    def join(self, id: str, name: str = "") -> Invitation:
        """A personal token, for a bearer of an invitation that is for many."""
        return self._run(self._client.join(id, name))

    # --- speaking -------------------------------------------------------------------------------------

    def seat(self, id: str, seat: str) -> SeatState:
        """Who speaks at this seat, the draft so far, and how much time is left."""
        return self._run(self._client.seat(id, seat))

    def take(self, id: str, seat: str) -> Done:
        """Take the seat; its model becomes the stand-in that speaks after `leave`."""
        return self._run(self._client.take(id, seat))

    def leave(self, id: str, seat: str) -> Done:
        """Leave the seat to its stand-in."""
        return self._run(self._client.leave(id, seat))

    def draft(self, id: str, seat: str, text: str, *, live: bool = False) -> Done:
        """Save the draft of the current speech; with `live` viewers see it as it grows."""
        return self._run(self._client.draft(id, seat, text, live=live))

    def say(self, id: str, seat: str, text: str | None = None) -> Done:
        """Give the speech; without `text`, the draft."""
        return self._run(self._client.say(id, seat, text))

    def offer_point(self, id: str, seat: str, text: str) -> Done:
        """Offer a point of information while the other side speaks."""
        return self._run(self._client.offer_point(id, seat, text))

    def answer_point(self, id: str, seat: str, accept: bool) -> Done:
        """Accept or decline the point that was offered to this seat."""
        return self._run(self._client.answer_point(id, seat, accept))

    def ask(self, id: str, text: str, *, to: str = "") -> Done:
        """Ask one participant (an id) or all of them a question that everyone hears."""
        return self._run(self._client.ask(id, text, to=to))

    # --- voting and judging ---------------------------------------------------------------------------

    def vote(self, id: str, choice: str, *, poll: PollName | None = None) -> Done:
        """Vote for a side, a participant or `undecided`, in the open poll or in the one named."""
        return self._run(self._client.vote(id, choice, poll=poll))

    def polls(self, id: str) -> Tallied:
        """The audience's votes; hidden until the voting ends."""
        return self._run(self._client.polls(id))

    def close_poll(self, id: str) -> Done:
        """Close the open poll."""
        return self._run(self._client.close_poll(id))

    def cast_ballot(
        self,
        id: str,
        winner: str,
        reasoning: str,
        *,
        cites: Sequence[int] = (),
        judge: str = "",
        scores: Mapping[str, Score | float] | None = None,
        criteria: Mapping[str, str] | None = None,
        ranking: Sequence[str] = (),
    ) -> Done:
        """A person's decision: the winner's id or `tie`, the reasons, and the speeches (turns) they cite."""
        return self._run(
            self._client.cast_ballot(
                id,
                winner,
                reasoning,
                cites=cites,
                judge=judge,
                scores=scores,
                criteria=criteria,
                ranking=ranking,
            )
        )

    def rejudge(
        self,
        id: str,
        judges: Sequence[JudgeConfig | ModelConfig | str] = (),
        *,
        reason: str = "",
        cost_limit: float | None = None,
    ) -> Done:
        """Judge a debate that is over again, by these judges or its own; the first verdict stays."""
        return self._run(self._client.rejudge(id, judges, reason=reason, cost_limit=cost_limit))

    def verdicts(self, id: str) -> Verdicts:
        """Every verdict with its ballots; the first is the debate's own."""
        return self._run(self._client.verdicts(id))

    # --- conversations --------------------------------------------------------------------------------

    def conversations(self, *, search: str = "", limit: int = 20, offset: int = 0) -> Conversations:
        """Imported conversations, the newest first; with `search`, those whose source contains it."""
        return self._run(self._client.conversations(search=search, limit=limit, offset=offset))

    def conversation(self, id: str) -> Conversation:
        """An imported conversation, or a debate as one."""
        return self._run(self._client.conversation(id))

    def conversation_events(
        self,
        id: str,
        *,
        after: str = "",
        limit: int = 100,
        types: Sequence[str] = (),
        shape: Form = "unified",
        seat: str = "",
    ) -> ConversationEvents:
        """A page of events with their segments, only of these `types`, after the event with the id `after`.

        The shape `legacy` has one `reasoning` beside the segments.
        """
        return self._run(
            self._client.conversation_events(
                id, after=after, limit=limit, types=types, shape=shape, seat=seat
            )
        )

    def read(
        self, id: str, *, types: Sequence[str] = (), shape: Form = "unified", seat: str = ""
    ) -> Generator[JsonObject, None, None]:
        """All events of a conversation that exist now, page after page."""
        return self._iterate(self._client.read(id, types=types, shape=shape, seat=seat))

    # --- experiments ----------------------------------------------------------------------------------

    def experiments(self) -> tuple[ExperimentSummary, ...]:
        """The experiments on the server with their progress, the newest first. For the operator."""
        return self._run(self._client.experiments())

    def experiment(self, name: str) -> Experiment:
        """An experiment's progress, leaderboard, matchups, judges and doubts so far. For the operator."""
        return self._run(self._client.experiment(name))

    def judging_queue(self, name: str, voter: str) -> JudgingQueue:
        """The debate of an experiment that a person judges next, without its models. For the operator."""
        return self._run(self._client.judging_queue(name, voter))

    def cast_experiment_vote(
        self,
        name: str,
        debate: str,
        voter: str,
        winner: Literal["A", "B", "tie"],
        *,
        reason: str = "",
        probability: float | None = None,
    ) -> JudgingQueue:
        """Keep a person's vote on a debate of the queue; returns what comes next. `probability` is for
        questions: how probable the answer of that side is, from 0.5. For the operator."""
        return self._run(
            self._client.cast_experiment_vote(
                name, debate, voter, winner, reason=reason, probability=probability
            )
        )

    # --- operating the server -------------------------------------------------------------------------

    def providers(self) -> JsonObject:
        """Which model services can be used, and what is missing for the others."""
        return self._run(self._client.providers())

    def installs(self) -> tuple[Install, ...]:
        """The models that can run on the server's machine."""
        return self._run(self._client.installs())

    def install(self, model: str) -> Install:
        """Begin to install a model on the server's machine; `installs` shows progress. For the operator.

        `model` is a name of `installs`, `hf:owner/repo/file.gguf` or `ollama/NAME`.
        """
        return self._run(self._client.install(model))

    def stop_install(self, model: str) -> None:
        """Stop installing; the part that was downloaded is kept. For the operator."""
        return self._run(self._client.stop_install(model))

    def tokens(self) -> tuple[Token, ...]:
        """The server's tokens by name, without the secrets. For the operator."""
        return self._run(self._client.tokens())

    def new_token(
        self,
        name: str,
        role: TokenRole = "owner",
        *,
        owner: str | None = None,
        days: float | None = None,
    ) -> Token:
        """A token for the debates of `owner`, by default of `name`. For the operator.

        Once a server has a token, every request needs one.
        """
        return self._run(self._client.new_token(name, role, owner=owner, days=days))

    def revoke_token(self, name: str) -> None:
        """Revoke the token with this name. For the operator."""
        return self._run(self._client.revoke_token(name))
