"""What is left of an attack when it is over: no client's objects, no error in the log, and bounded memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.attack import Force, attack, attacked, complaints

MEGABYTE = 1024 * 1024
SHORT = Force(heads=60, bodies=20, unread=30, bombs=8, debates=2, rounds=4)


@pytest.mark.timeout(300)
async def test_an_attack_leaves_nothing_behind(tmp_path: Path) -> None:
    async with attacked(tmp_path / "server") as target:
        before = await target.held()
        await attack(target, SHORT)
        after = await target.held(trimmed=True)
        assert sum(after.left.values()) <= sum(before.left.values()) + 4
        assert after.rss < before.rss + 64 * MEGABYTE
        assert complaints(target) == []


@pytest.mark.chaos
@pytest.mark.timeout(900)
async def test_memory_levels_off_under_attack_after_attack(tmp_path: Path) -> None:
    async with attacked(tmp_path / "server") as target:
        held = [await target.held()]
        for _ in range(5):
            await attack(target)
            held.append(await target.held())
        print([f"{one.rss / MEGABYTE:.0f} MB, {one.objects} objects" for one in held])
        assert held[-1].rss < held[2].rss + 16 * MEGABYTE
        assert held[-1].objects < held[2].objects * 1.02
        assert sum(held[-1].left.values()) <= sum(held[0].left.values()) + 4
        assert complaints(target) == []
