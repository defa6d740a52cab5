"""The model services, as data: address, wire format and key of each.

An endpoint is a wire format, a base URL and a few facts. The built-in ones are in `endpoints.toml`;
`moot.toml` may add others and change these. The address comes from the operator alone: that list,
`<NAME>_BASE_URL` in the environment, or `moot.toml`, never from a request. A key goes to that host only.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from ipaddress import ip_address
from socket import gethostname
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.core.errors import Invalid, Unavailable
from moot.providers import known_models
from moot.providers.contract import CONNECT_SECONDS, Traits
from moot.providers.fault_messages import OWN_KEY, ServiceName
from moot.providers.keys import SETTINGS_FILE, ApiKey, Secret, find_key
from moot.providers.saved_keys import NO_KEYS
from moot.providers.shared_throttle import SharedThrottle
from moot.providers.throttle import EndpointLimits, Throttle
from moot.providers.wire_formats import WireFormatName, load_wire_format

if TYPE_CHECKING:
    from moot.core.ephemeral_store import EphemeralStore
    from moot.providers.client import ProviderClient
    from moot.providers.model_look_up import LookUpRoute
    from moot.providers.wire_formats.contract import WireFormat


class Endpoint(Struct, frozen=True):
    name: str
    title: str
    wire_format: WireFormatName
    base_url: str
    """Empty: it cannot be used until the operator sets one."""
    keys: tuple[str, ...] = ()
    """The variables that may hold its key, by precedence."""
    url_variable: str = ""
    key_path: str = ""
    """The path of a cheap request that needs a key, where the list of models needs none."""
    finds_models: bool = False
    """A single model can be looked up, at no cost, below the list of models."""
    traits: Traits = Traits()
    accent: str = "plain"
    """The variant of the wire format `openai_chat`: a name in `ACCENTS` of `openai_chat_request.py`."""
    limits: EndpointLimits = EndpointLimits()
    model: str = ""
    """The default model, not an expensive one. Empty: one must be named."""
    local: bool = False
    """A server on one's own machine: it needs no key, costs nothing, and may be slow."""
    moved: bool = False
    """The operator has set its address, where it may need no key."""
    pinned: tuple[str, ...] = ()
    """The traits set by the operator, which take precedence over the rules for models."""


ENDPOINTS = msgspec.convert(
    tomllib.loads(files("moot.providers").joinpath("endpoints.toml").read_text("utf-8"))["endpoints"],
    tuple[Endpoint, ...],
)
BUILT_IN = {endpoint.name: endpoint for endpoint in ENDPOINTS}


# --- addresses ----------------------------------------------------------------------------------------


def with_environ_url(endpoint: Endpoint, environ: Mapping[str, str]) -> Endpoint:
    """The endpoint at the address that the environment sets, if it does."""
    url = environ.get(endpoint.url_variable, "").strip() if endpoint.url_variable else ""
    return with_base_url(endpoint, url, endpoint.url_variable) if url else endpoint


def with_base_url(endpoint: Endpoint, url: str, source: str) -> Endpoint:
    """The endpoint at another address. Raises Invalid, naming `source`, if that is none."""
    return replace(endpoint, base_url=_with_usual_path(check_url(url, source), endpoint), moved=True)


def check_url(url: str, source: str) -> str:
    """The base URL without a slash at its end. Raises Invalid, without repeating a password in it."""
    parts = _parse_url(url)
    if parts is None:
        raise Invalid(f"{source} must be an address such as https://host/v1.")
    if parts.username is not None or parts.password is not None:
        raise Invalid(f"{source} must not carry a user or a password: keys have variables of their own.")
    if parts.query or parts.fragment:
        raise Invalid(f"{source} must end with its path, without ? or #.")
    return url.rstrip("/")


def proxy_to(url: str, environ: Mapping[str, str]) -> str | None:
    """The proxy that the environment names for this address, never one for this machine itself.

    Raises Invalid, without repeating the proxy's address, if that is none.
    """
    target = urlsplit(url)
    host = target.hostname or ""
    if host == "localhost" or host.startswith("127.") or host == "::1":
        return None
    variables = {name.lower(): value for name, value in environ.items() if value}
    direct = [
        name.strip().removeprefix("*.").lstrip(".") for name in variables.get("no_proxy", "").split(",")
    ]
    if any(name and (name in ("*", host) or host.endswith(f".{name}")) for name in direct):
        return None
    proxy = variables.get(f"{target.scheme}_proxy") or variables.get("all_proxy")
    if proxy is not None and _parse_url(proxy) is None:
        named = "HTTPS_PROXY, HTTP_PROXY or ALL_PROXY"
        raise Invalid(f"The proxy in {named} must be an address such as http://host:3128.")
    return proxy


def _parse_url(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return None
    return parts if parts.scheme in ("http", "https") and host else None


def _with_usual_path(url: str, endpoint: Endpoint) -> str:
    """A bare host gets the path that the service usually has."""
    if urlsplit(url).path:
        return url
    usual = urlsplit(BUILT_IN[endpoint.name].base_url).path if endpoint.name in BUILT_IN else ""
    return url + (usual or ("/v1" if endpoint.local else ""))


def is_plaintext(url: str) -> bool:
    """Whether the connection is not encrypted and leaves this machine."""
    parts = urlsplit(url)
    return parts.scheme == "http" and not _is_loopback(parts)


def _is_loopback(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


# --- traits, keys and clients -------------------------------------------------------------------------


def traits_of(endpoint: Endpoint, model: str) -> Traits:
    """What this model can do there; the operator's settings take precedence."""
    traits = known_models.refine(endpoint.name, model, endpoint.traits)
    if not endpoint.pinned:
        return traits
    return replace(traits, **{name: getattr(endpoint.traits, name) for name in endpoint.pinned})


def key_of(
    endpoint: Endpoint,
    environ: Mapping[str, str],
    file_keys: Mapping[str, Secret],
    saved: Mapping[str, Secret] = NO_KEYS,
) -> ApiKey | None:
    return find_key(endpoint.name, endpoint.keys, environ, file_keys, saved)


def needs_key(endpoint: Endpoint) -> bool:
    return bool(endpoint.keys) and not endpoint.local and not endpoint.moved


def key_hint(endpoint: Endpoint) -> str:
    """What to type for a key that is missing."""
    return f"Run `moot keys set {endpoint.name}`, or {_key_place(endpoint)}."


def key_hint_for_page(endpoint: Endpoint) -> str:
    return f"Save a key in Settings, or {_key_place(endpoint)}."


def _key_place(endpoint: Endpoint) -> str:
    return f"set {' or '.join(endpoint.keys)}" if endpoint.keys else f"add it to [keys] in {SETTINGS_FILE}"


def make_client(
    endpoint: Endpoint,
    environ: Mapping[str, str],
    file_keys: Mapping[str, Secret],
    *,
    saved: Mapping[str, Secret] = NO_KEYS,
    connect: float = CONNECT_SECONDS,
    ephemeral: EphemeralStore | None = None,
) -> ProviderClient:
    """The client of an endpoint. Raises Unavailable if its key or its address is missing.

    With `ephemeral`, the limits of the endpoint hold for all processes that share it.
    """
    from moot.providers.client import ProviderClient

    if not endpoint.base_url:
        fix = f"Set {endpoint.url_variable}."
        raise Unavailable(f"Moot does not know where {endpoint.title} is.", fix)
    key = key_of(endpoint, environ, file_keys, saved)
    if key is None and needs_key(endpoint):
        raise Unavailable(f"There is no key for {endpoint.title}. {key_hint(endpoint)}")
    secret = key.secret.reveal() if key else ""
    if key and not (secret.isascii() and secret.isprintable()):
        raise Invalid(f"The key from {key.source} has characters that no key has. Copy it once more.")
    wire_format = load_wire_format(endpoint.wire_format, endpoint.accent)
    return ProviderClient(
        wire_format,
        endpoint.base_url,
        key=secret,
        traits=endpoint.traits,
        refine=lambda model, _traits: traits_of(endpoint, model),
        connect=connect,
        disarm=endpoint.local,
        throttle=Throttle(
            endpoint.limits, shared=_shared_throttle(endpoint, ephemeral) if ephemeral else None
        ),
        proxy=proxy_to(endpoint.base_url, environ),
        service=ServiceName(
            endpoint.title, _public_url(endpoint), _key_source(endpoint, key), endpoint.url_variable
        ),
        look_up=_look_up_route(endpoint, wire_format),
    )


def _look_up_route(endpoint: Endpoint, wire_format: WireFormat) -> LookUpRoute | None:
    """None for servers on one's own machine: they are asked before a debate is opened, or have no list."""
    from moot.providers.model_look_up import LookUpRoute

    if endpoint.local:
        return None
    list_url = wire_format.list_url(endpoint.base_url)
    key_url = endpoint.base_url + endpoint.key_path if endpoint.key_path else list_url
    return LookUpRoute(key_url, list_url, endpoint.finds_models, not _public_url(endpoint))


def _public_url(endpoint: Endpoint) -> str:
    """The address of a built-in service, unless the operator has moved it."""
    usual = BUILT_IN.get(endpoint.name)
    return endpoint.base_url if usual and usual.base_url == endpoint.base_url else ""


def _key_source(endpoint: Endpoint, key: ApiKey | None) -> str:
    """How the key is called in messages. One that a user supplied for a debate has no variable."""
    if key is None:
        return ""
    return key.source if endpoint.keys else OWN_KEY


def _shared_throttle(endpoint: Endpoint, ephemeral: EphemeralStore) -> SharedThrottle:
    # A service on the machine itself is another one on each machine.
    is_local = _is_loopback(urlsplit(endpoint.base_url))
    limits = endpoint.limits
    return SharedThrottle(
        ephemeral,
        f"{endpoint.name} on {gethostname()}" if is_local else endpoint.name,
        concurrent=limits.concurrent if limits.written else None,
        per_minute=limits.per_minute,
    )
