"""A debate worth looking at, for pictures: written by hand, spoken by the scripted provider."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from moot.core.terms import Request
from moot.providers.scripted import Cue, SayCue, StallCue, ThinkCue, improvise

MOTION = "This house would close city centres to private cars"
ADA = (
    (
        "The strongest ground is space, not smoke: clean cars would still need the street. Open with "
        "that, then the bus that nobody can hurry. Leave air for later; Ben will grant it anyway.",
        "A city centre is the most expensive ground we own together, and we use most of it to store "
        "metal.\n\n"
        "Take one street of twelve metres. Two rows of parked cars take five of them, and move nobody. "
        "The lane between them carries about **six hundred people an hour**; a bus lane in its place "
        "carries six thousand. We are not short of room. We have given it to the guest who stays longest "
        "and brings the fewest friends.\n\n"
        "I do not ask anybody to walk who cannot. Ambulances, deliveries, a taxi for my mother: they "
        "come first *because* the rest have left. What the motion ends is the private habit of crossing "
        "a crowd in an armchair.",
    ),
    (
        "He is right about the early shift: concede it and narrow the motion to what I said. The "
        "shopkeepers are his weak flank. Footfall figures favour me, but say them as a test he can lose.",
        "I grant my opponent the early shift. Where the last bus leaves before the work does, a permit "
        "is not a loophole but the rule working as it should.\n\n"
        "But he asks who pays, and answers for the shopkeeper without asking him. Streets that closed to "
        "cars did not empty; those who had come by car came by tram, and those who had stayed away came. "
        "If trade falls, open the street again: a bollard is the cheapest experiment a city can make.\n\n"
        "What he has not answered is the width of the street. Six hundred or six thousand. Everything "
        "else follows from that.",
    ),
    (
        "Close on the choice of burdens. One image, no new claim.",
        "Two pictures remain. In his, the city waits until every line is built, and then asks politely. "
        "In mine it begins with the square everybody knows, keeps a gate for those who must drive, and "
        "counts.\n\n"
        "Only one of the two can find out that it was wrong.",
    ),
)
BEN = (
    (
        "She will argue from geometry. Do not fight the arithmetic; fight who is standing in the street "
        "at five in the morning. Make her name who pays.",
        "My opponent counts people as if they all left home at nine.\n\n"
        "At five in the morning the centre is full of those who make it ready for her: the baker, the "
        "nurse coming off the ward, the man who fixes the lift. For them the car is not an armchair. It "
        "is the one line that runs when they do, from a place they can afford to a place they cannot.\n\n"
        "Close the centre, and the cost does not vanish. It moves outwards, to rents along the tram and "
        "to an hour of somebody's sleep. **Build the line first.** When the last bus comes after the "
        "last shift, I will carry the bollards myself.",
    ),
    (
        "Her concession is large: permits. Press it: who decides, and how many? And the ‘cheap "
        "experiment’ is cheap only for those who can wait it out.",
        "She has given me the permit, and with it the question of who signs it. A rule with a gate needs "
        "a gatekeeper, and I have met him: he opens at nine and wants a letter from my employer.\n\n"
        "Nor is the experiment cheap to everybody. A shop that loses a winter does not reopen because "
        "the street does. To try a thing on people who cannot sit out the trial is not an experiment; it "
        "is a decision with a softer name.\n\n"
        "As for her street of twelve metres: I would give her the parked cars tomorrow. It is the moving "
        "ones that carry somebody to work.",
    ),
    (
        "End on order: the line before the gate. Say that we agree on the place, not on the sequence.",
        "We want the same square in the end. We disagree about who waits for it.\n\n"
        "She would shut the door and then see who is still outside. I would lay the track, run it at "
        "five in the morning, and then shut the door behind the last of us.",
    ),
)
BENCH: dict[str, tuple[tuple[int, int, str], ...]] = {
    "ines": (
        (82, 74, "Ada kept to one measure, the width of the street, and Ben left it standing. Her concession "
         "on permits cost her little, because she made it part of the rule."),
        (79, 75, "Ada answered the early shift and tested her own case. Ben's order of steps is wise, but he "
         "granted the parked cars and with them half of the motion."),
    ),
    "noor": (
        (77, 73, "Ada made the clearer case for a change that can be undone. Ben's gatekeeper was the best "
         "image of the debate, but it argues for a better permit."),
        (72, 78, "Ben asked who bears the cost of trying, and was not answered: a shop that loses a winter "
         "does not reopen. That weighs more than geometry."),
    ),
    "tomas": (
        (70, 76, "Ben turned both of Ada's strongest points into questions of order, and she did not say why "
         "the gate must come before the line."),
        (71, 75, "Both want the same end. Ben alone said in which order it can be had by those who work at "
         "five in the morning."),
    ),
}  # fmt: skip


class Play:
    def __init__(self) -> None:
        self.stops_in = 0
        """The speech (from 1) in the middle of which the speaker falls silent."""
        self._given: Counter[str] = Counter()
        self._speeches = 0

    def again(self, *, stops_in: int = 0) -> None:
        """From the beginning."""
        self.stops_in = stops_in
        self._given.clear()
        self._speeches = 0

    def __call__(self, request: Request) -> Iterable[Cue]:
        name = request.model.name
        if request.schema is not None and name in BENCH:
            yield SayCue(_ballot(request, BENCH[name]))
        elif name in PARTS:
            yield from self._speech(name)
        else:
            yield from improvise(request)

    def _speech(self, name: str) -> Iterable[Cue]:
        thought, text = PARTS[name][self._given[name] % len(PARTS[name])]
        self._given[name] += 1
        self._speeches += 1
        yield ThinkCue(thought)
        if self._speeches != self.stops_in:
            yield SayCue(text)
            return
        yield SayCue(text[: text.rindex(" ", 0, len(text) * 2 // 3)])
        yield StallCue()


PARTS: dict[str, tuple[tuple[str, str], ...]] = {"ada": ADA, "ben": BEN}


def _ballot(request: Request, orders: tuple[tuple[int, int, str], ...]) -> str:
    """Under which label Ada stands is told, since she argues for the motion; the first one is named first."""
    shown = "\n".join(message.content for message in request.messages)
    ada, ben = (re.findall(rf"(\w+) argued {side} the motion", shown)[0] for side in ("for", "against"))
    mine, theirs, why = orders[0 if shown.index(f"{ada} argued") < shown.index(f"{ben} argued") else 1]
    spelt = why.replace("Ada", ada).replace("Ben", ben)
    properties: dict[str, Any] = request.schema["properties"] if request.schema else {}
    criteria = list(properties["criteria"]["properties"])
    return json.dumps(
        {
            "reasoning": spelt,
            "rests_on": properties["rests_on"]["items"]["enum"][1:3],
            "criteria": dict.fromkeys(criteria, f"{ada if mine > theirs else ben} is stronger."),
            "rubric": {
                name: {ada: mine // 10 + place % 2, ben: theirs // 10 + (place + 1) % 2}
                for place, name in enumerate(criteria)
            },
            "speakers": {
                ada: _marks("One clear measure", "Says little of the outskirts", mine),
                ben: _marks("Knows who pays", "Grants the parked cars", theirs),
            },
            "winner": ada if mine > theirs else ben,
        }
    )  # fmt: skip


def _marks(strength: str, weakness: str, score: int) -> dict[str, Any]:
    return {"strengths": [strength], "weaknesses": [weakness], "score": score}


def body(**config: Any) -> dict[str, Any]:
    def seat(name: str, model: str, position: str, persona: str) -> dict[str, Any]:
        return {"name": name, "model": _model(model), "position": position, "persona": persona}

    judges = [{"name": name, "model": _model(model)} for name, model in JUDGES]
    return {
        "topic": MOTION,
        "format": "oxford",
        "participants": [
            seat("Ada", "ada", "for", "a planner of streets"),
            seat("Ben", "ben", "against", "drives the early shift"),
        ],
        "judge": judges[0],
        "judges": judges[1:],
        "config": {"maxRounds": 3, "recuse": False, **config},
    }


def _model(name: str) -> dict[str, str]:
    return {"provider": "scripted", "modelId": name}


JUDGES = (("Inês", "ines"), ("Noor", "noor"), ("Tomás", "tomas"))
