"""`moot import`: conversations and sessions of older systems, brought here."""

from __future__ import annotations

from cyclopts import App

from moot.cli.help_examples import EXAMPLES, example_lines
from moot.cli.render.help import HelpColumns

app = App(
    name="import",
    help="Bring over what an older system has kept. What is imported can be taken back.",
    help_format="plaintext",
    help_formatter=HelpColumns(example_lines(EXAMPLES.get("import", ()))),
)

app.command("moot.cli.commands.legacy:bring", name="legacy", help="Conversations of an older system.")
app.command(
    "moot.cli.commands.legacy:listed", name="list", help="The imports there are, and what each has brought."
)
app.command("moot.cli.commands.legacy:undo", name="undo", help="Remove exactly what an import has brought.")
app.command("moot.cli.commands.sessions:bring", name="sessions", help="Sessions of an older server.")
