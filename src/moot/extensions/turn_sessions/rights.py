"""The right that the list of sessions needs."""

from __future__ import annotations

from moot.api.rights import ESTIMATING, Right

SESSIONS = Right("sessions", ESTIMATING, "An invitation is for one debate")
