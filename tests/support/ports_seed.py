"""One pair of dice for a run, so that no two servers of it look for the same port."""

from __future__ import annotations

import os
from random import Random

DICE = Random(os.getpid())
