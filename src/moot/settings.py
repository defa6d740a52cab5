"""The reader of the environment and of `moot.toml`.

    MOOT_DATA            where debates and models live (default: the platform's data folder)
    MOOT_OFFLINE         1 forbids any download
    MOOT_SCRIPTED        1 allows the scripted provider to be named by a user
    MOOT_RETRY_BASE_MS   the first wait before a retry (default 1000; then twice, four times)
    MOOT_FIRST_BYTE_S    how long a provider may take to begin (default 30; not for local models)
    MOOT_BETWEEN_BYTES_S how long it may fall silent (default 30; not for local models)
    MOOT_CONNECT_S       how long a connection may take (default 10)
    MOOT_TICK_MS         how often words in flight are written (default 50)
    MOOT_MODEL           the model to use when none is named
    MOOT_SCRIPT_PACE_MS  how long the scripted provider takes for a word (default 0)
    MOOT_SCRIPT_LEDGER   a file in which the scripted provider notes its calls

`moot.toml`, in the data folder, prices models that no price list knows:

    [prices."openrouter/some-model"]
    input = "0.50"      # US dollars per million tokens
    output = "1.50"
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from moot.errors import Invalid
from moot.prices import flat
from moot.runner import Pace
from moot.terms import Price


class Settings(Struct, frozen=True):
    data: Path
    offline: bool = False
    scripted: bool = False
    model: str = ""
    pace: Pace = Pace()
    connect_seconds: float = 10.0
    script_pace: float = 0.0
    script_ledger: Path | None = None
    prices: dict[str, Price] = field(default_factory=dict[str, Price])
    environ: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def database(self) -> Path:
        return self.data / "moot.db"

    @property
    def models(self) -> Path:
        return self.data / "models"


def load(environ: Mapping[str, str] | None = None) -> Settings:
    env = os.environ if environ is None else environ
    data = Path(env["MOOT_DATA"]).expanduser() if env.get("MOOT_DATA") else _data_folder()
    ledger = env.get("MOOT_SCRIPT_LEDGER")
    return Settings(
        data=data,
        offline=_flag(env, "MOOT_OFFLINE"),
        scripted=_flag(env, "MOOT_SCRIPTED"),
        model=env.get("MOOT_MODEL", ""),
        pace=Pace(
            retry_base=_number(env, "MOOT_RETRY_BASE_MS", 1000) / 1000,
            first_byte=_number(env, "MOOT_FIRST_BYTE_S", 30),
            between_bytes=_number(env, "MOOT_BETWEEN_BYTES_S", 30),
            tick=_number(env, "MOOT_TICK_MS", 50) / 1000,
        ),
        connect_seconds=_number(env, "MOOT_CONNECT_S", 10),
        script_pace=_number(env, "MOOT_SCRIPT_PACE_MS", 0) / 1000,
        script_ledger=Path(ledger) if ledger else None,
        prices=_prices(data / "moot.toml"),
        environ=dict(env),
    )


def _data_folder() -> Path:
    from platformdirs import user_data_path

    return user_data_path("moot", appauthor=False)


def _flag(env: Mapping[str, str], name: str) -> bool:
    return env.get(name, "").strip().lower() in ("1", "true", "yes", "on")


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


def _prices(path: Path) -> dict[str, Price]:
    if not path.is_file():
        return {}
    try:
        table: dict[str, dict[str, Any]] = tomllib.loads(path.read_text("utf-8")).get("prices", {})
        return {
            name: flat(Decimal(str(row["input"])), Decimal(str(row["output"]))) for name, row in table.items()
        }
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError, InvalidOperation) as error:
        raise Invalid(
            f"{path}: {error}. A price looks like: "
            '[prices."provider/model"] input = "0.50" output = "1.50" (US dollars per million tokens).'
        ) from error
