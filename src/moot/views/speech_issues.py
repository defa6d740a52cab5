"""What went wrong in the speeches of a debate, by seat, with the turns in which it did.

Most of it is in the log. Three issues are found in the text alone, by rules that rather miss one than report
one that is not there; quotations are removed first:

- *wrong side*: a speaker says in so many words that they stand where they do not ("I oppose the motion", of
  the seat that argues for it), without a condition, a denial or another speaker before it, and nowhere in the
  speech that they stand where they do. Arguing badly or granting a point is no change of side.
- *speaking for another*: a speech that begins under another seat's name, or is written as a dialogue in which
  another speaks in the first person. Headings and summaries of what others said are none.
- *think tags*: the marks between which models think, left in the speech.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, get_args

from msgspec import Struct

from moot.core.state import Debate, Turn
from moot.core.terms import Seat

IssueKind = Literal[
    "refusal", "blank", "truncation", "wrong_side", "speaking_for_another", "over_length", "think_tag",
    "retry", "degraded_chain",
]  # fmt: skip
KINDS: tuple[IssueKind, ...] = get_args(IssueKind)
ISSUE_WORDS: dict[IssueKind, str] = {
    "refusal": "refused to speak",
    "blank": "said nothing",
    "truncation": "was truncated",
    "wrong_side": "argued for the wrong side",
    "speaking_for_another": "spoke for another participant",
    "over_length": "exceeded the word budget",
    "think_tag": "left thoughts in the speech",
    "retry": "was asked again",
    "degraded_chain": "lost the provider's memory of the debate",
}
SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？")
CLOSING_MARKS = " \n\t\"'”’»)]*_"
TurnsByIssue = dict[IssueKind, tuple[int, ...]]
"""The turns in which it happened."""


class Issues(Struct, frozen=True):
    by_seat: dict[str, TurnsByIssue]
    """Seats without any are left out."""
    refusal_categories: dict[int, str] = {}
    """By turn: the policy that the refusal rests on, where the service named one."""

    def words(self, kind: IssueKind, turns: tuple[int, ...]) -> str:
        """What went wrong in these turns, as a part of a sentence."""
        named = [self.refusal_categories[turn] for turn in turns if turn in self.refusal_categories]
        if kind != "refusal" or not named:
            return ISSUE_WORDS[kind]
        return f"{ISSUE_WORDS[kind]} (its service names the category {', '.join(dict.fromkeys(named))})"

    @property
    def by_kind(self) -> TurnsByIssue:
        by_kind: TurnsByIssue = {}
        for kind in KINDS:
            turns = [turn for seat in self.by_seat.values() for turn in seat.get(kind, ())]
            if turns:
                by_kind[kind] = tuple(sorted(turns))
        return by_kind

    @property
    def count(self) -> int:
        return sum(len(turns) for turns in self.by_kind.values())


def find_issues(debate: Debate) -> Issues:
    """Of every speech that was given or tried, also where it was struck and given again."""
    by_seat: dict[str, TurnsByIssue] = {}
    for turn in sorted(debate.turns, key=lambda turn: turn.number):
        for kind in issues_in(debate, turn):
            seat = by_seat.setdefault(turn.seat, {})
            seat[kind] = (*seat.get(kind, ()), turn.number)
    categories = {turn.number: turn.refusal_category for turn in debate.turns if turn.refusal_category}
    return Issues(by_seat, categories)


def issues_in(debate: Debate, turn: Turn) -> tuple[IssueKind, ...]:
    """What went wrong in one speech."""
    read = _read_from(turn.text, debate.seat(turn.seat), debate.seats)
    happened: dict[IssueKind, bool] = {
        "refusal": turn.refusal,
        "blank": is_silent(turn),
        "truncation": is_cut_off(turn),
        "wrong_side": "wrong_side" in read,
        "speaking_for_another": "speaking_for_another" in read,
        "over_length": turn.over_length,
        "think_tag": "think_tag" in read,
        "retry": turn.attempt > 1 or turn.struck,
        "degraded_chain": "chain" in turn.degraded.split(","),
    }
    return tuple(kind for kind in KINDS if happened[kind])


@lru_cache(maxsize=256)
def _read_from(text: str, seat: Seat, seats: tuple[Seat, ...]) -> tuple[IssueKind, ...]:
    """Return the issues found in the text alone. Cached, because it is slow and asked for often."""
    words = without_quotes(text)
    checks: dict[IssueKind, bool] = {
        "wrong_side": wrong_side(seat, words),
        "speaking_for_another": speaks_for_another(seats, seat, words),
        "think_tag": THINK_TAGS.search(words) is not None,
    }
    return tuple(kind for kind in checks if checks[kind])


def is_silent(turn: Turn) -> bool:
    """Whether the turn ended without a word, and was not given again."""
    if turn.state == "failed":
        return turn.by == "empty" or (turn.used_slot and not turn.text.strip())
    return turn.state == "completed" and not (turn.text.strip() or turn.refusal)


def is_cut_off(turn: Turn) -> bool:
    """Whether the speech was truncated. One that reached its limit of tokens and was trimmed to its last
    whole sentence was not."""
    return turn.truncated is not None and not (
        turn.truncated == "max_tokens" and turn.text.rstrip(CLOSING_MARKS).endswith(SENTENCE_ENDS)
    )


# --- what is quoted ----------------------------------------------------------------------------------

QUOTED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`"
    r"|\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|(?<!\w)['‘][^'’\n]{3,300}['’](?!\w)",
    re.DOTALL,
)
THINK_TAGS = re.compile(
    r"</?(?:think|thinking|thought|thoughts|reasoning|scratchpad|reflection)>"
    r"|\[/?THINK\]|<\|(?:channel|start|message|end|im_start|im_end)\|>|◁/?think▷",
    re.IGNORECASE,
)


def without_quotes(text: str) -> str:
    """A speech without what it quotes, between marks or in lines that begin with >."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith(">"))
    return QUOTED.sub(" ", "\n".join(lines))


# --- on which side -----------------------------------------------------------------------------------

_MOTION = r"(?:the|this) (?:motion|resolution)\b(?!['’]s)"
_EVER_SO = r"(?:(?:firmly|strongly|proudly|hereby|therefore|must|will|fully|respectfully|also|still) )*"
_STAND = rf"(?:I am|I'm|we are|we stand|we speak|we argue) {_EVER_SO}(?:here )?"
_PLEA = r"I (?:urge|ask|invite|beg|call on|call upon) (?:you|the house|this house|the judges?|everyone) to"
_BENCH = r"(?:I|we) (?:speak|argue|stand) for the"
SIDE_DECLARATIONS = {
    "against": re.compile(
        rf"\bI {_EVER_SO}(?:oppose|reject|stand against|argue against|speak against) {_MOTION}"
        rf"|\b{_STAND}(?:against|in opposition to) {_MOTION}"
        rf"|\b{_PLEA} (?:oppose|reject|defeat|vote against|vote down) {_MOTION}"
        rf"|\b{_BENCH} (?:opposition|negative)\b",
        re.IGNORECASE,
    ),
    "for": re.compile(
        rf"\bI {_EVER_SO}(?:support|affirm|endorse|stand for|argue for|speak for) {_MOTION}"
        rf"|\b{_STAND}(?:for|in favou?r of|in support of) {_MOTION}"
        rf"|\b{_PLEA} (?:support|affirm|adopt|carry|vote for|pass) {_MOTION}"
        rf"|\b{_BENCH} (?:affirmative|government|proposition (?:side|team|bench))\b",
        re.IGNORECASE,
    ),
}
HEDGES = re.compile(
    r"\b(?:if|when|whenever|unless|suppose|imagine|were|should|would|could|might|had|why|how|whether|because"
    r"|not|never|no|cannot|nor|neither|opponents?|opposition|other side|they|he|she|you|says?|said|claims?"
    r"|argues?|thinks?|believes?|once|used to|as though|pretend\w*)\b|n['’]t\b|\?",
    re.IGNORECASE,
)


def wrong_side(seat: Seat, words: str) -> bool:
    """Whether the speaker declares for the other side, and nowhere for their own."""
    if seat.role != "debater" or seat.side == "neutral":
        return False
    other = "against" if seat.side == "for" else "for"
    return _declares(other, words) and not SIDE_DECLARATIONS[seat.side].search(words)


def _declares(side: Literal["for", "against"], words: str) -> bool:
    """Whether a sentence declares this side, and is no condition, denial, question or quotation of another
    speaker."""
    for sentence in re.findall(r"[^.!?;\n]+[.!?;\n]?", words):
        declared = SIDE_DECLARATIONS[side].search(sentence)
        if declared and not HEDGES.search(sentence[: declared.start()] + " " + sentence[declared.end() :]):
            return True
    return False


# --- in whose name -----------------------------------------------------------------------------------

_LABELLED = re.compile(
    r"^[ \t*_#-]*([^\n:*_]{1,60}?)[ \t]*(?:\([^)\n]*\))?[*_ \t]*:[*_ \t]*(.*)$", re.MULTILINE
)
_FIRST_PERSON = re.compile(r"\bI(?:['’](?:m|d|ve|ll))?\b|\bwe (?:believe|argue|reject|support|oppose|say)\b")
SIDE_LABELS = {
    "for": ("pro", "for", "proposition", "affirmative", "government"),
    "against": ("con", "against", "opposition", "negative"),
    "neutral": (),
}
OTHER_ROLES = ("opponent", "my opponent", "moderator", "judge", "chair")
HEARD_WORDS = 25
"""A line is in the first person if one of its first so many words is."""


def speaks_for_another(seats: tuple[Seat, ...], seat: Seat, words: str) -> bool:
    own, others = _names(seats, seat)
    lines = [(match[1].strip().casefold(), _following(match, words)) for match in _LABELLED.finditer(words)]
    played = [name for name, line in lines if name in others and _in_person(line)]
    if not played:
        return False
    if len(played) > 1 or any(name in own for name, _ in lines):
        return True
    first = _LABELLED.match(words.lstrip())
    return first is not None and first[1].strip().casefold() == played[0]


def _following(match: re.Match[str], words: str) -> str:
    """Return the text under a label: the rest of its line, or where that is empty the next line."""
    return match[2] or words[match.end() :].lstrip("\n").partition("\n")[0]


def _in_person(line: str) -> bool:
    return _FIRST_PERSON.search(" ".join(line.split()[:HEARD_WORDS])) is not None


def _names(seats: tuple[Seat, ...], seat: Seat) -> tuple[set[str], set[str]]:
    """How the seat would be called in a dialogue, and how anybody else."""
    own = {seat.name.casefold(), *SIDE_LABELS[seat.side]}
    others = {other.name.casefold() for other in seats if other.id != seat.id}
    others |= {name for side in SIDE_LABELS.values() for name in side} | set(OTHER_ROLES)
    return own, others - own
