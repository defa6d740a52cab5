"""The options of `moot "MOTION"`, as `moot --help` lists them.

They are plain data, so that the help is printed without the parser. `commands/debate.py` makes its parameters
of them: the label gives the names and the name of the value.
"""

from __future__ import annotations

MOTION = "What to debate, in quotation marks."
DEBATE_OPTIONS = {
    "Who": {
        "--for MODEL": (
            "The model that argues for the motion: provider/model. human is you, at this terminal."
        ),
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
    },
    "How": {
        "--format NAME": "A format by name (`moot formats`) or a .toml file. [default: oxford]",
        "--rounds N": "How many rounds. [default: 3 in oxford, else the format's own]",
        "--turns N": "How many speeches, in a free debate.",
        "--intensity 1-5": "From a gentle exchange (1) to a fierce one (5). [default: 3]",
        "--seed N": "The same seed and local model give the same debate.",
        "--manual": "Each round waits for a command: `moot next-round`, `moot judge`.",
        "--objective TEXT": "What the debate is to settle; all are told.",
        "--prep": "Speakers make private notes first, where the format allows.",
        "--blind": "Openings are simultaneous; neither side hears the other.",
        "--opens SIDE": "Who speaks first, for or against, where a toss decides: public-forum.",
        "--beliefs": "Ask speakers and a judge privately, speech by speech, who they think will win.",
        "--model-audience": "Model personas vote before and after, counted apart from people.",
        "--reading HOW": (
            "How judges read the speeches: chronological, or by-side, which swaps who is read first."
            " [default: chronological]"
        ),
        "--audience SECONDS": "An audience votes before and after, for this long: `moot vote last for`.",
        "--winning HOW": (
            "What decides: ai-judge, self-terminate (one side gives way), user-decides or"
            " audience. [default: ai-judge]"
        ),
        "--tool NAME": "What the speakers may use: a server, server/tool, web_search or code: `moot tools`.",
        "--decide": "You decide, not a judge: `moot decide last WINNER`.",
    },
    "Limits": {
        "--cost-limit USD": "Never spend more than this, the verdict included.",
        "--warn-at USD": "Warn when the cost passes this.",
        "--timeout SECONDS": "How long a speech may take. [default: 120]",
        "--person-seconds SECONDS": "How long a person has for a speech. [default: 300]",
    },
    "Output": {
        "--[no-]reasoning": "Show what the speakers think, dimmed, or in one line.",
        "-o, --output FILE": "Write it to a .md, .html or .json file.",
        "--json": "Print the log as it grows: one event a line.",
        "--plain": "Plain text without colours or moving parts.",
    },
    "Where": {
        "--server URL": "Hold it on a running `moot serve`, and watch it here: http://127.0.0.1:8000",
    },
}
"""Group, label, text."""
