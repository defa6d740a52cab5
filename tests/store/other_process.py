"""Another process on the same file: `python -m tests.store.other_process FILE ACTION [N]`.

It prints a line for each thing done as soon as it is done, so what was printed has been acknowledged.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

from moot.core.events import Event, RemarkInjected
from moot.core.state import Debate
from moot.store.sqlite.store import SqliteStore
from moot.testing.event_factories import opened


def remark(debate: Debate | None) -> Sequence[Event]:
    if debate is None:
        return [opened()]
    return [RemarkInjected(remark=len(debate.remarks) + 1, text="from elsewhere")]


async def main(path: str, action: str, count: str = "1") -> None:
    store = SqliteStore.open(path)
    for _ in range(int(count)):
        match action:
            case "remark":
                outcome = await store.record("d1", remark)
                print(outcome.debate.seq, flush=True)  # noqa: T201
            case "claim":
                epoch = (await store.head("d1")).epoch
                print(await store.claim("d1", "other", seen_epoch=epoch), flush=True)  # noqa: T201
            case "delete":
                await store.delete("d1")
            case _:
                pass
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
