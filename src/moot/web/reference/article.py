"""What an article about a route is made of, and the chapters in which they stand."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

PREFIX = "/api/v1"

Tag = Literal[
    "Debates", "Following", "Steering", "People", "Judging and voting", "Conversations", "The house",
    "Compatibility APIs", "Health",
]  # fmt: skip
TAGS: dict[Tag, str] = {
    "Debates": "Open a debate, look at it, take it with you, delete it.",
    "Following": "What happens, as it happens; and the log that all of it is made from.",
    "Steering": "What may be asked of a debate under way. What cannot be done now is answered with 409.",
    "People": "Who may come, and what they do: sit in a seat, write, speak, rise on a point, ask a question.",
    "Judging and voting": "Ballots of people, votes of the audience, and every verdict there is.",
    "Conversations": "Debates as conversations of segments, and those imported from elsewhere. To read only.",
    "The house": "What there is to choose from, what it would cost, and how it went so far.",
    "Compatibility APIs": "The same debates, for clients that were written for other APIs.",
    "Health": "For those who watch over the server. Open to all, and not counted.",
}


class Article(Struct, frozen=True, kw_only=True):
    tag: Tag
    summary: str
    text: str
    reply: str = ""
    """The schema of what comes back; empty where it is no JSON."""
    events: str = ""
    """Where the reply is a stream of another door: its events, by their name in `DOOR_EVENTS`."""
    simply: str = ""
    """The schema of a 400 that is told in another door's own form, and not as a problem."""
    status: int = 200
    says: str = "As asked."
    body: str = ""
    """The schema of what is sent."""
    needs_body: bool = False
    query: str = ""
    """The name of its parameters in `queries.PARAMETERS`."""
    once: bool = False
    """Takes an Idempotency-Key."""
    keys: bool = False
    """Takes keys of the asker's own."""
    refusals: tuple[int, ...] = ()
    """Beside those that every route has."""


READ = (404, 422)
ASKED = (403, 404, 409, 415, 422)
