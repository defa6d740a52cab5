"""The server's log: one handler, text or JSON, and one function that redacts every line.

Our own keys and tokens, those that clients send, and everything that has the form of a key are replaced, in
tracebacks too. Queries, headers and bodies are not logged at all; this is the second line of defence. What a
database says of itself in a traceback is redacted further: it names users and hosts, and quotes rows.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
import threading
from collections.abc import Iterable
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO
from urllib.parse import parse_qsl, unquote, urlsplit

from moot.core.log_fields import current_fields
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

DATABASE_WORDS = re.compile(
    r"^[ |+-]*(?:psycopg|redis|sqlite3|procrastinate)[\w.]*: .*?"
    r"(?=^\s*$|^[ |+-]*(?:Traceback|The above|During handling) |\Z)",
    re.MULTILINE | re.DOTALL,
)
"""In a traceback: the message of an error of a database, also where it has several lines."""
QUOTED_ROWS = re.compile(r"^([ |+-]*(?:DETAIL|CONTEXT|HINT|QUERY|STATEMENT|PARAMETERS):[ ]*).*", re.MULTILINE)
"""Lines in which PostgreSQL quotes values and statements."""
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")

RECORD_ATTRIBUTES = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime"}
"""What every record has; its other attributes are the fields given as `extra`."""

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
    handler.setFormatter(LogFormatter(settings))
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
    words.append(settings.environ.get("HF_TOKEN", "").strip())
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
    written = _written_password(address)
    return [address, written, unquote(written), *behind]


def _written_password(address: str) -> str:
    """Up to the last @, also where it has a slash in it, at which other readers end it."""
    return address.partition("://")[2].rpartition("@")[0].partition(":")[2]


def _database_words(addresses: Iterable[str]) -> list[str]:
    """What a database may say of these addresses: passwords, also in pieces and short ones, users, hosts."""
    words: list[str] = []
    for address in addresses:
        userinfo, _, rest = address.partition("://")[2].rpartition("@")
        user, _, password = userinfo.partition(":")
        host, _, port = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition(":")
        pieces = re.split(r"[/?#:@]", password)
        words += [*_address_secrets(address), *pieces, unquote(user), (host or port).strip("[]")]
    found = {word for word in words if word and word not in LOOPBACK_HOSTS}
    return sorted(found, key=len, reverse=True)


class LogFormatter(logging.Formatter):
    """A record as one line, text or JSON, with all keys redacted, also in its traceback.

    Its fields are those given as `extra`, and the request, debate and turn that it belongs to. `addresses`
    are those of databases beside those of the settings.
    """

    def __init__(self, settings: Settings, addresses: Iterable[str] = ()) -> None:
        super().__init__()
        self._secrets = secrets_of(settings)
        known = (settings.cluster.store, settings.cluster.bus)
        self._database_words = _database_words([*(one.reveal() for one in known if one), *addresses])
        self._saved_keys = settings.saved_keys
        self._json = settings.service.log == "json"

    def format(self, record: logging.LogRecord) -> str:
        fields = self._redacted_fields(_fields_of(record, self))
        timestamp = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        head = {"level": record.levelname.lower(), "logger": record.name, "timestamp": timestamp}
        event = fields.pop("event")
        if self._json:
            return json.dumps({"event": event, **head, **fields})
        return _text_line(head, event, fields)

    def redacted(self, text: str) -> str:
        saved = self._saved_keys.all().values() if self._saved_keys else ()
        saved_words = [key.reveal() for key in saved if len(key.reveal()) >= MIN_SECRET_LENGTH]
        for word in (*self._secrets, *saved_words, *_sent_secrets, *_request_secrets.get()):
            text = text.replace(word, MASK)
        return redact(DATABASE_WORDS.sub(self._redacted_words, text))

    def _redacted_words(self, words: re.Match[str]) -> str:
        text = QUOTED_ROWS.sub(rf"\1{MASK}", words[0])
        for word in self._database_words:
            text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", lambda _: MASK, text)
        return text

    def _redacted_fields(self, fields: dict[str, Any]) -> dict[str, Any]:
        texts = {
            name: value if isinstance(value, int | float) else str(value) for name, value in fields.items()
        }
        joined = "\n".join([text for text in texts.values() if isinstance(text, str)])
        if self.redacted(joined) == joined:
            return texts
        return {name: self.redacted(text) if isinstance(text, str) else text for name, text in texts.items()}


def _fields_of(record: logging.LogRecord, formatter: logging.Formatter) -> dict[str, Any]:
    """The message and the fields of a record; a field of the record itself has priority over its context."""
    extra = {name: value for name, value in record.__dict__.items() if name not in RECORD_ATTRIBUTES}
    fields: dict[str, Any] = {"event": record.getMessage(), **extra}
    for name, value in current_fields().items():
        fields.setdefault(name, value)
    if record.stack_info:
        fields["stack"] = record.stack_info
    if record.exc_info and record.exc_info[0] is not None:
        fields["exception"] = formatter.formatException(record.exc_info)
    return fields


def _text_line(head: dict[str, str], event: Any, fields: dict[str, Any]) -> str:
    """Characters that could end a line are shown as escapes."""
    traceback = fields.pop("exception", "")
    start = f"{head['timestamp']} {head['level'].upper()} {head['logger']} {event}"
    line = " ".join([start, *(f"{name}={value}" for name, value in fields.items())])
    line = line.encode("unicode_escape").decode()
    return f"{line}\n{traceback}" if traceback else line


def _log_unhandled(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        return
    log.critical("unexpected error", exc_info=(kind, error, where))


def _log_unhandled_in_thread(failed: threading.ExceptHookArgs) -> None:
    if failed.exc_value is not None:
        _log_unhandled(failed.exc_type, failed.exc_value, failed.exc_traceback)
