"""Judging stored debates again: by other judges, with other prompts, several times.

A *panel* is a set of judges with one prompt. A debate that a panel has judged often enough is left out, so a
call that was interrupted is simply repeated. `rejudge_stored` judges all finished debates that a list with
some filters shows; `ExperimentRunner.rejudge` does the same for an experiment, within its budget.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence

from moot.core.errors import Invalid, OverBudget
from moot.core.state import Debate
from moot.core.terms import Judge, Money
from moot.engine.arena import Arena
from moot.extensions.experiments.measuring.model_names import contestant_name
from moot.extensions.experiments.models import contestant
from moot.judging.recusal import recuse_biased
from moot.rules.debate_setup import JudgeSetup, make_judges
from moot.store.contract import DebateFilter

IDS_AT_ONCE = 500
JudgePanel = Sequence[JudgeSetup]


def judge_panels(
    arena: Arena, judges: Sequence[str], prompts: Mapping[str, str] | None = None
) -> list[JudgePanel]:
    """One panel of these judges for each prompt (name to text), or one without a prompt. Raises Invalid."""
    if not judges:
        raise Invalid("Say who is to judge (--judge): the experiment names no judges.")
    return [
        [JudgeSetup(contestant(arena, name), variant=variant, guidance=text) for name in judges]
        for variant, text in (prompts or {"": ""}).items()
    ]


def times_judged(debate: Debate, panel: JudgePanel, criteria: Sequence[str]) -> int:
    """How often these judges, with this prompt and by these criteria, have given all their ballots. Those who
    are recused in this debate are not asked."""
    ids = [f"judge_{index + 1}" for index in range(len(panel))]
    asked = [judge for judge in recuse_biased(make_judges(panel, ids), debate.seats) if not judge.recused]
    wanted = Counter(map(_identity, asked))
    return sum(
        Counter((contestant_name(judge.model), judge.variant, judge.guidance) for judge in judging.judges)
        == wanted
        and (not criteria or all(judge.criteria == tuple(criteria) for judge in judging.judges))
        and not (debate.being_judged and judging is debate.judgings[-1])
        for judging in debate.judgings
    )


def _identity(judge: Judge) -> tuple[str, str, str]:
    return contestant_name(judge.model), judge.variant, judge.guidance


async def rejudge_stored(
    arena: Arena,
    filters: DebateFilter,
    judges: Sequence[str],
    *,
    criteria: Sequence[str] = (),
    allowance: Money | None = None,
    prompts: Mapping[str, str] | None = None,
    repeats: int = 1,
    concurrency: int = 4,
) -> int:
    """Have all finished debates that these filters name judged again; returns how often one was. Each judging
    may cost `allowance`, by default what the debate's own limit has left. Raises OverBudget, when all others
    are judged, where the budget of an experiment does not allow it for one that belongs to it."""
    panels, ids = judge_panels(arena, judges, prompts), list[str]()
    while page := (await arena.store.list(filters, limit=IDS_AT_ONCE, offset=len(ids))).heads:
        ids += [head.id for head in page]
    slots, judged = asyncio.Semaphore(concurrency), 0
    over_budget: OverBudget | None = None

    async def judge_again(debate_id: str) -> None:
        nonlocal judged, over_budget
        for panel in panels:
            for _ in range(repeats):
                debate = await arena.state(debate_id)
                if debate.status != "completed" or times_judged(debate, panel, criteria) >= repeats:
                    break
                if debate.being_judged:
                    arena.run(debate_id)  # its process may be gone
                else:
                    try:
                        await arena.rejudge(debate_id, panel, criteria=criteria, allowance=allowance)
                    except OverBudget as error:
                        over_budget = error
                        return
                seq = (await arena.state(debate_id)).seq
                async for _ in arena.watch(debate_id, seq - 1):
                    pass
                judged += 1
        arena.store.release(debate_id)

    async with asyncio.TaskGroup() as group:
        for debate_id in dict.fromkeys(ids):
            await slots.acquire()
            judging = group.create_task(judge_again(debate_id), name=f"rejudge {debate_id}")
            judging.add_done_callback(lambda _task: slots.release())
    if over_budget is not None:
        raise over_budget
    return judged
