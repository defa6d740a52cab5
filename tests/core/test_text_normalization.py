"""Names that look alike are one name, for setups in Python as for bodies of requests."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from moot import formats
from moot.core.errors import Invalid
from moot.core.terms import FREE, Model
from moot.core.text_normalization import fold_name
from moot.rules.debate_setup import SeatSetup, Setup, opening_event


@pytest.mark.parametrize("name", ["ada", " Ada\u00a0", "\u200bAda\ufeff", "\uff21da"])
def test_names_that_look_alike_fold_to_the_same(name: str) -> None:
    assert fold_name(name) == fold_name("Ada")


def test_a_setup_refuses_two_names_that_differ_only_in_invisible_characters() -> None:
    seat = SeatSetup(Model("scripted", "owl", price=FREE), name="Ada")
    setup = Setup("A motion to debate", formats.load("oxford"), (seat, replace(seat, name="Ada\u200b")))
    with pytest.raises(Invalid, match="Names must be unique"):
        opening_event(setup)
