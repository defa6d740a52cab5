"""What people ask for who are in the room: to come in, to sit, to speak, to judge and to vote.

A part of `AsyncClient`: whoever shows an invitation as the token is what it says, and may do that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from moot.client.connection import ServerConnection, api_path
from moot.client.event_shapes import Score
from moot.client.people_shapes import Invitation, Invitations, PollName, Role, SeatState, Tallied, Verdicts
from moot.client.shapes import Done, Judge, Model, full_judge

Anything = dict[str, Any]


class AsyncPeopleRequests:
    _connection: ServerConnection

    # --- coming in ------------------------------------------------------------------------------------

    async def invite(
        self,
        id: str,
        role: Role,
        *,
        seat: str = "",
        judge: str = "",
        name: str = "",
        days: float | None = None,
        many: bool = False,
    ) -> Invitation:
        """A token for this debate alone. With `many`, one for a whole audience: each of them joins by it."""
        asked = without_defaults(role=role, seat=seat, judge=judge, name=name, days=days, many=many)
        return await self._connection.post(
            api_path("debates", id, "invitations"), Invitation, json_body(asked)
        )

    async def invitations(self, id: str) -> tuple[Invitation, ...]:
        """Those there are, without their tokens."""
        return (await self._connection.get(api_path("debates", id, "invitations"), Invitations)).invitations

    async def uninvite(self, id: str, name: str) -> None:
        """That token counts no longer."""
        await self._connection.delete(api_path("debates", id, "invitations", name))

    async def join(self, id: str, name: str = "") -> Invitation:
        """A token of one's own, for the bearer of an invitation that is for many."""
        return await self._connection.post(
            api_path("debates", id, "join"), Invitation, json_body(without_defaults(name=name))
        )

    # --- sitting and speaking -------------------------------------------------------------------------

    async def seat(self, id: str, seat: str) -> SeatState:
        """Who sits there, what they have written, and how much time is left."""
        return await self._connection.get(api_path("debates", id, "seats", seat), SeatState)

    async def take(self, id: str, seat: str) -> Done:
        """Sit down; the model that sat there stands in when one leaves."""
        return await self._ask(id, "seats", seat, "take")

    async def leave(self, id: str, seat: str) -> Done:
        """Get up; from now on the stand-in speaks."""
        return await self._ask(id, "seats", seat, "leave")

    async def draft(self, id: str, seat: str, text: str, *, live: bool = False) -> Done:
        """Keep what was written so far; with `live` viewers see it as it grows."""
        path = api_path("debates", id, "seats", seat, "draft")
        return await self._connection.put(path, Done, json_body(without_defaults(live=live), text=text))

    async def say(self, id: str, seat: str, text: str | None = None) -> Done:
        """Give the speech; without a text, the draft is given."""
        return await self._ask(id, "seats", seat, "speech", **without_defaults(text=text))

    async def offer_point(self, id: str, seat: str, text: str) -> Done:
        """Rise on a point of information while the other side speaks."""
        return await self._ask(id, "seats", seat, "points", text=text)

    async def answer_point(self, id: str, seat: str, accept: bool) -> Done:
        """Take the point that was offered to this seat, or decline it."""
        return await self._ask(id, "seats", seat, "answer", accept=accept)

    async def ask(self, id: str, text: str, *, to: str = "") -> Done:
        """A question that all hear, to one participant (an id) or to everybody."""
        return await self._ask(id, "questions", text=text, **without_defaults(to=to))

    # --- voting and judging ---------------------------------------------------------------------------

    async def vote(self, id: str, choice: str, *, poll: PollName | None = None) -> Done:
        """One vote in the poll that is open, or in the one named: a side, a participant, or `undecided`."""
        return await self._ask(id, "votes", choice=choice, **without_defaults(poll=poll))

    async def polls(self, id: str) -> Tallied:
        """What the audience's votes came to, as far as they are open."""
        return await self._connection.get(api_path("debates", id, "polls"), Tallied)

    async def close_poll(self, id: str) -> Done:
        return await self._ask(id, "polls", "close")

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
        """A person's decision: the winner's id or `tie`, why, and the speeches (turns) it rests on."""
        points = {
            who: Score(one) if isinstance(one, int | float) else one for who, one in (scores or {}).items()
        }
        more = without_defaults(
            judge=judge, scores=points, criteria=dict(criteria or {}), ranking=list(ranking)
        )
        return await self._ask(id, "ballots", winner=winner, reasoning=reasoning, cites=list(cites), **more)

    async def rejudge(
        self,
        id: str,
        judges: Sequence[Judge | Model | str] = (),
        *,
        reason: str = "",
        cost_limit: float | None = None,
    ) -> Done:
        """Have a debate that is over judged again, by these judges or its own; the first verdict stays."""
        panel = [full_judge(judge) for judge in judges]
        return await self._ask(
            id, "rejudge", **without_defaults(judges=panel, reason=reason, costLimit=cost_limit)
        )

    async def verdicts(self, id: str) -> Verdicts:
        """Every verdict with its ballots; the first is what the debate came to."""
        return await self._connection.get(api_path("debates", id, "verdicts"), Verdicts)

    async def _ask(self, id: str, *what: str, **asked: Any) -> Done:
        return await self._connection.post(api_path("debates", id, *what), Done, json_body(asked))


def without_defaults(**asked: Any) -> Anything:
    """What was said of it: an empty word, a no and a nothing take the server's default."""
    return {
        name: value for name, value in asked.items() if value is not False and value not in (None, "", {}, [])
    }


def json_body(asked: Anything, **always: Any) -> bytes:
    whole = {**asked, **always}
    return msgspec.json.encode(whole) if whole else b""
