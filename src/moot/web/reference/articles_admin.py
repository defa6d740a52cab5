"""What is said about the routes at the steward's desk."""

from __future__ import annotations

from moot.web.reference.article import Article

HOUSE: dict[str, Article] = {
    "providers": Article(
        tag="The house",
        summary="See what works",
        text="Each provider: whether it can be asked, which variable may hold its key, what it lacks, and "
        "its models. Of a key nothing is told but the name of its variable.",
        reply="ProvidersResponse",
        says="The providers.",
        refusals=(422,),
    ),
    "installs": Article(
        tag="The house",
        summary="List models to install",
        text="The models that run on the server's own machine: here, absent, or on their way.",
        reply="InstallsResponse",
        says="The models.",
        refusals=(422,),
    ),
    "install": Article(
        tag="The house",
        summary="Install a model",
        text="For the operator. It goes on by itself, one after the other, and where it was broken off; "
        "whoever asks for one that is under way joins it. How far it has come is in the list.",
        reply="InstallResponse",
        status=202,
        says="It is under way, or here.",
        body="Nothing",
        refusals=(403, 404, 415, 422),
    ),
    "stop_install": Article(
        tag="The house",
        summary="Stop an install",
        text="For the operator. What has been fetched is kept for the next time.",
        status=204,
        says="Nothing is under way any more.",
        refusals=(403, 404, 422),
    ),
    "tokens": Article(
        tag="The house",
        summary="List tokens",
        text="For the operator. The tokens themselves are stored nowhere.",
        reply="TokensResponse",
        says="The tokens, by name.",
        refusals=(403, 422),
    ),
    "new_token": Article(
        tag="The house",
        summary="Make a token",
        text="For the operator. Once there is a token, every request needs one: make the first with care.",
        reply="TokenResponse",
        status=201,
        says="The token, told this once.",
        body="NewToken",
        needs_body=True,
        once=True,
        refusals=(403, 409, 415, 422),
    ),
    "revoke_token": Article(
        tag="The house",
        summary="Revoke a token",
        text="For the operator. What it has opened is closed within seconds.",
        status=204,
        says="It counts no longer.",
        refusals=(403, 404, 422),
    ),
}
"""By the name of the route."""
