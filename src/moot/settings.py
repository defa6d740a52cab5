"""Settings from the environment and from `moot.toml` in the data folder: `load()` reads both.

docs/settings.md lists every variable and table. `ServerSettings` are those of `moot serve`,
`ClusterSettings` those that several machines share. The variables of provider keys and base URLs are in
`providers/endpoints.py`.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import force_setattr

from moot.core.errors import Invalid
from moot.core.terms import ModelPrice
from moot.extension import Variable, loaded
from moot.providers import endpoint_settings
from moot.providers.contract import CONNECT_SECONDS
from moot.providers.endpoints import ENDPOINTS, Endpoint, with_environ_url
from moot.providers.keys import SETTINGS_FILE, Environ, Secret, shown, shown_in
from moot.providers.prices import flat_price
from moot.providers.saved_keys import SavedKeys
from moot.providers.secret_files import SUFFIX, with_secret_files
from moot.rules.runner_timings import RunnerTimings
from moot.store.postgres import POOL_SIZE, STATEMENT_SECONDS
from moot.tools import tool_settings as tools_written
from moot.tools.tool_settings import ToolServerSettings

POSTGRES_SCHEMES = ("postgresql", "postgres")
REDIS_SCHEMES = ("redis", "rediss", "unix")
TABLES = ("keys", "endpoints", "limits", "prices", "tools")


SECRETS = ("MOOT_TOKEN", "MOOT_STORE", "MOOT_BUS", "HF_TOKEN")
"""Variables that may be in a file instead (`MOOT_TOKEN_FILE`), besides those of keys."""
VARIABLES = frozenset(
    {
        "MOOT_BETWEEN_BYTES_S", "MOOT_BODY_S", "MOOT_BUS", "MOOT_COMMENT_S", "MOOT_CONNECT_S",
        "MOOT_CRASH_AT", "MOOT_DATA", "MOOT_DEBUG", "MOOT_DISK_QUOTA_MB", "MOOT_DRAIN_S",
        "MOOT_EXTENSIONS",
        "MOOT_FIRST_BYTE_S", "MOOT_FORMATS", "MOOT_HEADER_S", "MOOT_HEARTBEAT_S", "MOOT_HOSTS",
        "MOOT_LOG", "MOOT_LOG_REQUESTS", "MOOT_MAX_DEBATES_PER_CLIENT", "MOOT_MAX_JOINS_PER_ADDRESS",
        "MOOT_MAX_STREAMS_PER_CLIENT",
        "MOOT_MODEL", "MOOT_OFFLINE", "MOOT_ORIGINS", "MOOT_POOL",
        "MOOT_RATE_LIMIT_PER_MINUTE", "MOOT_RETRY_BASE_MS", "MOOT_SCRIPTED",
        "MOOT_SCRIPT_LEDGER", "MOOT_SCRIPT_PACE_MS", "MOOT_SERVER", "MOOT_STALLED_VIEWER_S",
        "MOOT_STALL_S", "MOOT_STATEMENT_S", "MOOT_STORE", "MOOT_TICK_MS", "MOOT_TOKEN",
        "MOOT_TRUSTED_PROXIES", "MOOT_TTL_DAYS", "MOOT_WORKER_DEBATES",
    }
)  # fmt: skip
"""All variables of the core, also those that are read elsewhere."""


class ServerSettings(Struct, frozen=True):
    """Settings of `moot serve`. None means "no limit"."""

    token: Secret | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    requests_per_minute: int | None = 100
    debates_per_client: int | None = 10
    streams_per_client: int | None = 50
    ttl_days: float | None = 30
    quota_bytes: int | None = None
    header_seconds: float = 10.0
    body_seconds: float = 15.0
    comment_seconds: float = 15.0
    stalled_seconds: float = 30.0
    drain_seconds: float = 0.0
    """How long a server that is told to stop is not ready, and still answers, before it stops."""
    log: Literal["text", "json"] = "text"
    log_requests: bool = False
    """A line for each request."""
    joins_per_address: int | None = 100
    """A day, by one link for many."""
    variables: dict[str, float | None] = field(default_factory=dict[str, "float | None"])
    """Those of extensions that are set, by their names."""

    def value(self, variable: Variable) -> Any:
        """Of a variable of an extension."""
        return self.variables.get(variable.name, variable.default)


class ClusterSettings(Struct, frozen=True):
    """Where processes on several machines meet, and how they notice that one of them is dead."""

    store: Secret | None = None
    """The URL of a PostgreSQL database; None if the log is a SQLite file."""
    bus: Secret | None = None
    debates: int = 100
    heartbeat_seconds: float = 1.0
    stall_seconds: float = 4.0
    pool: int = POOL_SIZE
    statement_seconds: float = STATEMENT_SECONDS


class Settings(Struct, frozen=True):
    """Where debates are stored, which models may be used, limits and keys.

        Settings(data=Path("debates"), model="local/smollm2-135m")

    `moot.settings.load()` reads them from the environment and `moot.toml`. The repr shows no key.
    """

    data: Path
    offline: bool = False
    scripted: bool = False
    model: str = ""
    own_formats: Path | None = None
    pace: RunnerTimings = RunnerTimings()
    connect_seconds: float = CONNECT_SECONDS
    script_pace: float = 0.0
    script_ledger: Path | None = None
    prices: dict[str, ModelPrice] = field(default_factory=dict[str, ModelPrice])
    endpoints: tuple[Endpoint, ...] = ENDPOINTS
    keys: dict[str, Secret] = field(default_factory=dict[str, Secret])
    tools: tuple[ToolServerSettings, ...] = ()
    environ: dict[str, str] = field(default_factory=dict[str, str])
    service: ServerSettings = ServerSettings()
    extensions: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """The tables of moot.toml that belong to extensions, as they were written."""
    log_file: Path | None = None
    cluster: ClusterSettings = ClusterSettings()

    def __post_init__(self) -> None:
        force_setattr(self, "environ", Environ(self.environ))

    @property
    def file(self) -> Path:
        """The settings file, `moot.toml`."""
        return self.data / SETTINGS_FILE

    @property
    def database(self) -> Path:
        """The file with the debates, where they are stored in SQLite."""
        return self.log_file or self.data / "moot.db"

    @property
    def formats(self) -> Path:
        """The folder with the user's own formats."""
        return self.own_formats or self.data / "formats"

    @property
    def saved_keys(self) -> SavedKeys | None:
        """None in a cluster: its debates run on workers, each of which has its own environment."""
        return None if self.cluster.store is not None else SavedKeys(self.data)

    @property
    def models(self) -> Path:
        """The folder with the models that run on this machine."""
        return self.data / "models"


def load(environ: Mapping[str, str] | None = None) -> Settings:
    env: Mapping[str, str] = os.environ if environ is None else environ
    data = Path(env["MOOT_DATA"]).expanduser() if env.get("MOOT_DATA") else _data_folder()
    ledger = env.get("MOOT_SCRIPT_LEDGER")
    path = data / SETTINGS_FILE
    file = _read(path)
    endpoints, usual = endpoint_settings.endpoints(file, path), RunnerTimings()
    env = with_secret_files(env, [*SECRETS, *(key for endpoint in endpoints for key in endpoint.keys)])
    return Settings(
        data=data,
        offline=_flag(env, "MOOT_OFFLINE"),
        scripted=_flag(env, "MOOT_SCRIPTED"),
        model=env.get("MOOT_MODEL", ""),
        own_formats=Path(env["MOOT_FORMATS"]).expanduser() if env.get("MOOT_FORMATS") else None,
        pace=RunnerTimings(
            retry_base=_number(env, "MOOT_RETRY_BASE_MS", usual.retry_base * 1000) / 1000,
            first_byte=_number(env, "MOOT_FIRST_BYTE_S", usual.first_byte),
            between_bytes=_number(env, "MOOT_BETWEEN_BYTES_S", usual.between_bytes),
            tick=_number(env, "MOOT_TICK_MS", usual.tick * 1000) / 1000,
        ),
        connect_seconds=_number(env, "MOOT_CONNECT_S", CONNECT_SECONDS),
        script_pace=_number(env, "MOOT_SCRIPT_PACE_MS", 0) / 1000,
        script_ledger=Path(ledger) if ledger else None,
        prices=_prices(file, path),
        endpoints=tuple(with_environ_url(endpoint, env) for endpoint in endpoints),
        keys=endpoint_settings.keys(file, path, [endpoint.name for endpoint in endpoints]),
        tools=tools_written.servers(file, path),
        environ=Environ(env),
        service=_service(env),
        extensions={name: file[name] for name in _extension_tables() if name in file},
        log_file=_log_file(env),
        cluster=_cluster(env),
    )


def known_variables() -> frozenset[str]:
    """Those of the core and of the extensions that are loaded."""
    return VARIABLES | {variable.name for variable in _extension_variables()}


def unknown_variables(env: Mapping[str, str]) -> list[str]:
    """A sentence for each variable that is called like one of ours and is none."""
    from difflib import get_close_matches

    known = known_variables() | {name + SUFFIX for name in SECRETS if name in VARIABLES}
    sentences = list[str]()
    for name in sorted(name for name in env if name.startswith("MOOT_") and name not in known):
        nearest = get_close_matches(name, sorted(known), n=1)
        meant = f" Do you mean {nearest[0]}?" if nearest else " docs/settings.md lists all."
        sentences.append(f"There is no setting {shown(name)}, so it has no effect.{meant}")
    return sentences


def _log_file(env: Mapping[str, str]) -> Path | None:
    kind, _, location = env.get("MOOT_STORE", "").strip().partition(":")
    if kind == "sqlite" and location:
        return Path(location.removeprefix("//")).expanduser()
    if kind and kind not in POSTGRES_SCHEMES:
        raise Invalid("MOOT_STORE is sqlite:FILE or postgresql://user@host/database.")
    return None


def _cluster(env: Mapping[str, str]) -> ClusterSettings:
    store = env.get("MOOT_STORE", "").strip()
    shared = Secret(store) if store.partition(":")[0] in POSTGRES_SCHEMES else None
    bus = env.get("MOOT_BUS", "").strip()
    if bus and bus.partition("://")[0] not in REDIS_SCHEMES:
        raise Invalid("MOOT_BUS is redis://host:port/number, or rediss:// where the line is to be encrypted.")
    if bus and shared is None:
        raise Invalid("MOOT_BUS joins machines that share a log: set MOOT_STORE=postgresql://… as well.")
    usual = ClusterSettings()
    heartbeat = _positive(env, "MOOT_HEARTBEAT_S", usual.heartbeat_seconds)
    stall = _positive(env, "MOOT_STALL_S", usual.stall_seconds)
    if stall < 2 * heartbeat:
        raise Invalid("MOOT_STALL_S must be at least twice MOOT_HEARTBEAT_S, or workers rob each other.")
    return ClusterSettings(
        store=shared,
        bus=Secret(bus) if bus else None,
        debates=int(_positive(env, "MOOT_WORKER_DEBATES", usual.debates)),
        heartbeat_seconds=heartbeat,
        stall_seconds=stall,
        pool=int(_positive(env, "MOOT_POOL", usual.pool)),
        statement_seconds=_positive(env, "MOOT_STATEMENT_S", usual.statement_seconds),
    )


def _service(env: Mapping[str, str]) -> ServerSettings:
    token = env.get("MOOT_TOKEN", "").strip()
    quota, usual = _limit(env, "MOOT_DISK_QUOTA_MB", None), ServerSettings()
    return ServerSettings(
        token=Secret(token) if token else None,
        hosts=_words(env, "MOOT_HOSTS"),
        origins=_words(env, "MOOT_ORIGINS"),
        proxies=_words(env, "MOOT_TRUSTED_PROXIES"),
        requests_per_minute=_limit(env, "MOOT_RATE_LIMIT_PER_MINUTE", usual.requests_per_minute),
        debates_per_client=_limit(env, "MOOT_MAX_DEBATES_PER_CLIENT", usual.debates_per_client),
        streams_per_client=_limit(env, "MOOT_MAX_STREAMS_PER_CLIENT", usual.streams_per_client),
        joins_per_address=_limit(env, "MOOT_MAX_JOINS_PER_ADDRESS", usual.joins_per_address),
        ttl_days=_number(env, "MOOT_TTL_DAYS", usual.ttl_days or 0) or None,
        quota_bytes=quota * 1024 * 1024 if quota else None,
        header_seconds=_positive(env, "MOOT_HEADER_S", usual.header_seconds),
        body_seconds=_positive(env, "MOOT_BODY_S", usual.body_seconds),
        comment_seconds=_positive(env, "MOOT_COMMENT_S", usual.comment_seconds),
        stalled_seconds=_positive(env, "MOOT_STALLED_VIEWER_S", usual.stalled_seconds),
        drain_seconds=_number(env, "MOOT_DRAIN_S", usual.drain_seconds),
        log=_log(env),
        log_requests=_flag(env, "MOOT_LOG_REQUESTS", default=_log(env) == "json"),
        variables={each.name: _value(env, each) for each in _extension_variables() if env.get(each.name)},
    )


def _value(env: Mapping[str, str], variable: Variable) -> float | None:
    match variable.kind:
        case "number":
            return _number(env, variable.name, variable.default or 0)
        case "positive":
            return _positive(env, variable.name, variable.default or 0)
        case "limit":
            return _limit(env, variable.name, None if variable.default is None else int(variable.default))


def _positive(env: Mapping[str, str], name: str, default: float) -> float:
    value = _number(env, name, default)
    if not value:
        raise Invalid(f"{name} must be more than 0.")
    return value


def _log(env: Mapping[str, str]) -> Literal["text", "json"]:
    match env.get("MOOT_LOG", "").strip() or "text":
        case "text":
            return "text"
        case "json":
            return "json"
        case other:
            raise Invalid(f"MOOT_LOG is text or json, not {other!r}.")


def _words(env: Mapping[str, str], name: str) -> tuple[str, ...]:
    return tuple(env.get(name, "").replace(",", " ").split())


def _limit(env: Mapping[str, str], name: str, default: int | None) -> int | None:
    """None, written as 0, where there is no limit."""
    return int(_number(env, name, default or 0)) or None


def _data_folder() -> Path:
    from platformdirs import user_data_path

    return user_data_path("moot", appauthor=False)


def _flag(env: Mapping[str, str], name: str, *, default: bool = False) -> bool:
    value = env.get(name, "").strip().lower()
    return value in ("1", "true", "yes", "on") if value else default


def _number(env: Mapping[str, str], name: str, default: float) -> float:
    text = env.get(name, "")
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e9:
        raise Invalid(f"{name} must be a number of 0 or more, not {text!r}.")
    return value


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        file = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        reason = shown_in(str(error))
        raise Invalid(f"{path}: {reason}. It is not TOML; docs/settings.md shows its tables.") from None
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.") from None
    tables = (*TABLES, *_extension_tables())
    for name in file:
        if name not in tables:
            raise Invalid(f"{path}: there is no table [{shown(name)}]. Known: {', '.join(tables)}.")
    return file


def _extension_variables() -> list[Variable]:
    return [variable for extension in loaded() for variable in extension.variables]


def _extension_tables() -> list[str]:
    return [extension.settings_table for extension in loaded() if extension.settings_table]


def _prices(file: Mapping[str, Any], path: Path) -> dict[str, ModelPrice]:
    return {name: _price(row, f'{path}: [prices."{shown(name)}"]') for name, row in _rows(file, path)}


def _rows(file: Mapping[str, Any], path: Path) -> list[tuple[str, Any]]:
    try:
        return list(file.get("prices", {}).items())
    except AttributeError:
        raise Invalid(f'{path}: [prices] holds tables such as [prices."provider/model"].') from None


def _price(row: Any, where: str) -> ModelPrice:
    try:
        input, output = Decimal(str(row["input"])), Decimal(str(row["output"]))
        if not (input.is_finite() and output.is_finite() and input >= 0 and output >= 0):
            raise ValueError
    except (KeyError, TypeError, ValueError, InvalidOperation):
        raise Invalid(
            f'{where}: a price is written input = "0.50" and output = "1.50" (US dollars per million tokens).'
        ) from None
    return flat_price(input, output)
