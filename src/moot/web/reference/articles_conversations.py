"""What is said about the routes at the archive's desk."""

from __future__ import annotations

from moot.web.reference.article import READ, Article

ARCHIVE: dict[str, Article] = {
    "conversations": Article(
        tag="Conversations",
        summary="List imported conversations",
        text="What `moot import legacy` has brought, apart from the debates; those that came last first. "
        "With tokens, for owners and moderators, and of their own imports.",
        reply="ConversationsResponse",
        says="A page of conversations.",
        query="browsing",
        refusals=(403, 422),
    ),
    "look_at_conversation": Article(
        tag="Conversations",
        summary="Look at a conversation",
        text="A debate or an imported conversation, by its id.",
        reply="ConversationResponse",
        says="What it is, and how long.",
        refusals=READ,
    ),
    "conversation_events": Article(
        tag="Conversations",
        summary="Read a conversation",
        text="Its events in order, each with its segments: text, thoughts, tool calls and results as they "
        "came. A speech under way stands there as far as it is durable; ask again with `after` = `next`, or "
        "follow `/debates/{debateId}/events/stream`. `shape=legacy` is the older shape, with one `reasoning` "
        "beside the segments: of several thoughts the parts are joined there, in order.",
        reply="ConversationEventsResponse",
        says="A page of events.",
        query="reading",
        refusals=(403, 404, 422),
    ),
}
"""By the name of the route."""
