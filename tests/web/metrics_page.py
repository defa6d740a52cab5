"""The page of metrics, read."""

from __future__ import annotations


def figure(page: str, name: str) -> float:
    return float(next(line.split()[-1] for line in page.splitlines() if line.startswith(f"{name} ")))
