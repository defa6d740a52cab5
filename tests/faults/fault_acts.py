"""What a service can do instead of answering well: each an act on the line of one call.

Whatever a service says in its own words says `WORDS` too, and repeats the key it was given, so that a test
can look for both where they must not be.
"""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
from collections.abc import Callable, Iterable
from email.utils import formatdate
from time import time
from typing import Any

from msgspec.structs import replace

from tests.faults import wire_formats
from tests.faults.fault_server import FORGOTTEN, Act, Line
from tests.faults.wire_formats import Answer, Bill, Frame, sse

WORDS = "quoth the provider"
"""Stands in every complaint; no viewer may ever read it."""
HTML = f"<!DOCTYPE html><html><body><h1>{WORDS}</h1></body></html>".encode()
Frames = Callable[[Answer], Iterable[Frame]]


# --- refusals -----------------------------------------------------------------------------------------


def refuse(status: int, *, headers: dict[str, str] | None = None, **error: Any) -> Act:
    """An error object; `error` is what stands in it besides the words."""

    async def act(line: Line) -> None:
        message = f"{error.get('message', '')} {WORDS}: {line.server.key}"
        await line.say(
            status, {"error": {"type": "some_error", **error, "message": message}}, **(headers or {})
        )

    return act


def refuse_in_part(status: int) -> Act:
    """The line breaks in the middle of the refusal."""

    async def act(line: Line) -> None:
        await line.head(status, "application/json", 1000)
        await line.raw(b'{"error": {"mess')
        await asyncio.sleep(0.02)
        line.reset()

    return act


def page(status: int = 200, kind: str = "text/html") -> Act:
    async def act(line: Line) -> None:
        await line.say(status, HTML, kind)

    return act


def redirect(status: int, where: str = "http://127.0.0.1:9/v1") -> Act:
    async def act(line: Line) -> None:
        await line.say(status, {}, Location=where)

    return act


async def whole(line: Line) -> None:
    """The completion in one piece, as if nobody had asked for a stream."""
    await line.say(200, wire_formats.chat_whole(line.answer))
    line.bill(line.answer.bill)


async def other_json(line: Line) -> None:
    await line.say(200, {"hello": WORDS})


def slow_down(after: str) -> Act:
    return refuse(429, type="rate_limit_error", headers={"Retry-After": after})


def slow_down_until(seconds: float, skew: float = 0.0) -> Act:
    """By the service's own clock, which may be wrong."""

    async def act(line: Line) -> None:
        now = time() + skew
        headers = {
            "Date": formatdate(now, usegmt=True),
            "Retry-After": formatdate(now + seconds, usegmt=True),
        }
        await line.say(429, {"error": {"message": WORDS}}, **headers)

    return act


def says(**changes: Any) -> Act:
    """A good answer with these changes."""

    async def act(line: Line) -> None:
        await line.reply(**changes)

    return act


async def refuses_before_any_word(line: Line) -> None:
    """As Anthropic does: with figures, but without a bill."""
    await line.reply(refused=True, thought="", text="")
    line.bill(Bill(), reported=False)


def tells(write: Frames) -> Act:
    """These frames."""

    async def act(line: Line) -> None:
        await line.reply(*write(line.answer))

    return act


def uses(*calls: tuple[str, str]) -> Act:
    """Asks for tools instead of speaking."""

    async def act(line: Line) -> None:
        await line.reply(*wire_formats.uses(line.answer, calls), text="", thought="")

    return act


async def forgets(line: Line) -> None:
    await line.say(400, FORGOTTEN)


def complains(code: str) -> Act:
    """Inside a stream whose head was well, before any word."""
    error = {"type": code, "code": code, "message": WORDS}

    async def act(line: Line) -> None:
        await line.head()
        await line.send(sse(Frame({"type": "error", "error": error}, "error")))
        await line.end()

    return act


def fails_at_once(*, billed: bool = False) -> Act:
    """The response is created and fails without a word; some services bill even that."""

    async def act(line: Line) -> None:
        bill = Bill(line.answer.bill.input, 0)
        usage = {"usage": wire_formats.responses_usage(bill)} if billed else {}
        writer = wire_formats.Writer(line.answer)
        writer.tell("response.created", response=writer.response("in_progress"))
        failed = writer.response("failed", error={"code": "server_error", "message": WORDS}, **usage)
        writer.tell("response.failed", response=failed)
        await line.head()
        await line.send(*map(sse, writer.frames))
        if billed:
            line.bill(bill)
        await line.end()

    return act


async def fails_after_start(line: Line) -> None:
    """Anthropic's first event has figures already; they are no bill."""
    error = {"type": "overloaded_error", "message": WORDS}
    await line.head()
    await line.send(sse(wire_formats.frames(line.answer)[0]))
    await line.send(sse(Frame({"type": "error", "error": error}, "error")))
    await line.end()


# --- silence, and lines that break --------------------------------------------------------------------


def half(answer: Answer) -> list[Frame]:
    """A stream up to the middle of its words."""
    told = wire_formats.frames(answer)
    return told[: 2 * len(told) // 3]


async def never_answers(line: Line) -> None:
    await line.hang()


async def stalls(line: Line) -> None:
    await line.head()
    await line.send(*map(sse, half(line.answer)))
    await line.hang()


async def trickles(line: Line) -> None:
    """Signs of life, and nothing else, for ever."""
    await line.head()
    for _ in range(10_000):
        await line.send(b":", pause=0.02)


async def dawdles(line: Line) -> None:
    """Words, but far too slowly."""
    await line.head()
    told = b"".join(map(sse, half(line.answer)))
    await line.send(told)
    for _ in range(10_000):
        await line.send(b":\n", pause=0.02)


async def resets(line: Line) -> None:
    await line.head()
    await line.send(*map(sse, half(line.answer)))
    await asyncio.sleep(0.03)
    line.bill(line.answer.bill, reported=False)
    line.reset()


async def resets_after_head(line: Line) -> None:
    await line.head()
    await asyncio.sleep(0.03)
    line.reset()


async def says_nothing(line: Line) -> None:
    await line.head()
    await line.end()


async def ends_early(line: Line) -> None:
    await line.head()
    await line.send(*map(sse, half(line.answer)))
    line.bill(line.answer.bill, reported=False)
    await line.end()


async def done_early(line: Line) -> None:
    """As a proxy does that has lost the service behind it."""
    await line.head()
    await line.send(*map(sse, half(line.answer)), sse(Frame(b"[DONE]")))
    line.bill(line.answer.bill, reported=False)
    await line.end()


async def hangs_up(line: Line) -> None:
    """On a connection that was kept, just as it is used again."""
    line.call.dropped = True
    line.reset()


# --- bytes that are hard to read ----------------------------------------------------------------------


def in_packets(size: int, frames: Frames = wire_formats.frames) -> Act:
    """Cut anywhere, also in the middle of a character."""

    async def act(line: Line) -> None:
        line.call.answer = answer = replace(line.answer, text=f"Zoë says “über” 🦉. {line.answer.text}")
        stream = b"".join(_unescaped(frame) for frame in frames(answer))
        await line.head()
        for start in range(0, len(stream), size):
            await line.send(stream[start : start + size])
            if not start % (size * 64):
                await asyncio.sleep(0)
        line.bill(answer.bill)
        await line.end()

    return act


def _unescaped(frame: Frame) -> bytes:
    if isinstance(frame.data, bytes):
        return sse(frame)
    return sse(Frame(json.dumps(frame.data, ensure_ascii=False).encode(), frame.name))


def bytes_of(write: Callable[[list[Frame]], bytes], *, reported: bool = True) -> Act:
    """A stream written by hand, out of good frames; the bill is in it unless it breaks off."""

    async def act(line: Line) -> None:
        await line.head()
        await line.send(write(wire_formats.frames(line.answer)))
        line.bill(line.answer.bill, reported=reported)
        await line.end()

    return act


def broken_byte(told: list[Frame]) -> bytes:
    """A byte that is in no character, in the middle of a word."""
    before, _, after = b"".join(map(sse, told)).rpartition(b" outweighs")
    return before + b" out\xffweighs" + after


def broken_letter(told: list[Frame]) -> bytes:
    """The stream ends in the middle of a character."""
    stream = b"".join(map(sse, told))
    return stream[: stream.index(b" outweighs")] + "ü".encode()[:1]


def broken_json(told: list[Frame]) -> bytes:
    spoiled = [*map(sse, told)]
    spoiled[len(spoiled) // 2] = b'data: {"choices": [{"delta": {"content": "oh\n\n'
    return b"".join(spoiled)


def bottomless(told: list[Frame]) -> bytes:
    """JSON that is nested deeper than any reader follows."""
    return sse(told[0]) + b'data: {"usage": ' + b"[" * 100_000 + b"\n\n"


def framed(end: str = "\n", colon: str = ": ", first: bytes = b"", between: bytes = b"") -> Act:
    def write(told: list[Frame]) -> bytes:
        return first + between.join(sse(frame, end, colon) for frame in told)

    return bytes_of(write)


def unfinished_line(told: list[Frame]) -> bytes:
    """Neither a blank line at the end nor a line end."""
    return b"".join(map(sse, told)).rstrip(b"\n")


def many_lines(told: list[Frame]) -> bytes:
    """The JSON of each event laid out over several lines of data."""
    laid_out = [
        frame if isinstance(frame.data, bytes) else Frame(_laid_out(frame), frame.name) for frame in told
    ]
    return b"".join(map(sse, laid_out))


def _laid_out(frame: Frame) -> bytes:
    return json.dumps(frame.data, indent=1).replace("\n", "\ndata: ").encode()


def with_strangers(told: list[Frame]) -> bytes:
    """Kinds and fields that nobody has heard of, and no farewell."""
    strange = Frame({"type": "response.aurora.delta", "object": "aurora", "delta": WORDS}, "aurora")
    odd = [
        Frame({**frame.data, "aurora": {"of": [1]}}, frame.name) for frame in told if frame.data != b"[DONE]"
    ]
    return b"".join(map(sse, [strange, *odd[:1], strange, *odd[1:]]))


def with_orders(told: list[Frame]) -> bytes:
    """An event that asks the page to run something."""
    order = Frame({"type": "execute", "data": {"code": f"alert('{WORDS}')"}}, "execute")
    return b"".join(map(sse, [told[0], order, *told[1:]]))


# --- what is billed -----------------------------------------------------------------------------------


def bills(usage: Any) -> Act:
    """Figures of the service's invention, or none (None)."""

    async def act(line: Line) -> None:
        await line.head()
        await line.send(*map(sse, _with_usage(wire_formats.frames(line.answer), usage)))
        line.bill(line.answer.bill, reported=False)
        await line.end()

    return act


def _with_usage(told: list[Frame], usage: Any) -> Iterable[Frame]:
    for frame in told:
        if isinstance(frame.data, bytes) or "usage" not in frame.data:
            yield frame
        elif usage is not None:
            yield Frame({**frame.data, "usage": usage})


# --- too much of everything ---------------------------------------------------------------------------


def huge(size: int) -> Act:
    """So many characters in one delta."""

    async def act(line: Line) -> None:
        await line.head()
        told = sse(wire_formats.chat_delta(line.answer, content="and on " * (size // 7)))
        for start in range(0, len(told), 2**18):
            await line.send(told[start : start + 2**18])
        await line.send(*map(sse, wire_formats.chat(line.answer)[-3:]))
        await line.end()

    return act


def swollen(told: list[Frame]) -> bytes:
    """The beginning of a reply, with its first figures, and then an event that nobody reads to its end."""
    return sse(told[0]) + b'data: {"type": "ping", "x": "' + b"x" * 3_000_000 + b'"}\n\n'


def endless(*said: str) -> Act:
    """Heeds no limit, in these kinds of delta by turns; stops when the client has gone."""

    async def act(line: Line) -> None:
        await line.head()
        packet = b"".join(sse(wire_formats.chat_delta(line.answer, **{kind: "and on "})) for kind in said)
        for count in itertools.count(1):
            line.bill(Bill(line.answer.bill.input, 2 * count), reported=False)
            await line.send(packet)
            await asyncio.sleep(0)

    return act


def flood(letters: str) -> Act:
    """Each letter a delta of its own, as fast as the line takes them."""

    async def act(line: Line) -> None:
        await line.head()
        line.call.answer = answer = replace(line.answer, text=letters)
        before, after = sse(wire_formats.chat_delta(answer, content="@")).split(b"@")
        packets = [before + letter.encode() + after for letter in letters]
        for start in range(0, len(packets), 100):
            await line.send(*packets[start : start + 100])
            await asyncio.sleep(0)
        bill = Bill(answer.bill.input, len(letters))
        end = Frame({"choices": [], "usage": wire_formats.chat_usage(bill)})
        await line.send(sse(wire_formats.chat_delta(answer, "stop")), sse(end), sse(Frame(b"[DONE]")))
        line.bill(bill)
        await line.end()

    return act


async def one_great_header(line: Line) -> None:
    await line.head(X_Bomb="x" * 1_000_000)
    await line.send(*map(sse, wire_formats.frames(line.answer)))
    await line.end()


async def many_headers(line: Line) -> None:
    await line.head(**{f"X_{number}": "x" * 90 for number in range(10_000)})
    await line.send(*map(sse, wire_formats.frames(line.answer)))
    await line.end()


async def gzip_bomb(line: Line) -> None:
    """Fifty megabytes of words in fifty kilobytes."""
    await line.head(Content_Encoding="gzip")
    await line.send(BOMB)
    await line.end()


BOMB = 50 * gzip.compress(b"x" * 1_000_000)


async def sets_cookie(line: Line) -> None:
    await line.head(Set_Cookie="who=you; Domain=localhost; Path=/")
    await line.send(*map(sse, wire_formats.frames(line.answer)))
    line.bill(line.answer.bill)
    await line.end()


# --- thoughts -----------------------------------------------------------------------------------------


def interspersed(answer: Answer) -> list[Frame]:
    """Words and thoughts by turns; the words add up to the answer."""
    told = wire_formats.chat(replace(answer, text="", thought=""))
    middle: list[Frame] = []
    for number, piece in enumerate(wire_formats.pieces(answer.text)):
        if not number % 12:
            middle.append(wire_formats.chat_delta(answer, reasoning_content=f"Secret thought {number}."))
        middle.append(wire_formats.chat_delta(answer, content=piece))
    return [told[0], *middle, *told[1:]]


def leaked(answer: Answer) -> list[Frame]:
    """Thoughts between tags in the text, the tags cut over deltas."""
    told = wire_formats.chat(replace(answer, text="", thought=""))
    text = f"<think>Secret thought, kept.</think>\n\n{answer.text}"
    cut = [text[start : start + 5] for start in range(0, len(text), 5)]
    return [told[0], *(wire_formats.chat_delta(answer, content=piece) for piece in cut), *told[1:]]


def leaked_whole(answer: Answer) -> list[Frame]:
    """The same in any wire format, cut where its words are cut."""
    return wire_formats.frames(replace(answer, text=f"<think>Secret thought, kept.</think>\n\n{answer.text}"))


# --- numbers out of order, and two versions of one text -----------------------------------------------


def _deltas(told: list[Frame]) -> list[int]:
    return [place for place, frame in enumerate(told) if frame.name == "response.output_text.delta"]


def doubled(answer: Answer) -> list[Frame]:
    told = wire_formats.responses(answer)
    first = _deltas(told)[3]
    return [*told[: first + 1], told[first], *told[first + 1 :]]


def swapped(answer: Answer) -> list[Frame]:
    """Two deltas in the wrong order; their numbers tell the right one."""
    told = wire_formats.responses(answer)
    one, two = _deltas(told)[3:5]
    told[one], told[two] = told[two], told[one]
    return told


def lost(answer: Answer) -> list[Frame]:
    told = wire_formats.responses(answer)
    del told[_deltas(told)[3]]
    return told


async def retells(line: Line) -> None:
    """The last word on the text is another text."""
    told = wire_formats.responses(line.answer)
    line.call.answer = replace(line.answer, text=REVISED)
    other = wire_formats.responses(line.answer)
    ends = [
        "response.output_text.done", "response.content_part.done", "response.output_item.done",
        "response.completed",
    ]  # fmt: skip
    for end in ends:
        place = max(n for n, frame in enumerate(told) if frame.name == end)
        last = next(frame for frame in reversed(other) if frame.name == end)
        told[place] = Frame({**last.data, "sequence_number": told[place].data["sequence_number"]}, end)
    await line.reply(*told)


REVISED = "On reflection the service prefers to have said this, and this is what counts."


# --- ballots ------------------------------------------------------------------------------------------

Ballot = dict[str, Any]


def votes(change: Callable[[Ballot], Ballot]) -> Act:
    """A ballot with a change; a speech is given as it should be."""

    async def act(line: Line) -> None:
        if not line.answer.text.startswith("{"):
            await line.reply()
        else:
            await line.reply(text=json.dumps(change(json.loads(line.answer.text))))

    return act


def scores(score: object) -> Act:
    """The same for everybody."""

    def change(ballot: Ballot) -> Ballot:
        speakers = {name: {**marks, "score": score} for name, marks in ballot["speakers"].items()}
        return {**ballot, "speakers": speakers}

    return votes(change)


def contradicting(ballot: Ballot) -> Ballot:
    """The winner has the lower score."""
    speakers = {
        name: {**marks, "score": 60 if name == ballot["winner"] else 90}
        for name, marks in ballot["speakers"].items()
    }
    return {**ballot, "speakers": speakers}


async def says_twice(line: Line) -> None:
    bill = replace(line.answer.bill, output=2 * line.answer.bill.output)
    await line.reply(text=f"{line.answer.text}\n{line.answer.text}", bill=bill)
