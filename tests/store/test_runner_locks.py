from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from moot.store.runner_locks import RunnerLock, is_free, is_held, remove_stale_locks

HOLD = """
import sys, time
from pathlib import Path
from moot.store.runner_locks import RunnerLock
lock = RunnerLock.hold(Path(sys.argv[1]))
print(lock.name, flush=True)
time.sleep(60)
"""


@contextmanager
def another_runner(data_dir: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [sys.executable, "-c", HOLD, str(data_dir)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process.stdout.readline().strip(), process
        process.kill()


def test_a_held_lock_is_not_free_even_for_its_holder(tmp_path: Path) -> None:
    with RunnerLock.hold(tmp_path) as lock:
        assert not is_free(tmp_path, lock.name)
    assert is_free(tmp_path, lock.name)
    assert list(tmp_path.rglob("*.lock")) == []


def test_a_name_nobody_has_is_free(tmp_path: Path) -> None:
    assert is_free(tmp_path, "nobody")
    assert is_free(tmp_path, "")


def test_each_runner_has_its_own_name(tmp_path: Path) -> None:
    with RunnerLock.hold(tmp_path) as one, RunnerLock.hold(tmp_path) as two:
        assert one.name != two.name
        assert not is_free(tmp_path, one.name)
        assert not is_free(tmp_path, two.name)


def test_the_lock_of_a_killed_runner_is_free_and_swept(tmp_path: Path) -> None:
    with another_runner(tmp_path) as (name, process):
        remove_stale_locks(tmp_path)
        assert not is_free(tmp_path, name)
        process.kill()
        process.wait()
        assert [path.stem for path in tmp_path.rglob("*.lock")] == [name]
        assert is_free(tmp_path, name)
        assert list(tmp_path.rglob("*.lock")) == []


def test_taking_a_lock_sweeps_what_the_dead_left(tmp_path: Path) -> None:
    with another_runner(tmp_path) as (_, process):
        process.kill()
        process.wait()
    with another_runner(tmp_path) as (living, _), RunnerLock.hold(tmp_path) as mine:
        assert {path.stem for path in tmp_path.rglob("*.lock")} == {living, mine.name}


def test_a_lock_may_be_released_twice(tmp_path: Path) -> None:
    lock = RunnerLock.hold(tmp_path, "me")
    lock.release()
    lock.release()
    with RunnerLock.hold(tmp_path, "me"):
        assert not is_free(tmp_path, "me")


def test_a_lock_may_be_asked_about_while_it_is_being_taken(tmp_path: Path) -> None:
    """Those who ask remove what looks dead; a lock that was just made must survive that."""
    asking = f"""
from pathlib import Path
from moot.store.runner_locks import is_free
while True:
    is_free(Path({str(tmp_path)!r}), "me")
"""
    with subprocess.Popen([sys.executable, "-c", asking]) as nosy:
        for _ in range(500):
            with RunnerLock.hold(tmp_path, "me"):
                assert not is_free(tmp_path, "me")
        nosy.kill()


def test_one_of_several_who_hold_a_name_with_the_same_beginning_is_enough(tmp_path: Path) -> None:
    assert not is_held(tmp_path, "deb_1.")
    with RunnerLock.hold(tmp_path, "deb_1.a"), RunnerLock.hold(tmp_path, "deb_2.a"):
        with RunnerLock.hold(tmp_path, "deb_1.b"):
            assert is_held(tmp_path, "deb_1.")
        assert is_held(tmp_path, "deb_1.")
    assert not is_held(tmp_path, "deb_1.")
