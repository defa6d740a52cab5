"""JSON that is read is compressed with gzip, by Starlette's responders.

GZipMiddleware itself would ignore `gzip;q=0`, and compress replies that hold a secret beside text that others
may have chosen: their compressed size would give the secret away, guess by guess. Commands do not come here:
their replies are left as they are.
"""

from __future__ import annotations

import re

from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipResponder, IdentityResponder
from starlette.types import ASGIApp, Receive, Scope, Send

from moot.views.exports import ATTACHED_TYPES

MIN_BYTES = 1024
"""Up to this size a body is sent as it is."""
THREAD_BYTES = 32_768
"""From this size on a body is compressed in a thread, so that the event loop can go on."""
LEVEL = 5
EXCLUDED_TYPES = ("text/*", "image/*", "font/*", "application/problem+json", *ATTACHED_TYPES)
"""Every type but JSON; the files of the page are compressed when they are loaded."""
SECRET_PATHS = re.compile(r"/(?:tokens|tickets|invitations)(?:/|$)")
REFUSED_ENCODING = re.compile(r";q=0(\.0*)?$")


class CompressionMiddleware:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if SECRET_PATHS.search(scope["path"]):
            respond = self._app
        elif accepts_gzip(Headers(scope=scope)):
            respond = GZipResponder(
                self._app,
                MIN_BYTES + 1,
                LEVEL,
                thread_minimum_size=THREAD_BYTES,
                exclude_content_types=EXCLUDED_TYPES,
            )
        else:
            respond = IdentityResponder(self._app, MIN_BYTES + 1, exclude_content_types=EXCLUDED_TYPES)
        await respond(scope, receive, send)


def accepts_gzip(headers: Headers) -> bool:
    offers = headers.get("accept-encoding", "").lower().replace(" ", "").split(",")
    return any(offer.startswith("gzip") and not REFUSED_ENCODING.search(offer) for offer in offers)
