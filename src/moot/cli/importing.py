"""`moot import`: conversations and sessions of older systems, brought here."""

from __future__ import annotations

from cyclopts import App

from moot.cli.examples import EXAMPLES, shown
from moot.cli.helping import Columns

app = App(
    name="import",
    help="Bring over what an older system has kept. What is imported can be taken back.",
    help_format="plaintext",
    help_formatter=Columns(shown(EXAMPLES.get("import", ()))),
)
