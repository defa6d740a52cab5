"""Points at which a test kills the process.

`MOOT_CRASH_AT=before-commit:3` kills the process the third time it passes `crash_point("before-commit")`. The
variable is read once, at import; without it a point costs one comparison.
"""

from __future__ import annotations

import os
import signal
from itertools import count

_crash_name, _, _crash_passage = os.environ.get("MOOT_CRASH_AT", "").partition(":")
_passages = count(1)


def crash_point(name: str) -> None:
    if name == _crash_name and next(_passages) == int(_crash_passage or 1):
        os.kill(os.getpid(), signal.SIGKILL)
