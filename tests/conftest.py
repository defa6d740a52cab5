"""No test speaks to a service: whatever keys and addresses the environment has are put aside. No test looks
at the clock on the wall: a case that takes long is not wrong."""

from __future__ import annotations

import os

import hypothesis

from moot.providers.endpoints import ENDPOINTS

for _endpoint in ENDPOINTS:
    for _name in (*_endpoint.keys, _endpoint.url_variable):
        os.environ.pop(_name, None)

hypothesis.settings.register_profile("moot", deadline=None)
hypothesis.settings.load_profile("moot")
