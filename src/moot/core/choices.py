"""The closed lists of the settings, without anything else, so that the terminal reads them for its help."""

from __future__ import annotations

from typing import Literal

OpeningSide = Literal["for", "against"]
WinningRule = Literal["ai-judge", "self-terminate", "user-decides", "audience"]
ReadingOrder = Literal["chronological", "by-side"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Verbosity = Literal["low", "medium", "high"]
