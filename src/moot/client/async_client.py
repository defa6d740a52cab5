"""A client of the v1 API for programs that run on asyncio: one method for each thing that can be asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import Literal, overload

from moot.client.admin_requests import AsyncAdminRequests
from moot.client.client_errors import decode
from moot.client.connection import ServerConnection, api_path
from moot.client.event_shapes import Event, Record, event_of, record_of
from moot.client.people_requests import Anything, AsyncPeopleRequests, without_defaults
from moot.client.shapes import (
    Config,
    Created,
    Debater,
    Debates,
    Done,
    Judge,
    Model,
    Models,
    RawRecords,
    Records,
    Status,
    Ticket,
    request,
)
from moot.client.streams import StreamFollower, StreamTimeouts

Action = Literal["next_round", "skip_to_judge"]
Step = Literal["turn", "round"]
DEFAULTS = Config()


class AsyncClient(AsyncPeopleRequests, AsyncAdminRequests):
    """A client of a Moot server, for asyncio.

        async with AsyncClient("https://moot.example", token="…") as moot:
            async for event in moot.stream("deb_…"):
                print(event.name, event.data)

    `server` defaults to MOOT_SERVER or this machine, `token` to MOOT_TOKEN. `keys` are your own provider
    keys: `{"openai": "…"}`. Methods raise `ApiError`, `Unreachable` or `Unreadable`.
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
        return self._connection.server

    @property
    def away(self) -> bool:
        """Whether a stream has lost the server and is trying to reconnect."""
        return self._connection.disconnected

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._connection.close()

    # --- opening --------------------------------------------------------------------------------------

    async def create(
        self,
        topic: str,
        *,
        participants: Sequence[Debater],
        judge: Judge | Model | str,
        judges: Sequence[Judge | Model | str] = (),
        format: str = "oxford",
        config: Config = DEFAULTS,
        key: str = "",
    ) -> Created:
        """Open a debate; it begins at once. The same `key` (one is made up) never opens a second one.

        `judges` sit beside `judge`; whoever speaks or judges may be a person, `human`.
        """
        body = request(topic, format, participants, judge, config, judges)
        return await self._connection.post(api_path("debates"), Created, body, key)

    async def estimate(
        self,
        topic: str,
        *,
        participants: Sequence[Debater],
        judge: Judge | Model | str,
        judges: Sequence[Judge | Model | str] = (),
        format: str = "oxford",
        config: Config = DEFAULTS,
    ) -> Anything:
        """What such a debate would cost, from and to."""
        body = request(topic, format, participants, judge, config, judges)
        return await self._connection.post(api_path("estimate"), Anything, body)

    # --- looking --------------------------------------------------------------------------------------

    async def status(self, id: str) -> Status:
        return await self._connection.get(api_path("debates", id, "status"), Status)

    async def list(self, *, status: str = "", search: str = "", limit: int = 20, offset: int = 0) -> Debates:
        """Newest first; with `search`, those whose motion has this in it."""
        only = without_defaults(status=status, search=search)
        return await self._connection.get(api_path("debates"), Debates, limit=limit, offset=offset, **only)

    @overload
    async def transcript(
        self, id: str, format: Literal["json"] = "json", *, reasoning: bool = False, seat: str = ""
    ) -> Anything: ...

    @overload
    async def transcript(
        self,
        id: str,
        format: Literal["markdown", "html", "replay"],
        *,
        reasoning: bool = False,
        seat: str = "",
    ) -> str: ...

    async def transcript(
        self,
        id: str,
        format: Literal["json", "markdown", "html", "replay"] = "json",
        *,
        reasoning: bool = False,
        seat: str = "",
    ) -> Anything | str:
        """With `reasoning`, also what the speakers thought, where you may read it. With `seat`, no more than
        the person of that seat may see; the same in what follows."""
        path = api_path("debates", id, "transcript")
        asked = {"format": format, **({"reasoning": "true"} if reasoning else {}), **_as(seat)}
        if format == "json":
            return await self._connection.get(path, Anything, **asked)
        return (await self._connection.request("GET", path, query=asked)).body.decode()

    async def events(self, id: str, *, after: int = 0, limit: int = 100, seat: str = "") -> Records:
        """A piece of the native log."""
        path = api_path("debates", id, "events")
        page = await self._connection.get(path, RawRecords, after=after, limit=limit, **_as(seat))
        return Records(tuple(record_of(record) for record in page.events), page.has_more)

    async def view(self, id: str, *, seat: str = "") -> Anything:
        """The debate as the page shows it, every rule applied: `seq`, `view`, and in `me` what you may do."""
        return await self._connection.get(api_path("debates", id, "view"), Anything, **_as(seat))

    async def setup(self, id: str) -> Anything:
        """The body that it was opened with, such as another is opened with. For owners and moderators."""
        return await self._connection.get(api_path("debates", id, "setup"), Anything)

    async def call(self, id: str, number: int) -> Anything:
        """What a model was sent, and what came back. For owners and moderators."""
        return await self._connection.get(api_path("debates", id, "calls", str(number)), Anything)

    async def models(self) -> Models:
        return await self._connection.get(api_path("models"), Models)

    async def formats(self) -> Anything:
        return await self._connection.get(api_path("formats"), Anything)

    async def tools(self) -> Anything:
        """What a debate may allow: `Config(tools=[...])`."""
        return await self._connection.get(api_path("tools"), Anything)

    async def statistics(self) -> Anything:
        return await self._connection.get(api_path("statistics"), Anything)

    async def health(self) -> Anything:
        return await self._connection.get(api_path("health"), Anything)

    # --- following ------------------------------------------------------------------------------------

    async def stream(
        self, id: str, *, after: str | int = 0, extended: bool = False, seat: str = ""
    ) -> AsyncGenerator[Event, None]:
        """Every event after the one with the id `after`, up to `complete` or a failure of the debate.

        Broken connections are mended. After a retry or a judging, ask again with the last id as `after`.
        With `extended` there are events of more names than nine, with what the speakers think among them.
        """
        query = {**({"extended": "true"} if extended else {}), **_as(seat)}
        path = api_path("debates", id, "stream")
        async with aclosing(
            StreamFollower(self._connection, path, query, after, self._timeouts).messages()
        ) as messages:
            async for message in messages:
                event = event_of(message)
                yield event
                if event.name == "complete":
                    return

    async def log(self, id: str, *, after: int = 0, seat: str = "") -> AsyncGenerator[Record, None]:
        """Every record of the native log, for as long as the debate exists."""
        follower = StreamFollower(
            self._connection, api_path("debates", id, "events", "stream"), _as(seat), after, self._timeouts
        )
        async with aclosing(follower.messages()) as messages:
            async for message in messages:
                yield record_of(message.data)

    async def view_changes(
        self, id: str, *, after: int = 0, seat: str = ""
    ) -> AsyncGenerator[Anything, None]:
        """What changes in the view behind its `seq`, for as long as the debate exists: `seq`, `api_path`,
        `ops`.
        """
        path = api_path("debates", id, "view", "stream")
        follower = StreamFollower(self._connection, path, _as(seat), after, self._timeouts)
        async with aclosing(follower.messages()) as messages:
            async for message in messages:
                yield decode(message.data, Anything)

    async def ticket(self, id: str) -> str:
        """Lets a browser open one stream of this debate, once and soon, without the token in its address."""
        return (await self._connection.post(api_path("debates", id, "tickets"), Ticket)).ticket

    # --- steering -------------------------------------------------------------------------------------

    async def rounds(self, id: str, action: Action = "next_round") -> Done:
        return await self._ask(id, "rounds", action=action)

    async def judge(self, id: str, reason: str = "") -> Done:
        """End the speeches and ask the judge now."""
        return await self._ask(id, "judge", **without_defaults(reason=reason))

    async def pause(self, id: str, *, now: bool = False) -> Done:
        """After the running speech; with `now` it is cut, and given again later."""
        return await self._ask(id, "pause", **without_defaults(now=now))

    async def resume(self, id: str, *, step: Step | None = None) -> Done:
        """Go on; with a step only for one speech, or to the end of the round."""
        return await self._ask(id, "resume", **without_defaults(step=step))

    async def stop(self, id: str, reason: str = "") -> Done:
        """End the debate; what was said is judged."""
        return await self._ask(id, "stop", **without_defaults(reason=reason))

    async def abort(self, id: str, reason: str = "") -> Done:
        """End the debate without a verdict."""
        return await self._ask(id, "abort", **without_defaults(reason=reason))

    async def skip(self, id: str, *, turn: int | None = None, speech: int | None = None) -> Done:
        """Skip the running speech, the one with this `turn`, or the `speech` at this place of the order.

        Raises ApiError (409) where nobody is speaking and nothing is named. A skip that names its speech can
        be sent again: it does nothing to the next one.
        """
        return await self._ask(id, "skip", **without_defaults(turn=turn, speech=speech))

    async def inject(self, id: str, text: str, *, to: str = "", question: bool = False) -> Done:
        """Say something that every later speaker hears, or only the participant with the id `to`.

        A `question` is heard by all, and answered by that participant, or by everybody.
        """
        return await self._ask(id, "inject", text=text, **without_defaults(to=to, question=question))

    async def extend(self, id: str, *, seconds: float = 0, rounds: int = 0) -> Done:
        """More time for the speech under way, or more rounds."""
        return await self._ask(
            id, "extend", **without_defaults(seconds=seconds or None, rounds=rounds or None)
        )

    async def retry(self, id: str) -> Done:
        """Have the last failed or interrupted speech given again."""
        return await self._ask(id, "retry")

    async def decide(self, id: str, winner: str, reason: str = "") -> Done:
        """Name the winner, a participant's id or `tie`."""
        return await self._ask(id, "decide", winner=winner, **without_defaults(reason=reason))

    async def delete(self, id: str) -> None:
        await self._connection.delete(api_path("debates", id))


def _as(seat: str) -> dict[str, str]:
    return {"as": seat} if seat else {}
