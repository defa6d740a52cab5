"""Every built-in format keeps the contract of formats, and so do the two made for tests."""

from __future__ import annotations

import pytest

from moot import formats
from moot.core.terms import Format
from moot.testing import FormatContract
from tests.rules.random_debates import blind, parlour

MADE_HERE = {"blind": blind, "parlour": parlour}


class TestEveryFormat(FormatContract):
    @pytest.fixture(params=[*formats.BUILT_IN, *MADE_HERE])
    def debate_format(self, request: pytest.FixtureRequest) -> Format:
        return MADE_HERE[request.param]() if request.param in MADE_HERE else formats.load(request.param)
