"""What is said of one setting of a debate. `setup_table.py` has the settings.

Plain data, so that a help text loads nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from math import inf
from typing import Any, Literal, NamedTuple, ParamSpec, dataclass_transform, get_args

REQUIRED: Any = ...
"""The default of a setting that has none."""


class Between(NamedTuple):
    low: float
    high: float


class MoreThan(NamedTuple):
    floor: float
    most: float = inf


class AtMost(NamedTuple):
    """So many characters of a text, or items of a list."""

    most: int
    unit: str = "characters"


Limit = Between | MoreThan | AtMost
OptionGroup = Literal["How", "Limits"]
InReply = Literal["always", "changed", "no"]
LAST = 100


class Option(NamedTuple):
    """An option of `moot "MOTION"`: its names and the name of its value, and its line in the help."""

    label: str
    text: str
    group: OptionGroup = "How"
    place: int = LAST
    """Where it stands in its group."""
    setup: bool = True
    """It becomes the setting as it is; one without a value switches it from its default. False:
    `cli/commands/debate.py` makes the setting of it."""
    type: Any = None
    """Of what is typed in, where the setting has another."""

    @property
    def names(self) -> list[str]:
        return [word for word in self.label.replace(",", "").split() if word.startswith("-")]

    @property
    def metavar(self) -> str | None:
        last = self.label.split()[-1]
        return None if last in self.names else last

    @property
    def attribute(self) -> str:
        """The name of its value in Python."""
        return self.names[-1].lstrip("-").replace("-", "_")


class FormField(NamedTuple):
    """A field of the form on the start page. The kind of control follows from the type."""

    label: str
    hint: str = ""
    placeholder: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    """Each value and its words; without any, the values themselves."""
    negated: bool = False
    """Ticked, it is off."""
    needs: str = ""
    """The member of a format without which it does not appear."""
    brief: str = ""
    """What the line about the folded options says where it differs from its default."""
    place: int = LAST
    """Where it stands among ticks, and in that line."""
    step: str = ""
    start: Any = None
    """What the form begins with, where that is not the default."""


class SetupField:
    """One setting of a debate. `sentence` says to people what it is; what is left out follows from it."""

    def __init__(
        self,
        *,
        default: Any = REQUIRED,
        sentence: str = "",
        stored: str = "",
        wire: str = "",
        limit: Limit | None = None,
        request_limit: Limit | None = None,
        request_default: Any = REQUIRED,
        request: bool = True,
        reply: InReply = "changed",
        option: Option | str | None = "",
        form: FormField | str | None = "",
        argument: str | None = "",
        series: bool = True,
        name: str = "",
        type: Any = None,
        after: str = "",
        heading: str = "",
    ) -> None:
        self.name = name
        self.default = default
        self.sentence = sentence
        self._stored, self._wire = stored, wire
        self.limit = limit
        self.request_limit = request_limit or limit
        """Of the API, which is stricter in places."""
        self.request = request
        """Whether a request of v1 can have it."""
        self.request_default = default if request_default is REQUIRED else request_default
        self.reply: InReply = reply if request else "no"
        """Whether a reply has it always, where it is not the default, or not at all."""
        self._option = option
        self._form = form
        self._argument = argument
        self.series = series
        """Whether all debates of a series can have it."""
        self._type = type
        self.after = after
        """Of an extension: the setting after which it stands; empty: at the end."""
        self.heading = heading
        """Of an extension: what the head of a debate in the terminal says where it is on."""
        self.owner: type[Settings] | None = None

    def __set_name__(self, owner: type[Settings], name: str) -> None:
        self.owner, self.name = owner, name

    @property
    def type(self) -> Any:
        """Looked up when it is asked for: a help text needs no types."""
        if self.owner is None:
            return self._type
        annotation, names = self.owner.__annotations__[self.name], vars(sys.modules[self.owner.__module__])
        try:
            return eval(annotation, {**names})  # noqa: S307 - written in the table
        except NameError:
            from moot.core import terms

            return eval(annotation, {**vars(terms)})  # noqa: S307 - written in the table

    @property
    def in_extensions(self) -> bool:
        """Whether its value is in `DebateSetup.extensions`: that of a setting which is not the attribute of
        a class of settings."""
        return self.owner is None

    @property
    def optional(self) -> bool:
        """Whether None says that nothing is given."""
        return type(None) in get_args(self.type)

    @property
    def kind(self) -> Any:
        """The type of a value that is given."""
        return next(kind for kind in get_args(self.type) if kind) if self.optional else self.type

    @property
    def stored(self) -> str:
        """Its name in the log."""
        return self._stored or self.name

    @property
    def wire(self) -> str:
        """Its name in requests and replies."""
        first, *others = self.name.split("_")
        return self._wire or first + "".join(word.capitalize() for word in others)

    @property
    def keyword(self) -> str:
        """Its name in Python where v1 gives the names: in the client."""
        return "".join(f"_{char.lower()}" if char.isupper() else char for char in self.wire)

    @property
    def option(self) -> Option | None:
        if isinstance(self._option, Option | None):
            return self._option
        name, sentence = self.name.replace("_", "-"), self.sentence
        match self.default:
            case True:
                label, sentence = f"--no-{name}", f"Switch off: {sentence}"
            case False:
                label = f"--{name}"
            case int() | float():
                label = f"--{name} N"
            case _:
                label = f"--{name} TEXT"
        return Option(label, self._option or sentence)

    @property
    def form(self) -> FormField | None:
        if isinstance(self._form, FormField | None):
            return self._form
        return FormField(self._form or self.name.replace("_", " ").capitalize(), self.sentence)

    @property
    def argument(self) -> str | None:
        """What a model is told of its argument that opens a debate by a tool; None where there is none."""
        return self._argument if self._argument is None else self._argument or self.sentence


P = ParamSpec("P")


def _as_attribute(make: Callable[P, SetupField]) -> Callable[P, Any]:
    """For a type checker, the attribute has the type that stands before it."""
    return make


setup_field = _as_attribute(SetupField)


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Settings:
    """A part of the table. The parts go to different structs; nobody makes instances of them."""

    def __init_subclass__(cls, kw_only: bool = True) -> None:
        super().__init_subclass__()

    @classmethod
    def fields(cls) -> Iterator[SetupField]:
        yield from (value for value in vars(cls).values() if isinstance(value, SetupField))
