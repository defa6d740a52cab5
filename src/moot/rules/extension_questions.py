"""Side questions of extensions: which are due, which model answers, what is sent, and how the reply is read.

An extension says which questions belong to a moment of the debate (`moot.extension.SideQuestions`). Here is
what holds for all of them: a question is asked once, and again where its answer was lost because the process
stopped; any other failure is final, and then there is no answer. An extension that fails is left out, and its
questions with it. Questions of our own kinds are passed on to `prompts/side_question_prompts.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeVar

from moot.core.errors import Fault
from moot.core.events import AsideAnswered
from moot.core.state import Aside, Debate
from moot.core.terms import ASIDE_KINDS, Model, Request, Slot
from moot.extension import SideQuestions, loaded
from moot.prompts.model_replies import UnreadableReply
from moot.prompts.side_question_prompts import aside_request, read_answer
from moot.rules.side_questions import SideQuestion

MAX_LOST = 3
"""After so many lost answers the question is not asked again."""
NOBODY_ASKS = "The extension that asks this is not loaded."
ASKING_FAILED = "The extension that asks this failed ({error}) and is left out."
T = TypeVar("T")


def asked_before(debate: Debate, coming: tuple[Slot, ...]) -> tuple[SideQuestion, ...]:
    """What extensions ask before the speeches of these slots."""
    return _due(debate, lambda questions: questions.before(debate, coming) if questions.before else ())


def asked_after(debate: Debate) -> tuple[SideQuestion, ...]:
    """What extensions ask after the latest speeches."""
    return _due(debate, lambda questions: questions.after(debate) if questions.after else ())


def asked_at_end(debate: Debate) -> tuple[SideQuestion, ...]:
    """What extensions ask when no speech is left."""
    return _due(debate, lambda questions: questions.at_end(debate) if questions.at_end else ())


def _due(
    debate: Debate, asked: Callable[[SideQuestions], Iterable[SideQuestion]]
) -> tuple[SideQuestion, ...]:
    found: list[SideQuestion] = []
    for extension, questions in loaded().of(lambda extension: extension.side_questions):
        try:
            found += [question for question in asked(questions) if _is_due(debate, question)]
        except Exception as error:
            loaded().leave_out(extension.name, "side_questions", error)
    return tuple(found)


def _is_due(debate: Debate, question: SideQuestion) -> bool:
    """Whether it was not asked yet, or its answer was lost."""
    key = _key(question)
    earlier = [aside for aside in debate.asides if _key(aside) == key]
    return all(aside.lost for aside in earlier) and len(earlier) < MAX_LOST


def _key(question: SideQuestion | Aside) -> tuple[object, ...]:
    who = question.seat, question.judge, question.persona
    return question.kind, question.slot, question.turn, question.about, *who


def side_question_model(debate: Debate, aside: Aside) -> Model | None:
    """The model that answers; None where its extension is not loaded and nobody else knows whom to ask."""
    if aside.kind not in ASIDE_KINDS:
        with suppress(Fault):
            if model := _of_extension(aside, lambda one: one.model(debate, aside) if one.model else None):
                return model
    if aside.judge is not None:
        return debate.judge(aside.judge).model
    return None if aside.seat is None else debate.seat(aside.seat).model


def side_question_request(
    debate: Debate, aside: Aside, model: Model, words: int, attempt: int = 1
) -> Request:
    """The request for any side question; `words` is the maximum length of an answer to one of ours. Raises
    Fault where an extension cannot say what to send."""
    if aside.kind in ASIDE_KINDS:
        return aside_request(debate, aside, model, words, attempt)
    return _of_extension(aside, lambda one: one.request(debate, aside, model, attempt))


def read_side_answer(debate: Debate, aside: Aside, reply: str, words: int) -> AsideAnswered:
    """Raises UnreadableReply, and Fault where an extension fails."""
    if aside.kind in ASIDE_KINDS:
        return read_answer(debate, aside, reply, words)
    return _of_extension(aside, lambda one: one.read(debate, aside, reply))


def _of_extension(aside: Aside, use: Callable[[SideQuestions], T]) -> T:
    """What the extension that asks this says. Raises Fault where it is not loaded, or fails and is left
    out."""
    if (found := loaded().side_questions(aside.kind)) is None:
        raise Fault("unavailable", "permanent", billed=False, message=NOBODY_ASKS)
    extension, questions = found
    try:
        return use(questions)
    except UnreadableReply:
        raise
    except Exception as error:
        loaded().leave_out(extension.name, "side_questions", error)
        message = ASKING_FAILED.format(error=type(error).__name__)
        raise Fault("unavailable", "permanent", billed=False, message=message) from error
