"""The people in the room, for programs that simply wait: what `AsyncRoom` can be asked, run to its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from moot.client.event_shapes import Score
from moot.client.people_shapes import Invitation, PollName, Role, SeatState, Tallied, Verdicts
from moot.client.run_sync import SyncRunner
from moot.client.shapes import Done, Judge, Model


class PeopleRequests(SyncRunner):
    # --- coming in ------------------------------------------------------------------------------------

    def invite(
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
        return self._run(self._asks.invite(id, role, seat=seat, judge=judge, name=name, days=days, many=many))

    def invitations(self, id: str) -> tuple[Invitation, ...]:
        """Those there are, without their tokens."""
        return self._run(self._asks.invitations(id))

    def uninvite(self, id: str, name: str) -> None:
        """That token counts no longer."""
        self._run(self._asks.uninvite(id, name))

    def join(self, id: str, name: str = "") -> Invitation:
        """A token of one's own, for the bearer of an invitation that is for many."""
        return self._run(self._asks.join(id, name))

    # --- sitting and speaking -------------------------------------------------------------------------

    def seat(self, id: str, seat: str) -> SeatState:
        """Who sits there, what they have written, and how much time is left."""
        return self._run(self._asks.seat(id, seat))

    def take(self, id: str, seat: str) -> Done:
        """Sit down; the model that sat there stands in when one leaves."""
        return self._run(self._asks.take(id, seat))

    def leave(self, id: str, seat: str) -> Done:
        """Get up; from now on the stand-in speaks."""
        return self._run(self._asks.leave(id, seat))

    def draft(self, id: str, seat: str, text: str, *, live: bool = False) -> Done:
        """Keep what was written so far; with `live` viewers see it as it grows."""
        return self._run(self._asks.draft(id, seat, text, live=live))

    def say(self, id: str, seat: str, text: str | None = None) -> Done:
        """Give the speech; without a text, the draft is given."""
        return self._run(self._asks.say(id, seat, text))

    def offer_point(self, id: str, seat: str, text: str) -> Done:
        """Rise on a point of information while the other side speaks."""
        return self._run(self._asks.offer_point(id, seat, text))

    def answer_point(self, id: str, seat: str, accept: bool) -> Done:
        """Take the point that was offered to this seat, or decline it."""
        return self._run(self._asks.answer_point(id, seat, accept))

    def ask(self, id: str, text: str, *, to: str = "") -> Done:
        """A question that all hear, to one participant (an id) or to everybody."""
        return self._run(self._asks.ask(id, text, to=to))

    # --- voting and judging ---------------------------------------------------------------------------

    def vote(self, id: str, choice: str, *, poll: PollName | None = None) -> Done:
        """One vote in the poll that is open, or in the one named: a side, a participant, or `undecided`."""
        return self._run(self._asks.vote(id, choice, poll=poll))

    def polls(self, id: str) -> Tallied:
        """What the audience's votes came to, as far as they are open."""
        return self._run(self._asks.polls(id))

    def close_poll(self, id: str) -> Done:
        return self._run(self._asks.close_poll(id))

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
        """A person's decision: the winner's id or `tie`, why, and the speeches (turns) it rests on."""
        return self._run(
            self._asks.cast_ballot(
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
        judges: Sequence[Judge | Model | str] = (),
        *,
        reason: str = "",
        cost_limit: float | None = None,
    ) -> Done:
        """Have a debate that is over judged again, by these judges or its own; the first verdict stays."""
        return self._run(self._asks.rejudge(id, judges, reason=reason, cost_limit=cost_limit))

    def verdicts(self, id: str) -> Verdicts:
        """Every verdict with its ballots; the first is what the debate came to."""
        return self._run(self._asks.verdicts(id))
