"""The request for a speech.

The instructions say who the speaker is. Each user message then quotes what was said since the speaker's last
speech and ends with a cue: which speech this is, for whom, what it must do and how long it may be. All of it
follows from the log before the turn, so that the prefix of a request stays the same from turn to turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from moot.core.pricing import speech_token_limit
from moot.core.state import Debate, Turn
from moot.core.terms import (
    EXCHANGE_TONES,
    ChatMessage,
    EncryptedReasoning,
    Phase,
    Reasoning,
    Request,
    Seat,
    Segment,
    Tone,
    ToolCall,
    ToolResult,
)
from moot.core.visibility import Heard, hears
from moot.prompts import small_model_prompts
from moot.prompts.fences import Fence, fence_for
from moot.prompts.question_prompts import (
    answer_request,
    asking_request,
    asks_for_judge,
    gives_answers,
    question_instructions,
    small_question_request,
)
from moot.prompts.speaker_names import reference, roles, roster, short_name, speaker_name, teammates
from moot.prompts.templates import CONCEDE, FOR_SIDE, SIDES, intensity, section, seed, template

UNANSWERED = {
    "opening": "first",
    "rebuttal": "unopposed",
    "exchange": "unopposed",
    "closing": "unopposed-closing",
    "answer": "unasked",
}
"""Cues for a speaker who has heard nobody since its last speech, and must not invent what it did not hear."""
TASKS = ("first", "opening", "rebuttal", "closing", "unopposed-closing")
"""Cues that say what to do only where the format does not."""
NEUTRAL_TASKS = ("rebuttal", "closing", "unopposed-closing")
"""Of these, the ones that ask something else of a seat without a side."""
QUOTE_SECTIONS: dict[Tone, str] = {"continuation": "went-on", "question": "asked", "answer": "answered"}
"""How words are introduced that are not simply said."""


def turn_request(
    debate: Debate,
    turn: Turn,
    attempt: int = 1,
    *,
    chained: bool = True,
    sealed: bool = True,
    trimmed: bool = False,
    aided: bool = False,
) -> Request:
    """The request for the speech of this turn.

    Without `chained` it does not rely on the provider's memory; without `sealed` the provider does not get
    its encrypted reasoning back. `trimmed` leaves out the older half of what the speaker has heard, after a
    request that was too long. With `aided` the speaker has tools, and the cue explains how to use them.
    """
    seat, question = debate.seat(turn.seat), debate.setup.question
    if question is not None and gives_answers(debate):
        return answer_request(debate, turn, question, attempt)
    if question is not None and asks_for_judge(debate, seat):
        return asking_request(debate, turn, question, attempt)
    if question is not None and seat.model.small:
        return small_question_request(debate, turn, question, attempt)
    if seat.model.small:
        return small_model_prompts.turn_request(debate, turn, attempt)
    messages: list[ChatMessage] = []
    own = [t for t in debate.turns if t.seat == turn.seat and t.has_words and t.seq < turn.seq]
    chain = debate.chained_response_id(seat.id) if chained else None
    sealed = sealed and chain is None
    unquoted: list[Heard] = []
    answered = False
    remembered = 0
    everything = hears(debate, turn)
    left_out = len(everything) // 2 if trimmed else 0
    past = iter(own[sum(item.kind == "own" for item in everything[:left_out]) :])
    for item in everything[left_out:]:
        if item.kind != "own":
            unquoted.append(item)
            answered = answered or _is_speech(debate, item)
            continue
        speech = next(past)
        prompt, unquoted = _prompt(debate, seat, speech, unquoted, answered=answered)
        answered = answered and speech.tone in EXCHANGE_TONES
        messages.append(ChatMessage("user", prompt))
        messages.append(ChatMessage("assistant", item.text, _sealed(speech) if sealed else ()))
        # A speech that was cut is in nobody's chain: it is sent again with what comes after.
        remembered = len(messages) if speech.state == "completed" else remembered
    messages.append(ChatMessage("user", _prompt(debate, seat, turn, unquoted, answered=answered)[0]))
    if left_out:
        messages[0] = replace(messages[0], content=f"{section('quotes', 'trimmed')}\n\n{messages[0].content}")
    return Request(
        model=seat.model,
        instructions=_instructions(debate, seat, aided=aided),
        messages=tuple(messages),
        max_tokens=speech_token_limit(debate, turn.slot, seat.model),
        previous_response_id=chain,
        fresh=tuple(messages[remembered:]) if chain else (),
        seed=seed(seat.model.seed, turn.number, attempt),
        attempt=attempt,
        trimmed=left_out,
    )


def _sealed(speech: Turn) -> tuple[EncryptedReasoning, ...]:
    """A seat's own encrypted reasoning, where its provider accepts it back.

    Providers refuse reasoning that led to a tool call without that call, so it is left out.
    """
    parts = speech.segments
    return tuple(
        EncryptedReasoning(segment.item_id, segment.opaque)
        for segment, then in zip(parts, (*parts[1:], None), strict=False)
        if isinstance(segment, Reasoning) and segment.opaque and segment.item_id
        if not isinstance(then, ToolCall)
    )


def _instructions(debate: Debate, seat: Seat, *, aided: bool) -> str:
    fence = fence_for(debate, seat.id)
    extras = seat_instructions(debate, seat, [roster(debate, seat, fence), *_team(debate, seat)])
    if debate.setup.winning == "self-terminate" and not debate.format.scripted:
        extras.append(section("cues", "concede", concede=CONCEDE))
    if aided:
        extras.append(section("cues", "tools"))
    if debate.setup.question is not None:
        return question_instructions(debate, seat, debate.setup.question, fence, extras)
    name = "moderator" if seat.role == "moderator" else "debater"
    return template(name, debate.prompts).format(
        motion=debate.motion,
        format=f"{debate.format.title}. {debate.format.summary}".rstrip("."),
        side=SIDES[seat.side],
        stance="\n".join(_stance(debate, seat)),
        intensity=intensity(debate.setup.intensity),
        extras="".join(f"\n{extra}\n" for extra in extras),
        fence=fence.name,
    )


def _stance(debate: Debate, seat: Seat) -> Iterator[str]:
    """Who decides, for which side the seat speaks, and what that means where the motion is a question."""
    if decided := _decided(debate):
        yield section("cues", f"decided-by-{decided}")
    yield section("cues", f"stance-{seat.side}")
    if is_question(debate.motion) and seat.side != "neutral":
        yield section("cues", "question-motion")


def _decided(debate: Debate) -> str:
    setup = debate.setup
    if setup.winning == "audience":
        return "swing" if setup.polls is not None and setup.polls.before else "majority"
    if setup.winning == "user-decides":
        return "hand"
    if not debate.panel:
        return ""
    return "ranking" if debate.format.result == "ranking" else "judges"


def is_question(motion: str) -> bool:
    return motion.rstrip().endswith(("?", "？", "؟"))


def seat_instructions(debate: Debate, seat: Seat, team: Sequence[str] = ()) -> list[str]:
    """What a seat learns about itself and the debate, apart from its side. The text of the person who set up
    the debate comes last and is attributed to them; the side is repeated after it.
    """
    extras: list[str] = []
    if debate.setup.objective:
        extras.append(section("cues", "objective", objective=debate.setup.objective))
    extras += [line for line in team if line]
    if seat.persona:
        extras.append(section("cues", "persona", persona=seat.persona))
    if seat.objective:
        extras.append(section("cues", "aim", aim=seat.objective))
    if seat.system_prompt:
        side = "you take no side" if seat.role == "moderator" else SIDES[seat.side]
        extras.append(section("cues", "custom", debate.prompts, text=seat.system_prompt, side=side))
    return extras


def _team(debate: Debate, seat: Seat) -> list[str]:
    """The team and the team-mates of the seat, where a side has more than one speaker."""
    lines: list[str] = []
    own_roles = roles(debate, seat)
    if len(own_roles) > 1:
        lines.append(section("cues", "team", roles="; ".join(own_roles)))
    own, allies = teammates(debate, seat)
    if own:
        lines.append(section("cues", "mates", names=" and ".join(reference(debate, mate) for mate in own)))
    if allies:
        lines.append(
            section("cues", "allies", names=" and ".join(reference(debate, ally) for ally in allies))
        )
    return lines


# --- quotations ---------------------------------------------------------------------------------------


def _is_speech(debate: Debate, item: Heard) -> bool:
    """Whether the item is a speech of another seat; questions and answers cannot be rebutted."""
    turn = debate.turn(item.turn) if item.turn is not None else None
    return item.kind == "other" and (turn is None or turn.tone not in EXCHANGE_TONES)


def _prompt(
    debate: Debate, seat: Seat, turn: Turn, waiting: list[Heard], *, answered: bool
) -> tuple[str, list[Heard]]:
    """The quotations since the seat's last speech and the cue for this one; and the items kept for later.

    `answered`: another seat has spoken since the seat's last speech, apart from questions and answers.
    """
    later = [item for item in waiting if _waits_for_later(debate, turn, item)]
    now = [item for item in waiting if item not in later]
    quotes = [quote(debate, seat, item) for item in now]
    return "\n\n".join([*quotes, _cue(debate, seat, turn, now, answered=answered)]), later


def _waits_for_later(debate: Debate, turn: Turn, item: Heard) -> bool:
    """Whether a floor question waits for a later speech: one to everyone for the phase of floor questions,
    any other for the end of a cross-examination.
    """
    if item.kind != "question":
        return False
    later = [slot for slot in debate.schedule[turn.slot + 1 :] if slot.seat == turn.seat]
    if item.seat is None and any(slot.tone == "floor" for slot in later):
        return True
    return turn.tone in EXCHANGE_TONES and any(slot.tone not in EXCHANGE_TONES for slot in later)


def quote(debate: Debate, seat: Seat, item: Heard) -> str:
    held = fence_for(debate, seat.id)
    fence, text = held.name, held.hold(item.text)
    match item.kind:
        case "remark" if item.seat is None:
            return section("quotes", "remark", fence=fence, text=text)
        case "remark" | "question":
            return section(
                "quotes", "question", to=_addressee(debate, seat, item.seat), fence=fence, text=text
            )
        case "notes":
            return section("quotes", "notes", fence=fence, text=text)
        case "point":
            return section(
                "quotes", "point", speaker=speaker_name(debate, seat, item), fence=fence, text=text
            )
        case "other" | "own":
            turn = debate.turn(item.turn or 0)
            name = QUOTE_SECTIONS.get(debate.tone(turn), "speech") if turn else "speech"
            to = _addressee(debate, seat, debate.schedule[turn.slot].to if turn else None)
            who = speaker_name(debate, seat, item)
            return section("quotes", name, speaker=who, to=to, fence=fence, text=text)


def fence_tool_results(debate: Debate, seat: Seat, exchange: Sequence[Segment]) -> tuple[Segment, ...]:
    """The segments of a speech so far, with the results of our tools fenced."""
    call_ids = {part.id for part in exchange if isinstance(part, ToolCall) and part.needs_answer}
    fence = fence_for(debate, seat.id)
    return tuple(
        replace(part, output=_fenced_result(part, fence))
        if isinstance(part, ToolResult) and part.id in call_ids
        else part
        for part in exchange
    )


def _fenced_result(result: ToolResult, fence: Fence) -> str:
    text = "\n".join(text for text in (result.error, result.output) if text)
    name = "failed" if result.error else "tool"
    return section("quotes", name, fence=fence.name, text=fence.hold(text))


def _addressee(debate: Debate, seat: Seat, to: str | None) -> str:
    """The seat to which words are addressed, as this seat knows it."""
    if to is None:
        return "every debater"
    return "you" if to == seat.id else short_name(debate, seat, debate.seat(to))


# --- what is wanted -----------------------------------------------------------------------------------


def _cue(debate: Debate, seat: Seat, turn: Turn, items: list[Heard], *, answered: bool) -> str:
    phase, slot, tone = debate.phase(turn.slot), debate.schedule[turn.slot], debate.tone(turn)
    name = _name(phase, tone, items, answered=answered)
    cue = section(
        "cues",
        name,
        debate.prompts,
        title=phase.title,
        for_side="for your answer" if debate.setup.question else FOR_SIDE[seat.side],
        to=short_name(debate, seat, debate.seat(slot.to)) if slot.to else "the other side",
    )
    task = _task(debate, seat, name) if name in TASKS and not _guide(phase, tone) else ""
    return "\n".join([f"{cue} {task}".rstrip(), *_rules(debate, turn, tone, items)])


def _task(debate: Debate, seat: Seat, name: str) -> str:
    """The task of this speech, where the format itself does not name it."""
    neutral = seat.side == "neutral" and name in NEUTRAL_TASKS
    return section("cues", f"{name}-neutral-task" if neutral else f"{name}-task", debate.prompts)


def _guide(phase: Phase, tone: Tone) -> str:
    return "" if tone in (*EXCHANGE_TONES, "continuation") else phase.guide


def _name(phase: Phase, tone: Tone, items: list[Heard], *, answered: bool) -> str:
    kinds = {item.kind for item in items}
    if tone == "continuation":
        return "after-point" if "point" in kinds else "continuation"
    if tone == "floor":
        return "floor" if "question" in kinds else "unasked"
    if tone == "answer" or phase.kind == "exchange":
        answered = "other" in kinds
    name = "exchange" if phase.kind == "exchange" and tone == "rebuttal" else tone
    return name if answered else UNANSWERED.get(name, name)


def _rules(debate: Debate, turn: Turn, tone: Tone, items: list[Heard]) -> list[str]:
    phase = debate.phase(turn.slot)
    rules: list[str] = []
    if phase.speaks_as and phase.kind == "speech":
        rules.append(section("cues", "as", role=phase.speaks_as))
    if tone not in (*EXCHANGE_TONES, "floor") and any(item.kind == "question" for item in items):
        rules.append(section("cues", "asked"))
    if guide := _guide(phase, tone):
        rules.append(guide)
    if debate.setup.question is not None and any(item.kind == "notes" for item in items):
        rules.append(section("question", "revise"))
    if phase.simultaneous:
        rules.append(section("cues", "at-once"))
    if not phase.new_arguments and tone not in (*EXCHANGE_TONES, "opening", "summary", "floor"):
        rules.append(section("cues", "no-new", debate.prompts))
    if phase.points_of_information and not phase.simultaneous and turn.tone != "continuation":
        rules.append(section("cues", "break"))
    return [*rules, *_length(debate, phase, turn)]


def _length(debate: Debate, phase: Phase, turn: Turn) -> list[str]:
    length = section("cues", "length", words=debate.word_budget(turn.slot))
    if not phase.clock:
        return [length]
    left = max(0, debate.clock_words_left(debate.schedule[turn.slot], turn.seq))
    return [section("cues", "clock", left=left), length]
