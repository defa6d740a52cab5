"""The options of `moot "MOTION"`, as `moot --help` lists them.

They are plain data, so that the help is printed without the parser. Those of settings are in
`core/setup_table.py`, the others here. `commands/debate.py` makes its parameters of them: the label gives the
names and the name of the value.
"""

from __future__ import annotations

from moot.core.setup_field import OptionGroup
from moot.core.setup_table import setup_fields

MOTION = "What to debate, in quotation marks."
WHO = {
    "--for MODEL": ("The model that argues for the motion: provider/model. human is you, at this terminal."),
    "--against MODEL": "The model that argues against the motion.",
    "--model MODEL": "One model for every seat. Without any, the best one here: `moot models`.",
    "--judge MODEL": (
        "Who judges: a model, human, or none; several times for a panel. [default: a model"
        " of another family than the speakers', else the speakers' own]"
    ),
    "--stand-in MODEL": "Speaks for a person who leaves or is out of time.",
    "--persona-for TEXT": "Who the first speaker is: `You are a cautious engineer.`",
    "--persona-against TEXT": "Who the second speaker is.",
    "--objective-for TEXT": "What the first speaker secretly wants to achieve.",
    "--objective-against TEXT": "What the second speaker secretly wants to achieve.",
    "--effort LEVEL": "How hard the speakers think: none, minimal, low, medium, high, xhigh or max.",
    "--effort-for LEVEL": "How hard the first speaker thinks.",
    "--effort-against LEVEL": "How hard the second speaker thinks.",
    "--verbosity LEVEL": "How much the speakers say, where a model can be told: low, medium or high.",
    "--verbosity-for LEVEL": "How much the first speaker says.",
    "--verbosity-against LEVEL": "How much the second speaker says.",
}
FORMAT = {"--format NAME": "A format by name (`moot formats`) or a .toml file. [default: oxford]"}
DECIDE = {"--decide": "You decide, not a judge: `moot decide last WINNER`."}
OUTPUT = {
    "--[no-]reasoning": "Show what the speakers think, dimmed, or in one line.",
    "-o, --output FILE": "Write it to a .md, .html or .json file.",
    "--json": "Print the log as it grows: one event a line.",
    "--plain": "Plain text without colours or moving parts.",
}
WHERE = {
    "--server URL": "Hold it on a running `moot serve`, and watch it here: http://127.0.0.1:8000",
}


def debate_options() -> dict[str, dict[str, str]]:
    """Group, label, text."""
    return {
        "Who": WHO,
        "How": {**FORMAT, **_of_settings("How"), **DECIDE},
        "Limits": _of_settings("Limits"),
        "Output": OUTPUT,
        "Where": WHERE,
    }


def _of_settings(group: OptionGroup) -> dict[str, str]:
    options = [field.option for field in setup_fields() if field.option and field.option.group == group]
    return {option.label: option.text for option in sorted(options, key=lambda option: option.place)}
