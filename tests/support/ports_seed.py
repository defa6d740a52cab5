"""One random seed for a test run, so that no two of its servers try the same port."""

from __future__ import annotations

import os
from random import Random

DICE = Random(os.getpid())
