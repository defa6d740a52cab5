"""The request to a judge: the debate under neutral labels, for one of its two readings (`readings.py`).

All text that comes from others is fenced: the motion, the objectives, the criteria and every word of the
speeches. What a judge reads is bounded, and the bounds are known, so that the money for judging can be
reserved from the first speech on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from moot.core.pricing import MESSAGE_OVERHEAD, ballot_token_limit, speech_tokens
from moot.core.state import Debate, Turn
from moot.core.terms import DEFAULT_CRITERIA, ChatMessage, DebateQuestion, Judge, Request
from moot.core.word_count import QUARTERS
from moot.judging.answer_ballots import answer_ballot_schema
from moot.judging.ballots import ballot_schema, criterion_keys, small_ballot_schema
from moot.judging.judged_speeches import SpeakerQuestion, pending_questions, speech_heading, speech_mark
from moot.judging.neutral_labels import choice_labels, labels, seat_labels
from moot.judging.parties import is_ranked, parties
from moot.judging.readings import Evidence, is_by_side, reading
from moot.judging.word_ballots import word_request
from moot.prompts.fences import Fence, fence_for
from moot.prompts.quotations import checked_speech, quote_rules
from moot.prompts.speech_prompts import is_question
from moot.prompts.templates import clip, section, seed

BYTES_PER_TOKEN = 6
"""A judge reads at most this many bytes of a speech for each token it was allowed."""
HELD_BYTES_PER_TOKEN = QUARTERS
"""The same under a cost limit: a model is cut there when its tokens are used up as we count them, and a byte
is at most a quarter of one."""
TOKENS_PER_WORD = 4
"""What a person is allowed to say has no tokens; so many are counted for each word of it."""
SPEECH_OVERHEAD_BYTES = 200
"""Bytes around a speech at most: number, label, kind, notes, fence, marks, and its place in the schema."""
MAX_QUESTION_BYTES = 600
"""Bytes of a question or a point that a judge reads at most."""
SMALL_MODEL_TOKENS = 700
MEANT = (*DEFAULT_CRITERIA, "content", "style", "strategy")
"""Criteria of ours, of which a judge is told what they ask."""
SIDE_SENTENCES = {
    "for": "argued for the motion",
    "against": "argued against the motion",
    "neutral": "was bound to neither side",
}


class JudgePrompt(Struct, frozen=True):
    """How one judge sees the debate in one reading."""

    debate: Debate
    names: Mapping[str, str]
    """Seat to label."""
    fence: Fence
    small: bool

    def section(self, name: str, **values: object) -> str:
        name = f"small-{name}" if self.small else name
        return section("judge", name, self.debate.prompts, **values)

    def quoted(self, text: str, most_bytes: int = 0) -> str:
        """The text in the fence, clipped there, so that escapes add nothing to what is reserved."""
        return self._in_fence(self.fence.hold(clip(text, most_bytes)), most_bytes)

    def speech(self, turn: Turn, most_bytes: int) -> str:
        """The same of a speech, with its quotations checked."""
        text = clip(self.debate.heard_text(turn), most_bytes)
        return self._in_fence(checked_speech(self.debate, turn, text, self.fence), most_bytes)

    def _in_fence(self, held: str, most_bytes: int) -> str:
        return self.section("quote", fence=self.fence.name, text=clip(held, most_bytes))


def judge_request(debate: Debate, judge: Judge, order: int) -> Request:
    if debate.setup.question is not None:
        return _answer_request(debate, judge, order, debate.setup.question)
    one_word, names = judge.model.answers == "word", labels(debate, order)
    small = judge.model.small or one_word
    fence = fence_for(debate, f"judge:{judge.id}:{order}")
    prompt = JudgePrompt(debate, seat_labels(debate, order), fence, small)
    system = prompt.section(
        "word-system" if one_word else "system",
        labels=list_labels(tuple(names.values())),
        fence=fence.name,
        decision=prompt.section("ranking" if is_ranked(debate) else "winner"),
    )
    user = prompt.section(
        "user",
        motion=prompt.quoted(debate.motion),
        objective=_objective(prompt),
        criteria=prompt.quoted("\n".join(_criteria(debate, judge))),
        meanings="".join(f"{line}\n" for line in _meanings(debate, judge)),
        sides="\n".join(side_lines(debate, _in_reading_order(debate, names, order))),
        speeches=_read_speeches(prompt, order),
    )
    schema = small_ballot_schema(debate, judge) if small else ballot_schema(debate, judge)
    return _request(debate, judge, order, system, user, schema, len(names), len(judge.criteria))


def _answer_request(debate: Debate, judge: Judge, order: int, question: DebateQuestion) -> Request:
    """The request for an answer to the question; of the passage it has what the speeches quote, no more."""
    one_word, names = judge.model.answers == "word", choice_labels(debate, order)
    small = judge.model.small or one_word
    prefix = "small-judge" if small else "judge"
    fence = fence_for(debate, f"judge:{judge.id}:{order}")
    prompt = JudgePrompt(debate, seat_labels(debate, order), fence, small)
    shown = list(zip(names, question.choices, strict=True))[:: -1 if order % 2 else 1]
    system = section(
        "question",
        "word-judge-system" if one_word else f"{prefix}-system",
        labels=list_labels(names),
        fence=fence.name,
        speakers=section("question", "judge-two" if len(debate.seats) > 1 else "judge-one"),
        quotes=quote_rules(question, fence),
    )
    user = section(
        "question",
        f"{prefix}-user",
        question=prompt.quoted(debate.motion),
        answers="\n".join(f"{label}: {prompt.quoted(choice)}" for label, choice in shown),
        speeches=_read_speeches(prompt, order),
    )
    return _request(debate, judge, order, system, user, answer_ballot_schema(debate, judge), len(names), 0)


def _request(
    debate: Debate,
    judge: Judge,
    order: int,
    system: str,
    user: str,
    schema: dict[str, Any],
    names: int,
    criteria: int,
) -> Request:
    """`names` and `criteria` are how many a ballot has to name."""
    model, one_word = judge.model, judge.model.answers == "word"
    if judge.guidance:
        system += "\n\n" + section("judge", "guidance", guidance=judge.guidance.strip())
    request = Request(
        model=model,
        instructions=system,
        messages=(ChatMessage("user", user),),
        max_tokens=min(model.max_tokens, SMALL_MODEL_TOKENS)
        if model.small or one_word
        else ballot_token_limit(debate, model, names, criteria),
        schema=schema,
        seed=seed(model.seed, 0, order + 1),
    )
    return word_request(request, debate, order) if one_word else request


def _objective(prompt: JudgePrompt) -> str:
    objective = prompt.debate.setup.objective
    return prompt.section("objective", text=prompt.quoted(objective)) + "\n\n" if objective else ""


def _criteria(debate: Debate, judge: Judge) -> Iterator[str]:
    for key, name in criterion_keys(debate, judge).items():
        criterion = f"{name} (counts {judge.weights.get(name, 1):g} times)" if judge.weights else name
        yield criterion if key == name else f"{key}: {criterion}"


def _meanings(debate: Debate, judge: Judge) -> Iterator[str]:
    """The explanations of our own criteria; a user's criteria have only their names."""
    for key, name in criterion_keys(debate, judge).items():
        if name in MEANT and key != name:
            yield section("judge", f"meaning-{name}", key=key)


def side_lines(debate: Debate, names: Mapping[str, str]) -> Iterator[str]:
    for one, label in names.items():
        yield f"{label} {SIDE_SENTENCES[debate.seat(one).side]}."
    if debate.prompts > 1 and is_question(debate.motion):
        yield section("cues", "question-motion")


def _in_reading_order(debate: Debate, names: Mapping[str, str], order: int) -> Mapping[str, str]:
    """The parties by label as they are listed; by side, in the order in which they are read."""
    if not is_by_side(debate):
        return names
    listed = [party.id for party in parties(debate)]
    return {party: names[party] for party in (listed[::-1] if order % 2 else listed)}


def _read_speeches(prompt: JudgePrompt, order: int) -> str:
    note = [prompt.section("by-side")] if is_by_side(prompt.debate) else []
    return "\n\n".join((*note, *evidence_texts(prompt, reading(prompt.debate, order))))


def evidence_texts(prompt: JudgePrompt, items: Sequence[Evidence]) -> list[str]:
    """The speeches and the questions between them, in this order."""
    turns = [item for item in items if isinstance(item, Turn)]
    return [
        _speech(prompt, item, turns) if isinstance(item, Turn) else _question_text(prompt, item)
        for item in items
    ]


def _speech(prompt: JudgePrompt, turn: Turn, turns: Sequence[Turn]) -> str:
    most = bytes_read(prompt.debate, turn.slot, turn.max_tokens)
    text = prompt.speech(turn, most)
    label, kind = prompt.names[turn.seat], speech_heading(prompt.debate, turn, turns)
    return prompt.section("speech", mark=speech_mark(turn), label=label, heading=kind, text=text)


def _question_text(prompt: JudgePrompt, item: SpeakerQuestion) -> str:
    text = prompt.quoted(item.text, MAX_QUESTION_BYTES)
    if item.by_judge:
        return section("question", "judge-asked", text=text)
    if item.seat is None:
        to = prompt.names.get(item.to, "the moderator") if item.to else "all"
        return prompt.section("question", to=to, text=text)
    return prompt.section("point", label=prompt.names[item.seat], text=text)


def list_labels(names: tuple[str, ...]) -> str:
    return " and ".join(names) if len(names) == 2 else ", ".join(names)


# --- when a reply could not be read -------------------------------------------------------------------


def repair_request(request: Request, reply: str, problem: str) -> Request:
    """The same request once more, with the unreadable reply and what was wrong with it. One for a single word
    stays as it is: its reply is begun already."""
    if request.words:
        return replace(request, attempt=2)
    short = clip(reply, request.max_tokens * HELD_BYTES_PER_TOKEN)
    plea = section("judge", "repair", problem=problem[:300])
    again = (ChatMessage("assistant", short or "{}"), ChatMessage("user", plea))
    return replace(request, messages=(*request.messages, *again), attempt=2)


def repair_bytes(request: Request) -> int:
    """How many bytes a repair adds to a request at most."""
    return request.max_tokens * HELD_BYTES_PER_TOKEN + 2 * MESSAGE_OVERHEAD + 1500


def human_speech_tokens(debate: Debate, slot: int) -> int:
    """The number of tokens that the speech of a person counts as."""
    return debate.word_budget(slot) * TOKENS_PER_WORD


def bytes_read(debate: Debate, slot: int, max_tokens: int) -> int:
    """How many bytes of a speech a judge reads at most; its `max_tokens` is 0 where a person speaks.

    Under a cost limit only the tokens of the text count, because no judge reads the reasoning.
    """
    if debate.cost_limit is None:
        return (max_tokens or human_speech_tokens(debate, slot)) * BYTES_PER_TOKEN
    needed = speech_tokens(debate, slot)
    return min(max_tokens or needed, needed) * HELD_BYTES_PER_TOKEN


def speech_overhead(debate: Debate) -> int:
    """How many bytes a speech that begins now adds at most beside its own text.

    Questions to the speakers since the last speech are included: a judge reads them once they may be
    answered.
    """
    return SPEECH_OVERHEAD_BYTES + sum(
        SPEECH_OVERHEAD_BYTES + min(len(item.text.encode()), MAX_QUESTION_BYTES)
        for item in pending_questions(debate)
    )
