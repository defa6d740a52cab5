"""The description tells the truth: of every route, in every example, and about real replies."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest

from moot.api.problems import PROBLEM_TYPES
from moot.api.shapes.stream_events import EVENTS, EXTENDED
from moot.api.v1.fields import CREATE_DEBATE
from moot.web import openapi_examples as examples
from moot.web.route_docs import PREFIX
from moot.web.routes.health import PATHS as HEALTH
from tests.client.serving import Served, served
from tests.web.operation_ids import OPERATION_IDS
from tests.web.route_table import EXTENSION_ROUTES, ROUTES

DOCUMENT = (Path(__file__).parents[2] / "docs/api.md").read_text("utf-8")
COMMANDS = re.findall(r"```sh\n(.*?)```", DOCUMENT, re.DOTALL)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    with served(tmp_path_factory.mktemp("served")) as running:
        yield running


@pytest.fixture(scope="module")
def api(server: Served) -> Generator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def described(api: httpx.Client) -> dict[str, Any]:
    return api.get("/openapi.json").raise_for_status().json()


@pytest.fixture(scope="module")
def debate(api: httpx.Client) -> str:
    """One that has been held to its end."""
    body = examples.keyless("scripted", "demo")
    opened = api.post(f"{PREFIX}/debates", json=body).raise_for_status().json()
    api.get(opened["streamUrl"])
    return opened["id"]


# --- completeness ---------------------------------------------------------------------------------------


def operations(described: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in described["paths"].items():
        for method, operation in item.items():
            if method in ("get", "post", "put", "delete"):
                yield method.upper(), path, operation


def test_every_route_is_described(described: dict[str, Any]) -> None:
    told = {(method, path) for method, path, _ in operations(described)}
    beside = {("GET", path) for path in (*HEALTH, "/metrics")}
    assert told == {(method, path) for method, path, _, _ in ROUTES} | beside
    for method, path, operation in operations(described):
        text = operation["summary"] if operation["tags"] == ["Health"] else operation["description"]
        assert text, (method, path)
        assert all(reply.get("description") or "$ref" in reply for reply in operation["responses"].values())
    assert f"{PREFIX}/debates/{{debateId}}/ws" in described["paths"]


def test_every_route_is_in_a_section_that_is_described(described: dict[str, Any]) -> None:
    sections = {tag["name"] for tag in described["tags"]}
    assert {name for _, _, operation in operations(described) for name in operation["tags"]} == sections


VERBS = """
abort answer ask cancel cast check close create decide delete estimate export extend get give inject install
join judge leave list offer pause preview rejudge request resume retry revoke run save skip start steer stop
stream take test
"""


def test_operation_ids_are_verbs_and_stay(described: dict[str, Any]) -> None:
    told = {(method, path): operation["operationId"] for method, path, operation in operations(described)}
    # Generated clients call their functions so: a change breaks them.
    brought = {(method, path) for method, path, _, _ in EXTENSION_ROUTES}
    assert {route: name for route, name in told.items() if route not in brought} == OPERATION_IDS
    assert len({*told.values()}) == len(told)
    assert {name.partition("_")[0] for name in told.values()} == {*VERBS.split()}


def test_a_debate_is_described_as_an_object_with_its_members(described: dict[str, Any]) -> None:
    schema = described["components"]["schemas"]["CreateDebate"]
    assert schema.keys().isdisjoint({"anyOf", "oneOf", "allOf"})
    assert validator(described, "CreateDebate").is_valid(examples.keyless("scripted", "demo"))
    body = {key: part for key, part in examples.keyless("scripted", "demo").items() if key != "judge"}
    assert not validator(described, "CreateDebate").is_valid(body)
    assert not validator(described, "CreateDebate").is_valid({**body, "judges": []})
    judge = examples.keyless("scripted", "demo")["judge"]
    assert validator(described, "CreateDebate").is_valid({**body, "judges": [judge]})


def test_every_route_event_and_error_is_in_the_guide() -> None:
    told = set(re.findall(r"`((?:GET|POST|PUT|DELETE) /[^`?]*)`", DOCUMENT))
    assert {f"{method} {path}" for method, path, _, _ in ROUTES} <= told
    words = set(re.findall(r"`([\w/-]+)`", DOCUMENT))
    assert {*EVENTS, *EXTENDED, *PROBLEM_TYPES} <= words
    assert {*HEALTH} - {f"{PREFIX}/health"} <= words


def test_every_reference_leads_somewhere(described: dict[str, Any]) -> None:
    for target in set(re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(described))):
        place: Any = described
        for step in target.split("/"):
            place = place[step]


def test_links_name_operations_and_their_parameters(described: dict[str, Any]) -> None:
    known = {operation["operationId"] for _, _, operation in operations(described)}
    links = [
        link
        for _, _, operation in operations(described)
        for reply in operation["responses"].values()
        for link in reply.get("links", {}).values()
    ]
    assert len(links) > 15
    assert {link["operationId"] for link in links} <= known


# --- truth ----------------------------------------------------------------------------------------------


def validator(described: dict[str, Any], name: str, *, closed: bool = False) -> Any:
    """Of a shape by its name. Closed, it lets no member pass that is not described."""
    schemas = json.loads(json.dumps(described["components"]["schemas"]))
    if closed:
        for shape in schemas.values():
            if "properties" in shape and shape.get("additionalProperties") is not True:
                shape.setdefault("additionalProperties", False)
    root = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": schemas}}
    return jsonschema_rs.validator_for(root)


@pytest.mark.parametrize("name", sorted(examples.reply_examples()))
def test_examples_of_replies_keep_their_shapes(described: dict[str, Any], name: str) -> None:
    validator(described, name, closed=True).validate(examples.reply_examples()[name])


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_examples_of_events_keep_their_shapes(described: dict[str, Any], name: str) -> None:
    validator(described, EVENTS[name].__name__, closed=True).validate(examples.event_examples()[name])


def test_examples_of_bodies_keep_their_shapes(described: dict[str, Any]) -> None:
    sent = [
        body["content"]["application/json"]
        for _, _, operation in operations(described)
        if (body := operation.get("requestBody"))
    ]
    assert all(content["examples"] for content in sent)
    for content in sent:
        for example in content["examples"].values():
            validator(described, content["schema"]["$ref"].rpartition("/")[2]).validate(example["value"])
    validator(described, "CreateDebate").validate(CREATE_DEBATE)
    validator(described, "CreateDebate").validate(examples.keyless("scripted", "demo"))


def test_examples_of_problems_keep_their_shape(described: dict[str, Any]) -> None:
    check = validator(described, "ErrorResponse", closed=True)
    for reply in described["components"]["responses"].values():
        for example in reply["content"]["application/problem+json"]["examples"].values():
            check.validate(example["value"])


READ = {
    "/debates": "ListDebatesResponse",
    "/debates/{id}/status": "DebateStatusResponse",
    "/debates/{id}/transcript": "TranscriptResponse",
    "/debates/{id}/events?limit=1000": "EventPage",
    "/debates/{id}/calls/1": "CallResponse",
    "/debates/{id}/view": "ViewResponse",
    "/debates/{id}/view/frames?limit=1000": "FramesResponse",
    "/debates/{id}/setup": "CreateDebate",
    "/conversations": "ConversationsResponse",
    "/conversations/{id}": "ConversationResponse",
    "/conversations/{id}/events": "ConversationEventsResponse",
    "/conversations/{id}/events?shape=legacy": "ConversationEventsResponse",
    "/experiments": "ExperimentsResponse",
    "/models": "ModelsResponse",
    "/formats": "FormatsResponse",
    "/tools": "ToolsResponse",
    "/statistics": "StatisticsResponse",
    "/providers": "ProvidersResponse",
    "/installs": "InstallsResponse",
    "/tokens": "TokensResponse",
    "/health": "HealthResponse",
    "/debates/none/status": "ErrorResponse",
}


@pytest.mark.parametrize("path", sorted(READ))
def test_real_replies_have_no_member_that_is_not_described(
    described: dict[str, Any], api: httpx.Client, debate: str, path: str
) -> None:
    reply = api.get(PREFIX + path.replace("{id}", debate)).json()
    validator(described, READ[path], closed=True).validate(reply)


def test_real_replies_to_what_is_asked_are_as_described(described: dict[str, Any], api: httpx.Client) -> None:
    body = {**examples.keyless("scripted", "demo"), "config": {"maxRounds": 2, "autoProgress": False}}
    debate = asked(described, api, "/debates", body, "CreateDebateResponse")["id"]
    asked(described, api, "/estimate", body, "EstimateResponse")
    to = f"/debates/{debate}"
    asked(described, api, f"{to}/tickets", None, "TicketResponse")
    asked(described, api, f"{to}/inject", {"text": "Hear, hear."}, "InjectResponse")
    asked(described, api, f"{to}/rounds", {"action": "next_round"}, "SubmitRoundResponse")
    asked(described, api, f"{to}/pause", None, "PauseDebateResponse")
    asked(described, api, f"{to}/resume", None, "ResumeDebateResponse")
    asked(described, api, f"{to}/stop", {"reason": "Enough."}, "StopDebateResponse")
    other = asked(described, api, "/debates", body, "CreateDebateResponse")["id"]
    asked(described, api, f"/debates/{other}/abort", {}, "ActionResponse")


def asked(described: dict[str, Any], api: httpx.Client, path: str, body: Any, name: str) -> dict[str, Any]:
    reply = api.post(PREFIX + path, json=body) if body is not None else api.post(PREFIX + path)
    assert reply.is_success, reply.text
    validator(described, name, closed=True).validate(reply.json())
    return reply.json()


@pytest.mark.parametrize("query", ["", "?extended=true"])
def test_real_events_are_as_described(
    described: dict[str, Any], api: httpx.Client, debate: str, query: str
) -> None:
    stream = api.get(f"{PREFIX}/debates/{debate}/stream{query}").text
    told = re.findall(r"event: (\w+)\nid: [\d.]+\ndata: (.*)\n", stream)
    models = {**EVENTS, **EXTENDED} if query else EVENTS
    checks = {name: validator(described, model.__name__, closed=True) for name, model in models.items()}
    for name, data in told:
        checks[name].validate(json.loads(data))
    assert {"status", "participant", "round_complete", "judge", "verdict", "complete"} <= dict(told).keys()


def test_the_examples_of_opening_a_debate_open_one(described: dict[str, Any], api: httpx.Client) -> None:
    opening = described["paths"][f"{PREFIX}/debates"]["post"]["requestBody"]["content"]["application/json"]
    assert opening["examples"]
    for example in opening["examples"].values():
        assert api.post(f"{PREFIX}/debates", json=example["value"]).status_code == 201


# --- with tokens ----------------------------------------------------------------------------------------


def test_with_tokens_the_description_and_the_page_need_one_and_say_so(tmp_path: Path) -> None:
    token = {"Authorization": "Bearer correct-horse-battery"}
    with served(tmp_path, MOOT_TOKEN="correct-horse-battery") as server:
        assert httpx.get(f"{server.url}/openapi.json").status_code == 401
        assert httpx.get(f"{server.url}/docs").status_code == 401
        described = httpx.get(f"{server.url}/openapi.json", headers=token)
        page = httpx.get(f"{server.url}/docs", headers=token)
    assert described.json()["security"] == [{"bearer": []}]
    assert page.status_code == 200
    assert "correct-horse" not in described.text + page.text


# --- the page -------------------------------------------------------------------------------------------


def test_the_page_loads_nothing_but_our_own_files(api: httpx.Client) -> None:
    page = api.get("/docs").raise_for_status().text
    targets = re.findall(r'(?:href|src)="([^"]+)"', page)
    assert "/static/docs.js" in targets
    assert all(target.startswith("/") for target in targets)
    assert not re.search(r"<script(?![^>]* src=)|<style| style=| on\w+=", page)
    for target in targets:
        api.get(target).raise_for_status()


def test_the_page_comes_with_a_strict_policy(api: httpx.Client) -> None:
    policy = api.get("/docs").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy


# --- commands -------------------------------------------------------------------------------------------


def run(commands: list[str]) -> str:
    """All in one shell, since each needs what the one before has found out."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(commands)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout


def test_the_commands_of_the_guide_work(server: Served) -> None:
    here = [command.replace("http://localhost:8000", server.url) for command in COMMANDS]
    told = run(here[:4])
    assert told.startswith("deb_")
    assert "## Round 1" in told
    assert told.count("event: complete") == 2, "the stream, and the same from where it was left"


def test_a_ticket_and_a_repetition_work_as_the_guide_says(server: Served) -> None:
    here = [command.replace("http://localhost:8000", server.url) for command in COMMANDS]
    slow = here[0].replace('"maxRounds": 2', '"maxRounds": 2, "autoProgress": false')
    told = run([slow, *here[4:7], here[6].replace("curl -s", "curl -si")])
    assert '"many":true' in told
    assert '"ticket"' in told
    assert '"queued"' in told
    assert "idempotent-replayed: true" in told.lower()
    assert '"type":"debate_complete"' in run(here[7:8])
