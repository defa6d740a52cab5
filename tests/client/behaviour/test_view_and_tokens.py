"""What a server is asked beside its debates: the view, what works, tokens."""

from __future__ import annotations

from collections.abc import Generator
from itertools import islice

import pytest

from moot.client import ApiError, Client, Created, DebateConfig, DebaterConfig
from tests.client.serving import Served, served

MODEL, WORD = "scripted/demo", "operators-own-token"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    with served(tmp_path_factory.mktemp("served"), MOOT_TOKEN=WORD) as running:
        yield running


@pytest.fixture
def client(server: Served) -> Generator[Client]:
    with Client(server.url, token=WORD) as made:
        yield made


def held(client: Client) -> Created:
    two = (DebaterConfig("Ada", MODEL, "for"), DebaterConfig("Bob", MODEL, "against"))
    debate = client.create(
        "Cats are better", participants=two, judge=MODEL, config=DebateConfig(max_rounds=1)
    )
    assert list(client.stream(debate.id))[-1].name == "complete"
    return debate


def test_a_debate_has_a_setup_and_a_view(client: Client) -> None:
    debate = held(client)
    assert client.setup(debate.id)["topic"] == "Cats are better"
    shown = client.view(debate.id)
    assert shown["view"]["about"]["motion"] == "Cats are better"
    changes = list(islice(client.view_changes(debate.id), 3))
    assert changes[0]["seq"] == 1
    (last,) = islice(client.view_changes(debate.id, after=shown["seq"] - 1), 1)
    assert last["seq"] == shown["seq"]


def test_what_works_is_told(client: Client) -> None:
    assert {"openai", "scripted"} <= {one["name"] for one in client.providers()["providers"]}
    models = client.installs()
    assert {model.state for model in models} == {"absent"}
    client.stop_install(models[0].name)
    with pytest.raises(ApiError, match="no such model"):
        client.install("nothing-such")


def test_tokens_are_made_used_and_revoked(client: Client, server: Served) -> None:
    made = client.new_token("zoe", "moderator", owner="ann", days=1)
    assert (made.role, made.owner, made.expires_at is not None) == ("moderator", "ann", True)
    with Client(server.url, token=made.token) as zoe:
        assert zoe.list().debates == ()
        with pytest.raises(ApiError, match="operator"):
            zoe.tokens()
        assert [(one.name, one.token) for one in client.tokens()] == [("zoe", "")]
        client.revoke_token("zoe")
        with pytest.raises(ApiError) as refused:
            zoe.list()
    assert refused.value.status == 401
