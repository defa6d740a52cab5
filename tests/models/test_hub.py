"""Models of the Hugging Face Hub and of Ollama, from a small one of each on loopback."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Generator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from moot.core.errors import Invalid, Unavailable
from moot.models import hub, ollama, requirements
from moot.models.catalogue import CATALOGUE, HubFile
from moot.models.installs import InstallManager
from moot.models.model_files import InstallProgress, ModelFiles
from moot.models.registry import ProviderRegistry
from moot.providers.endpoints import BUILT_IN, with_environ_url
from tests.support.hub import LoopbackHub

REPO, FILE = "maker/Toy-GGUF", "toy-q4.gguf"
REFERENCE = f"hf:{REPO}/{FILE}"
CHUNK = 10 * 1024 * 1024
"""What huggingface_hub writes at a time."""
CONTENT = b"GGUF" + b"a" * CHUNK + b"b" * CHUNK


@pytest.fixture
def loopback() -> Generator[LoopbackHub]:
    with LoopbackHub() as served:
        served.repos[REPO] = {FILE: CONTENT, "toy-q8.gguf": b"GGUF", "README.md": b"# Toy"}
        yield served


def model_files(folder: Path, served: LoopbackHub, **environ: str) -> ModelFiles:
    return ModelFiles(folder / "models", environ={**served.environ, **environ})


def test_a_file_of_the_hub_is_looked_up_fetched_checked_and_known(
    tmp_path: Path, loopback: LoopbackHub
) -> None:
    manager = model_files(tmp_path, loopback)
    entry = manager.look_up(REFERENCE)
    assert (entry.name, entry.size, entry.licence) == ("toy-q4", len(CONTENT), "Apache-2.0")
    assert entry.sha256 == hashlib.sha256(CONTENT).hexdigest()
    seen: list[InstallProgress] = []
    file = manager.install_entry(entry, seen.append)
    assert file.read_bytes() == CONTENT
    assert [step.stage for step in seen] == ["fetching"] * (len(seen) - 1) + ["verifying"]
    assert [step.done for step in seen] == sorted(step.done for step in seen)
    assert manager.installed() == ("toy-q4",)
    origin = manager.origin("toy-q4")
    assert origin is not None
    assert origin.source == REFERENCE
    loopback.ranges.clear()
    assert manager.install_entry(entry) == file
    assert not loopback.ranges
    assert manager.remove("toy-q4")
    assert manager.installed() == ()


def test_a_connection_that_is_cut_is_taken_up_again_at_the_byte_where_it_was(
    tmp_path: Path, loopback: LoopbackHub
) -> None:
    manager = model_files(tmp_path, loopback)
    loopback.cut_after, loopback.cuts = CHUNK + 5, 1
    assert manager.install_entry(manager.look_up(REFERENCE)).read_bytes() == CONTENT
    assert loopback.ranges == ["", f"bytes={CHUNK}-"]


def test_a_download_that_was_stopped_continues_in_another_process(
    tmp_path: Path, loopback: LoopbackHub
) -> None:
    class Stop(Exception):
        pass

    def stop(progress: InstallProgress) -> None:
        if progress.done > CHUNK:
            raise Stop

    manager = model_files(tmp_path, loopback)
    with pytest.raises(Stop):
        manager.install_entry(manager.look_up(REFERENCE), stop)
    assert manager.installed() == ()
    again = model_files(tmp_path, loopback)
    assert again.install_entry(again.look_up(REFERENCE)).read_bytes() == CONTENT
    assert loopback.ranges == ["", f"bytes={CHUNK}-"]


def test_a_file_with_another_hash_is_deleted(tmp_path: Path, loopback: LoopbackHub) -> None:
    loopback.hashes[FILE] = "0" * 64
    manager = model_files(tmp_path, loopback)
    with pytest.raises(Unavailable, match="hash of the downloaded toy-q4 is wrong; the file was deleted"):
        manager.install_entry(manager.look_up(REFERENCE))
    assert [file.name for file in manager.folder.iterdir()] == [".toy-q4.lock"]


def test_a_download_stops_at_the_size_that_was_declared(tmp_path: Path, loopback: LoopbackHub) -> None:
    manager = model_files(tmp_path, loopback)
    entry = manager.look_up(REFERENCE)
    loopback.sent = CONTENT + b"c" * 3 * CHUNK
    larger = r"toy-q4\.gguf is larger than announced \(20,971,524 bytes\); it was not kept\."
    with pytest.raises(Unavailable, match=larger):
        manager.install_entry(entry)
    assert manager.installed() == ()
    assert sum(file.stat().st_size for file in manager.folder.iterdir()) == 0
    loopback.sent = None
    assert manager.install_entry(entry).read_bytes() == CONTENT


def test_a_file_that_ends_before_its_declared_size_is_not_called_a_full_disk(
    tmp_path: Path, loopback: LoopbackHub
) -> None:
    manager = model_files(tmp_path, loopback)
    entry = manager.look_up(REFERENCE)
    loopback.sent = CONTENT[:-5]
    with pytest.raises(Unavailable, match=r"sent less of toy-q4\.gguf than it should have"):
        manager.install_entry(entry)


WRONG: tuple[Any, ...] = (None, -1, 1.5, 2**80, "text", [None], {"a": 1})


def changed(shape: Any, path: tuple[str | int, ...], value: Any) -> Any:
    copy = deepcopy(shape)
    place = copy
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return copy


def test_descriptions_of_wrong_types_are_told_in_a_sentence(tmp_path: Path, loopback: LoopbackHub) -> None:
    manager = model_files(tmp_path, loopback)
    right = loopback.description(REPO)
    file = ("siblings", 0)
    places: tuple[tuple[str | int, ...], ...] = (
        *((name,) for name in right), file, *((*file, name) for name in right["siblings"][0]),
        *((*file, "lfs", name) for name in ("size", "sha256", "pointerSize")), ("gguf", "total"),
        ("cardData", "license"), ("tags", 0),
    )  # fmt: skip
    for told in (*WRONG, *(changed(right, place, value) for place in places for value in WRONG)):
        loopback.told = told
        try:
            entry = manager.look_up(REFERENCE)
        except Unavailable:
            continue
        assert entry.sha256 == hashlib.sha256(CONTENT).hexdigest()
        assert type(entry.size) is int
        assert entry.size > 0


def test_what_is_no_gguf_file_is_not_kept(tmp_path: Path, loopback: LoopbackHub) -> None:
    loopback.repos[REPO][FILE] = b"import os"
    manager = model_files(tmp_path, loopback)
    with pytest.raises(Unavailable, match="is not a GGUF file; it was deleted"):
        manager.install_entry(manager.look_up(REFERENCE))
    assert manager.installed() == ()


def test_a_gated_model_needs_a_token_which_goes_to_the_hub(tmp_path: Path, loopback: LoopbackHub) -> None:
    loopback.gated.add(REPO)
    manager = model_files(tmp_path, loopback)
    with pytest.raises(Unavailable, match="is gated") as refused:
        manager.install_entry(manager.look_up(REFERENCE))
    assert f"Accept its terms at {loopback.url}/{REPO}, then set HF_TOKEN" in refused.value.fix
    manager = model_files(tmp_path, loopback, HF_TOKEN="TOKEN")
    assert manager.install_entry(manager.look_up(REFERENCE)).read_bytes() == CONTENT
    assert loopback.tokens[-2] == "Bearer TOKEN"


def test_what_the_hub_does_not_have_is_said_with_the_nearest_name(
    tmp_path: Path, loopback: LoopbackHub
) -> None:
    manager = model_files(tmp_path, loopback)
    with pytest.raises(Unavailable, match="has no public repository maker/None-GGUF"):
        manager.look_up("hf:maker/None-GGUF/toy.gguf")
    with pytest.raises(Unavailable, match=r"has no file toy-q5\.gguf") as refused:
        manager.look_up(f"hf:{REPO}/toy-q5.gguf")
    assert refused.value.fix.startswith(f"Did you mean hf:{REPO}/toy-q")
    for wrong in ("hf:toy.gguf", "hf:maker/repo/model.bin", "hf:maker/repo/../x.gguf", "maker/repo/x.gguf"):
        with pytest.raises(Invalid, match=r"hf:owner/repo/file\.gguf"):
            manager.look_up(wrong)
    with pytest.raises(Invalid, match="split into several files"):
        manager.look_up("hf:maker/repo/big-00001-of-00003.gguf")


def test_without_a_network_one_sentence_says_so(tmp_path: Path, unused_tcp_port: int) -> None:
    environ = {"HF_ENDPOINT": f"http://127.0.0.1:{unused_tcp_port}"}
    away = ModelFiles(tmp_path, environ=environ)
    with pytest.raises(Unavailable) as refused:
        away.look_up(REFERENCE)
    assert str(refused.value) == f"127.0.0.1:{unused_tcp_port} cannot be reached."
    assert "HF_ENDPOINT" in refused.value.fix
    with pytest.raises(Unavailable, match="downloads are forbidden"):
        ModelFiles(tmp_path, environ=environ, offline=True).look_up(REFERENCE)


def test_a_model_that_does_not_fit_is_refused_before_the_first_byte(
    tmp_path: Path, loopback: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager = model_files(tmp_path, loopback)
    entry = manager.look_up(REFERENCE)
    monkeypatch.setattr(requirements, "total_memory", lambda: 100_000_000)
    with pytest.raises(Unavailable, match="needs about 623 MB of memory; this machine has 100 MB"):
        manager.install_entry(entry)
    assert not loopback.ranges
    with pytest.raises(Unavailable, match="of disk space"):
        requirements.check_disk("Toy", 1 << 60, tmp_path)


def test_another_model_of_the_same_name_is_not_overwritten(tmp_path: Path, loopback: LoopbackHub) -> None:
    manager = model_files(tmp_path, loopback)
    loopback.repos["other/Toy-GGUF"] = {FILE: b"GGUF" + b"c"}
    manager.install_entry(manager.look_up(REFERENCE))
    with pytest.raises(Unavailable, match="another model called toy-q4") as refused:
        manager.install_entry(manager.look_up(f"hf:other/Toy-GGUF/{FILE}"))
    assert "moot models remove toy-q4" in refused.value.fix


def test_a_recommended_model_takes_its_size_and_hash_from_the_hub(
    tmp_path: Path, loopback: LoopbackHub
) -> None:
    entry = CATALOGUE["qwen3-4b"]
    assert entry.hub is not None
    loopback.repos[entry.hub.repo] = {entry.hub.file: CONTENT}
    manager = model_files(tmp_path, loopback)
    assert not manager.is_installed(entry)
    assert manager.install("qwen3-4b").read_bytes() == CONTENT
    assert manager.is_installed(entry)
    assert manager.path("qwen3-4b").name == "qwen3-4b.gguf"


def test_the_recommended_models_name_single_gguf_files_of_the_hub() -> None:
    of_hub = [entry for entry in CATALOGUE.values() if entry.hub]
    assert [round(entry.parameters / 1e9) for entry in of_hub] == [2, 4, 8]
    for entry in of_hub:
        assert entry.hub is not None
        assert hub.parse_reference(entry.hub.reference) == HubFile(entry.hub.repo, entry.hub.file)
        assert entry.licence == "Apache-2.0"


# --- in the background, and with Ollama -----------------------------------------------------------------


async def finished(installs: InstallManager, name: str) -> str:
    async with asyncio.timeout(60):
        while (status := installs.status(name)).state == "installing":  # noqa: ASYNC110 - a thread ends it
            await asyncio.sleep(0.005)
    return status.error or status.state


async def test_installs_of_hub_and_ollama_run_in_the_background(
    tmp_path: Path, loopback: LoopbackHub
) -> None:
    services = tuple(with_environ_url(endpoint, loopback.environ) for endpoint in BUILT_IN.values())
    providers = ProviderRegistry({}, models=tmp_path / "models", environ=loopback.environ, services=services)
    installs = providers.installs
    started = await installs.request(REFERENCE)
    assert (started.entry.name, started.label, started.state) == ("toy-q4", "local/toy-q4", "installing")
    assert await finished(installs, "toy-q4") == "installed"
    loopback.pulls["llama3.2"] = [
        {"status": "pulling manifest"},
        {"status": "pulling aa", "digest": "aa", "total": 70, "completed": 30},
        {"status": "pulling aa", "digest": "aa", "total": 70, "completed": 70},
        {"status": "pulling bb", "digest": "bb", "total": 30},
        {"status": "verifying sha256 digest"},
        {"status": "success"},
    ]
    started = await installs.request("ollama/llama3.2")
    assert started.label == "ollama/llama3.2"
    assert await finished(installs, started.entry.name) == "installed"
    assert installs.status(started.entry.name).total == 100
    rows = [row.name for row in await providers.usable() if row.kind == "server"]
    assert rows == ["ollama/llama3.2"]
    failing = (await installs.request("ollama/owl")).entry.name
    assert "Ollama knows no model owl." in await finished(installs, failing)
    loopback.pulls["broken"] = [{"error": "no space left on device"}]
    failing = (await installs.request("ollama/broken")).entry.name
    assert "no space left on device" in await finished(installs, failing)
    with pytest.raises(Unavailable, match="no public repository"):
        await installs.request("hf:maker/None-GGUF/toy.gguf")
    await providers.close()


async def test_an_ollama_that_is_not_running_is_named(unused_tcp_port: int) -> None:
    away = replace(BUILT_IN["ollama"], base_url=f"http://127.0.0.1:{unused_tcp_port}/v1")
    with pytest.raises(Unavailable, match=f"Ollama is not running at http://127.0.0.1:{unused_tcp_port}"):
        await ollama.pull(away, None, "llama3.2", {}, lambda _done, _total: None)
