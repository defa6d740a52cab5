"""What is said about each route: the articles from which the description and the page at /docs are made."""

from __future__ import annotations

from moot.api.commands import COMMANDS, PersonCommand
from moot.web.reference.article import ASKED, READ, Article
from moot.web.reference.articles_admin import HOUSE
from moot.web.reference.articles_conversations import ARCHIVE
from moot.web.reference.articles_people import PEOPLE


def _command_article(row: PersonCommand) -> Article:
    return Article(
        tag=row.tag,
        summary=row.label,
        text=row.description,
        reply=row.reply_name,
        status=row.status,
        says=row.response_description,
        body=row.body.__name__,
        needs_body=not row.body.optional,
        once=True,
        keys=row.takes_keys,
        refusals=ASKED,
    )


ARTICLES: dict[str, Article] = {
    "create": Article(
        tag="Debates",
        summary="Open a debate",
        text="The debate begins at once and goes on whether anybody watches or not. Everything that is "
        "wrong with the body is said in one reply.",
        reply="CreateDebateResponse",
        status=201,
        says="The debate is open. `Location` is its address, `streamUrl` its stream.",
        body="CreateDebate",
        needs_body=True,
        once=True,
        keys=True,
        refusals=(403, 409, 415, 422),
    ),
    "list_debates": Article(
        tag="Debates",
        summary="List debates",
        text="Newest first: all of them, or those that fit. With tokens, the debates of the token's owner.",
        reply="ListDebatesResponse",
        says="A page of debates.",
        query="listing",
        refusals=(422,),
    ),
    "status": Article(
        tag="Debates",
        summary="Look at a debate",
        text="How it stands: rounds with the beginning of each speech, whose turn it is, votes, accidents, "
        "costs, and the verdict once there is one.",
        reply="DebateStatusResponse",
        says="How the debate stands.",
        refusals=READ,
    ),
    "look": Article(
        tag="Debates",
        summary="Look at a debate, where it lives",
        text="The same as its status: where `Location` leads to when a debate has been opened.",
        reply="DebateStatusResponse",
        says="How the debate stands.",
        refusals=READ,
    ),
    "export": Article(
        tag="Debates",
        summary="Get the transcript",
        text="The whole debate to keep, at any time. Markdown and HTML come as files; the HTML needs "
        "nothing else and runs nothing. `replay` is an HTML file that plays the debate again, without a "
        "server, as any observer may see it.",
        reply="TranscriptResponse",
        says="The transcript, in the form that was asked for.",
        query="transcript",
        refusals=(403, 404, 422),
    ),
    "delete": Article(
        tag="Debates",
        summary="Delete a debate",
        text="With everything that belongs to it, for good. Those who watch it are told. For owners only.",
        status=204,
        says="It is gone.",
        refusals=(403, 404),
    ),
    "stream": Article(
        tag="Following",
        summary="Follow a debate",
        text="Server-sent events: nine kinds, from the beginning or from behind the last id that was seen. "
        "The stream ends after `complete`, and where the debate failed; until a retry or a judging, the "
        "answer to the last id is then 204. With `extended=true` there are more kinds: `turn`, `reasoning`, "
        "`remark`, `ballot`, `seat`, `clock`, `point` and `poll`.",
        says="Events, each with `event`, `id` and `data`.",
        query="stream",
        refusals=(403, 404, 406, 409, 422),
    ),
    "look_in": Article(
        tag="Following",
        summary="Look at a debate as the page does",
        text="The whole view at one point of the log: what is settled, how it stands, money as text, every "
        "speech, the judges at work, the verdicts; and in `now.open` what may be done. `me` tells who asks, "
        "and what they may. Its changes follow on the stream of the view, from behind `seq`.",
        reply="ViewResponse",
        says="The view, and the number of the last event in it.",
        query="gallery",
        refusals=(403, 404, 422),
    ),
    "frames": Article(
        tag="Following",
        summary="Read the view's changes",
        text="What each event changed in the view, a page at a time: the first of all is the whole view. A "
        "debate is played again with it.",
        reply="FramesResponse",
        says="Changes, each with `seq`, `at` and `ops`.",
        query="event_page",
        refusals=(403, 404, 422),
    ),
    "setup": Article(
        tag="Debates",
        summary="Read how it was set up",
        text="The body that opens the same debate again, with every default filled in. For owners and "
        "moderators: it has the secret objectives and prompts.",
        reply="CreateDebate",
        says="What to send to `POST /api/v1/debates`.",
        refusals=(403, 404, 422),
    ),
    "stream_view": Article(
        tag="Following",
        summary="Follow the view",
        text='Server-sent events without a name: `ops` are changes to the view, `["put", path, value]` or '
        '`["add", path, text]`. The stream does not end with the debate, which may be judged again.',
        says="Events, each with `id` and `data`.",
        query="log",
        refusals=(403, 404, 406, 409, 422),
    ),
    "stream_events": Article(
        tag="Following",
        summary="Follow the log",
        text="The log itself as a stream: one event for each entry, without a name, in the native shape. It "
        "does not end by itself, since the log of a debate that is over may still grow.",
        says="Entries of the log, each with `id` and `data`.",
        query="log",
        refusals=(403, 404, 406, 409, 422),
    ),
    "events": Article(
        tag="Following",
        summary="Read the log",
        text="The native events in pages, `seq` by `seq` without a gap. What the asker may not see leaves "
        "its place behind as `hidden`.",
        reply="EventPage",
        says="A page of the log.",
        query="event_page",
        refusals=(403, 404, 422),
    ),
    "look_at_call": Article(
        tag="Following",
        summary="Look at one call",
        text="What a model was sent, word for word, and what came back. For owners and moderators only: "
        "prompts hold secret objectives.",
        reply="CallResponse",
        says="The call.",
        refusals=(403, 404),
    ),
    "issue_ticket": Article(
        tag="Following",
        summary="Get a ticket for a stream",
        text="A browser's EventSource and WebSocket can send no token. A ticket opens one stream of this "
        "debate, once, within a minute, and shows as much as the token does that asked for it.",
        reply="TicketResponse",
        status=201,
        says="The ticket.",
        body="Nothing",
        refusals=(403, 404, 415, 422),
    ),
    "estimate": Article(
        tag="The house",
        summary="Estimate the cost",
        text="The same body as for opening a debate; nothing is opened and no model is asked. The low end "
        "has speeches that keep to their words, the high end every call at its limit.",
        reply="EstimateResponse",
        says="From what to what.",
        body="CreateDebate",
        needs_body=True,
        keys=True,
        refusals=(403, 415, 422),
    ),
    "models": Article(
        tag="The house",
        summary="List models",
        text="Those that are ready and those that lack something, with what they lack.",
        reply="ModelsResponse",
        says="The models.",
        refusals=(422,),
    ),
    "formats": Article(
        tag="The house",
        summary="List formats",
        text="Who sits where, and who speaks when.",
        reply="FormatsResponse",
        says="The formats.",
        refusals=(422,),
    ),
    "tools": Article(
        tag="The house",
        summary="List tools",
        text="What a debate may allow its participants to use. The servers stand in the operator's file: "
        "none can be brought along.",
        reply="ToolsResponse",
        says="The tools.",
        refusals=(422,),
    ),
    "statistics": Article(
        tag="The house",
        summary="See who wins",
        text="Over all debates that the asker may see, or some of them. A win counts for a model only "
        "against another model. Every rate has the interval in which, to 95 %, the true one lies.",
        reply="StatisticsResponse",
        says="The figures.",
        query="statistics",
        refusals=(422,),
    ),
    **{row.name: _command_article(row) for row in COMMANDS},
    **PEOPLE,
    **ARCHIVE,
    **HOUSE,
}
"""By the name of the route."""
