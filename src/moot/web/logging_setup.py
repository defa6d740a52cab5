"""The server's log: one handler, text or JSON, and one place through which every line goes on its way out.

There our own keys and tokens, those that clients send, and whatever else is shaped like a key are blotted
out, in tracebacks too. Nothing is logged of queries, headers and bodies in the first place; this is the net
below that.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TextIO
from urllib.parse import parse_qsl, unquote, urlsplit

import structlog
from structlog.typing import EventDict, WrappedLogger

from moot.core.diagnostics import current_fields
from moot.providers.redaction import MASK, redact
from moot.settings import Settings
from moot.tools.tool_settings import secret_values as tool_words

MIN_SECRET_LENGTH = 8
"""Shorter words are no keys, and blotting them out would make a log unreadable."""
MIN_SENT_LENGTH = 16
MAX_SENT = 256

QUIET_LOGGERS = (
    "aiohttp", "asyncio", "httpx", "httpx2", "httpcore2", "limits", "mcp", "procrastinate", "redis",
    "uvicorn", "websockets",
)  # fmt: skip
"""What others say below a warning is about bytes on the wire, and those hold keys."""

ERROR_ONLY_LOGGERS = ("psycopg", "psycopg.pool")
"""They warn of every try to reach a database that is away, with its address; we tell of it once."""

_sent_secrets: dict[str, None] = {}
_request_secrets: ContextVar[tuple[str, ...]] = ContextVar("sent with this request", default=())

log = logging.getLogger("moot")


def hide_secret(word: str) -> None:
    """Never print this word: a client has sent it as its key. The latest few hundred are remembered."""
    if len(word) < MIN_SENT_LENGTH:
        return
    _sent_secrets.pop(word, None)
    _sent_secrets[word] = None
    if len(_sent_secrets) > MAX_SENT:
        del _sent_secrets[next(iter(_sent_secrets))]


def hide_in_request(*words: str) -> None:
    """Not in the lines of this request. What anybody may send must not blot out the lines of others."""
    _request_secrets.set(tuple(word for word in words if len(word) >= MIN_SECRET_LENGTH))


def set_up_logging(settings: Settings, *, level: int = logging.INFO, stream: TextIO | None = None) -> None:
    """From here on whatever is logged, raised or warned about in this process comes out here."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(formatter(settings))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    log.handlers, log.propagate = [], True
    log.setLevel(level)
    for name in QUIET_LOGGERS:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    for name in ERROR_ONLY_LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
    logging.captureWarnings(True)
    sys.excepthook = _log_unhandled
    threading.excepthook = _log_unhandled_in_thread


def log_loop_errors(loop: asyncio.AbstractEventLoop) -> None:
    """What a task leaves behind is logged by its message; the reprs that asyncio adds are left out."""

    def complain(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        log.error("background task failed: %s", context.get("message", ""), exc_info=context.get("exception"))

    loop.set_exception_handler(complain)


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """The keys that we know."""
    words = [secret.reveal() for secret in settings.keys.values()]
    for endpoint in settings.endpoints:
        words += [settings.environ.get(name, "").strip() for name in endpoint.keys]
    for server in settings.tools:
        words += tool_words(server, settings.environ)
    if settings.service.token is not None:
        words.append(settings.service.token.reveal())
    for address in (settings.cluster.store, settings.cluster.bus):
        if address is not None:
            words += _address_secrets(address.reveal())
    # Longest first: one key may be the beginning of another.
    return tuple(sorted({word for word in words if len(word) >= MIN_SECRET_LENGTH}, key=len, reverse=True))


def _address_secrets(address: str) -> list[str]:
    """The address as a whole and its password, as it is written there and as others print it."""
    try:
        parts = urlsplit(address)
    except ValueError:
        # Not a URL: the store or the bus that uses it reports that.
        return [address]
    behind = [value for name, value in parse_qsl(parts.query) if "password" in name]
    written = parts.password or ""
    return [address, written, unquote(written), *behind]


class SecretFilter:
    """Every text of a line, its traceback included, without the keys."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        self._secrets = secrets

    def __call__(self, _: WrappedLogger, __: str, event: EventDict) -> EventDict:
        return {
            name: value if isinstance(value, int | float) else self.redacted(str(value))
            for name, value in event.items()
        }

    def redacted(self, text: str) -> str:
        for word in (*self._secrets, *_sent_secrets, *_request_secrets.get()):
            text = text.replace(word, MASK)
        return redact(text)


def formatter(settings: Settings) -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.stdlib.ExtraAdder(),
            _add_log_context,
        ],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.StackInfoRenderer(),
            structlog.processors.format_exc_info,
            SecretFilter(secrets_of(settings)),
            structlog.processors.JSONRenderer() if settings.service.log == "json" else _line,
        ],
    )


def _add_log_context(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """With the request, debate and turn it belongs to; what the line says itself counts for more."""
    return {**event, **{name: mark for name, mark in current_fields().items() if name not in event}}


def _line(_: WrappedLogger, __: str, event: EventDict) -> str:
    """For people. Whatever could pass for the end of a line is shown as what it is."""
    traceback = event.pop("exception", "")
    head = [event.pop("timestamp"), event.pop("level").upper(), event.pop("logger"), event.pop("event")]
    fields = [f"{name}={value}" for name, value in event.items()]
    line = " ".join(str(part).encode("unicode_escape").decode() for part in (*head, *fields))
    return f"{line}\n{traceback}" if traceback else line


def _log_unhandled(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        return
    log.critical("unexpected error", exc_info=(kind, error, where))


def _log_unhandled_in_thread(failed: threading.ExceptHookArgs) -> None:
    if failed.exc_value is not None:
        _log_unhandled(failed.exc_type, failed.exc_value, failed.exc_traceback)
