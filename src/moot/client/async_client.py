"""The v1 API of a Moot server for programs on asyncio: one method for each request.

`Client` in `sync_client.py` is generated from this class at set-up: write new methods here only.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import Any, Literal, overload

import msgspec

from moot.api.shapes.records import EventPage
from moot.client.client_errors import decode
from moot.client.connection import ServerConnection, api_path
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
    Experiments,
    ExperimentSummary,
    Form,
    Install,
    Installs,
    Invitation,
    Invitations,
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
    Ticket,
    Token,
    Tokens,
    Verdicts,
    event_of,
    full_judge,
    record_of,
    request,
)
from moot.client.streams import StreamFollower, StreamTimeouts
from moot.core.sse_reader import SseEvent
from moot.core.terms import InvitationRole, MarkupName, PollName, TokenRole

JsonObject = dict[str, Any]
Action = Literal["next_round", "skip_to_judge"]
Step = Literal["turn", "round"]
DEFAULTS = DebateConfig()
MAX_PAGE = 1000


class AsyncClient:
    """A client of a Moot server, for asyncio.

        async with AsyncClient("https://moot.example", token="…") as moot:
            async for event in moot.stream("deb_…"):
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
        self._connection = ServerConnection(server, token, keys or {})
        self._timeouts = timeouts or StreamTimeouts()

    @property
    def server(self) -> str:
        """The address of the server."""
        return self._connection.server

    @property
    def disconnected(self) -> bool:
        """Whether a stream has lost the server and is trying to reconnect."""
        return self._connection.disconnected

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._connection.close()

    # --- opening a debate -----------------------------------------------------------------------------

    async def create(
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
        body = request(topic, format, participants, judge, config, judges)
        return await self._connection.post(api_path("debates"), Created, body, key)

    async def estimate(
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
        body = request(topic, format, participants, judge, config, judges)
        return await self._connection.post(api_path("estimate"), JsonObject, body)

    # --- reading --------------------------------------------------------------------------------------

    async def status(self, id: str) -> Status:
        """The state of a debate: round, participants, speeches so far, costs, verdict."""
        return await self._connection.get(api_path("debates", id, "status"), Status)

    async def list(self, *, status: str = "", search: str = "", limit: int = 20, offset: int = 0) -> Debates:
        """Debates, newest first; with `search`, those whose motion contains it."""
        filters = without_defaults(status=status, search=search)
        return await self._connection.get(api_path("debates"), Debates, limit=limit, offset=offset, **filters)

    @overload
    async def transcript(
        self, id: str, format: Literal["json"] = "json", *, reasoning: bool = False, seat: str = ""
    ) -> JsonObject: ...

    @overload
    async def transcript(
        self,
        id: str,
        format: Literal[MarkupName, "replay"],
        *,
        reasoning: bool = False,
        seat: str = "",
    ) -> str: ...

    async def transcript(
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
        document = await self.document(id, format, reasoning=reasoning, seat=seat)
        return decode(document, JsonObject) if format == "json" else document.decode()

    async def document(
        self, id: str, format: str = "markdown", *, reasoning: bool = False, seat: str = ""
    ) -> bytes:
        """The whole debate as a file in one of the export formats, byte for byte as the server made it."""
        query = {"format": format, **({"reasoning": "true"} if reasoning else {}), **_as_seat(seat)}
        path = api_path("debates", id, "transcript")
        return await self._connection.request("GET", path, query=query)

    async def events(self, id: str, *, after: int = 0, limit: int = 100, seat: str = "") -> Records:
        """A page of the native log."""
        path = api_path("debates", id, "events")
        page = await self._connection.get(path, EventPage, after=after, limit=limit, **_as_seat(seat))
        return Records(tuple(record_of(record) for record in page.events), page.has_more)

    async def view(self, id: str, *, seat: str = "") -> JsonObject:
        """The debate as the page shows it: `seq`, `view`, and in `me` what you may do."""
        return await self._connection.get(api_path("debates", id, "view"), JsonObject, **_as_seat(seat))

    async def setup(self, id: str) -> JsonObject:
        """The request body that opened the debate. For owners and moderators."""
        return await self._connection.get(api_path("debates", id, "setup"), JsonObject)

    async def call(self, id: str, number: int) -> JsonObject:
        """One request to a model, and its reply. For owners and moderators."""
        return await self._connection.get(api_path("debates", id, "calls", str(number)), JsonObject)

    async def models(self) -> Models:
        """The models the server knows, which of them can be used, and the default one."""
        return await self._connection.get(api_path("models"), Models)

    async def formats(self) -> JsonObject:
        """The debate formats of the server."""
        return await self._connection.get(api_path("formats"), JsonObject)

    async def tools(self) -> JsonObject:
        """The tools a debate may allow its speakers: `DebateConfig(tools=[...])`."""
        return await self._connection.get(api_path("tools"), JsonObject)

    async def statistics(self) -> JsonObject:
        """Results of past debates, by model and motion."""
        return await self._connection.get(api_path("statistics"), JsonObject)

    async def health(self) -> JsonObject:
        """The state of the server."""
        return await self._connection.get(api_path("health"), JsonObject)

    # --- following ------------------------------------------------------------------------------------

    async def stream(
        self, id: str, *, after: str | int = 0, extended: bool = False, seat: str = ""
    ) -> AsyncGenerator[Event, None]:
        """Events after the one with the id `after`, until `complete` or a failure of the debate.

        Broken connections are opened again. After `retry` or `rejudge`, call this again with the last id as
        `after`. `extended` adds further event names to the nine of v1, among them `reasoning`.
        """
        query = {**({"extended": "true"} if extended else {}), **_as_seat(seat)}
        async with aclosing(self._messages(api_path("debates", id, "stream"), query, after)) as messages:
            async for message in messages:
                event = event_of(message)
                yield event
                if event.name == "complete":
                    return

    async def log(self, id: str, *, after: int = 0, seat: str = "") -> AsyncGenerator[Record, None]:
        """Records of the native log, for as long as the debate exists."""
        path = api_path("debates", id, "events", "stream")
        async with aclosing(self._messages(path, _as_seat(seat), after)) as messages:
            async for message in messages:
                yield record_of(message.data)

    async def view_changes(
        self, id: str, *, after: int = 0, seat: str = ""
    ) -> AsyncGenerator[JsonObject, None]:
        """Changes of the view after its `seq`, for as long as the debate exists: `seq`, `at`, `ops`."""
        path = api_path("debates", id, "view", "stream")
        async with aclosing(self._messages(path, _as_seat(seat), after)) as messages:
            async for message in messages:
                yield decode(message.data, JsonObject)

    async def ticket(self, id: str) -> str:
        """A ticket that lets a browser open one stream of this debate, once and soon, without the token."""
        return (await self._connection.post(api_path("debates", id, "tickets"), Ticket)).ticket

    # --- steering -------------------------------------------------------------------------------------

    async def command(self, id: str, *path: str, **members: Any) -> Done:
        """Give any command of the API by its path, with the members of its body: `command(id, "pause")`."""
        return await self._connection.post(api_path("debates", id, *path), Done, json_body(members))

    async def rounds(self, id: str, action: Action = "next_round") -> Done:
        """Begin the next round of a debate without automatic progress, or go straight to judging."""
        return await self.command(id, "rounds", action=action)

    async def judge(self, id: str, reason: str = "") -> Done:
        """End the speeches and begin judging now."""
        return await self.command(id, "judge", **without_defaults(reason=reason))

    async def pause(self, id: str, *, now: bool = False) -> Done:
        """Pause after the current speech; with `now` that speech is cut, and given again later."""
        return await self.command(id, "pause", **without_defaults(now=now))

    async def resume(self, id: str, *, step: Step | None = None) -> Done:
        """Resume a paused debate; with `step` only for one speech, or to the end of the round."""
        return await self.command(id, "resume", **without_defaults(step=step))

    async def stop(self, id: str, reason: str = "") -> Done:
        """End the debate; the speeches so far are judged."""
        return await self.command(id, "stop", **without_defaults(reason=reason))

    async def abort(self, id: str, reason: str = "") -> Done:
        """End the debate without a verdict."""
        return await self.command(id, "abort", **without_defaults(reason=reason))

    async def skip(self, id: str, *, turn: int | None = None, speech: int | None = None) -> Done:
        """Skip the current speech, the one of this `turn`, or the `speech` at this place of the order.

        Raises ApiError (409) if none is named and no one is speaking. A skip that names its speech can be
        repeated safely: it never skips the next one.
        """
        return await self.command(id, "skip", **without_defaults(turn=turn, speech=speech))

    async def inject(self, id: str, text: str, *, to: str = "", question: bool = False) -> Done:
        """Add a remark that all later speakers hear, or only the participant with the id `to`.

        A `question` is heard by all, and answered by that participant, or by every participant.
        """
        return await self.command(id, "inject", text=text, **without_defaults(to=to, question=question))

    async def extend(self, id: str, *, seconds: float = 0, rounds: int = 0) -> Done:
        """Give the current speech more time, or the debate more rounds."""
        more = without_defaults(seconds=seconds or None, rounds=rounds or None)
        return await self.command(id, "extend", **more)

    async def retry(self, id: str) -> Done:
        """Have the last failed or interrupted speech given again."""
        return await self.command(id, "retry")

    async def decide(self, id: str, winner: str, reason: str = "") -> Done:
        """Name the winner: a participant's id, or `tie`."""
        return await self.command(id, "decide", winner=winner, **without_defaults(reason=reason))

    async def delete(self, id: str) -> None:
        """Delete the debate and everything that belongs to it."""
        await self._connection.delete(api_path("debates", id))

    # --- invitations ----------------------------------------------------------------------------------

    async def invite(
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
        fields = without_defaults(role=role, seat=seat, judge=judge, name=name, days=days, many=many)
        path = api_path("debates", id, "invitations")
        return await self._connection.post(path, Invitation, json_body(fields))

    async def invitations(self, id: str) -> tuple[Invitation, ...]:
        """The invitations to this debate, without their tokens."""
        return (await self._connection.get(api_path("debates", id, "invitations"), Invitations)).invitations

    async def uninvite(self, id: str, name: str) -> None:
        """Revoke the invitation with this name."""
        await self._connection.delete(api_path("debates", id, "invitations", name))

    async def join(self, id: str, name: str = "") -> Invitation:
        """A personal token, for a bearer of an invitation that is for many."""
        body = json_body(without_defaults(name=name))
        return await self._connection.post(api_path("debates", id, "join"), Invitation, body)

    # --- speaking -------------------------------------------------------------------------------------

    async def seat(self, id: str, seat: str) -> SeatState:
        """Who speaks at this seat, the draft so far, and how much time is left."""
        return await self._connection.get(api_path("debates", id, "seats", seat), SeatState)

    async def take(self, id: str, seat: str) -> Done:
        """Take the seat; its model becomes the stand-in that speaks after `leave`."""
        return await self.command(id, "seats", seat, "take")

    async def leave(self, id: str, seat: str) -> Done:
        """Leave the seat to its stand-in."""
        return await self.command(id, "seats", seat, "leave")

    async def draft(self, id: str, seat: str, text: str, *, live: bool = False) -> Done:
        """Save the draft of the current speech; with `live` viewers see it as it grows."""
        path = api_path("debates", id, "seats", seat, "draft")
        return await self._connection.put(path, Done, json_body(without_defaults(live=live), text=text))

    async def say(self, id: str, seat: str, text: str | None = None) -> Done:
        """Give the speech; without `text`, the draft."""
        return await self.command(id, "seats", seat, "speech", **without_defaults(text=text))

    async def offer_point(self, id: str, seat: str, text: str) -> Done:
        """Offer a point of information while the other side speaks."""
        return await self.command(id, "seats", seat, "points", text=text)

    async def answer_point(self, id: str, seat: str, accept: bool) -> Done:
        """Accept or decline the point that was offered to this seat."""
        return await self.command(id, "seats", seat, "answer", accept=accept)

    async def ask(self, id: str, text: str, *, to: str = "") -> Done:
        """Ask one participant (an id) or all of them a question that everyone hears."""
        return await self.command(id, "questions", text=text, **without_defaults(to=to))

    # --- voting and judging ---------------------------------------------------------------------------

    async def vote(self, id: str, choice: str, *, poll: PollName | None = None) -> Done:
        """Vote for a side, a participant or `undecided`, in the open poll or in the one named."""
        return await self.command(id, "votes", choice=choice, **without_defaults(poll=poll))

    async def polls(self, id: str) -> Tallied:
        """The audience's votes; hidden until the voting ends."""
        return await self._connection.get(api_path("debates", id, "polls"), Tallied)

    async def close_poll(self, id: str) -> Done:
        """Close the open poll."""
        return await self.command(id, "polls", "close")

    async def cast_ballot(
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
        points = {
            participant: Score(score) if isinstance(score, int | float) else score
            for participant, score in (scores or {}).items()
        }
        more = without_defaults(judge=judge, scores=points, criteria=dict(criteria or {}), ranking=[*ranking])
        return await self.command(id, "ballots", winner=winner, reasoning=reasoning, cites=[*cites], **more)

    async def rejudge(
        self,
        id: str,
        judges: Sequence[JudgeConfig | ModelConfig | str] = (),
        *,
        reason: str = "",
        cost_limit: float | None = None,
    ) -> Done:
        """Judge a debate that is over again, by these judges or its own; the first verdict stays."""
        panel = [full_judge(judge) for judge in judges]
        more = without_defaults(judges=panel, reason=reason, costLimit=cost_limit)
        return await self.command(id, "rejudge", **more)

    async def verdicts(self, id: str) -> Verdicts:
        """Every verdict with its ballots; the first is the debate's own."""
        return await self._connection.get(api_path("debates", id, "verdicts"), Verdicts)

    # --- conversations --------------------------------------------------------------------------------

    async def conversations(self, *, search: str = "", limit: int = 20, offset: int = 0) -> Conversations:
        """Imported conversations, the newest first; with `search`, those whose source contains it."""
        query = {"limit": limit, "offset": offset, **without_defaults(search=search)}
        return await self._connection.get(api_path("conversations"), Conversations, **query)

    async def conversation(self, id: str) -> Conversation:
        """An imported conversation, or a debate as one."""
        return await self._connection.get(api_path("conversations", id), Conversation)

    async def conversation_events(
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
        query = without_defaults(after=after, type=",".join(types), shape=shape) | _as_seat(seat)
        path = api_path("conversations", id, "events")
        return await self._connection.get(path, ConversationEvents, limit=limit, **query)

    async def read(
        self, id: str, *, types: Sequence[str] = (), shape: Form = "unified", seat: str = ""
    ) -> AsyncGenerator[JsonObject, None]:
        """All events of a conversation that exist now, page after page."""
        after = ""
        while True:
            page = await self.conversation_events(
                id, after=after, limit=MAX_PAGE, types=types, shape=shape, seat=seat
            )
            for event in page.events:
                yield event
            if not page.has_more or page.next in (None, after):
                return
            after = page.next

    # --- experiments ----------------------------------------------------------------------------------

    async def experiments(self) -> tuple[ExperimentSummary, ...]:
        """The experiments on the server with their progress, the newest first. For the operator."""
        return (await self._connection.get(api_path("experiments"), Experiments)).experiments

    async def experiment(self, name: str) -> Experiment:
        """An experiment's progress, leaderboard, matchups, judges and doubts so far. For the operator."""
        return await self._connection.get(api_path("experiments", name), Experiment)

    async def judging_queue(self, name: str, voter: str) -> JudgingQueue:
        """The debate of an experiment that a person judges next, without its models. For the operator."""
        return await self._connection.get(api_path("experiments", name, "queue"), JudgingQueue, voter=voter)

    async def cast_experiment_vote(
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
        body: JsonObject = {"voter": voter, "debate": debate, "winner": winner, "reason": reason}
        if probability is not None:
            body["probability"] = probability
        path = api_path("experiments", name, "votes")
        return await self._connection.post(path, JudgingQueue, msgspec.json.encode(body))

    # --- operating the server -------------------------------------------------------------------------

    async def providers(self) -> JsonObject:
        """Which model services can be used, and what is missing for the others."""
        return await self._connection.get(api_path("providers"), JsonObject)

    async def installs(self) -> tuple[Install, ...]:
        """The models that can run on the server's machine."""
        return (await self._connection.get(api_path("installs"), Installs)).models

    async def install(self, model: str) -> Install:
        """Begin to install a model on the server's machine; `installs` shows progress. For the operator.

        `model` is a name of `installs`, `hf:owner/repo/file.gguf` or `ollama/NAME`.
        """
        if "/" not in model:
            return await self._connection.post(api_path("installs", model), Install)
        return await self._connection.post(api_path("installs"), Install, json_body({}, source=model))

    async def stop_install(self, model: str) -> None:
        """Stop installing; the part that was downloaded is kept. For the operator."""
        await self._connection.delete(api_path("installs", model))

    async def tokens(self) -> tuple[Token, ...]:
        """The server's tokens by name, without the secrets. For the operator."""
        return (await self._connection.get(api_path("tokens"), Tokens)).tokens

    async def new_token(
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
        fields = without_defaults(role=role, days=days) | ({} if owner is None else {"owner": owner})
        return await self._connection.post(api_path("tokens"), Token, json_body(fields, name=name))

    async def revoke_token(self, name: str) -> None:
        """Revoke the token with this name. For the operator."""
        await self._connection.delete(api_path("tokens", name))

    # --- common to several requests -------------------------------------------------------------------

    def _messages(
        self, path: str, query: Mapping[str, str | int], after: str | int
    ) -> AsyncGenerator[SseEvent]:
        return StreamFollower(self._connection, path, query, after, self._timeouts).messages()


def _as_seat(seat: str) -> dict[str, str]:
    return {"as": seat} if seat else {}


def without_defaults(**fields: Any) -> JsonObject:
    """The fields without those that are empty, False or None: the server has defaults for them."""
    return {
        name: value
        for name, value in fields.items()
        if value is not False and value not in (None, "", {}, [])
    }


def json_body(optional: JsonObject, **required: Any) -> bytes:
    fields = {**optional, **required}
    return msgspec.json.encode(fields) if fields else b""
