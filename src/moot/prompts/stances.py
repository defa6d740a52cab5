"""A motion taken apart for models that cannot hold "for" and "against" in mind.

A small model writes well about what is good or bad about a thing, and has no idea what a side is. So each
side gets a claim to begin with (the motion, or its denial) and a lead that leaves it nothing but to praise or
to blame: "Zoos should not be banned. The greatest benefit of zoos is that". English only; a motion that
fits no pattern still gets a claim, and "this idea" to praise or blame.
"""

from __future__ import annotations

import re

from msgspec import Struct

from moot.core.terms import Side

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


class Stance(Struct, frozen=True):
    """One side of a motion: what it claims, and whether it has good or ill to say, and of what."""

    claim: str
    topic: str
    praises: bool

    def opening(self) -> str:
        return f"{self.claim}. The greatest {self._matter()} is that"

    def again(self, round: int, point: str) -> str:
        """To begin a later speech: the opponent's point, then a new reason from another angle."""
        verb = "attacks" if self.praises else "defends"
        quoted = f"My opponent {verb} {self.topic} because {lowercase_first(point)}. But"
        answer = quoted if point else "I disagree, and"
        angle = ANGLES[round % len(ANGLES)]
        return f"{answer} another {self._matter()}{f', {angle},' if angle else ''} is that"

    def closing(self) -> str:
        matter = "benefits" if self.praises else "problems"
        return f"In the end, {lowercase_first(self.claim)}. The {matter} are clear:"

    def question(self, point: str) -> str:
        """To begin a question in cross-examination: what the other said, and what speaks against it."""
        quoted = f"You say that {lowercase_first(point)}. " if point else ""
        return f"{quoted}What do you say to this: one {self._matter()} is that"

    def answer(self) -> str:
        return f"My answer is simple: the real {self._matter()} is that"

    def _matter(self) -> str:
        return f"benefit of {self.topic}" if self.praises else f"problem with {self.topic}"


def stance_for(motion: str, side: Side) -> Stance:
    said, denied = claims(motion)
    topic, well = _topic(motion)
    return Stance(said, topic, well) if side == "for" else Stance(denied, topic, not well)


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
    denied, found = verb.subn(lambda x: x[1] if x[2] else f"{x[1]} not", plain, count=1)
    return plain, denied if found else f"It is not true that {lowercase_first(plain)}"


def first_point(speech: str, most: int = 18) -> str:
    """The first thing a speech says after its lead, short enough to be quoted; empty if it cannot be cut."""
    sentence = re.split(r"(?<=[.!?])\s", speech.strip())[0].rstrip(".!?\"' ")
    words = sentence.split()
    if len(words) <= most:
        return sentence if len(words) >= 4 else ""
    ends = [at for at in range(5, most + 1) if _CUTS.fullmatch(words[at]) or words[at - 1][-1] in ",;:"]
    return " ".join(words[: ends[-1]]).rstrip(",;: -") if ends else ""


def lowercase_first(text: str) -> str:
    first = text.split(" ", 1)[0]
    return text if first.isupper() else text[:1].lower() + text[1:]


def _plain(motion: str) -> str:
    plain = motion.strip().rstrip(".?! ")
    preface = r"^(?:this house (?:believes|holds|thinks)(?: that)?|resolved:?(?: that)?|that)\s+"
    plain = re.sub(preface, "", plain, flags=re.I)
    plain = re.sub(r"^this house (?:would|should|will)\s+", "we should ", plain, flags=re.I)
    plain = re.sub(r"^this house (support|oppose|regret)s\s+", r"we should \1 ", plain, flags=re.I)
    if motion.strip().endswith("?") and (asked := _QUESTION.match(plain)):
        plain = f"{asked[2]} {asked[1].lower()} {asked[3]}"
    return plain[:1].upper() + plain[1:]


def _topic(motion: str) -> tuple[str, bool]:
    """What it is about, and whether the motion speaks well of it."""
    plain = _plain(motion)
    if found := re.search(rf"^(.+?)\s+{_AUX}( not)? be {_ENDED}\b", plain, re.I):
        return lowercase_first(found[1]), bool(found[2])
    beyond = r"(?= (?:in|for|from|by|on|because|at|with|as|after|before|until)\b|$)"
    if found := re.search(rf"\b{_AUX}( not)? {_END}\s+(.+?){beyond}", plain, re.I):
        return lowercase_first(found[2]), bool(found[1])
    if found := re.search(rf".\b{_DUTY}( not)? ((?!be\b)\w+)(.*)$", plain, re.I):
        return _gerund(found[2]) + found[3], not found[1]
    if found := re.search(rf"^(.+?)\s+{_DUTY}( not)? be (.+)$", plain, re.I):
        verb = "making" if re.match(_MADE, found[3], re.I) else "having"
        return f"{verb} {lowercase_first(found[1])} {found[3]}", not found[2]
    verbs = r"(?:is|are|was|were|does|do|has|have|makes?|causes?)"
    if found := re.search(rf"^(.+?)\s+{verbs}\b( not)?(.*)", plain, re.I):
        return lowercase_first(found[1]), bool(re.search(_BAD, found[3], re.I)) == bool(found[2])
    return "this idea", True


def _gerund(verb: str) -> str:
    if verb.endswith("ie"):
        return f"{verb[:-2]}ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return f"{verb[:-1]}ing"
    if re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]", verb):
        return f"{verb}{verb[-1]}ing"
    return f"{verb}ing"
