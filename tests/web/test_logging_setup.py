"""The server's log: what it tells, and that it tells no secret, at any level, from anywhere."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from starlette.types import Receive, Scope, Send

from moot.core.errors import StoreError
from moot.core.log_fields import current_fields, log_fields
from moot.core.terms import Request
from moot.providers.keys import Secret
from moot.providers.scripted import Cue, ScriptedProvider, improvise
from moot.settings import ClusterSettings, ServerSettings, Settings
from moot.web import logging_setup
from tests.support.restore_logging import log_as_it_was  # noqa: F401 - a fixture
from tests.web.apps import Echo, broken
from tests.web.conftest import Serving
from tests.web.raw_client import exchange, request
from tests.web.routes.served import serving as served

IN_FILE = "file-canary-0123456789"


IN_ENVIRONMENT = 'env-canary"with-a-quote-0123456789'


OF_OPERATOR = "operator-canary-0123456789"


OF_CLIENT = "client-canary-0123456789"


SHAPED = "sk-ant-api03-shaped0canary0abcdefgh"


CANARIES = (IN_FILE, IN_ENVIRONMENT, OF_OPERATOR, OF_CLIENT, SHAPED, "canary")


SetUp = Callable[..., io.StringIO]


@pytest.fixture
def set_up(tmp_path: Path, log_as_it_was: None) -> SetUp:  # noqa: F811 - the fixture
    """Turn the log on as the server does, into a string."""

    def start(form: str = "text", level: int = logging.DEBUG) -> io.StringIO:
        service: Any = {"log": form, "token": Secret(OF_OPERATOR)}
        settings = Settings(
            data=tmp_path,
            keys={"openai": Secret(IN_FILE)},
            environ={"ANTHROPIC_API_KEY": IN_ENVIRONMENT},
            service=ServerSettings(**service),
        )
        stream = io.StringIO()
        logging_setup.set_up_logging(settings, level=level, stream=stream)
        return stream

    return start


def leak(*_: object) -> None:
    """Fails with every secret in its message and in the reprs of its causes."""
    try:
        raise ValueError({"key": IN_FILE, "other": IN_ENVIRONMENT})
    except ValueError as error:
        raise RuntimeError(f"Bearer {OF_OPERATOR}, {SHAPED}, {OF_CLIENT}") from error


def caught() -> BaseException:
    try:
        leak()
    except RuntimeError as error:
        return error
    raise AssertionError


@pytest.mark.parametrize("form", ["text", "json"])
async def test_no_secret_comes_out_by_any_door(set_up: SetUp, form: str) -> None:
    stream = set_up(form)
    logging_setup.hide_secret(OF_CLIENT)
    logger = logging.getLogger("moot.anything")
    said = f"{IN_FILE} {IN_ENVIRONMENT} {OF_OPERATOR} {OF_CLIENT} {SHAPED}"
    logger.debug("%s", said, extra={"path": said, "odd": [said]})
    logger.exception("caught", exc_info=caught())
    logger.info("here", stack_info=True)
    warnings.showwarning(said, UserWarning, "x.py", 1)
    error = caught()
    sys.excepthook(type(error), error, error.__traceback__)
    thread = threading.Thread(target=leak)
    thread.start()
    thread.join()
    loop = asyncio.get_running_loop()
    logging_setup.log_loop_errors(loop)
    loop.call_soon(leak)
    await asyncio.sleep(0.01)
    loop.set_exception_handler(None)
    told = stream.getvalue()
    assert told.count("RuntimeError") >= 4
    for canary in CANARIES:
        assert canary not in told
    if form == "json":
        assert all(isinstance(json.loads(line), dict) for line in told.splitlines())


async def test_an_error_in_a_route_is_logged_with_its_request_and_no_secret(
    set_up: SetUp, behind_guard: Serving
) -> None:
    stream = set_up("json")
    served = await behind_guard(broken)
    reply = await exchange(
        served.port,
        request(
            f"/api/x?token={OF_CLIENT}",
            "POST",
            json.dumps({"key": OF_CLIENT}).encode(),
            Authorization=f"Bearer {OF_CLIENT}",
            X_Provider_Key_OpenAI=IN_FILE,
        ),
    )
    assert reply.status == 500
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    failed = [line for line in lines if line["logger"] == "moot.web.middleware.http_exchange"]
    assert [line["request_id"] for line in failed] == [reply.headers["x-request-id"]]
    assert "RuntimeError" in failed[0]["exception"]
    for canary in (OF_CLIENT, IN_FILE, "sk-ant-api03"):
        assert canary not in stream.getvalue()


async def test_a_key_that_a_client_has_sent_is_not_told_even_by_a_route(
    set_up: SetUp, behind_guard: Serving
) -> None:
    async def careless(scope: Scope, receive: Receive, send: Send) -> None:
        raise RuntimeError(f"what I got: {scope['headers']}")

    stream = set_up()
    served = await behind_guard(careless)
    sent = request(
        "/api/x", Authorization=f"Bearer {OF_CLIENT}", X_Provider_Key_Groq="groq-canary-0123456789"
    )
    await exchange(served.port, sent)
    assert "what I got" in stream.getvalue()
    assert OF_CLIENT not in stream.getvalue()
    assert "groq-canary" not in stream.getvalue()


async def test_a_stranger_cannot_blot_out_the_lines_of_others(set_up: SetUp, behind_guard: Serving) -> None:
    stream = set_up()
    served = await behind_guard(Echo(), token=Secret(OF_OPERATOR))
    await exchange(served.port, request("/api/x", Authorization="Bearer /api/v1/debates/deb"))
    await exchange(served.port, request("/api/v1/debates/deb_1"))
    assert "/api/v1/debates/deb_1" in stream.getvalue()


async def test_each_request_leaves_one_line_without_its_query(set_up: SetUp, behind_guard: Serving) -> None:
    stream = set_up("json", logging.INFO)
    served = await behind_guard(Echo())
    reply = await exchange(served.port, request("/api/x%0aforged?secret=hunter2"))
    (line,) = [json.loads(text) for text in stream.getvalue().splitlines()]
    assert line.pop("ms") >= 0
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "logger": "moot.access",
        "level": "info",
        "event": "request",
        "request_id": reply.headers["x-request-id"],
        "client": "127.0.0.1",
        "method": "GET",
        "path": "/api/x%0aforged",
        "status": 200,
    }


def test_nobody_forges_a_line(set_up: SetUp) -> None:
    stream = set_up()
    logging.getLogger("moot.x").warning("first\n2026-01-01 CRITICAL forged\x1b[31m")
    (line,) = stream.getvalue().splitlines()
    assert "\\n2026" in line
    assert "\x1b" not in line


def test_what_others_say_about_bytes_is_not_logged(set_up: SetUp) -> None:
    stream = set_up(level=logging.DEBUG)
    for name in ("uvicorn.error", "websockets.server", "httpx", "aiohttp.access", "asyncio"):
        logging.getLogger(name).info("GET /?token=hunter2")
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    "address",
    [
        "redis://:canary%40word@host/0",
        "postgresql://host/db?user=moot&password=canary%40word",
        "redis://[::1",
    ],
)
def test_passwords_in_addresses_are_no_more_told_than_keys(tmp_path: Path, address: str) -> None:
    settings = Settings(data=tmp_path, cluster=ClusterSettings(bus=Secret(address)))
    told = logging_setup.LogFormatter(settings).redacted(f"no {address}, canary%40word, canary@word")
    assert "redis:" not in told
    assert "postgresql:" not in told
    if "canary" in address:
        assert "canary@word" not in told


def test_short_words_are_not_taken_for_keys(set_up: SetUp) -> None:
    stream = set_up()
    logging_setup.hide_secret("the")
    logging.getLogger("moot.x").info("the words are still there")
    assert "the words are still there" in stream.getvalue()


OF_DATABASE = (
    'connection to server at "db.internal" (10.1.2.3), port 5432 failed: '
    'FATAL:  password authentication failed for user "alice" (s3c/ret)\n'
    "DETAIL:  Failing row contains (deb_1, what a speaker said)."
)


def test_what_a_database_says_of_itself_is_redacted_in_a_traceback(tmp_path: Path) -> None:
    address = Secret("postgresql://alice:s3c/ret@db.internal:5432/moot")
    formatter = logging_setup.LogFormatter(Settings(tmp_path, cluster=ClusterSettings(store=address)))
    try:
        try:
            raise psycopg.OperationalError(OF_DATABASE)
        except psycopg.Error as error:
            raise ExceptionGroup("two", [error, StoreError()]) from error
    except ExceptionGroup as group:
        text = formatter.redacted("".join(traceback.format_exception(group)))
    for word in ("alice", "db.internal", "s3c", "ret)", "speaker said"):
        assert word not in text
    assert text.count("password authentication failed") == 2
    assert "The log cannot be reached." in text


log = logging.getLogger("moot.tests")


Lines = Callable[[], list[dict[str, Any]]]


# --- to what a line belongs ------------------------------------------------------------------------------


@pytest.fixture
def lines(tmp_path: Path) -> Generator[Lines]:
    """What has been logged, line by line."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    settings = Settings(data=tmp_path, service=ServerSettings(log="json"))
    handler.setFormatter(logging_setup.LogFormatter(settings))
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.removeHandler(handler)
    root.setLevel(level)


async def test_a_mark_goes_along_into_tasks_and_ends_with_what_it_stands_for(lines: Lines) -> None:
    over = asyncio.Event()

    async def outlive() -> None:
        with log_fields(debate="deb_1"):
            log.warning("meanwhile")
            await over.wait()
            log.warning("afterwards")

    with log_fields(request_id="req_1"):
        task = asyncio.create_task(outlive())
        await asyncio.sleep(0)
        await asyncio.to_thread(log.warning, "in a thread")
        log.warning("said otherwise", extra={"request_id": "req_2"})
    assert not current_fields()
    over.set()
    await task
    told = {line["event"]: (line.get("request_id"), line.get("debate")) for line in lines()}
    assert told == {
        "meanwhile": ("req_1", "deb_1"),
        "in a thread": ("req_1", None),
        "said otherwise": ("req_2", None),
        "afterwards": (None, "deb_1"),
    }


async def test_every_line_of_a_request_bears_its_id(behind_guard: Serving, lines: Lines) -> None:
    server = await behind_guard(broken)
    reply = await exchange(server.port, request("/"))
    told = [line["request_id"] for line in lines() if line["logger"].startswith("moot")]
    assert len(told) == 2
    assert set(told) == {reply.headers["x-request-id"]}


async def test_an_id_and_a_trace_that_come_with_a_request_are_kept(
    behind_guard: Serving, lines: Lines
) -> None:
    server = await behind_guard(broken)
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    reply = await exchange(server.port, request("/", X_Request_Id="edge-1:a/b=c+d", Traceparent=trace))
    assert reply.headers["x-request-id"] == "edge-1:a/b=c+d"
    assert reply.headers["traceparent"] == trace
    ours = [line for line in lines() if line["logger"].startswith("moot")]
    assert {line["request_id"] for line in ours} == {"edge-1:a/b=c+d"}
    assert {line["trace_id"] for line in ours} == {"4bf92f3577b34da6a3ce929d0e0e4736"}


@pytest.mark.parametrize(
    "headers",
    [
        ("X-Request-Id: a b",),
        ("X-Request-Id: " + "a" * 129,),
        ("X-Request-Id:",),
        ("X-Request-Id: a", "X-Request-Id: b"),
        ('X-Request-Id: "}',),
        ("Traceparent: 00-00000000000000000000000000000000-00f067aa0ba902b7-01",),
        ("Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\u00e9",),
    ],
)
async def test_an_id_that_is_none_is_replaced(
    behind_guard: Serving, lines: Lines, headers: tuple[str, ...]
) -> None:
    server = await behind_guard(broken)
    raw = "".join(f"{line}\r\n" for line in headers).encode("latin-1")
    head, host, rest = request("/").partition(b"Host")
    reply = await exchange(server.port, head + raw + host + rest)
    assert reply.headers["x-request-id"].startswith("req_")
    assert "traceparent" not in reply.headers
    assert all("trace_id" not in line for line in lines())


async def test_every_line_of_a_runner_bears_its_debate_and_turn(tmp_path: Path, lines: Lines) -> None:
    def script(request: Request) -> list[Cue]:
        log.warning("the speaker clears his throat")
        return list(improvise(request))

    async with served(tmp_path, provider=ScriptedProvider(script)) as house:
        debate_id = await house.open()
        await house.over(debate_id)
    told = [line for line in lines() if "throat" in line["event"]]
    assert {line["debate"] for line in told} == {debate_id}
    assert [line["turn"] for line in told if "turn" in line] == [1, 2, 3, 4]
    assert [line["judge"] for line in told if "turn" not in line]
