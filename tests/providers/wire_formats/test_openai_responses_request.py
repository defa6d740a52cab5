"""The Responses dialect: what is sent."""

from __future__ import annotations

from moot.core.terms import ChatMessage, Model
from moot.providers.contract import Traits
from moot.providers.wire_formats.openai_responses_request import WIRE_FORMAT, body
from tests.providers.wire_formats.openai_responses_calls import CHAINING, HISTORY, THINKING, ask


def test_a_request_in_this_dialect() -> None:
    assert body(ask(seed=3, stop=("\n",)), Traits()) == {
        "model": "gpt-5-mini",
        "instructions": "Argue.",
        "input": [{"role": "user", "content": "Go."}],
        "max_output_tokens": 50,
        "store": False,
        "stream": True,
        "temperature": 0.5,
    }


def test_it_asks_under_its_own_address() -> None:
    assert WIRE_FORMAT.url("https://api.example/v1", "m") == "https://api.example/v1/responses"
    assert WIRE_FORMAT.headers("k") == {"Authorization": "Bearer k"}


def test_a_chained_request_brings_only_what_is_new() -> None:
    fresh = (ChatMessage("user", "A remark."), ChatMessage("user", "Go on."))
    sent = body(ask(messages=HISTORY, previous_response_id="resp_1", fresh=fresh), THINKING)
    assert sent["previous_response_id"] == "resp_1"
    assert sent["input"] == [
        {"role": "user", "content": "A remark."},
        {"role": "user", "content": "Go on."},
    ]
    assert (sent["instructions"], sent["store"]) == ("Argue.", True)


def test_without_a_word_on_what_is_new_the_last_message_is() -> None:
    sent = body(ask(messages=HISTORY, previous_response_id="resp_1"), CHAINING)
    assert sent["input"] == [{"role": "user", "content": "Go on."}]


def test_thoughts_never_go_out_beside_a_chain() -> None:
    sent = body(ask(messages=HISTORY, previous_response_id="resp_1", fresh=HISTORY), THINKING)
    assert [item.get("role") for item in sent["input"]] == ["user", "assistant", "user"]


def test_an_id_means_nothing_to_a_service_without_memory() -> None:
    sent = body(ask(messages=HISTORY, previous_response_id="resp_1", fresh=HISTORY[-1:]), Traits())
    assert "previous_response_id" not in sent
    assert len(sent["input"]) == 3


def test_the_whole_history_carries_the_sealed_thoughts_before_the_words() -> None:
    assert body(ask(messages=HISTORY), THINKING)["input"] == [
        {"role": "user", "content": "Open."},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc"},
        {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "def"},
        {"role": "assistant", "content": "I say."},
        {"role": "user", "content": "Go on."},
    ]


def test_a_model_that_does_not_think_is_not_asked_to() -> None:
    sent = body(ask(messages=HISTORY), CHAINING)
    assert not {"reasoning", "include", "text"} & sent.keys()
    assert all("role" in item for item in sent["input"])


def test_thinking_is_asked_for_as_far_as_the_model_can_be_told() -> None:
    sent = body(ask(), THINKING)
    assert sent["reasoning"] == {"summary": "auto", "effort": "low"}
    assert sent["include"] == ["reasoning.encrypted_content"]
    assert "temperature" not in sent
    unheard_of = body(ask(model=Model("openai", "m", effort="xhigh")), THINKING)
    assert unheard_of["reasoning"] == {"summary": "auto"}


def test_verbosity_and_a_schema_share_one_place() -> None:
    shape = {"type": "object"}
    assert body(ask(schema=shape), THINKING)["text"] == {
        "verbosity": "high",
        "format": {"type": "json_schema", "name": "reply", "strict": True, "schema": shape},
    }


def test_a_looser_model_is_held_to_json_or_to_nothing() -> None:
    assert body(ask(schema={}), Traits(schema="json"))["text"] == {"format": {"type": "json_object"}}
    assert "text" not in body(ask(schema={}), Traits(schema="words"))
