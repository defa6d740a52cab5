"""What a debate between two does when it is asked for something: the rules once more, in few words.

Speeches are numbered from 0, two a round. A speech is being given (`live`) until it is said, breaks or is
cut; then whatever comes next happens by itself (`settle`).
"""

from __future__ import annotations

from msgspec import Struct

RUNNING = ("debating", "awaiting_arguments")


class Speech(Struct):
    slot: int
    how: str
    """It was said, it failed, or who cut it."""
    struck: bool = False


class Model:
    def __init__(self, auto: bool, auto_judge: bool, rounds: int) -> None:
        self.auto, self.auto_judge, self.rounds = auto, auto_judge, rounds
        self.status = "awaiting_arguments"
        self.speeches: list[Speech] = []
        self.live: int | None = None
        self.asked = 0
        self.stopped = False
        self.settle()

    # --- what there is --------------------------------------------------------------------------------

    @property
    def left(self) -> list[int]:
        held = {speech.slot for speech in self.speeches if not speech.struck and speech.how != "pause"}
        return [slot for slot in range(2 * self.rounds) if slot not in held]

    @property
    def said(self) -> bool:
        return any(speech.how == "said" for speech in self.speeches)

    @property
    def again(self) -> list[Speech]:
        """Speeches that can be given once more."""
        return [
            speech
            for speech in self.speeches
            if speech.how != "said"
            and not speech.struck
            and (speech.how != "pause" or speech.slot in self.left)
        ]

    def allows(self, what: str) -> bool:
        running, paused = self.status in RUNNING, self.status == "paused"
        over, judging = self.status == "completed", self.status == "judge_evaluating"
        match what:
            case "pause" | "pause now":
                return running or paused
            case "resume":
                return paused
            case "next round":
                opened = self.left and self.left[0] // 2 >= self.asked
                return running and self.live is None and not self.auto and bool(opened)
            case "skip to judge":
                return running and self.live is None and self.said
            case "judge":
                return not (over or judging) and self.said
            case "stop":
                return not (over or judging) or (judging and self.stopped)
            case "skip":
                return (running or paused) and self.live is not None
            case "retry":
                return (
                    (running or paused or self.status == "error") and self.live is None and bool(self.again)
                )
            case "inject":
                return running or paused
            case "decide":
                return not (over or judging)
            case _:
                return not over  # abort

    # --- what happens ---------------------------------------------------------------------------------

    def do(self, what: str) -> None:
        match what:
            case "pause" | "pause now":
                self.status = "paused"
                self.cut("pause") if what == "pause now" else None
            case "resume":
                self.status = "debating" if self.live is not None else "awaiting_arguments"
            case "next round":
                self.asked = self.left[0] // 2 + 1
            case "judge" | "skip to judge":
                self.cut("judge")
                self.status = "judge_evaluating"
            case "stop" if self.status != "judge_evaluating":
                self.status = "judge_evaluating" if self.said else "completed"
                self.cut("stop")
                self.stopped = True
            case "skip":
                self.cut("skip")
            case "retry":
                self.again[-1].struck = True
                self.status = "paused" if self.status == "paused" else "debating"
            case "decide" | "abort":
                self.cut(what)
                self.status = "completed"
            case _:
                pass
        self.settle()

    def cut(self, how: str) -> None:
        if self.live is not None:
            self.speeches.append(Speech(self.live, how))
            self.live = None

    def speak(self) -> None:
        self.cut("said")
        self.settle()

    def fail(self) -> None:
        self.cut("failed")
        self.status = "error"

    def settle(self) -> None:
        if self.status not in RUNNING or self.live is not None:
            return
        if self.left and (self.auto or self.left[0] // 2 < self.asked):
            self.live, self.status = self.left[0], "debating"
        elif self.left or (self.said and not self.auto_judge):
            self.status = "awaiting_arguments"
        else:
            self.status = "judge_evaluating" if self.said else "completed"
