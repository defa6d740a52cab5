"""The same client for programs that simply wait: every method of `AsyncClient`, run to its end.

Each client has an event loop of its own, which turns only while one of its methods is being waited for.
Streams are generators; leaving one early closes its connection.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from types import TracebackType
from typing import Literal, overload

from moot.client.async_client import DEFAULTS, Action, AsyncClient, Step
from moot.client.event_shapes import Event, Record
from moot.client.people_requests import Anything
from moot.client.shapes import Config, Created, Debater, Debates, Done, Judge, Model, Models, Records, Status
from moot.client.streams import StreamTimeouts
from moot.client.sync_admin_requests import AdminRequests
from moot.client.sync_people_requests import PeopleRequests


class Client(PeopleRequests, AdminRequests):
    """A client of a Moot server, with blocking calls.

        with Client() as moot:
            for event in moot.stream("deb_…"):
                print(event.name, event.data)

    It has the methods of `AsyncClient`; use that one where an event loop is already running.
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
        return self._asks.server

    @property
    def away(self) -> bool:
        """Whether a stream has lost the server and is trying to reconnect."""
        return self._asks.away

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    # --- opening --------------------------------------------------------------------------------------

    def create(
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
        return self._run(
            self._asks.create(
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
        participants: Sequence[Debater],
        judge: Judge | Model | str,
        judges: Sequence[Judge | Model | str] = (),
        format: str = "oxford",
        config: Config = DEFAULTS,
    ) -> Anything:
        """What such a debate would cost, from and to."""
        return self._run(
            self._asks.estimate(
                topic, participants=participants, judge=judge, judges=judges, format=format, config=config
            )
        )

    # --- looking --------------------------------------------------------------------------------------

    def status(self, id: str) -> Status:
        return self._run(self._asks.status(id))

    def list(self, *, status: str = "", search: str = "", limit: int = 20, offset: int = 0) -> Debates:
        """Newest first; with `search`, those whose motion has this in it."""
        return self._run(self._asks.list(status=status, search=search, limit=limit, offset=offset))

    @overload
    def transcript(
        self, id: str, format: Literal["json"] = "json", *, reasoning: bool = False, seat: str = ""
    ) -> Anything: ...

    @overload
    def transcript(
        self,
        id: str,
        format: Literal["markdown", "html", "replay"],
        *,
        reasoning: bool = False,
        seat: str = "",
    ) -> str: ...

    def transcript(
        self,
        id: str,
        format: Literal["json", "markdown", "html", "replay"] = "json",
        *,
        reasoning: bool = False,
        seat: str = "",
    ) -> Anything | str:
        """With `reasoning`, also what the speakers thought, where you may read it. With `seat`, no more than
        the person of that seat may see; the same in what follows."""
        if format == "json":
            return self._run(self._asks.transcript(id, reasoning=reasoning, seat=seat))
        return self._run(self._asks.transcript(id, format, reasoning=reasoning, seat=seat))

    def events(self, id: str, *, after: int = 0, limit: int = 100, seat: str = "") -> Records:
        """A piece of the native log."""
        return self._run(self._asks.events(id, after=after, limit=limit, seat=seat))

    def view(self, id: str, *, seat: str = "") -> Anything:
        """The debate as the page shows it, every rule applied: `seq`, `view`, and in `me` what you may do."""
        return self._run(self._asks.view(id, seat=seat))

    def setup(self, id: str) -> Anything:
        """The body that it was opened with, such as another is opened with. For owners and moderators."""
        return self._run(self._asks.setup(id))

    def call(self, id: str, number: int) -> Anything:
        """What a model was sent, and what came back. For owners and moderators."""
        return self._run(self._asks.call(id, number))

    def models(self) -> Models:
        return self._run(self._asks.models())

    def formats(self) -> Anything:
        return self._run(self._asks.formats())

    def tools(self) -> Anything:
        """What a debate may allow: `Config(tools=[...])`."""
        return self._run(self._asks.tools())

    def statistics(self) -> Anything:
        return self._run(self._asks.statistics())

    def health(self) -> Anything:
        return self._run(self._asks.health())

    # --- following ------------------------------------------------------------------------------------

    def stream(
        self, id: str, *, after: str | int = 0, extended: bool = False, seat: str = ""
    ) -> Generator[Event, None, None]:
        """Every event after the one with the id `after`, up to `complete` or a failure of the debate.

        Broken connections are mended. After a retry or a judging, ask again with the last id as `after`.
        With `extended` there are events of more names than nine, with what the speakers think among them.
        """
        return self._each(self._asks.stream(id, after=after, extended=extended, seat=seat))

    def log(self, id: str, *, after: int = 0, seat: str = "") -> Generator[Record, None, None]:
        """Every record of the native log, for as long as the debate exists."""
        return self._each(self._asks.log(id, after=after, seat=seat))

    def view_changes(self, id: str, *, after: int = 0, seat: str = "") -> Generator[Anything, None, None]:
        """What changes in the view behind its `seq`, for as long as the debate exists: `seq`, `at`, `ops`."""
        return self._each(self._asks.view_changes(id, after=after, seat=seat))

    def ticket(self, id: str) -> str:
        """Lets a browser open one stream of this debate, once and soon, without the token in its address."""
        return self._run(self._asks.ticket(id))

    # --- steering -------------------------------------------------------------------------------------

    def rounds(self, id: str, action: Action = "next_round") -> Done:
        return self._run(self._asks.rounds(id, action))

    def judge(self, id: str, reason: str = "") -> Done:
        """End the speeches and ask the judge now."""
        return self._run(self._asks.judge(id, reason))

    def pause(self, id: str, *, now: bool = False) -> Done:
        """After the running speech; with `now` it is cut, and given again later."""
        return self._run(self._asks.pause(id, now=now))

    def resume(self, id: str, *, step: Step | None = None) -> Done:
        """Go on; with a step only for one speech, or to the end of the round."""
        return self._run(self._asks.resume(id, step=step))

    def stop(self, id: str, reason: str = "") -> Done:
        """End the debate; what was said is judged."""
        return self._run(self._asks.stop(id, reason))

    def abort(self, id: str, reason: str = "") -> Done:
        """End the debate without a verdict."""
        return self._run(self._asks.abort(id, reason))

    def skip(self, id: str, *, turn: int | None = None, speech: int | None = None) -> Done:
        """Skip the running speech, the one with this `turn`, or the `speech` at this place of the order.

        Raises ApiError (409) where nobody is speaking and nothing is named. A skip that names its speech can
        be sent again: it does nothing to the next one.
        """
        return self._run(self._asks.skip(id, turn=turn, speech=speech))

    def inject(self, id: str, text: str, *, to: str = "", question: bool = False) -> Done:
        """Say something that every later speaker hears, or only the participant with the id `to`.

        A `question` is heard by all, and answered by that participant, or by everybody.
        """
        return self._run(self._asks.inject(id, text, to=to, question=question))

    def extend(self, id: str, *, seconds: float = 0, rounds: int = 0) -> Done:
        """More time for the speech under way, or more rounds."""
        return self._run(self._asks.extend(id, seconds=seconds, rounds=rounds))

    def retry(self, id: str) -> Done:
        """Have the last failed or interrupted speech given again."""
        return self._run(self._asks.retry(id))

    def decide(self, id: str, winner: str, reason: str = "") -> Done:
        """Name the winner, a participant's id or `tie`."""
        return self._run(self._asks.decide(id, winner, reason))

    def delete(self, id: str) -> None:
        self._run(self._asks.delete(id))
