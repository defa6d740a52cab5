"""Prompts for small models: a claim instead of a side, and first words that keep them to it.

A model of a hundred million parameters does not know what "for", "against" or "opponent" mean, and given a
history it repeats it. It does argue from first words that leave it nothing but to praise or to blame: "Zoos
should not be banned. The greatest benefit of zoos is that". So it is sent no history; the point that it
answers is quoted in those first words.

A `Stance` takes a motion apart for that. English only; a motion that fits no pattern still gets a claim, and
"this idea" to praise or blame.
"""

from __future__ import annotations

import re

from msgspec import Struct
from rapidfuzz import fuzz

from moot.core.state import Debate, Turn
from moot.core.terms import EXCHANGE_TONES, ChatMessage, Request, Seat, Side
from moot.core.visibility import Heard, hears
from moot.prompts.templates import clip, section, seed

_DUTY = r"(?:should|must|shall|ought to|needs? to|ha(?:s|ve) to|would|will|can|could|may)"
_AUX = rf"(?:{_DUTY}|is|are|was|were)"
_END = (
    r"(?:ban|abolish|end|stop|prohibit|outlaw|restrict|limit|eliminate|remove|scrap|reject|cancel|close"
    r"|phase out|get rid of|forbid|block|defund|boycott|criminali[sz]e|oppose|regret|leave|quit)"
)
_ENDED = (
    r"(?:banned|abolished|ended|stopped|prohibited|outlawed|restricted|limited|eliminated|removed|scrapped"
    r"|rejected|cancelled|closed|phased out|forbidden|blocked|defunded|boycotted|criminali[sz]ed)"
)
_BAD = (
    r"\b(?:harm\w*|worse|worst|bad|danger\w*|threat\w*|wrong|overrated|evil|immoral|unethical|useless"
    r"|outdated|obsolete|fail\w*|ruin\w*|destroy\w*|hurt\w*|damag\w*|weaken\w*|undermin\w*|too|waste\w*)\b"
)
_MADE = (
    r"(?:free|legal|illegal|compulsory|mandatory|voluntary|optional|public|private|universal|harder|easier"
    r"|cheaper|shorter|longer|lower|higher|open|equal)\b"
)
_QUESTION = re.compile(
    rf"({_AUX})\s+(we|they|you|everyone|it|(?:the |a |an |our |all )?[\w-]+(?: [\w-]+)??)\s+"
    r"((?:be|not|ban|a|an|the|better|worse|more|too|good|bad|allowed|have|pay|learn|use|get|make|go|teach"
    r"|vote|replace|abolish)\b.*)$",
    re.IGNORECASE,
)

ANGLES = (
    "",
    "for ordinary people",
    "when it comes to money",
    "in the long run",
    "for young people",
    "when it comes to fairness",
    "when it comes to health",
)
"""Another in each round, so that the speeches do not all give the same reason."""

_CUTS = re.compile(
    r"which|because|when|while|if|by|so|but|and|as|without|since|although|who|where|or|until|unless|with"
    r"|through|from|after|before|than",
    re.IGNORECASE,
)
MAX_TOKENS = 80
"""About sixty words; beyond that it drifts."""
STOP = ("\n",)
MAX_REMARKS_SHOWN = 3
SHORT_MAX_TOKENS = 45
"""For a question or an answer."""
OPENING_WORDS = re.compile(r"^.{0,400}?(?:\bis that|\bare clear:)\s*", re.DOTALL)
"""First words end in one of these: what follows is the model's own."""

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


class Stance(Struct, frozen=True):
    """One side of a motion: its claim, its topic, and whether it praises or criticises that topic."""

    claim: str
    topic: str
    praises: bool

    def opening(self) -> str:
        return f"{self.claim}. The greatest {self._matter()} is that"

    def again(self, round: int, point: str) -> str:
        """The first words of a later speech: the opponent's point, then a new reason from another angle."""
        verb = "attacks" if self.praises else "defends"
        quoted = f"My opponent {verb} {self.topic} because {lowercase_first(point)}. But"
        answer = quoted if point else "I disagree, and"
        angle = ANGLES[round % len(ANGLES)]
        return f"{answer} another {self._matter()}{f', {angle},' if angle else ''} is that"

    def closing(self) -> str:
        matter = "benefits" if self.praises else "problems"
        return f"In the end, {lowercase_first(self.claim)}. The {matter} are clear:"

    def question(self, point: str) -> str:
        """The first words of a question in cross-examination: a point of the other side, and an objection to
        it.
        """
        quoted = f"You say that {lowercase_first(point)}. " if point else ""
        return f"{quoted}What do you say to this: one {self._matter()} is that"

    def answer(self) -> str:
        return f"My answer is simple: the real {self._matter()} is that"

    def _matter(self) -> str:
        return f"benefit of {self.topic}" if self.praises else f"problem with {self.topic}"


def stance_for(motion: str, side: Side) -> Stance:
    claim, denied = claims(motion)
    topic, well = _topic(motion)
    return Stance(claim, topic, well) if side == "for" else Stance(denied, topic, not well)


def claims(motion: str) -> tuple[str, str]:
    """The motion as a plain statement, and its denial."""
    plain = _plain(motion)
    if re.match(rf"{_AUX}\b", plain, re.IGNORECASE):
        return "The answer is yes", "The answer is no"
    if re.search("more harm than good", plain, re.IGNORECASE):
        return plain, re.sub("more harm than good", "more good than harm", plain, flags=re.IGNORECASE)
    if plain.startswith("Everyone "):
        return plain, f"Not {lowercase_first(plain)}"
    verb = re.compile(rf"\b({_AUX})\b( not\b)?", re.IGNORECASE)
    denied, replaced = verb.subn(lambda x: x[1] if x[2] else f"{x[1]} not", plain, count=1)
    return plain, denied if replaced else f"It is not true that {lowercase_first(plain)}"


def first_point(speech: str, most: int = 18) -> str:
    """The first point of a speech, short enough to be quoted; empty if it cannot be shortened."""
    sentence = re.split(r"(?<=[.!?])\s", speech.strip())[0].rstrip(".!?\"' ")
    words = sentence.split()
    if len(words) <= most:
        return sentence if len(words) >= 4 else ""
    ends = [at for at in range(5, most + 1) if _CUTS.fullmatch(words[at]) or words[at - 1][-1] in ",;:"]
    return " ".join(words[: ends[-1]]).rstrip(",;: -") if ends else ""


def lowercase_first(text: str) -> str:
    """The text as it stands within a sentence; abbreviations and "I" keep their capitals."""
    first = text.split(" ", 1)[0]
    return text if first.isupper() and first != "A" else text[:1].lower() + text[1:]


def _plain(motion: str) -> str:
    plain = motion.strip().rstrip(".?! ")
    preface = r"^(?:this house (?:believes|holds|thinks)(?: that)?|resolved:?(?: that)?|that)\s+"
    plain = re.sub(preface, "", plain, flags=re.I)
    plain = re.sub(r"^this house (?:would|should|will)\s+", "we should ", plain, flags=re.I)
    plain = re.sub(r"^this house (support|oppose|regret)s\s+", r"we should \1 ", plain, flags=re.I)
    if motion.strip().endswith("?") and (question := _QUESTION.match(plain)):
        plain = f"{question[2]} {question[1].lower()} {question[3]}"
    return plain[:1].upper() + plain[1:]


def _topic(motion: str) -> tuple[str, bool]:
    """The topic of the motion, and whether the motion speaks well of it."""
    plain = _plain(motion)
    if match := re.search(rf"^(.+?)\s+{_AUX}( not)? be {_ENDED}\b", plain, re.I):
        return lowercase_first(match[1]), bool(match[2])
    beyond = r"(?= (?:in|for|from|by|on|because|at|with|as|after|before|until)\b|$)"
    if match := re.search(rf"\b{_AUX}( not)? {_END}\s+(.+?){beyond}", plain, re.I):
        return lowercase_first(match[2]), bool(match[1])
    if match := re.search(rf".\b{_DUTY}( not)? ((?!be\b)\w+)(.*)$", plain, re.I):
        return _gerund(match[2]) + match[3], not match[1]
    if match := re.search(rf"^(.+?)\s+{_DUTY}( not)? be (.+)$", plain, re.I):
        verb = "making" if re.match(_MADE, match[3], re.I) else "having"
        return f"{verb} {lowercase_first(match[1])} {match[3]}", not match[2]
    verbs = r"(?:is|are|was|were|does|do|has|have|makes?|causes?)"
    if match := re.search(rf"^(.+?)\s+{verbs}\b( not)?(.*)", plain, re.I):
        return lowercase_first(match[1]), bool(re.search(_BAD, match[3], re.I)) == bool(match[2])
    return "this idea", True


def _gerund(verb: str) -> str:
    if verb.endswith("ie"):
        return f"{verb[:-2]}ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return f"{verb[:-1]}ing"
    if re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]", verb):
        return f"{verb}{verb[-1]}ing"
    return f"{verb}ing"


# --- requests -----------------------------------------------------------------------------------------


def turn_request(debate: Debate, turn: Turn, attempt: int = 1) -> Request:
    seat = debate.seat(turn.seat)
    items = hears(debate, turn)
    return Request(
        model=seat.model,
        instructions=_instructions(debate, seat),
        messages=(ChatMessage("user", _user_prompt(debate, seat, turn, items)),),
        max_tokens=min(
            seat.model.max_tokens, SHORT_MAX_TOKENS if turn.tone in EXCHANGE_TONES else MAX_TOKENS
        ),
        prefill=_first_words(debate, seat, turn, items),
        stop=STOP,
        seed=seed(seat.model.seed, turn.number, attempt),
        attempt=attempt,
    )


def is_off_side(debate: Debate, turn: Turn, text: str) -> bool:
    """Whether the speech says next to nothing, concedes, or repeats an earlier speech."""
    own = without_opening(text)
    if len(own.split()) < MIN_WORDS or CONCEDING_WORDS.search(own):
        return True
    earlier = (other.text for other in debate.turns if other.has_words and other.seq < turn.seq)
    return any(fuzz.partial_ratio(own, without_opening(other)) > COPY_THRESHOLD for other in earlier)


def without_opening(text: str) -> str:
    """A speech without its first words, which are the same by design."""
    return OPENING_WORDS.sub("", text, count=1)


def whole_sentences(text: str, least: float = 1 / 3) -> str:
    """The text up to its last full stop, if that keeps at least this share of it."""
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


def _user_prompt(debate: Debate, seat: Seat, turn: Turn, items: tuple[Heard, ...]) -> str:
    question = _question_to_answer(turn, items)
    others = [item.text for item in items if item.kind == "other"]
    text = clip(question or (others[-1] if others else ""), 600)
    name: str = "answer" if question else SPOKEN_AS.get(turn.tone, turn.tone)
    if not text and name != "summary":
        name = "opening"
    if turn.tone == "summary":
        text = "\n".join(f"- {clip(item, 400)}" for item in others[-4:])
    if seat.side == "neutral" and name in ("opening", "rebuttal", "closing"):
        name = f"neutral-{name}"
    claim = lowercase_first(_stance(debate, seat).claim)
    cue = section("small", name, motion=debate.motion, text=text, claim=claim)
    remarks = [item.text for item in items if item.kind in ("remark", "question") and item.text != question]
    sections = [section("small", "remark", text=clip(remark, 300)) for remark in remarks[-MAX_REMARKS_SHOWN:]]
    return "\n\n".join([*sections, cue])


def _question_to_answer(turn: Turn, items: tuple[Heard, ...]) -> str:
    """The question that this turn must answer: the accepted point, or the latest floor question."""
    if turn.tone == "continuation":
        return items[-1].text if items and items[-1].kind == "point" else ""
    questions = [item.text for item in items if item.kind == "question"]
    return questions[-1] if questions and turn.tone == "floor" else ""


def _first_words(debate: Debate, seat: Seat, turn: Turn, items: tuple[Heard, ...]) -> str:
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
        case "continuation" if _question_to_answer(turn, items):
            return side.answer()
        case "rebuttal" | "continuation":
            others = [item.text for item in items if item.kind == "other"]
            return side.again(
                _speeches(debate, turn) + 1, first_point(without_opening(others[-1])) if others else ""
            )
        case "closing":
            return side.closing()
        case "summary":
            return ""


def _questioned(debate: Debate, turn: Turn) -> str:
    """A point of the latest speech of the seat that is asked, as the subject of a question; another each
    time.
    """
    to = debate.schedule[turn.slot].to
    earlier = [t for t in debate.turns if t.has_words and t.seq < turn.seq]
    speech = next((t for t in reversed(earlier) if t.seat == to and t.tone not in EXCHANGE_TONES), None)
    if speech is None:
        return ""
    before = sum(t.seat == turn.seat and t.tone == "question" and t.seq > speech.seq for t in earlier)
    sentences = re.split(r"(?<=[.!?])\s+", without_opening(speech.text).strip())
    points = [
        point
        for sentence in sentences
        if not UNQUOTABLE_START.match(sentence) and (point := first_point(sentence))
    ]
    return points[before] if before < len(points) else ""


def _speeches(debate: Debate, turn: Turn) -> int:
    """How many speeches this seat has given; each takes another angle."""
    return sum(
        other.seat == turn.seat
        and other.has_words
        and other.seq < turn.seq
        and other.tone not in EXCHANGE_TONES
        for other in debate.turns
    )


def _stance(debate: Debate, seat: Seat) -> Stance:
    return stance_for(debate.motion, seat.side)
