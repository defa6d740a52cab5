"""Measuring, under the name that docs/experiments.md gives it: `from moot.experiments import rate_models`.

It is part of the extension `experiments`, and each name is imported from there when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.extensions.experiments.measuring import *  # noqa: F403 - the same names
else:
    from moot.extensions.experiments.measuring import __all__, __getattr__  # noqa: F401 - the same names
