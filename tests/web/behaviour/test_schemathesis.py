"""The description at /openapi.json against the server that gives it: Schemathesis finds no difference.

All its checks, and all its ways to ask: the examples, the edges of every schema, whole sequences along the
links, and, where there is time for it, chance. What is described is taken, what is not is refused, and every
reply is as described.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from msgspec.structs import replace
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, events, from_schema
from schemathesis.openapi.checks import RejectedPositiveData

from moot.providers.endpoints import ENDPOINTS
from moot.providers.keys import Secret
from moot.settings import ServerSettings
from tests.web.routes.served import UNLIMITED
from tests.web.routes.server_thread import ServerThread

TOKEN = "operators-own-token"
SAME_BODIES = ("estimate_cost", "run_quick_debate", "run_turn")
"""Operations that take the body of another: of `create_debate`, `create_quick_debate` and `request_turn`."""
GUARDED = ServerSettings(requests_per_minute=None, debates_per_client=None, token=Secret(TOKEN))
NOWHERE = tuple(
    replace(each, base_url="http://127.0.0.1:9/v1") if each.base_url else each for each in ENDPOINTS
)
"""Keys are made up and lent, and somebody may take them for real."""
BEYOND_SCHEMAS = re.compile(
    "Must be less than costLimit|Names must be unique|No API key configured for this provider|Unknown model"
    "|Unknown (participant|seat)|Must be between 1 and [1-9]|(Minimum|Maximum) . participants .*"
    "|The price of .* is not known, so a limit cannot be held|Must name criteria of this judge"
    "|Must be a model|Only for a seat whose provider is human|Unknown judge|Must be a judge whose .*"
    "|(Needed|Only) for the role .*|Somebody of that name is invited|Give seconds or rounds"
    "|No such speech: .*|Name at least one speech .*|Nobody is ranked .*|Must name each .*|Must be of: .*"
    "|Nobody judges where the user decides"
    "|There is a token of that name|This format says by itself who opens|Only criteria have weights: .*"
    "|Model not found: .*|Needed for inject|Must be (AFFIRMATIVE|NEGATIVE) in this turn"
    "|Needed from the second turn on|This model has not spoken yet|The next turn is .*"
    "|Must be the last response of this turn's own model|Must be .*, as before"
    "|There is no model .* to install.|A model of (the hub|Ollama) is named .*|.*downloads are forbidden.*"
    "|This model is split into several files.*"
)
"""Rules about two members together, or about what is here at the moment."""


def told_in_words(response: Any) -> bool:
    told = response.json()
    if "error" in told:
        return bool(BEYOND_SCHEMAS.fullmatch(told["error"]))
    if told["type"] == "/errors/idempotency-mismatch":
        return True
    messages = [message for field in told.get("errors", {}).values() for message in field]
    # To JSON Schema 5.0 is an integer; to us it is not.
    whole = b".0" in (response.request.body or b"")
    known = [BEYOND_SCHEMAS.fullmatch(text) or (whole and "an integer" in text) for text in messages]
    return bool(messages) and all(known)


def keep(_context: Any, failure: Any, _case: Any, response: Any) -> bool:
    # A stream is described as a text, for generators of clients; Schemathesis reads the whole of it as a
    # list, and each event by its own schema.
    as_list = str(failure).startswith("SSE stream violates schema")
    return not (as_list or (isinstance(failure, RejectedPositiveData) and told_in_words(response)))


def explore(url: str, examples: int, seed: int, headers: dict[str, str], *, chance: bool = True) -> list[str]:
    """Everything that Schemathesis finds wrong, each with how to see it again."""
    config = SchemathesisConfig.from_dict(
        {
            "seed": seed,
            "headers": headers,
            "continue-on-failure": True,
            "request-timeout": 20,
            "generation": {"max-examples": examples, "database": "none"},
            # That other methods are refused is the same for all of them.
            "phases": {"coverage": {"unexpected-methods": ["PATCH"]}, "fuzzing": {"enabled": chance}},
            # A stream has no end where the debate waits for somebody.
            "operations": [
                {"include-operation-id-regex": "^stream", "request-timeout": 0.5},
                # The first token shuts the door, also to whoever has made it.
                {"include-operation-id": "create_token", "enabled": bool(headers)},
                *({"include-operation-id": name, "enabled": chance} for name in SAME_BODIES),
            ],
        }
    )
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json", config=config, headers=headers)
    schema.hook("filter_failure")(keep)
    found: list[str] = []
    for event in from_schema(schema).execute():
        match event:
            case events.ScenarioFinished():
                found += failures(event)
            case events.NonFatalError():
                found.append(f"{event.label}: {event.value!r}")
            case events.FatalError():
                raise event.exception
            case _:
                pass
    return found


def failures(event: events.ScenarioFinished) -> list[str]:
    return [
        f"{check.failure_info.failure}\n{check.failure_info.code_sample}\n{reply(event, case)}"
        for case, checks in event.recorder.checks.items()
        for check in checks
        if check.status == Status.FAILURE and check.failure_info
    ]


def reply(event: events.ScenarioFinished, case: str) -> str:
    response = event.recorder.interactions[case].response
    return response.text if response else ""


@pytest.mark.timeout(900)
def test_the_server_is_as_it_describes_itself(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with ServerThread(tmp_path, UNLIMITED, endpoints=NOWHERE, model="scripted/demo", offline=True) as server:
        found = explore(server.served.url, 2, 1, {}, chance=False)
    assert not found, "\n\n".join(found)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.chaos
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("service", [UNLIMITED, GUARDED], ids=["open", "guarded"])
def test_the_server_is_as_it_describes_itself_however_long_one_looks(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, service: ServerSettings
) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"} if service.token else {}
    with ServerThread(tmp_path, service, endpoints=NOWHERE, model="scripted/demo", offline=True) as server:
        found = explore(server.served.url, 100, 2, headers)
    assert not found, "\n\n".join(found)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
