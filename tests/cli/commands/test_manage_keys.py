"""`moot keys`: a key is typed unseen or piped in, listed without being shown, tested and removed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from moot.providers.keys import Secret
from moot.providers.saved_keys import SavedKeys
from tests.cli.conftest import Moot
from tests.cli.provider_service import Service
from tests.cli.terminal import Terminal, environment, piped

KEY = "canary-4711-canary-0815"


def test_a_key_is_piped_in_used_tested_and_removed(tmp_path: Path) -> None:
    with Service() as service:
        env = environment(tmp_path, MISTRAL_BASE_URL=service.url, MISTRAL_API_KEY="sk-of-the-shell")
        saved = piped(env, "keys", "set", "mistral", stdin=f"{KEY}\n")
        assert saved.returncode == 0
        assert "MISTRAL_API_KEY is set too; the saved key is used" in " ".join(saved.stdout.split())
        assert (tmp_path / "keys" / "mistral").stat().st_mode & 0o777 == 0o600
        listed = piped(env, "keys", "list")
        assert "(or set OPENAI_API_KEY)" in listed.stdout
        assert "MISTRAL_API_KEY is set too, and not used" in listed.stdout
        tested = piped(env, "keys", "test", "mistral")
        assert (tested.returncode, tested.stdout) == (0, "✓ Mistral accepted the saved key.\n")
        assert service.listings[-1]["Authorization"] == f"Bearer {KEY}"
        doctor = piped(env, "doctor")
        assert "saved (mistral)" in doctor.stdout
        SavedKeys(tmp_path).record_test("mistral", Secret(KEY), ok=False)
        failed = piped(env, "doctor")
        assert "the saved key of mistral failed its test" in " ".join(failed.stdout.split())
        assert "saved (mistral)" not in failed.stdout
        assert re.search("✗\tmistral", piped(env, "keys", "list").stdout)
        assert re.search(r"\?\tmistral", piped(env, "models").stdout)
        removed = piped(env, "keys", "remove", "mistral")
        assert "The key in MISTRAL_API_KEY is used." in removed.stdout
    for done in (saved, listed, tested, doctor, removed):
        assert KEY not in done.stdout + done.stderr


def test_a_key_is_typed_at_a_prompt_that_does_not_show_it(tmp_path: Path) -> None:
    with Terminal(environment(tmp_path), "keys", "set", "openai") as terminal:
        terminal.until("Key for OpenAI (not shown): ")
        terminal.type(f"{KEY}\n")
        assert terminal.ended() == 0
    assert KEY not in terminal.output
    assert (tmp_path / "keys" / "openai").read_text() == KEY


def test_a_key_on_the_command_line_is_refused(moot: Moot, data: Path) -> None:
    code, _, err = moot("keys", "set", "openai", KEY)
    assert code == 2
    assert not (data / "keys").exists()
    assert "A key is never given on the command line" in err
    assert KEY not in err


def test_a_service_that_is_mistyped_is_refused_with_the_nearest_name(moot: Moot) -> None:
    for command in ("set", "remove", "test"):
        code, _, err = moot("keys", command, "antropic")
        assert code == 2
        assert "There is no service 'antropic' that takes a key. Did you mean anthropic?" in err
    assert "Known: openai, anthropic" in moot("keys", "test", "owl")[2]


def test_in_a_cluster_the_environment_alone_counts(moot: Moot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_STORE", "postgresql://me@db.example/moot")
    code, _, err = moot("keys", "set", "openai")
    assert code == 2
    assert "workers, which read their environment only" in " ".join(err.split())
