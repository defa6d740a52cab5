"""What openapi-typescript and openapi-python-client generate has types that hold, and calls the server."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.client.serving import Served, served

HERE = Path(__file__).parents[1] / "generated_clients"
ROOT = HERE.parents[2]
TOOLS = ROOT / "node_modules"
NO_NODE = shutil.which("node") is None or not (TOOLS / "openapi-typescript").exists()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    with served(tmp_path_factory.mktemp("served")) as running:
        yield running


@pytest.fixture(scope="module")
def description(server: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("description") / "openapi.json"
    path.write_bytes(httpx.get(f"{server.url}/openapi.json", timeout=60).raise_for_status().content)
    return path


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(NO_NODE, reason="openapi-typescript is not installed: run make tools")
def test_types_of_openapi_typescript_hold(server: Served, description: Path, tmp_path: Path) -> None:
    for name in ("client.ts", "tsconfig.json"):
        shutil.copy(HERE / name, tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    generator, compiler = TOOLS / "openapi-typescript/bin/cli.js", TOOLS / "typescript/bin/tsc"
    run("node", generator, description, "-o", tmp_path / "schema.d.ts", cwd=ROOT)
    run("node", compiler, "-p", tmp_path, cwd=ROOT)
    told = json.loads(run("node", tmp_path / "client.js", server.url, cwd=tmp_path))
    assert told["told"][-1] == "1 rounds"
    assert {"participant", "verdict", "debating"} <= {*told["told"]}
    assert told["frame"][:2] == [1, "put"]


@pytest.fixture
def generated(
    server: Served, description: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Generator[tuple[Any, Any]]:
    """The models of a client by openapi-python-client, and the client."""
    (tmp_path / "config.yml").write_text("post_hooks: []\n")
    # Its warnings name what it could not make a type of; then it ends with an error.
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning"]
    command += ["--path", str(description), "--config", "config.yml"]
    run(*command, "--meta", "none", "--output-path", "moot_api", cwd=tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with importlib.import_module("moot_api").Client(base_url=server.url, timeout=60) as client:
        yield importlib.import_module("moot_api.models"), client


def test_a_client_of_openapi_python_client_opens_and_follows_a_debate(generated: tuple[Any, Any]) -> None:
    models, client = generated

    def call(operation: str, *args: Any, **more: Any) -> Any:
        return importlib.import_module(f"moot_api.api.{operation}").sync(*args, client=client, **more)

    model = models.ModelChoice(provider=models.ModelChoiceProvider.SCRIPTED, model_id="demo")
    seats = [
        models.Participant(name=side, model=model, position=models.ParticipantPosition(side))
        for side in ("for", "against")
    ]
    topic, oxford = "Should AI development be regulated by government?", models.CreateDebateFormat.OXFORD
    with pytest.raises(TypeError, match="participants"):
        models.CreateDebate(topic=topic, format_=oxford)
    judge = models.JudgeChoice(name="Judge", model=model)
    config = models.Config(max_rounds=1)
    body = models.CreateDebate(topic=topic, format_=oxford, participants=seats, judge=judge, config=config)
    opened = call("debates.create_debate", body=body)
    assert isinstance(opened, models.CreateDebateResponse)
    kinds = {"status": models.StatusEventMessage, "complete": models.CompleteEventMessage}
    stream = messages(call("following.stream_debate", opened.id))
    seen = [kinds[event["event"]].from_dict(event) for event in stream if event["event"] in kinds]
    assert isinstance(seen[0].data, models.StatusEvent)
    assert seen[-1].data.total_rounds == 1
    frames = call("following.list_view_frames", opened.id).frames
    assert all(isinstance(frame, models.ViewFrame) for frame in frames)
    assert frames[0].seq == 1
    assert all(len(change) == 3 for frame in frames for change in frame.ops)
    assert isinstance(call("following.get_view", opened.id).view, models.View)


def messages(stream: str) -> list[dict[str, Any]]:
    blocks = [dict(line.split(": ", 1) for line in block.splitlines()) for block in stream.split("\n\n")]
    return [{**block, "data": json.loads(block["data"])} for block in blocks if "event" in block]
