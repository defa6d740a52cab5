"""What went wrong with a service names it, its key or address, and the fix."""

from __future__ import annotations

import pytest

from moot.core.errors import Fault, FaultKind
from moot.providers.fault_messages import ServiceName, explain

OPENAI = ServiceName("OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL")


@pytest.mark.parametrize(
    ("kind", "status", "message"),
    [
        (
            "bad_key",
            401,
            "OpenAI rejected OPENAI_API_KEY (401). Replace it in Settings or the environment, then Retry.",
        ),
        ("rate_limited", 429, "OpenAI limits how often it is called (429)."),
        ("unreachable", None, "api.openai.com cannot be reached. Check the network, or OPENAI_BASE_URL."),
        ("unknown_model", 404, "OpenAI has no model called gpt-9 (404). Choose another model."),
    ],
)
def test_a_fault_says_who_what_and_how_to_fix_it_once(
    kind: FaultKind, status: int | None, message: str
) -> None:
    fault = Fault(kind, http_status=status)
    explain(fault, OPENAI, "gpt-9")
    assert str(fault) == message
    explain(fault, ServiceName("Another", "https://b.example"), "other")
    fault.name_model("openai/gpt-9")
    assert str(fault) == message
