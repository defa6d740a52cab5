"""A server starts without the modules that it may never need."""

from __future__ import annotations

import subprocess
import sys

UNUSED = (
    "genai_prices", "markdown_it", "mcp", "psycopg", "psycopg_pool", "redis", "procrastinate", "pygments",
    "xllamacpp",
    "moot.api.v1.body_schemas", "moot.cluster.queue", "moot.cluster.redis_bus",
    "moot.extensions.conversations.importing", "moot.extensions.mcp.server", "moot.manual",
    "moot.store.postgres.store", "moot.web.openapi",
    "moot.web.openapi_examples",
)  # fmt: skip


def test_a_server_loads_only_what_it_needs_and_leaves_it_to_no_collection():
    script = f"""
import gc, sys
from moot.cli.commands.serve import _loading
with _loading():
    import moot.processes.server
print([name for name in {UNUSED!r} if name in sys.modules], gc.isenabled(), gc.get_freeze_count() > 50_000)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "True", "True"]
