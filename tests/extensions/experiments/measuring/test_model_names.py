"""A model with settings of its own has a name that says them."""

from __future__ import annotations

from moot.extensions.experiments.measuring.model_names import ModelSettings, named_with, read_name


def test_a_name_says_all_settings_and_is_read_again() -> None:
    chosen = ModelSettings(effort="low", temperature=0.2, max_tokens=100, service_tier="flex")
    assert read_name(named_with("a/b", chosen)) == ("a/b", chosen)
    assert read_name("local//models/mine (2).gguf") == ("local//models/mine (2).gguf", ModelSettings())
