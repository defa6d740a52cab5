"""What went wrong with a service, in one sentence that names it, the setting to change, and what to do.

`explain` is called once, where a call fails (`client.py`); the sentence is then in the log, and page,
terminal and API show it as it is: "OpenAI rejected OPENAI_API_KEY (401). Replace it in Settings or the
environment, then Retry." A fault that is not about the service keeps its general message.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from msgspec import Struct

from moot.core.errors import Fault, FaultKind

OWN_KEY = "the key of this debate"

MESSAGES: dict[FaultKind, str] = {
    "bad_key": "{title} rejected {key}{status}. Replace it in Settings or the environment, then Retry.",
    "forbidden": "{title} does not allow this with {key}{status}. Check what the key may use, then Retry.",
    "billing": "The quota of {key} at {title} is used up{status}. Raise the limit there, then Retry.",
    "unknown_model": "{title} has no model called {model}{status}. Choose another model.",
    "bad_request": "{title} does not accept this request{status}.",
    "rate_limited": "{title} limits how often it is called{status}.",
    "overloaded": "{title} is overloaded{status}.",
    "server_error": "{title} had an internal error{status}.",
    "unreachable": "{host} cannot be reached. Check the network{address}.",
    "timeout": "{host} did not answer in time.",
    "stalled": "{host} stopped answering in the middle of a reply.",
    "disconnected": "The connection to {host} was lost.",
    "tls": "The certificate of {host} is not valid{fix_address}.",
    "redirected": "{host} redirects to another address{status}, which Moot does not follow{fix_address}.",
    "malformed": "The reply of {host} could not be read.",
}


class ServiceName(Struct, frozen=True):
    """How a service is called in messages."""

    title: str
    url: str = ""
    """Its public address. An address that the operator has set is left out: viewers read the message."""
    key_source: str = ""
    """The variable or file of its key; empty where it has none."""
    url_variable: str = ""

    @property
    def host(self) -> str:
        if not self.url:
            return self.title
        parts = urlsplit(self.url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.hostname or self.url}{port}"


def explain(fault: Fault, service: ServiceName, model: str) -> None:
    """Name the service, its key and its host in the fault, unless it has a message of its own."""
    template = MESSAGES.get(fault.kind)
    if template is None or not fault.has_general_message:
        return
    fault.args = (
        template.format(
            title=service.title,
            key=service.key_source or "its key",
            status=f" ({fault.http_status})" if fault.http_status else "",
            model=model,
            host=service.host,
            address=f", or {service.url_variable}" if service.url_variable else "",
            fix_address=f". Check {service.url_variable}" if service.url_variable else "",
        ),
    )
