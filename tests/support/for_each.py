"""Many cases of one kind in one test: all are tried, and every one that fails is named.

    @for_each("rounds", range(1, 11))
    @for_each("name", formats.BUILT_IN)
    def test_a_schedule_has_so_many_rounds(name: str, rounds: int) -> None: ...

It is written like `pytest.mark.parametrize`, which makes a test of each case: where a case takes less time
than the start and the report of a test, this is several times as fast. Fixtures are made once for all cases.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import Any

import pytest

PARAM = type(pytest.param())
Case = tuple[str, Mapping[str, Any]]
"""Its name, and the arguments."""


def for_each(
    names: str | tuple[str, ...], cases: Iterable[Any], ids: Callable[[Any], object] = repr
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    axis = [_case(keys, case, ids) for case in cases]
    assert axis, "where there is no case, everything would pass"

    def decorate(check: Callable[..., Any]) -> Callable[..., Any]:
        return _test(getattr(check, "check", check), [*getattr(check, "axes", []), axis])

    return decorate


def _case(keys: list[str], case: Any, ids: Callable[[Any], object]) -> Case:
    if isinstance(case, PARAM):
        return str(case.id), dict(zip(keys, case.values, strict=True))
    arguments = dict(zip(keys, (case,) if len(keys) == 1 else case, strict=True))
    return ", ".join(f"{key}={ids(value)}" for key, value in arguments.items()), arguments


def _test(check: Callable[..., Any], axes: list[list[Case]]) -> Callable[..., Any]:
    def test(**fixtures: Any) -> None:
        failures: list[Exception] = []
        for name, arguments in _cases(axes):
            try:
                check(**arguments, **fixtures)
            except Exception as error:
                failures.append(_named(error, name))
        _raise(failures)

    async def async_test(**fixtures: Any) -> None:
        failures: list[Exception] = []
        for name, arguments in _cases(axes):
            try:
                await check(**arguments, **fixtures)
            except Exception as error:
                failures.append(_named(error, name))
        _raise(failures)

    made: Any = async_test if inspect.iscoroutinefunction(check) else test
    ours = {key for axis in axes for key in axis[0][1]}
    parameters = [one for one in inspect.signature(check).parameters.values() if one.name not in ours]
    made.__signature__ = inspect.Signature(parameters)
    made.__name__, made.__qualname__ = check.__name__, check.__qualname__
    made.__module__, made.__doc__ = check.__module__, check.__doc__
    made.__dict__.update(check.__dict__)
    made.check, made.axes = check, axes
    return made


def _cases(axes: list[list[Case]]) -> Iterator[Case]:
    for combined in product(*axes):
        names, arguments = zip(*combined, strict=True)
        yield ", ".join(names), {key: value for one in arguments for key, value in one.items()}


def _named(error: Exception, name: str) -> Exception:
    error.add_note(f"in the case {name}")
    return error


def _raise(failures: list[Exception]) -> None:
    if failures:
        raise ExceptionGroup(f"{len(failures)} cases failed", failures)
