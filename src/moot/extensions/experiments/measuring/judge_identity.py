"""Who a judge is: a model with its prompt and its settings. Another prompt or effort is another judge.

The display name says all of it: `xai/grok-5 [strict] (effort high)`. The experiment's *own* ballots are those
of its own panel, up to its first verdict; whatever judged the debate again is not own, and is never pooled
with it. `filter_judges` keeps the rows of some judges or prompts only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from typing import Literal, Protocol, TypeVar

from msgspec import Struct

from moot.core.errors import Invalid
from moot.core.state import Debate, Judging
from moot.core.terms import Judge, Model

Reading = Literal["", "chronological", "by-side"]
"""How the judge had the speeches; empty: not recorded."""
NO_PROMPT = "none"
"""What `--prompts` calls judges without a prompt of their own."""


class JudgedRow(Protocol):
    """A judgment or a ranking."""

    @property
    def judge(self) -> str: ...
    @property
    def prompt(self) -> str: ...
    @property
    def own(self) -> bool: ...


Row = TypeVar("Row", bound=JudgedRow)


class JudgeFilter(Struct, frozen=True):
    """Which judges to measure. A judge is named by its display name, or by its model for all with it."""

    judges: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    """By name; `none` are the judges without one."""
    exclude: tuple[str, ...] = ()
    """Judges to leave out."""

    @property
    def empty(self) -> bool:
        return not (self.judges or self.prompts or self.exclude)

    def chooses(self, judge: str, prompt: str = "") -> bool:
        """Whether the ballots of this judge are wanted."""
        names = {judge, model_of(judge)}
        return (
            (not self.judges or not names.isdisjoint(self.judges))
            and (not self.prompts or (prompt or NO_PROMPT) in self.prompts)
            and names.isdisjoint(self.exclude)
        )


EVERY_JUDGE = JudgeFilter()


def settings_text(model: Model) -> str:
    """The settings that were chosen for a model, in a few words; empty where none was."""
    chosen = (
        f"effort {model.effort}" if model.effort else "",
        "" if model.temperature is None else f"temperature {model.temperature:g}",
        f"verbosity {model.verbosity}" if model.verbosity else "",
        f"max_tokens {model.max_tokens}" if model.own_limit else "",
    )
    return ", ".join(filter(None, chosen))


def judge_name(judge: Judge) -> str:
    prompt = f" [{judge.variant}]" if judge.variant else ""
    settings = settings_text(judge.model)
    return f"{judge.model.label}{prompt}{f' ({settings})' if settings else ''}"


def judge_names(judging: Judging) -> dict[str, str]:
    """The display name of each judge by its id; a second judge that is the same in everything is `#2`."""
    names: dict[str, str] = {}
    for judge in judging.judges:
        name = judge_name(judge)
        same = sum(known.partition("#")[0] == name for known in names.values())
        names[judge.id] = f"{name}#{same + 1}" if same else name
    return names


def model_of(name: str) -> str:
    """The model of a judge or a contestant by its display name.

    >>> model_of("xai/grok-5 [strict] (effort high)#2")
    'xai/grok-5'
    """
    return name.partition(" [")[0].partition(" (")[0].partition("#")[0]


def is_own(debate: Debate, judging: Judging) -> bool:
    """Whether the debate's own panel judges, and had given no verdict before."""
    own = [each for each in debate.judgings if not debate.panel or _same_panel(each.judges, debate.panel)]
    first = next((each.number for each in own if each.verdict), None)
    return judging in own and (first is None or judging.number <= first)


def _same_panel(one: Sequence[Judge], other: Sequence[Judge]) -> bool:
    return Counter(map(judge_name, one)) == Counter(map(judge_name, other))


def own_rows(rows: Iterable[Row]) -> list[Row]:
    """The rows of the experiment's own panel; all rows where none is."""
    rows = list(rows)
    return [row for row in rows if row.own] or rows


def filter_judges(rows: Iterable[Row], which: JudgeFilter) -> list[Row]:
    """The rows of the judges that a filter names. Raises Invalid where a name is no judge or prompt of the
    rows, with those that there are."""
    rows = list(rows)
    check_names(which, {row.judge for row in rows}, {row.prompt for row in rows})
    return [row for row in rows if which.chooses(row.judge, row.prompt)]


def check_names(which: JudgeFilter, judges: Set[str], prompts: Set[str]) -> None:
    """Raises Invalid where a filter names no judge, or no prompt, of these."""
    for name in (*which.judges, *which.exclude):
        if name not in judges | set(map(model_of, judges)):
            raise Invalid(f"There is no judge {name!r}. Known: {', '.join(sorted(judges))}.")
    named = {prompt or NO_PROMPT for prompt in prompts}
    for name in which.prompts:
        if name not in named:
            raise Invalid(f"There is no judge prompt {name!r}. Known: {', '.join(sorted(named))}.")
