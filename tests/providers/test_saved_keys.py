"""Keys that are saved: where they are kept, which one is used, and that a change takes effect at once."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from moot.core.errors import Invalid, Unavailable
from moot.models.registry import ProviderRegistry
from moot.providers.client import ProviderClient
from moot.providers.endpoints import BUILT_IN, key_of
from moot.providers.keys import ApiKey, Secret
from moot.providers.saved_keys import SavedKeys
from moot.settings import ClusterSettings, Settings
from tests.providers.made_up_keys import NEW, OLD


def test_only_its_owner_can_read_a_saved_key(tmp_path: Path) -> None:
    saved = SavedKeys(tmp_path / "data")
    saved.save("openai", Secret(OLD))
    saved.save("openai", Secret(NEW))
    [file] = saved.folder.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert saved.folder.stat().st_mode & 0o777 == 0o700
    assert saved.all() == {"openai": Secret(NEW)}
    assert NEW not in repr(saved.all())


def test_a_change_of_another_process_is_seen(tmp_path: Path) -> None:
    ours, theirs = SavedKeys(tmp_path), SavedKeys(tmp_path)
    assert ours.all() == {}
    for key in (OLD, NEW):
        theirs.save("openai", Secret(key))
        assert ours.all() == {"openai": Secret(key)}
    # As if it had been saved long ago: from then on the folder is read only when it has changed.
    old = time.time() - 60
    os.utime(ours.folder, (old, old))
    assert ours.all() == {"openai": Secret(NEW)}
    assert theirs.remove("openai")
    assert not theirs.remove("openai")
    assert ours.all() == {}


def test_what_is_no_key_is_refused_and_not_repeated(tmp_path: Path) -> None:
    for wrong in ("", "two words", "sk-canary\n0001", "k" * 513, "clé"):
        with pytest.raises(Invalid, match="A key has 1 to 512") as refused:
            SavedKeys(tmp_path).save("openai", Secret(wrong))
        assert not wrong or wrong not in str(refused.value)
    (tmp_path / "keys").write_text("a file where the folder should be")
    with pytest.raises(Unavailable, match="cannot be written"):
        SavedKeys(tmp_path).save("openai", Secret(OLD))
    assert SavedKeys(tmp_path).all() == {}


def test_a_saved_key_comes_before_the_environment_and_the_file() -> None:
    openai, environ, file = BUILT_IN["openai"], {"OPENAI_API_KEY": OLD}, {"openai": Secret("sk-of-the-file")}
    found = key_of(openai, environ, file, {"openai": Secret(NEW)})
    assert found == ApiKey(Secret(NEW), "the saved key")
    assert found.origin == "settings"
    rest = (key_of(openai, environ, file), key_of(openai, {}, file))
    assert [key.origin for key in rest if key] == ["environment", "file"]


async def test_a_key_that_changes_is_used_by_the_next_call_and_calls_under_way_go_on(tmp_path: Path) -> None:
    saved = SavedKeys(tmp_path)
    saved.save("openai", Secret(OLD))
    providers = ProviderRegistry({}, models=tmp_path, environ={}, saved_keys=saved)
    before = providers.get("openai")
    assert providers.get("openai") is before
    saved.save("openai", Secret(NEW))
    after = providers.get("openai")
    assert after is not before
    assert isinstance(before, ProviderClient)
    assert not before._closed
    saved.remove("openai")
    with pytest.raises(Unavailable, match="There is no key for OpenAI"):
        providers.get("openai")
    await providers.close()
    assert before._closed


async def test_a_saved_key_makes_a_model_the_default_only_once_a_test_has_accepted_it(tmp_path: Path) -> None:
    saved = SavedKeys(tmp_path)
    providers = ProviderRegistry(
        {}, models=tmp_path, environ={}, services=(BUILT_IN["openai"],), saved_keys=saved
    )
    alone = await providers.default_model()
    saved.save("openai", Secret(OLD))
    assert (saved.test_state("openai"), await providers.default_model()) == ("untested", alone)
    saved.record_test("openai", Secret(OLD), ok=False)
    assert (saved.test_state("openai"), await providers.default_model()) == ("failed", alone)
    saved.record_test("openai", Secret(OLD), ok=True)
    assert saved.test_state("openai") == "accepted"
    assert (await providers.default_model()).startswith("openai/")
    # Another key was never tested; all of it is known to another process, and no key stands in the file.
    saved.save("openai", Secret(NEW))
    assert SavedKeys(tmp_path).test_state("openai") == "untested"
    assert OLD not in (saved.folder / ".tests").read_text()
    assert (saved.folder / ".tests").stat().st_mode & 0o777 == 0o600
    await providers.close()


def test_a_cluster_saves_no_keys(tmp_path: Path) -> None:
    settings = Settings(tmp_path, cluster=ClusterSettings(store=Secret("postgresql://me@db.example/moot")))
    assert settings.saved_keys is None
