"""What is said about the routes by which people take part."""

from __future__ import annotations

from moot.web.reference.article import ASKED, READ, Article

PEOPLE: dict[str, Article] = {
    "invite": Article(
        tag="People",
        summary="Invite somebody",
        text="A token for this debate alone, in one role: `observer`, `moderator`, `participant` with a "
        "seat, `judge` with a ballot, or `audience`. It is told once, and `link` has it behind the #. With "
        "`many` it is for a whole hall. For owners and moderators.",
        reply="InvitationResponse",
        status=201,
        says="The invitation, with its token.",
        body="Invite",
        needs_body=True,
        once=True,
        refusals=ASKED,
    ),
    "invitations": Article(
        tag="People",
        summary="List invitations",
        text="Those that count, without their tokens. For owners and moderators.",
        reply="InvitationsResponse",
        says="The invitations.",
        refusals=(403, 404, 422),
    ),
    "uninvite": Article(
        tag="People",
        summary="Withdraw an invitation",
        text="Its token counts no longer, and what it has opened is closed within a second. With a link "
        "for many go those who joined by it.",
        status=204,
        says="It is withdrawn.",
        refusals=(403, 404, 422),
    ),
    "join": Article(
        tag="People",
        summary="Join the audience",
        text="For whoever came by a link for many: an invitation of one's own, as a member of the audience. "
        "A vote belongs to one voter.",
        reply="InvitationResponse",
        status=201,
        says="The invitation, with its token.",
        body="Join",
        once=True,
        refusals=ASKED,
    ),
    "look_at_seat": Article(
        tag="People",
        summary="Look at one's seat",
        text="For whoever may speak for it: whether it is their turn and until when, what they have written, "
        "and whether a point of information waits for an answer.",
        reply="SeatResponse",
        says="How things stand at this seat.",
        refusals=(403, 404, 422),
    ),
    "polls": Article(
        tag="Judging and voting",
        summary="See what the votes come to",
        text="While they are sealed: how many were cast.",
        reply="PollsResponse",
        says="The votes.",
        refusals=READ,
    ),
    "verdicts": Article(
        tag="Judging and voting",
        summary="See every verdict",
        text="With its judges and their ballots; the first is what the debate came to. A judge sees none.",
        reply="VerdictsResponse",
        says="The verdicts.",
        refusals=READ,
    ),
}
