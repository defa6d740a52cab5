"""Prompts for models too small for long ones: a claim instead of a side, and first words that hold it.

A model of a hundred million parameters does not know what "for", "against" or "opponent" mean, and given a
history it repeats it. It does argue from first words that leave it nothing but to praise or to blame. So it
is sent no history: the point it answers is quoted, attributed, in the words that it goes on from.
"""

from __future__ import annotations

import re

from rapidfuzz import fuzz

from moot.core.state import Debate, Turn
from moot.core.terms import ChatMessage, Request, Seat
from moot.core.visibility import Heard, hears
from moot.prompts.stances import Stance, first_point, lowercase_first, stance_for
from moot.prompts.templates import clip, section, seed

MAX_TOKENS = 80
"""About sixty words; beyond that it drifts."""
STOP = ("\n",)
MAX_REMARKS_SHOWN = 3
SHORT_MAX_TOKENS = 45
"""For a question or an answer."""
OPENING_WORDS = re.compile(r"^.{0,400}?(?:\bis that|\bare clear:)\s*", re.DOTALL)
"""First words end in one of these: what follows is the model's own."""

EXCHANGE_TONES = ("question", "answer")
SPOKEN_AS = {"continuation": "rebuttal", "floor": "answer"}
UNQUOTABLE_START = re.compile(
    r"(?:when|if|while|by|although|because|since|as|for|in|this|that|these|those|and|but|so)\b", re.I
)
"""Sentences that begin so cannot be quoted by themselves."""
MIN_WORDS = 8
COPY_THRESHOLD = 65.0
"""Unrelated speeches on one motion are 43 to 52 alike, honest ones at most 64, copies 80 and more."""
CONCEDING_WORDS = re.compile(
    r"\b(?:you(?:'re| are) right|i agree with (?:you|my opponent)|my opponent is right"
    r"|i(?:'m| am) not sure|as an ai)\b",
    re.IGNORECASE,
)


def turn_request(debate: Debate, turn: Turn, attempt: int = 1) -> Request:
    seat = debate.seat(turn.seat)
    heard = hears(debate, turn)
    return Request(
        model=seat.model,
        instructions=_instructions(debate, seat),
        messages=(ChatMessage("user", _user_prompt(debate, seat, turn, heard)),),
        max_tokens=min(
            seat.model.max_tokens, SHORT_MAX_TOKENS if turn.tone in EXCHANGE_TONES else MAX_TOKENS
        ),
        prefill=_first_words(debate, seat, turn, heard),
        stop=STOP,
        seed=seed(seat.model.seed, turn.number, attempt),
        attempt=attempt,
    )


def is_off_side(debate: Debate, turn: Turn, text: str) -> bool:
    """It says next to nothing, gives way, or repeats an earlier speech."""
    own = without_opening(text)
    if len(own.split()) < MIN_WORDS or CONCEDING_WORDS.search(own):
        return True
    earlier = (other.text for other in debate.turns if other.has_words and other.seq < turn.seq)
    return any(fuzz.partial_ratio(own, without_opening(other)) > COPY_THRESHOLD for other in earlier)


def without_opening(text: str) -> str:
    """A speech without its first words, which repeat by design."""
    return OPENING_WORDS.sub("", text, count=1)


def whole_sentences(text: str, least: float = 1 / 3) -> str:
    """Up to the last full stop, if that leaves at least this share of the text."""
    ends = [match.end() for match in re.finditer(r"[.!?][\"')\]]*(?=\s|$)", text)]
    return text[: ends[-1]] if ends and ends[-1] >= len(text) * least else text


def _instructions(debate: Debate, seat: Seat) -> str:
    name = "moderator" if seat.role == "moderator" else "neutral" if seat.side == "neutral" else "system"
    extras = [seat.persona, seat.objective, seat.system_prompt]
    return section(
        "small",
        name,
        motion=debate.motion,
        claim=_stance(debate, seat).claim,
        extras="".join(f" {extra}" for extra in extras if extra),
    )


def _user_prompt(debate: Debate, seat: Seat, turn: Turn, heard: tuple[Heard, ...]) -> str:
    asked = _question_to_answer(turn, heard)
    others = [item.text for item in heard if item.kind == "other"]
    text = clip(asked or (others[-1] if others else ""), 600)
    name: str = "answer" if asked else SPOKEN_AS.get(turn.tone, turn.tone)
    if not text and name != "summary":
        name = "opening"
    if turn.tone == "summary":
        text = "\n".join(f"- {clip(item, 400)}" for item in others[-4:])
    if seat.side == "neutral" and name in ("opening", "rebuttal", "closing"):
        name = f"neutral-{name}"
    claim = lowercase_first(_stance(debate, seat).claim)
    cue = section("small", name, motion=debate.motion, text=text, claim=claim)
    remarks = [item.text for item in heard if item.kind in ("remark", "question") and item.text != asked]
    said = [section("small", "remark", text=clip(remark, 300)) for remark in remarks[-MAX_REMARKS_SHOWN:]]
    return "\n\n".join([*said, cue])


def _question_to_answer(turn: Turn, heard: tuple[Heard, ...]) -> str:
    """What this turn is there to answer: the point that was taken, or the floor's latest question."""
    if turn.tone == "continuation":
        return heard[-1].text if heard and heard[-1].kind == "point" else ""
    asked = [item.text for item in heard if item.kind == "question"]
    return asked[-1] if asked and turn.tone == "floor" else ""


def _first_words(debate: Debate, seat: Seat, turn: Turn, heard: tuple[Heard, ...]) -> str:
    if seat.role == "moderator" or seat.side == "neutral":
        return ""
    side = _stance(debate, seat)
    match turn.tone:
        case "opening":
            return side.opening()
        case "question":
            return side.question(_questioned(debate, turn))
        case "answer" | "floor":
            return side.answer()
        case "continuation" if _question_to_answer(turn, heard):
            return side.answer()
        case "rebuttal" | "continuation":
            others = [item.text for item in heard if item.kind == "other"]
            return side.again(
                _speeches(debate, turn) + 1, first_point(without_opening(others[-1])) if others else ""
            )
        case "closing":
            return side.closing()
        case "summary":
            return ""


def _questioned(debate: Debate, turn: Turn) -> str:
    """What a question is about: a point of the latest speech of the one who is asked, another each time."""
    to = debate.schedule[turn.slot].to
    given = [t for t in debate.turns if t.has_words and t.seq < turn.seq]
    speech = next((t for t in reversed(given) if t.seat == to and t.tone not in EXCHANGE_TONES), None)
    if speech is None:
        return ""
    before = sum(t.seat == turn.seat and t.tone == "question" and t.seq > speech.seq for t in given)
    sentences = re.split(r"(?<=[.!?])\s+", without_opening(speech.text).strip())
    points = [
        found
        for sentence in sentences
        if not UNQUOTABLE_START.match(sentence) and (found := first_point(sentence))
    ]
    return points[before] if before < len(points) else ""


def _speeches(debate: Debate, turn: Turn) -> int:
    """How many speeches this seat has given: each looks at the matter from another side."""
    return sum(
        other.seat == turn.seat
        and other.has_words
        and other.seq < turn.seq
        and other.tone not in EXCHANGE_TONES
        for other in debate.turns
    )


def _stance(debate: Debate, seat: Seat) -> Stance:
    return stance_for(debate.motion, seat.side)
