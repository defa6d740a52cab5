"""The settings of private beliefs and of the model audience."""

from __future__ import annotations

from moot.core.setup_field import FormField, Option, Settings, setup_field


class BeliefSettings(Settings):
    """Logs have them beside those of the core, because they were a part of it."""

    beliefs: bool = setup_field(
        default=False,
        sentence="Ask each debater before and after its speeches, and a judge after every speech, how likely "
        "they think it is to win. No speaker and no judge is told, and the verdict is not affected.",
        option=Option(
            "--beliefs",
            "Ask speakers and a judge privately, speech by speech, who they think will win.",
            place=10,
        ),
        form=FormField(
            "Ask for private beliefs",
            "Speakers and a judge say after each speech who they think will win. It costs about three more "
            "short calls a speech.",
            brief="private beliefs",
            place=6,
        ),
        argument=None,
        after="polls",
        heading="private beliefs",
    )
    model_audience: bool = setup_field(
        default=False,
        sentence="An audience of model personas votes before and after the speeches, in debates of two "
        "parties. Its votes are counted apart from those of people and decide nothing.",
        option=Option(
            "--model-audience", "Model personas vote before and after, counted apart from people.", place=11
        ),
        form=FormField(
            "Model audience",
            "Eight model personas vote before and after the speeches. Counted apart from people.",
            brief="model audience",
            place=7,
        ),
        argument=None,
        after="beliefs",
        heading="a model audience votes",
    )
