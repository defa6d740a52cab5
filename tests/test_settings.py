"""What the operator sets for a server: limits that can be lifted, and times that cannot."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from moot.core.errors import Invalid
from moot.settings import SECRETS, VARIABLES, ServerSettings, known_variables, load, unknown_variables
from moot.web.logging_setup import secrets_of


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


# --- secrets in files -------------------------------------------------------------------------------------


def test_a_secret_may_be_in_a_file(tmp_path: Path) -> None:
    for name in ("token", "store", "key"):
        (tmp_path / name).write_text(f"postgresql://moot:{name}@db/moot\n")
    said = load(
        {
            "MOOT_DATA": str(tmp_path),
            "MOOT_TOKEN": "",
            "MOOT_TOKEN_FILE": str(tmp_path / "token"),
            "MOOT_STORE_FILE": str(tmp_path / "store"),
            "OPENAI_API_KEY_FILE": str(tmp_path / "key"),
        }
    )
    assert said.service.token is not None
    assert said.service.token.reveal() == "postgresql://moot:token@db/moot"
    assert said.cluster.store is not None
    assert said.cluster.store.reveal() == "postgresql://moot:store@db/moot"
    assert said.environ["OPENAI_API_KEY"] == "postgresql://moot:key@db/moot"
    assert "postgresql://moot:key@db/moot" in secrets_of(said), "it is kept out of the log"


def test_credentials_of_systemd_are_called_like_their_variables(tmp_path: Path) -> None:
    (tmp_path / "MOOT_TOKEN").write_text("from a credential")
    (tmp_path / "PATH").write_text("of nobody's concern")
    env = {"MOOT_DATA": str(tmp_path), "CREDENTIALS_DIRECTORY": str(tmp_path), "PATH": "/bin"}
    said = load(env)
    assert said.service.token is not None
    assert (said.service.token.reveal(), said.environ["PATH"]) == ("from a credential", "/bin")
    written = load({**env, "MOOT_TOKEN": "in the environment"}).service.token
    assert written is not None
    assert written.reveal() == "in the environment"


@pytest.mark.parametrize("content", [None, "", " \n", "two\nlines", b"\xff\xfe"])
def test_a_file_without_a_secret_does_not_open_the_server(
    tmp_path: Path, content: str | bytes | None
) -> None:
    if content is not None:
        (tmp_path / "token").write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(Invalid, match="MOOT_TOKEN_FILE"):
        service(tmp_path, MOOT_TOKEN_FILE=str(tmp_path / "token"))


def test_a_secret_is_in_one_place(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("sesame")
    with pytest.raises(Invalid, match="MOOT_TOKEN and MOOT_TOKEN_FILE are both set") as refused:
        service(tmp_path, MOOT_TOKEN="simsalabim", MOOT_TOKEN_FILE=str(tmp_path / "token"))
    assert "simsalabim" not in str(refused.value)


# --- names that are none ----------------------------------------------------------------------------------


def test_a_misspelt_name_is_told_with_the_nearest_right_one() -> None:
    env = dict.fromkeys(("MOOT_TRUSTED_PROXY", "MOOT_TOKEN", "MOOT_TOKEN_FILE", "PATH", "MOOTED"), "x")
    assert unknown_variables(env) == [
        "There is no setting MOOT_TRUSTED_PROXY, so it has no effect. Do you mean MOOT_TRUSTED_PROXIES?"
    ]
    [strange] = unknown_variables({"MOOT_XQZW": "1"})
    assert strange.endswith("docs/settings.md lists all.")


def test_every_variable_is_known_and_documented() -> None:
    root = Path(__file__).parents[1]
    source = "".join(path.read_text("utf-8") for path in (root / "src").rglob("*.py"))
    named = set(re.findall(r"\bMOOT_[A-Z_]*[A-Z]\b", source)) - {f"{name}_FILE" for name in SECRETS}
    documented = set(re.findall(r"`(MOOT_[A-Z_]+)`", (root / "docs/settings.md").read_text("utf-8")))
    assert named == known_variables()
    assert documented == named | {f"{name}_FILE" for name in SECRETS if name in VARIABLES}
