"""What stands on every reply: the request id, how the client stands, what a browser must not do with it."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Scope

from moot.api.origins import AllowedOrigins
from moot.api.rate_limits import RateLimitStatus

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types dompurify moot"
)
COMMON_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
PAGE_HEADERS = {
    "Content-Security-Policy": CSP,
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
EXPOSED = ", ".join(
    (
        "Location", "Retry-After", "X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining",
        "X-RateLimit-Reset", "X-Debate-Id", "X-Session-Id", "Idempotent-Replayed",
    )
)  # fmt: skip


class ReplyHeaders:
    def __init__(self, scope: Scope, origins: AllowedOrigins) -> None:
        self._scope = scope
        self._origins = origins
        self.request_id = ""
        self.rate_limit: RateLimitStatus | None = None

    def apply(self, message: Message) -> None:
        headers = MutableHeaders(raw=list(message.get("headers", [])))
        headers["X-Request-Id"] = self.request_id
        defaults = dict(COMMON_HEADERS) if message["type"] != "websocket.accept" else {}
        if self.rate_limit is not None:
            defaults |= self.rate_limit.headers
        if headers.get("content-type", "").startswith("text/html"):
            defaults |= PAGE_HEADERS
        for name, value in defaults.items():
            headers.setdefault(name, value)
        if self._origins:
            self._add_cors(headers)
        message["headers"] = headers.raw

    def _add_cors(self, headers: MutableHeaders) -> None:
        """With the pages of allowed origins, and of no other."""
        headers.add_vary_header("Origin")
        origins = [value for name, value in self._scope["headers"] if name == b"origin"]
        if len(origins) == 1 and self._origins.allows(origin := origins[0].decode("latin-1")):
            headers["Access-Control-Allow-Origin"] = origin
            headers["Access-Control-Expose-Headers"] = EXPOSED
