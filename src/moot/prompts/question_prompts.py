"""Requests to the seats of a debate on a question with given answers.

A debater is told the question, the answer for which it argues, the other one, and the passage that judges do
not read. A judge that asks between the rounds has the moderator's seat: it reads the speeches with their
quotations checked, and never the passage. Where the format has no result, the seats do not argue: each
answers the question by itself, in the shape of `question_answers`. The passage is fenced like everything that
others wrote.
"""

from __future__ import annotations

from collections.abc import Sequence

from moot.core.pricing import speech_token_limit
from moot.core.state import Debate, Turn
from moot.core.terms import ChatMessage, DebateQuestion, Request, Seat
from moot.core.visibility import hears
from moot.prompts.fences import Fence, fence_for
from moot.prompts.model_replies import object_schema
from moot.prompts.question_answers import answer_members
from moot.prompts.quotations import checked_speech, quote_rules
from moot.prompts.small_model_prompts import MAX_TOKENS, STOP, first_point, without_opening
from moot.prompts.templates import clip, intensity, section, seed

ANSWER_NAMES = ("A", "B")
"""What the answers are called in the request to a seat that answers by itself, in the order of the list."""
DRAFT, CRITIQUE = "draft", "critique"
"""Kinds of notes, where speeches are revised."""
SMALL_ANSWER_TOKENS = 200
SMALL_PASSAGE_BYTES = 4000


def gives_answers(debate: Debate) -> bool:
    """Whether each seat answers the question by itself instead of arguing."""
    return debate.setup.question is not None and debate.format.result == "none"


def listed_backwards(debate: Debate, seat_id: str) -> bool:
    """Whether a seat that answers by itself reads the second answer first."""
    question = debate.setup.question
    place = next(index for index, seat in enumerate(debate.seats) if seat.id == seat_id)
    return question is not None and question.both_orders and place % 2 == 1


def question_instructions(
    debate: Debate, seat: Seat, question: DebateQuestion, fence: Fence, extras: Sequence[str]
) -> str:
    own, other = _answers(question, seat)
    return section(
        "question",
        "debater",
        question=debate.motion,
        stance=section(
            "question", "stance-two" if len(debate.seats) > 1 else "stance-one", own=own, other=other
        ),
        format=f"{debate.format.title}. {debate.format.summary}".rstrip("."),
        passage=_passage("passage", question, fence, _quote_limit(question)),
        intensity=intensity(debate.setup.intensity),
        extras="".join(f"\n{extra}\n" for extra in extras),
        fence=fence.name,
    )


def critic_instructions(debate: Debate, seat: Seat, question: DebateQuestion, fence: Fence) -> str:
    """Those of the critic of a draft: it reads what the speaker reads."""
    own, other = _answers(question, seat)
    return section(
        "question",
        "critic",
        question=debate.motion,
        own=own,
        other=other,
        passage=_passage("passage", question, fence, _quote_limit(question)),
        fence=fence.name,
    )


def answer_request(debate: Debate, turn: Turn, question: DebateQuestion, attempt: int = 1) -> Request:
    """The question to a seat that answers it by itself: it hears nobody."""
    seat = debate.seat(turn.seat)
    small, fence = seat.model.small, fence_for(debate, seat.id)
    prefix = "small-" if small else ""
    listed = question.choices[:: -1 if listed_backwards(debate, seat.id) else 1]
    shown = (
        section("question", "answer-choice", name=name, text=fence.hold(choice), fence=fence.name)
        for name, choice in zip(ANSWER_NAMES, listed, strict=True)
    )
    prompt = section(
        "question",
        f"{prefix}answer-user",
        passage=_small_passage(question) if small else _passage("answer-passage", question, fence),
        question=debate.motion if small else fence.hold(debate.motion),
        answers="\n".join(shown),
        fence=fence.name,
    )
    members = answer_members(ANSWER_NAMES, small=small)
    if brief := seat.model.answers == "word":
        del members["reasoning"]
    limit = speech_token_limit(debate, turn.slot, seat.model)
    return Request(
        model=seat.model,
        instructions=section(
            "question",
            "brief-answer-system" if brief else f"{prefix}answer-system",
            fence=fence.name,
            names=" or ".join(ANSWER_NAMES),
        ),
        messages=(ChatMessage("user", prompt),),
        max_tokens=min(limit, SMALL_ANSWER_TOKENS) if small else limit,
        schema=object_schema(members),
        seed=seed(seat.model.seed, turn.number, attempt),
        attempt=attempt,
    )


def asks_for_judge(debate: Debate, seat: Seat) -> bool:
    """Whether this is the seat in which the judge asks between the rounds."""
    return debate.setup.question is not None and seat.role == "moderator"


def asking_request(debate: Debate, turn: Turn, question: DebateQuestion, attempt: int = 1) -> Request:
    """The request to the judge for its next question to the debaters. It has nothing of the passage but what
    they quote."""
    seat = debate.seat(turn.seat)
    fence = fence_for(debate, seat.id)
    heard = (
        section(
            "question",
            "asking-speech",
            speaker="You asked" if item.kind == "own" else _argues_for(debate, item.seat),
            text=checked_speech(debate, debate.turn(item.turn or 0), item.text, fence),
            fence=fence.name,
        )
        for item in hears(debate, turn)
    )
    answers = (
        section("question", "answer-choice", name=name, text=fence.hold(choice), fence=fence.name)
        for name, choice in zip(ANSWER_NAMES, question.choices, strict=True)
    )
    return Request(
        model=seat.model,
        instructions=section(
            "question",
            "asking-system",
            quotes=quote_rules(question, fence),
            words=debate.word_budget(turn.slot),
            fence=fence.name,
        ),
        messages=(
            ChatMessage(
                "user",
                section(
                    "question",
                    "asking-user",
                    question=fence.hold(debate.motion),
                    answers="\n".join(answers),
                    speeches="\n\n".join(heard),
                    fence=fence.name,
                ),
            ),
        ),
        max_tokens=speech_token_limit(debate, turn.slot, seat.model),
        seed=seed(seat.model.seed, turn.number, attempt),
        attempt=attempt,
    )


def _argues_for(debate: Debate, seat_id: str | None) -> str:
    question = debate.setup.question
    choice = question.choice_of(debate.seat(seat_id).side) if question and seat_id else None
    return "Somebody" if choice is None else f"The debater for {ANSWER_NAMES[choice]}"


def small_question_request(debate: Debate, turn: Turn, question: DebateQuestion, attempt: int = 1) -> Request:
    """The request to a small model that argues for an answer: short, with first words to continue."""
    seat = debate.seat(turn.seat)
    own, _ = _answers(question, seat)
    heard = [item.text for item in hears(debate, turn) if item.kind == "other"]
    point = first_point(without_opening(heard[-1])) if heard else ""
    spoken = any(other.seat == seat.id and other.has_words for other in debate.turns)
    return Request(
        model=seat.model,
        instructions=section("question", "small-system", question=debate.motion, claim=own, extras=""),
        messages=(
            ChatMessage(
                "user",
                section(
                    "question",
                    "small-again" if point else "small-opening",
                    passage=_small_passage(question),
                    question=debate.motion,
                    claim=own,
                    text=point,
                ),
            ),
        ),
        max_tokens=min(seat.model.max_tokens, MAX_TOKENS),
        prefill=f"The right answer is {own}. {'Another' if spoken else 'The'} reason is that",
        stop=STOP,
        seed=seed(seat.model.seed, turn.number, attempt),
        attempt=attempt,
    )


def _answers(question: DebateQuestion, seat: Seat) -> tuple[str, str]:
    """The answer for which the seat argues, and the other one."""
    own = question.choice_of(seat.side) or 0
    return question.choices[own], question.choices[1 - own]


def _passage(name: str, question: DebateQuestion, fence: Fence, limit: str = "") -> str:
    if not question.passage:
        return ""
    held = fence.hold(question.passage)
    return section("question", name, fence=fence.name, text=held, limit=limit) + "\n\n"


def _quote_limit(question: DebateQuestion) -> str:
    words = question.quote_words
    return "" if words is None else " " + section("question", "quote-limit", words=words)


def _small_passage(question: DebateQuestion) -> str:
    if not question.passage:
        return ""
    return section("question", "small-passage", text=clip(question.passage, SMALL_PASSAGE_BYTES)) + "\n\n"
