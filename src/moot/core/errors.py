"""All errors as one tree. Each class says who has to act.

    MootError
    ├── Refused            the caller: this command is not possible now
    │   └── OverBudget     the budget of the debate's experiment does not allow it
    ├── UnknownDebate      the caller: no such debate (or not theirs)
    ├── Invalid            the caller: the request is wrong
    │   └── KeyReused      the same idempotency key was sent with another body
    ├── Fault              the provider: a call failed
    ├── Fenced             no one: another runner took the debate over; stop quietly
    ├── StoreError         the operator: the log cannot be written or read
    │   └── NewerSchema    the store was written by a newer Moot
    └── Unavailable        the user: something has to be installed, started or configured first

The docstring of a class is its default message. Status codes exist only in `api/problems.py`.
"""

from __future__ import annotations

from typing import Literal

FaultSeverity = Literal["transient", "permanent", "unusable"]
FaultKind = Literal[
    "unreachable", "timeout", "stalled", "rate_limited", "overloaded", "server_error", "disconnected",
    "bad_key", "forbidden", "billing", "unknown_model", "bad_request", "too_long", "tls", "redirected",
    "malformed", "empty", "filtered", "off_side", "chain_lost", "seal_refused", "schema_refused",
    "summary_refused", "tools_refused", "crashed", "unavailable", "cut", "lost", "budget",
]  # fmt: skip


class MootError(Exception):
    """Something went wrong in Moot."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (type(self).__doc__ or "").strip().splitlines()[0])


class Refused(MootError):
    """This cannot be done now."""

    def __init__(self, reason: str, status: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


class OverBudget(Refused):
    """The budget of the experiment does not allow it."""


class UnknownDebate(MootError):
    """No such debate."""


class Invalid(MootError):
    """The request is not valid."""

    def __init__(self, message: str = "", problems: dict[str, list[str]] | None = None) -> None:
        super().__init__(message)
        self.problems = problems or {}


class KeyReused(Invalid):
    """This idempotency key was used with a different request."""


class Fenced(MootError):
    """Another runner has taken this debate over."""


class StoreError(MootError):
    """The log cannot be reached."""


class NewerSchema(StoreError):
    """This store was written by a newer version of Moot: upgrade Moot to open it."""


class Unavailable(MootError):
    """Something that is needed is not here."""

    def __init__(self, message: str = "", fix: str = "") -> None:
        super().__init__(message)
        self.fix = fix


class Fault(MootError):
    """The model gave no usable answer."""

    def __init__(
        self,
        kind: FaultKind,
        severity: FaultSeverity = "transient",
        *,
        http_status: int | None = None,
        retry_after: float | None = None,
        billed: bool = True,
        detail: str = "",
        message: str = "",
    ) -> None:
        super().__init__(message or FAULT_MESSAGES[kind])
        self.kind: FaultKind = kind
        self.severity: FaultSeverity = severity
        self.http_status = http_status
        self.retry_after = retry_after
        self.billed = billed
        """False where no request can have been charged, such as a refused connection."""
        self.request_id = ""
        self.detail = detail
        """The provider's message: only for the server log, after redaction; never for an event."""

    @property
    def has_general_message(self) -> bool:
        """Whether the message says no more than the kind."""
        return str(self) == FAULT_MESSAGES[self.kind]

    def name_model(self, model: str) -> None:
        """Name the model where that is what was wrong, and nothing has named it yet."""
        if self.kind == "unknown_model" and self.has_general_message:
            self.args = (f"The provider does not know the model {model}. Check configuration.",)


FAULT_MESSAGES: dict[FaultKind, str] = {
    "unreachable": "The provider cannot be reached.",
    "timeout": "The model did not answer in time.",
    "stalled": "The model stopped in the middle of its reply.",
    "rate_limited": "The provider limits how often it is called.",
    "overloaded": "The provider is overloaded.",
    "server_error": "The provider had an internal error.",
    "disconnected": "The connection to the provider was lost.",
    "bad_key": "The provider does not accept the API key. Check configuration.",
    "forbidden": "The provider does not allow this request. Check configuration.",
    "billing": "The provider's quota or spending limit is used up. Check configuration.",
    "unknown_model": "The provider does not know this model. Check configuration.",
    "bad_request": "The provider does not accept this request.",
    "too_long": "The debate has outgrown what the model can read.",
    "tls": "The provider's certificate is not valid.",
    "redirected": "The provider redirects to another address, which Moot does not follow.",
    "malformed": "The provider's answer could not be read.",
    "empty": "The model said nothing.",
    "filtered": "The provider's content filter withheld the answer.",
    "off_side": "The model repeated another speech or changed sides.",
    "chain_lost": "The provider has forgotten the earlier responses.",
    "seal_refused": "The provider does not take its own encrypted thoughts back.",
    "summary_refused": "The provider does not show this account what its models think.",
    "schema_refused": "The provider cannot hold its answer to a schema.",
    "tools_refused": "The provider's model does not use tools.",
    "crashed": "The local model stopped unexpectedly.",
    "cut": "The turn was cut short.",
    "lost": "The call was lost when the process ended.",
    "budget": "The cost limit leaves no room for this call.",
    "unavailable": "The model is not available here.",
}
