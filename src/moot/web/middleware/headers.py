"""The headers on every reply: request id, rate limit, what a browser may do with it, and CORS."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import Message

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
    """The headers to add to one reply. `origin_matters` where some other origins are allowed."""

    def __init__(self, request_id: str, *, origin_matters: bool) -> None:
        self._request_id = request_id
        self._origin_matters = origin_matters
        self.rate_limit: RateLimitStatus | None = None
        self.allowed_origin = ""
        """The origin of the page that asks, where the operator allows it."""

    def apply(self, message: Message) -> None:
        headers = MutableHeaders(raw=list(message.get("headers", [])))
        headers["X-Request-Id"] = self._request_id
        defaults = dict(COMMON_HEADERS) if message["type"] != "websocket.accept" else {}
        if self.rate_limit is not None:
            defaults |= self.rate_limit.headers
        if headers.get("content-type", "").startswith("text/html"):
            defaults |= PAGE_HEADERS
        for name, value in defaults.items():
            headers.setdefault(name, value)
        if self._origin_matters:
            headers.add_vary_header("Origin")
        if self.allowed_origin:
            headers["Access-Control-Allow-Origin"] = self.allowed_origin
            headers["Access-Control-Expose-Headers"] = EXPOSED
        message["headers"] = headers.raw
