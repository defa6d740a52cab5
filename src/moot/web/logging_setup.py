"""The server's log: one handler, text or JSON, and one function that redacts every line.

Our own keys and tokens, those that clients send, and everything that has the form of a key are replaced, in
tracebacks too. Queries, headers and bodies are not logged at all; this is the second line of defence.
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
"""Shorter words are not keys, and replacing them would make a log unreadable."""
MIN_SENT_LENGTH = 16
MAX_SENT = 256

QUIET_LOGGERS = (
    "aiohttp", "asyncio", "httpx", "httpx2", "httpcore2", "limits", "mcp", "procrastinate", "redis",
    "uvicorn", "websockets",
)  # fmt: skip
"""Libraries whose messages below a warning show bytes of connections, which may contain keys."""

ERROR_ONLY_LOGGERS = ("psycopg", "psycopg.pool")
"""Libraries that warn at each attempt to reach a database, with its address; we log it once."""

_sent_secrets: dict[str, None] = {}
_request_secrets: ContextVar[tuple[str, ...]] = ContextVar("sent with this request", default=())

log = logging.getLogger("moot")


def hide_secret(word: str) -> None:
    """Redact this word from now on: a client has sent it as a key. The latest few hundred are remembered."""
    if len(word) < MIN_SENT_LENGTH:
        return
    _sent_secrets.pop(word, None)
    _sent_secrets[word] = None
    if len(_sent_secrets) > MAX_SENT:
        del _sent_secrets[next(iter(_sent_secrets))]


def hide_in_request(*words: str) -> None:
    """Redact these words in the lines of this request only: anyone could blank out other lines with them."""
    _request_secrets.set(tuple(word for word in words if len(word) >= MIN_SECRET_LENGTH))


def set_up_logging(settings: Settings, *, level: int = logging.INFO, stream: TextIO | None = None) -> None:
    """Send all log lines, uncaught errors and warnings of this process through this handler."""
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
    """Log the message of an asyncio error, without the reprs that asyncio adds."""

    def complain(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        log.error("background task failed: %s", context.get("message", ""), exc_info=context.get("exception"))

    loop.set_exception_handler(complain)


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """The keys and tokens of the settings."""
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
    """The address and its password, as written and percent-decoded."""
    try:
        parts = urlsplit(address)
    except ValueError:
        # Not a URL: the store or the bus that uses it reports that.
        return [address]
    behind = [value for name, value in parse_qsl(parts.query) if "password" in name]
    written = parts.password or ""
    return [address, written, unquote(written), *behind]


class SecretFilter:
    """The line with all keys redacted, also in its traceback."""

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
    """Adds the request, debate and turn of the line; fields of the line itself have priority."""
    return {**event, **{name: mark for name, mark in current_fields().items() if name not in event}}


def _line(_: WrappedLogger, __: str, event: EventDict) -> str:
    """The line as text. Characters that could end a line are shown as escapes."""
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
