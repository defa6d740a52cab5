"""Tools in every wire format: how they are offered, and how calls and results are sent back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moot.core.pricing import input_bound
from moot.core.terms import (
    ChatMessage,
    Model,
    Reasoning,
    ReasoningPart,
    Request,
    Segment,
    Text,
    Tool,
    ToolCall,
    ToolResult,
)
from moot.engine.call import CallResult
from moot.engine.continued_calls import make_shifter, next_index
from moot.providers.contract import OWN_ID_PREFIX, ReplyDelta, ReplyDone, ReplySegment, Traits
from moot.providers.endpoints import ENDPOINTS
from moot.providers.wire_formats import (
    anthropic_request,
    google_request,
    openai_chat_request,
    openai_responses_request,
)
from moot.providers.wire_formats.request_parts import exchange_steps, parameter_schema, parse_arguments
from tests.providers.recordings import Recording, found, wire_format

SCHEMA = {"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"q": {"type": "string"}}}
BARE = {"type": "object", "properties": {"q": {"type": "string"}}}
SEARCH = Tool("lab__search", "Finds things.", SCHEMA, server="lab", title="Search")
PLAIN = Traits(tools=True)
THINKING = Traits(tools=True, thinks=True)


def ask(**changes: Any) -> Request:
    usual: dict[str, Any] = {
        "model": Model("x", "m"),
        "instructions": "Argue.",
        "messages": (ChatMessage("user", "Go."),),
        "max_tokens": 4000,
        "tools": (SEARCH,),
    }
    return Request(**{**usual, **changes})


def exchange(kind: str, **changes: Any) -> tuple[Segment, ...]:
    """A thought, a word, two calls, what came of them, and a third call with an answer of its own."""
    return (
        Reasoning((ReasoningPart("Hm."),), 0, "rs_1", opaque="seal-1"),
        Text("Let me see.", 1),
        ToolCall("c1", "lab__search", '{"q":"a"}', 2, kind=kind, **changes),
        ToolCall("c2", "lab__search", "nonsense", 3, kind=kind),
        ToolResult("c1", "Found a.", index=4),
        ToolResult("c2", "Not an object.", "bad", index=5),
        ToolCall("c3", "lab__search", "", 6, kind=kind),
        ToolResult("c3", "Nothing.", index=7),
    )


# --- alike in all -----------------------------------------------------------------------------------------


def test_an_exchange_is_taken_apart_by_replies() -> None:
    found = exchange_steps(exchange("function"))
    assert [len(step.segments) for step in found] == [4, 1]
    assert [[result.output for _call, result in step.results] for step in found] == [
        ["Found a.", "Not an object."],
        ["Nothing."],
    ]


def test_what_ran_at_the_service_belongs_to_the_reply() -> None:
    ran = (ToolCall("s1", "web_search", "{}", 0, kind="server_tool_use"), ToolResult("s1", "[]", index=1))
    assert exchange_steps((*ran, Text("So.", 2)))[0].segments == [*ran, Text("So.", 2)]


@pytest.mark.parametrize("asked", ["", "nonsense", "[1]", "3", "[" * 5000])
def test_arguments_that_are_no_object_go_back_as_none(asked: str) -> None:
    assert parse_arguments(ToolCall("c", "t", asked)) == {}


def test_a_schema_is_always_that_of_an_object() -> None:
    assert parameter_schema(SEARCH) == BARE
    assert parameter_schema(Tool("t", "", {})) == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    "build",
    [
        openai_responses_request.body,
        openai_chat_request.wire_format().body,
        anthropic_request.body,
        google_request.body,
    ],
)
def test_without_tools_nothing_is_said_of_them(build: Any) -> None:
    sent = json.dumps(build(ask(tools=()), THINKING))
    assert "tool" not in sent.lower()


def test_tools_and_what_they_gave_are_counted_as_input() -> None:
    bare = input_bound(ask(tools=()))
    offered = input_bound(ask())
    assert offered > bare + len(str(SCHEMA))
    assert input_bound(ask(exchange=(ToolResult("c", "x" * 5000),))) > offered + 5000


def test_services_are_offered_tools_and_machines_of_ones_own_only_if_they_are_known_to_take_them() -> None:
    for endpoint in ENDPOINTS:
        assert endpoint.traits.tools is not endpoint.local
    both = ("web_search", "code")
    hosted = {endpoint.name: endpoint.traits.hosted for endpoint in ENDPOINTS if endpoint.traits.hosted}
    assert hosted == {"openai": both, "anthropic": both, "google": both, "xai": ("web_search",)}
    assert not Traits().tools


# --- Responses --------------------------------------------------------------------------------------------


def test_responses_offers_functions_and_its_own_tools() -> None:
    sent = openai_responses_request.body(ask(hosted=("web_search", "code")), PLAIN)
    assert sent["tools"] == [
        {
            "type": "function",
            "name": "lab__search",
            "description": "Finds things.",
            "parameters": BARE,
            "strict": False,
        },
        {"type": "web_search"},
        {"type": "code_interpreter", "container": {"type": "auto"}},
    ]
    assert "tool_choice" not in sent
    assert openai_responses_request.body(ask(enough=True), PLAIN)["tool_choice"] == "none"


def test_responses_tells_the_whole_exchange_where_nothing_is_remembered() -> None:
    sent = openai_responses_request.body(ask(exchange=exchange("function_call")), THINKING)
    assert sent["input"] == [
        {"role": "user", "content": "Go."},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "seal-1"},
        {"role": "assistant", "content": "Let me see."},
        {"type": "function_call", "call_id": "c1", "name": "lab__search", "arguments": '{"q":"a"}'},
        {"type": "function_call", "call_id": "c2", "name": "lab__search", "arguments": "nonsense"},
        {"type": "function_call_output", "call_id": "c1", "output": "Found a."},
        {"type": "function_call_output", "call_id": "c2", "output": "Not an object."},
        {"type": "function_call", "call_id": "c3", "name": "lab__search", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c3", "output": "Nothing."},
    ]


def test_responses_brings_only_the_last_results_to_the_response_that_asked() -> None:
    asked = ask(exchange=exchange("function_call"), previous_response_id="resp_2", resumes=True)
    sent = openai_responses_request.body(asked, Traits(chaining=True, tools=True))
    assert sent["previous_response_id"] == "resp_2"
    assert sent["input"] == [{"type": "function_call_output", "call_id": "c3", "output": "Nothing."}]


def test_responses_tells_the_exchange_after_what_is_new_in_an_older_chain() -> None:
    asked = ask(
        exchange=exchange("function_call"),
        previous_response_id="resp_of_last_turn",
        fresh=(ChatMessage("user", "New."),),
    )
    sent = openai_responses_request.body(asked, Traits(chaining=True, tools=True, thinks=True))
    assert sent["input"][0] == {"role": "user", "content": "New."}
    assert len(sent["input"]) == 9


def test_responses_gets_back_what_a_message_was_marked_as() -> None:
    said = (
        Reasoning((ReasoningPart("Let me see."),), 0, "msg_1", phase="commentary"),
        Text("So far so good.", 1, "msg_2", phase="final_answer"),
        ToolCall("c1", "lab__search", "{}", 2, kind="function_call"),
        ToolResult("c1", "Found a.", index=3),
    )
    sent = openai_responses_request.body(ask(exchange=said), THINKING)["input"]
    assert sent[1:3] == [
        {"role": "assistant", "content": "Let me see.", "phase": "commentary"},
        {"role": "assistant", "content": "So far so good.", "phase": "final_answer"},
    ]


def test_a_thought_that_led_to_the_services_own_tool_stays_there() -> None:
    ran = (
        Reasoning((), 0, "rs_1", opaque="seal-1"),
        ToolCall("ws_1", "web_search_call", "", 1, kind="web_search_call"),
        Reasoning((), 2, "rs_2", opaque="seal-2"),
        ToolCall("c1", "lab__search", "{}", 3, kind="function_call"),
        ToolResult("c1", "Found.", index=4),
    )
    sent = openai_responses_request.body(ask(exchange=ran), THINKING)
    assert [item.get("id") or item.get("call_id") for item in sent["input"][1:]] == ["rs_2", "c1", "c1"]


# --- chat completions -------------------------------------------------------------------------------------


def test_chat_offers_functions_until_it_is_enough() -> None:
    build = openai_chat_request.wire_format().body
    told = {"name": "lab__search", "description": "Finds things.", "parameters": BARE}
    assert build(ask(hosted=("code",)), PLAIN)["tools"] == [{"type": "function", "function": told}]
    enough = build(ask(enough=True), PLAIN)
    assert (len(enough["tools"]), enough["tool_choice"]) == (1, "none")


def test_chat_tells_calls_in_a_message_and_each_result_in_one_of_its_own() -> None:
    sent = openai_chat_request.wire_format().body(ask(exchange=exchange("function")), PLAIN)
    asked, first, second, again, third = sent["messages"][2:]
    assert asked["content"] == "Let me see."
    assert [call["function"]["arguments"] for call in asked["tool_calls"]] == ['{"q":"a"}', "{}"]
    assert first == {"role": "tool", "tool_call_id": "c1", "content": "Found a."}
    assert second["tool_call_id"] == "c2"
    assert (again["content"], again["tool_calls"][0]["id"]) == ("", "c3")
    assert third["role"] == "tool"
    assert "reasoning_content" not in asked


def test_thoughts_go_back_with_the_call_where_a_service_wants_them() -> None:
    parts = exchange("function")
    deepseek = openai_chat_request.wire_format(openai_chat_request.ACCENTS["deepseek"]).body(
        ask(exchange=parts), PLAIN
    )
    assert deepseek["messages"][2]["reasoning_content"] == "Hm."
    signed = '[{"type":"reasoning.text","signature":"s","index":0}]'
    thought = Reasoning((ReasoningPart("Hm."),), 0, opaque=signed)
    openrouter = openai_chat_request.wire_format(openai_chat_request.ACCENTS["openrouter"]).body(
        ask(exchange=(thought, *parts[1:])), PLAIN
    )
    assert openrouter["messages"][2]["reasoning_details"] == [
        {"type": "reasoning.text", "signature": "s", "index": 0, "text": "Hm."}
    ]


# --- Anthropic --------------------------------------------------------------------------------------------


def test_anthropic_offers_tools_and_its_own() -> None:
    sent = anthropic_request.body(ask(hosted=("web_search", "code")), PLAIN)
    assert sent["tools"] == [
        {"name": "lab__search", "description": "Finds things.", "input_schema": BARE},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 5},
        {"type": "code_execution_20250825", "name": "code_execution"},
    ]
    enough = anthropic_request.body(ask(enough=True), PLAIN)
    assert enough["tool_choice"] == {"type": "none"}
    assert enough["tools"]


def test_anthropic_tells_blocks_with_their_signatures_and_answers_all_at_once() -> None:
    sent = anthropic_request.body(ask(exchange=exchange("tool_use")), THINKING)
    asked, given, again, third = sent["messages"][1:]
    assert asked == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "seal-1"},
            {"type": "text", "text": "Let me see."},
            {"type": "tool_use", "id": "c1", "name": "lab__search", "input": {"q": "a"}},
            {"type": "tool_use", "id": "c2", "name": "lab__search", "input": {}},
        ],
    }
    assert given == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "Found a."},
            {"type": "tool_result", "tool_use_id": "c2", "content": "Not an object.", "is_error": True},
        ],
    }
    assert [again["role"], third["role"]] == ["assistant", "user"]


def test_anthropic_gets_back_what_ran_on_its_side_as_it_came() -> None:
    paused = (
        Reasoning((), 0, opaque="hidden", redacted=True),
        ToolCall("s1", "web_search", '{"query":"x"}', 1, kind="server_tool_use"),
        ToolResult("s1", '[{"type":"web_search_result","url":"u"}]', index=2),
        Text("So far: ", 3),
    )
    sent = anthropic_request.body(ask(tools=(), hosted=("web_search",), exchange=paused), THINKING)
    assert sent["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "redacted_thinking", "data": "hidden"},
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "s1",
                    "content": [{"type": "web_search_result", "url": "u"}],
                },
                {"type": "text", "text": "So far:"},
            ],
        }
    ]


# --- Google -----------------------------------------------------------------------------------------------


def test_google_offers_functions_or_its_own_tools() -> None:
    told = {"name": "lab__search", "description": "Finds things.", "parametersJsonSchema": BARE}
    assert google_request.body(ask(hosted=("code",)), PLAIN)["tools"] == [{"functionDeclarations": [told]}]
    own = google_request.body(ask(tools=(), hosted=("web_search", "code")), PLAIN)
    assert own["tools"] == [{"googleSearch": {}}, {"codeExecution": {}}]
    enough = google_request.body(ask(enough=True), PLAIN)
    assert enough["toolConfig"] == {"functionCallingConfig": {"mode": "NONE"}}


def test_google_gets_each_signature_back_in_its_part() -> None:
    sent = google_request.body(ask(exchange=exchange("functionCall", opaque="sig-c1")), THINKING)
    asked, given, again, _third = sent["contents"][1:]
    assert asked == {
        "role": "model",
        "parts": [
            {"text": "Hm.", "thought": True, "thoughtSignature": "seal-1"},
            {"text": "Let me see."},
            {
                "functionCall": {"id": "c1", "name": "lab__search", "args": {"q": "a"}},
                "thoughtSignature": "sig-c1",
            },
            {"functionCall": {"id": "c2", "name": "lab__search", "args": {}}},
        ],
    }
    assert given["role"] == "user"
    assert [part["functionResponse"]["response"] for part in given["parts"]] == [
        {"result": "Found a."},
        {"error": "Not an object."},
    ]
    assert again["parts"] == [{"functionCall": {"id": "c3", "name": "lab__search", "args": {}}}]


def test_google_gets_a_signature_back_that_had_no_place_and_no_id_that_is_ours() -> None:
    parts = (
        Text("Let me see.", 0),
        Reasoning((), 1, opaque="sig-text"),
        ToolCall(f"{OWN_ID_PREFIX}2", "lab__search", "{}", 2, kind="functionCall"),
        ToolResult(f"{OWN_ID_PREFIX}2", "Found.", index=3),
    )
    asked, given = google_request.body(ask(exchange=parts), PLAIN)["contents"][1:]
    assert asked["parts"] == [
        {"text": "Let me see.", "thoughtSignature": "sig-text"},
        {"functionCall": {"name": "lab__search", "args": {}}},
    ]
    assert given["parts"] == [{"functionResponse": {"name": "lab__search", "response": {"result": "Found."}}}]


def test_a_custom_call_waits_for_an_answer_and_goes_back_with_it_in_its_own_shape() -> None:
    call = ToolCall("call_1", "execute_code", "print(3**3)", kind="custom_tool_call")
    assert call.needs_answer
    sent = openai_responses_request.body(ask(exchange=(call, ToolResult("call_1", "27", index=1))), PLAIN)
    assert sent["input"][-2:] == [
        {
            "type": "custom_tool_call",
            "call_id": "call_1",
            "name": "execute_code",
            "input": "print(3**3)",
        },
        {"type": "custom_tool_call_output", "call_id": "call_1", "output": "27"},
    ]


# --- what real models asked -------------------------------------------------------------------------------


def asking() -> list[object]:
    """Recorded replies in which a model asks for a function."""
    cases = [(recording, ear) for recording in found() if (ear := listened(recording)) and calls(ear)]
    if not cases:
        return [pytest.param(None, None, id="none", marks=pytest.mark.skip(reason="no recordings here"))]
    return [pytest.param(*case, id=case[0]["id"]) for case in cases]


def listened(recording: Recording) -> CallResult | None:
    if int(recording["response"]["status"]) != 200 or not recording["expect"].get("tool_calls"):
        return None
    request, ear = ask(), CallResult()
    decoder, placed = wire_format(recording).decoder(request, PLAIN), make_shifter(request)
    assert placed is not None
    body = recording["response"]["body"]
    for chunk in map(placed.shift, [*decoder.feed(body.encode()), *decoder.end()]):
        if isinstance(chunk, ReplyDelta):
            ear.add_delta(chunk.segment, chunk.kind, chunk.text)
        elif isinstance(chunk, ReplySegment):
            ear.add_segment(chunk.segment, 1 << 20)
        elif isinstance(chunk, ReplyDone):
            ear.done = chunk
    return ear


def calls(ear: CallResult) -> list[ToolCall]:
    return [part for part in ear.all_segments() if isinstance(part, ToolCall) and part.needs_answer]


@pytest.mark.parametrize(("recording", "ear"), asking())
def test_what_a_real_model_asked_goes_back_with_its_answers(recording: Recording, ear: CallResult) -> None:
    asked, said = calls(ear), ear.all_segments()
    first = next_index(said)
    given = [ToolResult(call.id, f"Answer {n}.", index=first + n) for n, call in enumerate(asked)]
    request = ask(exchange=(*said, *given))
    sent = json.dumps(wire_format(recording).body(request, THINKING))
    assert len({call.id for call in asked}) == len(asked)
    for place_, call in enumerate(asked):
        assert f"Answer {place_}." in sent
        assert json.dumps(call.name) in sent
        assert call.id in sent or call.id.startswith(OWN_ID_PREFIX)
    for part in said:
        if isinstance(part, ToolCall | Reasoning) and part.opaque and recording["api"] != "openai.chat":
            assert part.opaque in sent
    assert ear.done is not None
    assert ear.done.finish in ("tool", "stop")
