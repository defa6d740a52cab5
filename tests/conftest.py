"""No test speaks to a service: whatever keys and addresses the environment has are put aside."""

from __future__ import annotations

import os

from moot.providers.endpoints import ENDPOINTS

for _endpoint in ENDPOINTS:
    for _name in (*_endpoint.keys, _endpoint.url_variable):
        os.environ.pop(_name, None)
