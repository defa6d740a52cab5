"""Words that arrive in one read are passed on as one chunk; everything else stays as it came."""

from __future__ import annotations

from moot.core.terms import PartStart, Text
from moot.providers.client import merge_words
from moot.providers.contract import KeepAlive, ReplyDelta, ReplySegment


def test_consecutive_words_of_a_segment_are_one_chunk() -> None:
    assert merge_words([ReplyDelta("a"), ReplyDelta(" b"), ReplyDelta(" c")]) == [ReplyDelta("a b c")]


def test_another_kind_segment_part_or_chunk_begins_a_new_one() -> None:
    part = PartStart(item_id="i", summary_index=1)
    chunks = [
        ReplyDelta("think", "reasoning"),
        ReplyDelta("say"),
        ReplyDelta("more", segment=1),
        ReplyDelta("part", segment=1, part=part),
        KeepAlive(),
        ReplyDelta("on", segment=1),
        ReplySegment(Text("on", 1)),
    ]
    assert merge_words(chunks) == chunks
    assert merge_words([chunks[3], chunks[5]]) == [ReplyDelta("parton", segment=1, part=part)]
