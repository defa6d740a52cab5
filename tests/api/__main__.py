"""Writes the snapshots anew: see the package's docstring."""

from __future__ import annotations

from tests.api.watching import HERE, NAMES, snapshots
from tests.golden.reading import log_of


def main() -> None:
    HERE.mkdir(exist_ok=True)
    for name in NAMES:
        for ending, text in snapshots(log_of(name)).items():
            (HERE / f"{name}.{ending}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
