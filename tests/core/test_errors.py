"""Errors say what happened, in words for people."""

from __future__ import annotations

from typing import get_args

import pytest

from moot.core import errors
from moot.core.errors import (
    FAULT_MESSAGES,
    Fault,
    FaultKind,
    Invalid,
    KeyReused,
    MootError,
    Refused,
    UnknownDebate,
)

TREE = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, MootError) and not issubclass(kind, Refused | Fault)
]


@pytest.mark.parametrize("kind", TREE)
def test_the_docstring_is_the_default_message(kind: type[MootError]) -> None:
    assert str(kind()) == (kind.__doc__ or "").splitlines()[0]


@pytest.mark.parametrize("kind", [*TREE, Refused, Fault])
def test_every_error_is_drawn_in_the_tree(kind: type[MootError]) -> None:
    assert kind.__name__ in (errors.__doc__ or "")


def test_a_refusal_carries_the_reason_and_the_status() -> None:
    refused = Refused("Not now.", "paused")
    assert (str(refused), refused.reason, refused.status) == ("Not now.", "Not now.", "paused")


def test_what_is_invalid_names_its_fields() -> None:
    assert Invalid("Bad.", {"topic": ["Too long"]}).problems == {"topic": ["Too long"]}
    assert Invalid().problems == {}
    assert issubclass(KeyReused, Invalid)


def test_every_kind_of_fault_has_its_words() -> None:
    assert set(FAULT_MESSAGES) == set(get_args(FaultKind))


def test_a_fault_never_repeats_what_the_provider_said() -> None:
    fault = Fault("bad_key", "permanent", detail="Incorrect API key provided: sk-secret")
    assert "sk-secret" not in str(fault)
    assert str(fault) == FAULT_MESSAGES["bad_key"]


def test_a_message_of_ones_own_replaces_the_default() -> None:
    assert str(UnknownDebate("Gone.")) == "Gone."
