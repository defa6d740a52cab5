"""What chat-completions services send, in all their variants, and how it is decoded."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from moot.core.errors import Fault
from moot.core.terms import Reasoning, ReasoningPart, Text, ToolCall, UnknownItem, Usage
from moot.providers.contract import Chunk, KeepAlive, ReplyDelta, ReplyDone, ReplySegment, ReplyStarted
from moot.providers.wire_formats.openai_chat_decoder import ChatDecoder, usage
from tests.providers.chat_lines import DONE, FIGURES, ROLE, STOP, line, says, whole


def decode(*packets: bytes, prefill: str = "") -> list[Chunk]:
    decoder = ChatDecoder(prefill)
    chunks = [chunk for packet in packets for chunk in decoder.feed(packet)] + decoder.end()
    return [chunk for chunk in chunks if chunk != KeepAlive()]


def done(
    finish: Any = "stop", usage: Usage | None = None, *, reason: str | None = None, **more: Any
) -> ReplyDone:
    told: dict[str, Any] = {"response_id": "c1", "model": "m-1", **more}
    return ReplyDone(finish, usage, reason=finish if reason is None else reason, **told)


def words(chunks: list[Chunk], kind: str = "text") -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, ReplyDelta) and chunk.kind == kind)


def items(chunks: list[Chunk]) -> list[Any]:
    return [chunk.segment for chunk in chunks if isinstance(chunk, ReplySegment)]


def last(chunks: list[Chunk]) -> ReplyDone:
    assert isinstance(chunks[-1], ReplyDone)
    return chunks[-1]


# --- words --------------------------------------------------------------------------------------------


def test_a_plain_reply() -> None:
    assert decode(ROLE, says(content="Zo"), says(content="os"), STOP, FIGURES, DONE) == [
        ReplyStarted("c1"),
        ReplyDelta("Zo"),
        ReplyDelta("os"),
        done(usage=Usage(input=9, output=2, cached=4)),
    ]


@pytest.mark.parametrize("step", [1, 7, 64])
def test_a_reply_cut_into_packets(step: int) -> None:
    stream = ROLE + says(content="Zoé") + STOP + FIGURES + DONE
    assert decode(*(stream[at : at + step] for at in range(0, len(stream), step))) == decode(stream)


def test_the_probabilities_of_the_first_tokens_are_kept() -> None:
    other = {"token": "No", "logprob": math.log(0.25)}
    token = {"token": "Zo", "logprob": math.log(0.5), "top_logprobs": [other, {"token": "?"}]}
    choice = {"index": 0, "delta": {"content": "Zo"}, "logprobs": {"content": [token]}}
    tokens = last(decode(ROLE, line(choices=[choice]), says(content="os"), STOP)).tokens
    assert [one.text for one in tokens] == ["Zo"]
    assert tokens[0].odds == pytest.approx({"Zo": 0.5, "No": 0.25})
    assert last(decode(ROLE, *[line(choices=[choice])] * 50, STOP)).tokens == tokens * 16
    odd = {**choice, "logprobs": {"content": [{"token": 5, "logprob": "high"}, "?"]}}
    assert [one.odds for one in last(decode(ROLE, line(choices=[odd]), STOP)).tokens] == [{}]


def test_reasoning_and_text_are_segments_in_order() -> None:
    chunks = decode(
        says(reasoning_content="hm"),
        says(reasoning="m"),
        says(content="a"),
        says(reasoning_content="o"),
        STOP,
    )
    assert chunks[1:-1] == [
        ReplyDelta("hm", "reasoning", 0),
        ReplyDelta("m", "reasoning", 0),
        ReplyDelta("a", "text", 1),
        ReplyDelta("o", "reasoning", 2),
    ]


def test_thoughts_come_before_the_words_of_the_same_chunk() -> None:
    assert decode(says(content="So.", reasoning="Hm."), STOP)[1:-1] == [
        ReplyDelta("Hm.", "reasoning", 0),
        ReplyDelta("So.", "text", 1),
    ]


def test_empty_fields_say_nothing() -> None:
    blank = says(content="", reasoning_content="", reasoning=None, refusal=None, tool_calls=None)
    assert decode(blank, blank, says("stop", content="")) == [ReplyStarted("c1"), done()]


def test_a_prefill_is_heard_first() -> None:
    assert decode(ROLE, says(content=" so"), STOP, prefill="I say")[1:3] == [
        ReplyDelta("I say"),
        ReplyDelta(" so"),
    ]


def test_an_echoed_prefill_is_heard_once() -> None:
    assert decode(ROLE, says(content="I say so"), STOP, prefill="I say")[1:3] == [
        ReplyDelta("I say"),
        ReplyDelta(" so"),
    ]


def test_mistral_puts_thoughts_words_and_references_into_one_list() -> None:
    reference = {"type": "reference", "reference_ids": [3]}
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Let me"}, " see."]}
    chunks = decode(
        says(content=""),
        says(content=[thinking]),
        says(content=[{"type": "thinking", "thinking": " Yes."}, {"type": "text", "text": "It"}]),
        says(content=[reference, {"type": "image_url"}, " really"]),
        says("stop", content=" is."),
    )
    assert chunks[1:-1] == [
        ReplyDelta("Let me see.", "reasoning", 0),
        ReplyDelta(" Yes.", "reasoning", 0),
        ReplyDelta("It", "text", 1),
        ReplySegment(UnknownItem("image_url", {"type": "image_url"}, 2)),
        ReplyDelta(" really", "text", 3),
        ReplyDelta(" is.", "text", 3),
        ReplySegment(Text(" really is.", 3, annotations=(reference,))),
    ]
    assert last(chunks).unread == 0


def test_a_refusal_is_words_and_a_finish() -> None:
    assert decode(says(refusal="N"), says(refusal="o."), STOP)[1:] == [
        ReplyDelta("N"),
        ReplyDelta("o."),
        done("refusal", reason="stop"),
    ]


def test_a_broken_character_is_marked_and_does_no_harm() -> None:
    chunks = decode(b'data: {"choices":[{"delta":{"content":"a\xff"}}]}\n\n', STOP)
    assert chunks[1] == ReplyDelta("a\ufffd")
    assert last(chunks).degraded == "utf8"


def test_only_the_first_choice_counts_and_unknown_things_are_passed_over() -> None:
    other = line(choices=[{"index": 1, "delta": {"content": "x"}}], extra={"a": 1})
    chunks = decode(other, says(content="a", spell=[1]), line(news="none"), STOP)
    assert words(chunks) == "a"
    assert last(chunks).unread == 1


def test_fields_of_unexpected_types_break_nothing() -> None:
    odd = line(
        id=7,
        model=None,
        choices=[
            {
                "index": None,
                "finish_reason": None,
                "delta": {
                    "content": "a",
                    "reasoning": {"n": 1},
                    "reasoning_content": 4,
                    "reasoning_details": "x",
                    "refusal": False,
                    "annotations": 3,
                    "tool_calls": {"a": 1},
                    "executed_tools": [1],
                },
            }
        ],
        usage=[],
        error=None,
        x_groq=None,
    )
    assert decode(odd, STOP) == [ReplyStarted(None), ReplyDelta("a"), done()]


# --- tags in the text ---------------------------------------------------------------------------------


def test_tags_at_the_head_are_thoughts() -> None:
    chunks = decode(says(content="<thi"), says(content="nk>Hm.</"), says(content="think>\n\nYes."), STOP)
    assert chunks[1:-1] == [ReplyDelta("Hm.", "reasoning", 0), ReplyDelta("Yes.", "text", 1)]


def test_a_close_tag_alone_takes_back_what_was_taken_for_speech() -> None:
    chunks = decode(says(content="Hm. "), says(content="Well.</think> "), says(content=" Yes."), STOP)
    assert chunks[1:-1] == [
        ReplyDelta("Hm. ", "text", 0),
        ReplyDelta("Well.", "text", 0),
        ReplySegment(Reasoning((ReasoningPart("Hm. Well."),), 0)),
        ReplyDelta("Yes.", "text", 1),
    ]


def test_what_was_held_back_for_a_tag_is_said_at_the_end() -> None:
    assert words(decode(says(content="1 <"), STOP)) == "1 <"


@pytest.mark.parametrize(
    "content",
    [
        "</think>So.",
        "</think>\n\nSo.",
        "\n</think>\n\nSo.",
        "<think></think>So.",
        "<think>\n\n</think>\n\nSo.",
    ],
)
def test_a_tag_that_is_left_over_from_thoughts_with_their_own_field_is_not_said(content: str) -> None:
    for pieces in ([content], [*content]):
        chunks = decode(says(reasoning_content="Hm."), *(says(content=piece) for piece in pieces), STOP)
        assert (words(chunks), words(chunks, "reasoning")) == ("So.", "Hm.")


def test_thoughts_may_come_by_their_own_field_and_between_tags() -> None:
    chunks = decode(says(reasoning="Hm."), says(content="<think>Well.</think>So."), STOP)
    assert chunks[1:-1] == [
        ReplyDelta("Hm.", "reasoning", 0),
        ReplyDelta("Well.", "reasoning", 1),
        ReplyDelta("So.", "text", 2),
    ]
    chunks = decode(says(content="<think>Hm"), says(reasoning="."), says(content="</think>So."), STOP)
    assert (words(chunks), words(chunks, "reasoning")) == ("So.", "Hm.")


def test_tags_within_a_speech_are_words_where_thoughts_have_their_own_field() -> None:
    chunks = decode(says(reasoning="Hm."), says(content="\n\nSo </think> is a tag."), STOP)
    assert words(chunks) == "\n\nSo </think> is a tag."
    chunks = decode(says(content="<"), says(reasoning="Hm."), says(content="think>b"), STOP)
    assert words(chunks) == "<think>b"


def test_a_block_of_thoughts_after_a_close_tag_alone_is_kept_as_well() -> None:
    chunks = decode(says(content="Hm.</think>"), says(content="<think>Well.</think>So."), STOP)
    assert chunks[1:-1] == [
        ReplyDelta("Hm.", "text", 0),
        ReplySegment(Reasoning((ReasoningPart("Hm."),), 0)),
        ReplyDelta("Well.", "reasoning", 1),
        ReplyDelta("So.", "text", 2),
    ]


# --- thoughts under seal ------------------------------------------------------------------------------

SIGNED = {"type": "reasoning.text", "signature": "sig", "format": "f", "index": 0}
CIPHER = {"type": "reasoning.encrypted", "data": "abc", "id": "rs_1", "index": 0}


def detail(text: str, kind: str = "text") -> dict[str, Any]:
    return {"type": f"reasoning.{kind}", kind: text, "index": 0}


def test_a_thought_that_comes_by_two_names_is_heard_once_and_its_signature_kept() -> None:
    chunks = decode(
        says(content="", reasoning="Hm", reasoning_details=[detail("Hm")]),
        says(content="", reasoning=".", reasoning_details=[detail(".")]),
        says(content="", reasoning_details=[{**SIGNED, "text": ""}]),
        says(content="So."),
        says("stop", content="", reasoning=None, reasoning_details=[]),
    )
    assert chunks[1:-1] == [
        ReplyDelta("Hm", "reasoning", 0),
        ReplyDelta(".", "reasoning", 0),
        ReplyDelta("So.", "text", 1),
        ReplySegment(
            Reasoning((ReasoningPart("Hm."),), 0, opaque=json.dumps([SIGNED], separators=(",", ":")))
        ),
    ]


def test_details_are_heard_where_nothing_else_tells_the_thought() -> None:
    chunks = decode(says(reasoning_details=[detail("H"), detail("m", "summary")]), says(content="So."), STOP)
    assert words(chunks, "reasoning") == "Hm"


def test_details_that_repeat_a_whole_thought_are_not_heard_again() -> None:
    chunks = decode(says(reasoning="Hm."), says(content="So."), says(reasoning_details=[detail("Hm.")]), STOP)
    assert (words(chunks), words(chunks, "reasoning")) == ("So.", "Hm.")


@pytest.mark.parametrize(
    "deltas",
    [
        [{"reasoning_details": ["Let me "]}, {"reasoning": "Let me think", "reasoning_details": ["think"]}],
        [{"reasoning_details": ["Let me "]}, {"reasoning": "Let me "}, {"reasoning": "think"}],
        [{"reasoning_details": ["Let me "]}, {"reasoning": "Let "}, {"reasoning": "me think"}],
        [{"reasoning_details": ["Let "]}, {"reasoning_details": ["me "]}, {"reasoning": "Let me think"}],
        [{"reasoning_details": ["Let me "]}, {"reasoning": "think", "reasoning_details": ["think"]}],
    ],
)
def test_details_that_run_ahead_of_their_thought_are_heard_once(deltas: list[dict[str, Any]]) -> None:
    for delta in deltas:
        if "reasoning_details" in delta:
            delta["reasoning_details"] = [detail(text) for text in delta["reasoning_details"]]
    assert words(decode(*(says(**delta) for delta in deltas), STOP), "reasoning") == "Let me think"


def test_an_encrypted_thought_is_kept_unread_before_the_words() -> None:
    chunks = decode(
        ROLE, says(content="", reasoning=None, reasoning_details=[CIPHER]), says(content="So."), STOP
    )
    thought = Reasoning((), 0, opaque=json.dumps([CIPHER], separators=(",", ":")), redacted=True)
    assert chunks[1:-1] == [ReplyDelta("So.", "text", 1), ReplySegment(thought)]


def test_an_encrypted_thought_that_comes_last_is_kept_as_well() -> None:
    thought = items(decode(says(content="So."), says("stop", reasoning_details=[CIPHER])))[0]
    assert (thought.index, thought.redacted, thought.parts) == (1, True, ())


# --- annotations and tools ----------------------------------------------------------------------------


def test_citations_stay_with_the_text() -> None:
    one, two = ({"type": "url_citation", "url_citation": {"url": url}} for url in ("https://a", "https://b"))
    chunks = decode(
        says(content="", annotations=[one]),
        says(content="As "),
        says(content="they say.", annotations=[two]),
        STOP,
    )
    assert items(chunks) == [Text("As they say.", 0, annotations=(one, two))]


def test_citations_without_a_text_do_no_harm() -> None:
    assert items(decode(says(reasoning="Hm."), says("stop", annotations=[{"type": "url_citation"}]))) == []


def piece(index: int | None, arguments: Any, name: str = "", call: str = "", **more: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"function": {"arguments": arguments}, **more}
    if index is not None:
        told["index"] = index
    if name:
        told["function"]["name"] = name
    if call:
        told |= {"id": call, "type": "function"}
    return told


def test_tool_calls_are_put_together_by_their_index_and_follow_the_words() -> None:
    chunks = decode(
        says(content="Wait."),
        says(tool_calls=[piece(0, "", "look", "a1")]),
        says(tool_calls=[piece(0, '{"at":')]),
        says(tool_calls=[piece(1, "", "hear", "a2")]),
        says(tool_calls=[piece(0, "1}"), piece(1, "{}")]),
        says("tool_calls"),
    )
    assert items(chunks) == [
        ToolCall("a1", "look", '{"at":1}', 1),
        ToolCall("a2", "hear", "{}", 2),
    ]
    assert last(chunks) == done("tool", reason="tool_calls")


@pytest.mark.parametrize(
    "deltas",
    [
        [[piece(None, "{}", "look", "a1"), piece(None, "{}", "hear", "a2")]],
        [[piece(None, "{}", "look", "a1")], [piece(None, "{}", "hear", "a2")]],
        [[piece(None, "", "look", "a1")], [piece(None, "{}")], [piece(None, "{}", "hear", "a2")]],
        [[piece(0, "{}", "look", "a1"), piece(0, "{}", "hear", "a2")]],
        [[piece(0, "{", "look", "a1")], [piece(0, "}", "look", "a1")], [piece(1, {}, "hear", "a2")]],
        [[piece(None, "{", "look", "a1")], [piece(None, "}", "look", "a1"), piece(None, {}, "hear", "a2")]],
    ],
    ids=["no index", "one a chunk", "no index in pieces", "all the first", "names repeated", "ids repeated"],
)
def test_two_calls_however_they_are_counted(deltas: list[list[dict[str, Any]]]) -> None:
    chunks = decode(*(says(tool_calls=delta) for delta in deltas), says("tool_calls"))
    assert [(call.id, call.name, call.arguments) for call in items(chunks)] == [
        ("a1", "look", "{}"),
        ("a2", "hear", "{}"),
    ]


def test_arguments_may_be_an_object_and_a_forced_call_may_end_in_stop() -> None:
    chunks = decode(says("stop", tool_calls=[piece(0, {"at": [1, "é"]}, "look", "a1")]))
    assert items(chunks)[0].arguments == '{"at":[1,"é"]}'
    assert last(chunks) == done("tool", reason="stop")


def test_the_old_function_call_is_a_call() -> None:
    old = [says(function_call={"name": "look", "arguments": "{"}), says(function_call={"arguments": "}"})]
    assert items(decode(*old, says("function_call"))) == [ToolCall("", "look", "{}", 0)]


@pytest.mark.parametrize("index", [[1], {"a": 1}, None, "x", 1.5])
def test_tools_that_the_service_ran_may_be_counted_in_any_way(index: Any) -> None:
    ran = [{"index": index, "type": "search"}, {"index": index, "type": "search", "output": "found"}]
    (call,) = items(decode(says(executed_tools=ran), STOP))
    assert (call.name, call.output) == ("search", "found")


def test_a_tool_that_the_service_ran_keeps_its_outcome() -> None:
    ran = {"index": 0, "type": "search", "arguments": '{"q":1}', "search_results": {"results": []}}
    chunks = decode(
        says(executed_tools=[ran]),
        says(executed_tools=[{"index": 0, "type": "search", "output": "found"}]),
        says(content="So.", executed_tools=None),
        STOP,
    )
    assert items(chunks) == [ToolCall("", "search", '{"q":1}', 1, kind="executed_tool", output="found")]
    assert last(chunks).finish == "stop"
    assert "results" in items(decode(says(executed_tools=[ran]), STOP))[0].output


# --- ends and figures ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("length", "length"),
        ("model_length", "length"),
        ("content_filter", "filter"),
        ("tool_calls", "tool"),
        ("weird", "unknown"),
        ("STOP", "stop"),
    ],
)
def test_why_it_stopped(reason: str, finish: str) -> None:
    assert last(decode(says(reason, content="a"))) == done(finish, reason=reason)


def test_of_two_reasons_the_last_counts() -> None:
    assert last(decode(says("stop", content="a"), says("length"), says(None))).reason == "length"


def test_a_farewell_behind_the_figures_of_the_whole_ends_a_reply_without_a_reason() -> None:
    chunks = decode(says(content="a"), FIGURES, DONE)
    assert (last(chunks).finish, last(chunks).reason) == ("unknown", "")


EARLY = line(id="c1", choices=[{"delta": {"role": "assistant"}}], usage={"prompt_tokens": 9})


@pytest.mark.parametrize("reply", [[], [EARLY]], ids=["no figures", "figures before the words"])
def test_a_farewell_does_not_make_a_reply_whole_that_was_cut(reply: list[bytes]) -> None:
    with pytest.raises(Fault) as caught:
        decode(*reply, says(content="Zoos ar"), DONE)
    assert (caught.value.kind, caught.value.severity) == ("disconnected", "transient")


@pytest.mark.parametrize("farewell", [b" [DONE] ", b"[done]", b'"[DONE]"', b"DONE"])
def test_a_farewell_need_not_be_spelled_exactly(farewell: bytes) -> None:
    assert last(decode(says(content="a"), FIGURES, b"data: " + farewell + b"\n\n")).finish == "unknown"


def test_what_comes_after_the_farewell_is_of_no_interest() -> None:
    assert last(decode(says(content="a"), STOP, DONE + b"data: bye\n\n")) == done()


def test_the_last_blank_line_may_be_missing() -> None:
    assert last(decode(says(content="a"), STOP.rstrip())) == done()


def test_signs_of_life_are_no_news() -> None:
    life = b": ping\n\ndata:\n\nevent: ping\ndata: now\n\nevent: ping\ndata: {}\n\n"
    assert last(decode(life, says(content="a"), STOP)).unread == 1


def test_the_first_id_counts_and_a_first_chunk_without_one_is_no_loss() -> None:
    azure = line(id="", model="", choices=[], prompt_filter_results=[{"prompt_index": 0}])
    other = line(id="c2", model="m-2", choices=[{"delta": {"content": "b"}, "finish_reason": "stop"}])
    chunks = decode(azure, says(content="a"), other)
    assert chunks[0] == ReplyStarted(None)
    assert last(chunks) == done()


NOUGHTS = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
THREE = {"prompt_tokens": 3, "completion_tokens": 1, "completion_tokens_details": None}
FOUR = {"prompt_tokens": 4, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": None}}


@pytest.mark.parametrize(
    "lines",
    [
        [line(choices=[{"delta": {}, "finish_reason": "stop"}], usage=FOUR)],
        [STOP, line(choices=[], usage=FOUR)],
        [STOP, line(usage=FOUR)],
        [line(choices=[], usage=THREE), STOP, line(choices=[], usage=FOUR), line(choices=[], usage=None)],
        [STOP, line(choices=[], x_groq={"id": "r", "usage": FOUR})],
        [STOP, line(choices=[], usage=FOUR, x_groq={"usage": THREE}), line(choices=[], usage={})],
        [STOP, line(choices=[], usage=FOUR), line(choices=[], usage=NOUGHTS)],
    ],
    ids=["with the end", "after it", "without choices", "the last of two", "groq", "both", "noughts last"],
)
def test_figures_wherever_they_come_are_counted_once(lines: list[bytes]) -> None:
    assert last(decode(says(content="a"), *lines)).usage == Usage(input=4, output=1)


@pytest.mark.parametrize(
    ("told", "read"),
    [
        (None, None),
        ("much", None),
        ({}, None),
        ({"prompt_tokens": 1, "completion_tokens": 2}, Usage(input=1, output=2)),
        ({"prompt_tokens": -1, "completion_tokens": 2}, Usage(output=2, suspect=True)),
        ({"prompt_tokens": 10**12, "completion_tokens": "3"}, Usage(suspect=True)),
        (
            {"completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 3}},
            Usage(output=5, reasoning=3),
        ),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 8}, Usage(input=9, cached=8)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cache_write_tokens": 7}}, Usage(9, cache_write=7)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "total_tokens": 16,
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
            Usage(9, 7, 5),
        ),
    ],
)
def test_usage_as_reported(told: Any, read: Usage | None) -> None:
    assert usage(told) == read


# --- not a stream -------------------------------------------------------------------------------------


def test_a_whole_completion_is_read_as_one_chunk() -> None:
    reply = whole("tool_calls", reasoning="Hm.", content="So.", tool_calls=[piece(None, "{}", "look", "a1")])
    assert decode(reply) == [
        ReplyStarted("c1"),
        ReplyDelta("Hm.", "reasoning", 0),
        ReplyDelta("So.", "text", 1),
        ReplySegment(ToolCall("a1", "look", "{}", 2)),
        done("tool", Usage(3, 2), reason="tool_calls"),
    ]


def test_a_whole_completion_needs_no_reason() -> None:
    assert last(decode(whole(None, content="So."))) == done("unknown", Usage(3, 2), reason="")


def native(**told: Any) -> bytes:
    return json.dumps({"model": "m-1", "done": False, **told}).encode() + b"\n"


EVALUATED = {"done": True, "done_reason": "stop", "prompt_eval_count": 5, "eval_count": 2}


def test_the_native_tongue_of_ollama() -> None:
    call = {"function": {"name": "look", "arguments": {"at": 1}}}
    chunks = decode(
        native(message={"role": "assistant", "content": "", "thinking": "Hm."}),
        native(message={"content": "So."}),
        native(message={"content": "", "tool_calls": [call, {"function": {"name": "hear"}}]}),
        native(message={"content": ""}, **EVALUATED),
    )
    assert chunks == [
        ReplyStarted(None),
        ReplyDelta("Hm.", "reasoning", 0),
        ReplyDelta("So.", "text", 1),
        ReplySegment(ToolCall("", "look", '{"at":1}', 2)),
        ReplySegment(ToolCall("", "hear", "", 3)),
        ReplyDone("tool", Usage(5, 2), reason="stop", model="m-1"),
    ]


def test_ollamas_bare_generation() -> None:
    chunks = decode(
        native(response="", thinking="Hm."), native(response="So."), native(response="", **EVALUATED)
    )
    assert (words(chunks, "reasoning"), words(chunks)) == ("Hm.", "So.")
    assert last(chunks) == ReplyDone("stop", Usage(5, 2), reason="stop", model="m-1")


# --- streams that come to nothing ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("packets", "kind", "severity"),
    [
        ([says(content="a")], "disconnected", "transient"),
        ([], "disconnected", "transient"),
        ([says(content="a", refusal="no")], "disconnected", "transient"),
        ([native(message={"content": "a"})], "disconnected", "transient"),
        ([b"data: {oops\n\n"], "malformed", "transient"),
        ([b"event: x\ndata: {oops\n\n"], "malformed", "transient"),
        ([b'data: {"choices":[{"delta":{"content":7}}]}\n\n'], "malformed", "transient"),
        ([b'data: {"choices":7}\n\n'], "malformed", "transient"),
        ([line(error={"code": 500, "message": "boom"})], "server_error", "transient"),
        ([b'error: {"code":503,"message":"Loading model"}\n\n'], "overloaded", "transient"),
        ([b"error: it broke\n\n"], "server_error", "transient"),
        ([b'event: error\ndata: {"error":{"type":"overloaded_error"}}\n\n'], "overloaded", "transient"),
        ([line(error={"code": "insufficient_quota"})], "billing", "permanent"),
        ([line(choices=[], x_groq={"error": "over capacity, overloaded"})], "overloaded", "transient"),
        ([line(choices=[{"delta": {}, "error": {"code": 429}}])], "rate_limited", "transient"),
        ([says("error")], "server_error", "transient"),
        ([says("insufficient_system_resource")], "overloaded", "transient"),
        ([native(error="model runner has unexpectedly stopped")], "server_error", "transient"),
        ([b'{"error":{"code":401,"message":"Missing header"}}'], "bad_key", "permanent"),
        ([b'{"object":"error","message":"Rate limit","code":429}'], "rate_limited", "transient"),
        ([b'{"message":"no such thing","code":404}'], "unknown_model", "permanent"),
        ([b'{"detail":"Unauthorized"}'], "server_error", "transient"),
        ([b"data: " + b"x" * 3_000_000], "malformed", "unusable"),
    ],
)
def test_streams_that_come_to_nothing(packets: list[bytes], kind: str, severity: str) -> None:
    with pytest.raises(Fault) as caught:
        decode(*packets)
    assert (caught.value.kind, caught.value.severity) == (kind, severity)


def test_an_error_beside_choices_comes_after_their_words() -> None:
    decoder = ChatDecoder()
    both = line(
        choices=[{"delta": {"content": "b"}, "finish_reason": "error"}],
        usage=FOUR,
        error={"code": 502, "message": "upstream", "metadata": {"raw": "gone"}},
    )
    assert decoder.feed(says(content="a") + both + DONE) == [
        ReplyStarted("c1"),
        ReplyDelta("a"),
        ReplyDelta("b"),
    ]
    assert decoder.over
    with pytest.raises(Fault, match="internal error") as caught:
        decoder.end()
    assert (caught.value.kind, caught.value.http_status) == ("server_error", 502)


def test_an_error_beside_the_very_first_words_comes_after_them_too() -> None:
    decoder = ChatDecoder()
    both = line(choices=[{"delta": {"content": "a"}}], error={"code": 429})
    assert decoder.feed(both) == [ReplyStarted("c1"), ReplyDelta("a")]
