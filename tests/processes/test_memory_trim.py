"""When memory is given back to the system: after a burst, and not again and again."""

from __future__ import annotations

from moot.processes.memory_trim import GROWN, Trimmer, find_trim, resident


class Process:
    """Holds what it is told to, of which some can be given back."""

    def __init__(self, held: int) -> None:
        self.held = held
        self.spare = 0
        self.trims = 0

    def resident(self) -> int:
        return self.held + self.spare

    def trim(self) -> None:
        self.trims += 1
        self.spare = 0


async def test_what_a_burst_has_taken_is_given_back_when_it_is_over() -> None:
    process = Process(100 * GROWN)
    trimmer = Trimmer(process.trim, process.resident)
    assert not await trimmer.look()
    process.spare = 5 * GROWN
    assert not await trimmer.look(), "it still grows"
    assert await trimmer.look()
    assert (process.trims, process.resident()) == (1, 100 * GROWN)
    assert not await trimmer.look()


async def test_what_cannot_be_given_back_is_not_asked_for_again() -> None:
    process = Process(100 * GROWN)
    trimmer = Trimmer(process.trim, process.resident)
    process.held += 3 * GROWN
    looked = [await trimmer.look() for _ in range(5)]
    assert looked == [False, True, False, False, False]


async def test_a_little_is_not_worth_it() -> None:
    process = Process(100 * GROWN)
    trimmer = Trimmer(process.trim, process.resident)
    process.spare = GROWN - 1
    assert not any([await trimmer.look() for _ in range(5)])


async def test_a_system_that_tells_nothing_is_left_alone() -> None:
    process = Process(0)
    trimmer = Trimmer(process.trim, process.resident)
    assert not any([await trimmer.look() for _ in range(3)])


def test_where_there_is_glibc_its_function_is_found() -> None:
    trim = find_trim()
    if trim is not None:
        trim()
        assert resident() > 0
