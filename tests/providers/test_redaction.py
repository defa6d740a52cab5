"""Our own key never comes back from a service, however it is cut; and keys in remarks are known by shape."""

from __future__ import annotations

import pytest
from aiohttp import web
from hypothesis import example, given
from hypothesis import strategies as st

from moot.core.errors import Fault
from moot.core.terms import (
    ChatMessage,
    Model,
    PartStart,
    Reasoning,
    ReasoningPart,
    Request,
    Text,
    ToolCall,
    UnknownItem,
)
from moot.providers.contract import Chunk, KeepAlive, ReplyDelta, ReplyDone, ReplySegment, ReplyStarted
from moot.providers.redaction import KeyRedactor, redact, shown_remedy, without_folders
from moot.providers.wire_formats import openai_chat_request
from tests.providers.chat_lines import DONE, FIGURES, ROLE, STOP, says
from tests.providers.served import Handler, served, streamed
from tests.support.for_each import for_each

KEY = "sk-proj-skies-0aB1cD2eF3gH4iJ5"
REQUEST = Request(Model("p", "m"), "Argue.", (ChatMessage("user", "Go."),), 50)


def spoken(hush: KeyRedactor, *pieces: str) -> str:
    out = [chunk for piece in pieces for chunk in hush.redact([ReplyDelta(piece)])]
    return "".join(chunk.text for chunk in [*out, *hush.flush()] if isinstance(chunk, ReplyDelta))


# --- words --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", range(len(KEY) + 1))
def test_a_key_in_two_pieces_is_not_repeated(cut: int) -> None:
    assert spoken(KeyRedactor(KEY), f"It is {KEY[:cut]}", f"{KEY[cut:]}, they say") == "It is …, they say"


def test_a_key_letter_by_letter_is_not_repeated() -> None:
    assert spoken(KeyRedactor(KEY), *f"s{KEY}sk-{KEY}{KEY}s") == "s…sk-……s"


@given(st.lists(st.sampled_from([KEY, KEY[:1], KEY[:9], KEY[9:], "words ", "s", "sk-", "…", ""]), max_size=8))
@example(["sk-proj-", KEY])
def test_however_it_is_cut_the_words_are_those_without_the_key(pieces: list[str]) -> None:
    whole = "".join(pieces).replace(KEY, "…")
    said = spoken(KeyRedactor(KEY), *pieces)
    assert KEY not in said
    cut_off = [size for size in range(12, len(KEY)) if whole.endswith(KEY[:size])]
    assert said == (whole[: -cut_off[-1]] + "…" if cut_off else whole)


def test_innocent_words_pass_at_once_and_as_they_are() -> None:
    hush = KeyRedactor(KEY)
    chunks: list[Chunk] = [ReplyDelta("A fine "), ReplyDelta("argument. ", "reasoning", 1)]
    assert hush.redact(chunks) is chunks


def test_a_beginning_waits_for_what_follows_and_no_longer() -> None:
    hush = KeyRedactor(KEY)
    assert hush.redact([ReplyDelta("as")]) == [ReplyDelta("a")]
    assert hush.redact([ReplyDelta("sk")]) == [ReplyDelta("s")]
    assert hush.redact([KeepAlive()]) == [KeepAlive()]
    assert hush.redact([ReplyDelta("-")]) == [KeepAlive()]
    assert hush.redact([ReplyDelta("the cats")]) == [ReplyDelta("sk-the cat")]
    assert hush.redact([ReplyDone()]) == [ReplyDelta("s"), ReplyDone()]


def test_words_of_one_segment_are_not_taken_for_those_of_another() -> None:
    hush = KeyRedactor(KEY)
    assert hush.redact([ReplyDelta("sk-", "reasoning")]) == [KeepAlive()]
    assert hush.redact([ReplyDelta("proj", "text")]) == [
        ReplyDelta("sk-", "reasoning"),
        ReplyDelta("proj", "text"),
    ]
    assert hush.redact([ReplyDelta("s", segment=1), ReplyDelta("k", segment=2)]) == [
        ReplyDelta("s", segment=1),
        ReplyDelta("k", segment=2),
    ]


def test_a_key_that_is_cut_off_is_not_repeated_either() -> None:
    hush = KeyRedactor(KEY)
    assert hush.redact([ReplyDelta(f"It is {KEY[:-1]}")]) == [ReplyDelta("It is ")]
    assert hush.flush() == [ReplyDelta("…")]
    assert hush.flush() == []


def test_a_key_that_may_be_a_word_is_let_pass() -> None:
    assert spoken(KeyRedactor("ollama"), "ollama is fine") == "ollama is fine"
    assert spoken(KeyRedactor(""), "nothing is secret") == "nothing is secret"


# --- everything else ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chunk", "clean"),
    [
        (ReplySegment(Text(f"a {KEY} b")), ReplySegment(Text("a … b"))),
        (
            ReplySegment(Text("a", 3, "id", 7, annotations=({"url": [f"https://x/{KEY}"], "n": 1},))),
            ReplySegment(Text("a", 3, "id", 7, annotations=({"url": ["https://x/…"], "n": 1},))),
        ),
        (
            ReplySegment(Reasoning((ReasoningPart("a"), ReasoningPart(KEY, 1)), opaque="x")),
            ReplySegment(Reasoning((ReasoningPart("a"), ReasoningPart("…", 1)), opaque="x")),
        ),
        (
            ReplySegment(ToolCall("1", "get", f'{{"key":"{KEY}"}}', output=f"401 for {KEY}")),
            ReplySegment(ToolCall("1", "get", '{"key":"…"}', output="401 for …")),
        ),
        (ReplySegment(Text(f"cut off: {KEY[:20]}")), ReplySegment(Text("cut off: …"))),
        (
            ReplySegment(UnknownItem("x", {"id": KEY, KEY: [1]}, 0, KEY)),
            ReplySegment(UnknownItem("x", {"id": "…", "…": [1]}, 0, "…")),
        ),
        (
            ReplyDelta("Hm.", "reasoning", 2, PartStart(f"rs_{KEY}", 3, 1, 4)),
            ReplyDelta("Hm.", "reasoning", 2, PartStart("rs_…", 3, 1, 4)),
        ),
        (ReplyStarted(f"r-{KEY}", KEY), ReplyStarted("r-…", "…")),
        (ReplyDone(reason=f"no credit for {KEY}", model="m"), ReplyDone(reason="no credit for …", model="m")),
    ],
)
def test_nothing_that_a_service_tells_holds_the_key(chunk: Chunk, clean: Chunk) -> None:
    assert KeyRedactor(KEY).redact([chunk]) == [clean]


@pytest.mark.parametrize(
    "chunk", [ReplySegment(Text("clean")), ReplyDone(model="m-1"), ReplyStarted("r1"), KeepAlive()]
)
def test_what_holds_no_key_stays_the_same(chunk: Chunk) -> None:
    assert KeyRedactor(KEY).redact([chunk])[0] is chunk


# --- the client ---------------------------------------------------------------------------------------


def echo(*ends: bytes) -> Handler:
    """A service that tells every caller which key it got, in pieces."""

    async def answer(request: web.Request) -> web.StreamResponse:
        told = request.headers["Authorization"]
        pieces = [says(content=told[i : i + 5]) for i in range(0, len(told), 5)]
        return await streamed(request, ROLE, says(content="You sent "), *pieces, *ends)

    return answer


async def test_a_service_that_echoes_the_key_is_not_quoted() -> None:
    async with served("/chat/completions", openai_chat_request.wire_format(), key=KEY) as serve:
        client = await serve(echo(says(content="."), STOP, FIGURES, DONE))
        chunks = [chunk async for chunk in client.stream(REQUEST)]
    assert KEY not in repr(chunks)
    said = "".join(chunk.text for chunk in chunks if isinstance(chunk, ReplyDelta))
    assert said == "You sent Bearer …."
    assert isinstance(chunks[-1], ReplyDone)


async def test_a_service_that_breaks_off_in_the_key_is_not_quoted_either() -> None:
    async with served("/chat/completions", openai_chat_request.wire_format(), key=KEY + "-and-more") as serve:

        async def answer(request: web.Request) -> web.StreamResponse:
            return await streamed(request, ROLE, says(content=f"You sent {KEY}"))

        client = await serve(answer)
        chunks: list[Chunk] = []

        async def listen() -> None:
            async for chunk in client.stream(REQUEST):
                chunks.append(chunk)  # noqa: PERF401 - those before the fault are wanted

        with pytest.raises(Fault):
            await listen()
    assert [chunk for chunk in chunks if isinstance(chunk, ReplyDelta)] == [
        ReplyDelta("You sent "),
        ReplyDelta("…"),
    ]


# --- shapes -------------------------------------------------------------------------------------------

SECRETS = (
    "sk-abcdefghijklmnopqrstuvwx0123456789ABCDEFGHIJ",
    "sk-proj-Ab1_cdefghijklmnop-qrstuvwxyz0123456789",
    "sk-ant-api03-AbCdEfGh1jKlMnOpQrStUvWxYz0123456789-_AA",
    "sk-or-v1-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "gsk_abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMN",
    "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
    "github_pat_11ABCDEFG0123456789_abcdefghijklmnop",
    "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "xai-0123456789abcdefghijklmnopqrstuvwxyz",
    "moot_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789_-AbCdE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmnop",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabc+/=\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg",
)


@for_each("secret", SECRETS)
@for_each("around", ["{}", "use {}", '"{}"', "key={}", "({})"])
def test_a_key_is_known_by_its_shape(secret: str, around: str) -> None:
    redacted = redact(around.format(secret))
    assert secret[10:20] not in redacted
    if "END" in secret or "BEGIN" not in secret:
        assert redacted == around.format("…")


def test_the_word_before_a_bearer_token_stays() -> None:
    assert redact("curl -H 'Authorization: Bearer abc.def-0123456789xyz' -v") == (
        "curl -H 'Authorization: Bearer …' -v"
    )


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("put it at /home/ann/.moot/models/small.gguf yourself", "put it at small.gguf yourself"),
        (
            "gguf: failed to open '/srv/moot/x.gguf' (No such file)",
            "gguf: failed to open 'x.gguf' (No such file)",
        ),
        (r"cannot read C:\Users\Ann\moot.db", "cannot read moot.db"),
        ("see https://example.org/a/b/c and/or 1/2", "see https://example.org/a/b/c and/or 1/2"),
        ("`moot models install small`", "`moot models install small`"),
    ],
)
def test_files_are_told_by_their_names_alone(said: str, left: str) -> None:
    assert without_folders(said) == left


def test_a_remedy_with_folders_is_not_shown_to_viewers() -> None:
    assert shown_remedy("moot models install qwen3-4b") == "moot models install qwen3-4b"
    assert shown_remedy("/opt/bin/python -m pip install '/srv/x.whl[local]'").startswith("`moot doctor`")


@pytest.mark.parametrize(
    "prose",
    [
        "Ask-and-you-shall-receive is no argument; risk-averse people task-switch.",
        "We compared sk-learn-compatible-estimators with others.",
        "The bearer of bad news, a bearer incomprehensibilities-notwithstanding, spoke.",
        "AIzawa, AKIA and Asia are names; ASIAN TIGER economies grew by 7 % in 1995.",
        "A private key is kept private. -----BEGIN CERTIFICATE----- is public.",
        "See https://example.org/a/very/long/path/with-1234567890-digits?and=query_of_some_length",
        "moot_point, gsk_trial and ghp_x are identifiers; deb_01JQXYZABCDEFGHJKMNPQRSTVW is a debate.",
        "The commit is 3f786850e387550fdab836ed7e6dc881de23001b.",
        "Größe, 議論, дебаты: nothing to hide.",
        "",
    ],
)
def test_ordinary_words_are_left_alone(prose: str) -> None:
    assert redact(prose) == prose


@pytest.mark.parametrize(
    "piece", ["sk-", "sk-a", "Bearer a", "Bearer ", "-----BEGIN ", "eyJ", "eyJaaaaaaaaaa."]
)
def test_no_text_takes_long(piece: str) -> None:
    """A pattern that went back and forth over it would take hours."""
    assert len(redact(piece * 50_000)) <= len(piece) * 50_000
