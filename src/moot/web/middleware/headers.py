"""The headers of requests, by name, and those on every reply: request id, rate limit, CORS and so on."""

from __future__ import annotations

from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Scope

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
        "X-RateLimit-Reset", "X-Debate-Id", "X-Session-Id", "Idempotent-Replayed", "traceparent",
    )
)  # fmt: skip


class RequestHeaders(Headers):
    """The headers of a request, by name: each request is checked for a dozen of them, and has few."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope=scope)
        self._values: dict[str, list[str]] = {}
        for name, value in self.raw:
            self._values.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))

    def getlist(self, key: str) -> list[str]:
        return list(self._values.get(key.lower(), ()))

    def get(self, key: str, default: Any = None) -> Any:
        values = self._values.get(key.lower())
        return values[0] if values else default

    def __getitem__(self, key: str) -> str:
        return self._values[key.lower()][0]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.lower() in self._values

    def with_prefix(self, prefix: str) -> list[str]:
        """The values of all headers whose names, in lower case, begin with the prefix."""
        return [value for name, values in self._values.items() if name.startswith(prefix) for value in values]


class ReplyHeaders:
    """The headers to add to one reply. `origin_matters` where some other origins are allowed."""

    def __init__(self, request_id: str, trace_parent: str = "", *, origin_matters: bool) -> None:
        self._request_id = request_id
        self._trace_parent = trace_parent
        self._origin_matters = origin_matters
        self.rate_limit: RateLimitStatus | None = None
        self.allowed_origin = ""
        """The origin of the page that asks, where the operator allows it."""

    def apply(self, message: Message) -> None:
        headers = MutableHeaders(raw=list(message.get("headers", [])))
        headers["X-Request-Id"] = self._request_id
        if self._trace_parent:
            headers["traceparent"] = self._trace_parent
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
