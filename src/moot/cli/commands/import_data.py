"""`moot import`: every command of it is brought by an extension."""

from __future__ import annotations

from moot.cli.options import command_group

app = command_group("import", "Import the data of an older system. What is imported can be taken back.")
