"""What the operator sets for a server: limits that can be lifted, and times that cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.core.errors import Invalid
from moot.settings import ServerSettings, load


def service(data: Path, **environ: str) -> ServerSettings:
    return load({"MOOT_DATA": str(data), **environ}).service


def test_nothing_said_is_the_contract(tmp_path: Path) -> None:
    assert service(tmp_path) == ServerSettings()
    assert (ServerSettings().requests_per_minute, ServerSettings().debates_per_client) == (100, 10)


def test_nought_lifts_a_limit(tmp_path: Path) -> None:
    lifted = service(
        tmp_path,
        MOOT_RATE_LIMIT_PER_MINUTE="0",
        MOOT_MAX_DEBATES_PER_CLIENT="0",
        MOOT_MAX_STREAMS_PER_CLIENT="0",
        MOOT_TTL_DAYS="0",
        MOOT_DISK_QUOTA_MB="0",
    )
    assert lifted == ServerSettings(None, *((),) * 3, None, None, None, None, None)


@pytest.mark.parametrize("name", ["MOOT_HEADER_S", "MOOT_BODY_S", "MOOT_COMMENT_S", "MOOT_STALLED_VIEWER_S"])
def test_times_are_more_than_nothing(tmp_path: Path, name: str) -> None:
    with pytest.raises(Invalid, match=name):
        service(tmp_path, **{name: "0"})


def test_lists_are_written_with_commas_or_blanks(tmp_path: Path) -> None:
    said = service(tmp_path, MOOT_HOSTS="a.example, b.example", MOOT_TRUSTED_PROXIES="10.0.0.0/8 ::1")
    assert (said.hosts, said.proxies) == (("a.example", "b.example"), ("10.0.0.0/8", "::1"))


def test_a_token_is_not_shown_by_accident(tmp_path: Path) -> None:
    said = service(tmp_path, MOOT_TOKEN="operators-own-token")
    assert said.token is not None
    assert "operators-own" not in repr(said)


def test_a_log_is_text_or_json(tmp_path: Path) -> None:
    assert service(tmp_path, MOOT_LOG="json").log == "json"
    assert service(tmp_path, MOOT_LOG="json").log_requests
    assert not service(tmp_path).log_requests
    assert not service(tmp_path, MOOT_LOG="json", MOOT_LOG_REQUESTS="0").log_requests
    with pytest.raises(Invalid, match="MOOT_LOG"):
        service(tmp_path, MOOT_LOG="xml")
