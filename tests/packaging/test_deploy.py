"""The files by which Moot is deployed name only what there is. That they run, only a deployment shows."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from moot.cli.command_line import COMMANDS
from moot.settings import SECRETS, known_variables, load
from tests.cli.terminal import environment, piped

ROOT = Path(__file__).parents[2]
UNITS = sorted((ROOT / "deploy").glob("*.service"))
SYSTEMD = shutil.which("systemd-analyze")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
PINNED = re.compile(r"[a-z/]+:\d[\w.-]*")


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def instructions() -> list[list[str]]:
    """Of the Dockerfile, each in words."""
    whole = read("Dockerfile").replace("\\\n", " ")
    return [line.split() for line in whole.splitlines() if line and not line.startswith("#")]


def compose() -> dict[str, Any]:
    return yaml.safe_load(read("compose.yaml"))


def commands() -> list[list[str]]:
    """All that the deployed processes are told to do."""
    units = [re.search(r"^ExecStart=.*?/moot ([^']*)", unit.read_text(), re.MULTILINE) for unit in UNITS]
    ours = [service["command"] for service in compose()["services"].values() if "build" in service]
    image = next(words for words in instructions() if words[0] == "CMD")
    return [*ours, yaml.safe_load(" ".join(image[1:])), *(shlex.split(unit[1]) for unit in units if unit)]


def test_what_the_image_is_made_of_is_there() -> None:
    allowed = {line.removeprefix("!") for line in read(".dockerignore").splitlines() if line.startswith("!")}
    sources = [
        source
        for words in instructions()
        if words[0] == "COPY" and not words[1].startswith("--from")
        for source in words[1:-1]
    ]
    assert len(sources) > 5
    for source in sources:
        assert (ROOT / source).exists(), source
        assert any(source == path or source.startswith(f"{path}/") for path in allowed), source


def test_every_image_is_pinned() -> None:
    stages = [words[1] for words in instructions() if words[0] == "FROM"]
    images = [service["image"] for service in compose()["services"].values()]
    assert all(PINNED.fullmatch(image) for image in (*stages, *images))


def test_nothing_runs_as_root() -> None:
    users = [words[1] for words in instructions() if words[0] == "USER"]
    assert users
    assert users[-1] not in ("0", "root")
    assert all("\nUser=moot\n" in unit.read_text() for unit in UNITS)


def test_every_command_and_its_options_exist(tmp_path: Path) -> None:
    wanted = commands()
    assert len(wanted) == 5
    names = {name for _, name, *_ in COMMANDS}
    for name, *options in wanted:
        assert name in names
        known = piped(environment(tmp_path), name, "--help").stdout
        assert all(option in known for option in options if option.startswith("--")), (name, options)


@pytest.mark.parametrize(
    "name",
    ["Dockerfile", "compose.yaml", "deploy/moot.env.example", *(f"deploy/{unit.name}" for unit in UNITS)],
)
def test_every_setting_named_exists(name: str) -> None:
    assert set(re.findall(r"\bMOOT_[A-Z_]+", read(name))) <= known_variables() | {
        f"{secret}_FILE" for secret in SECRETS
    }


def test_no_secret_is_written_down() -> None:
    for line in read("deploy/moot.env.example").splitlines():
        name, _, value = line.partition("=")
        assert not (value and re.search("KEY|TOKEN|PASSWORD", name)), line
    for service in compose()["services"].values():
        for name, value in service.get("environment", {}).items():
            assert value.startswith("${") or not re.search("PASSWORD|AUTH", name), name


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_waits_longer_than_a_process_takes_to_leave(unit: Path) -> None:
    from moot.processes.server import SHUTDOWN_SECONDS

    waits = re.search(r"^TimeoutStopSec=(\d+)$", unit.read_text(), re.MULTILINE)
    assert waits is not None
    assert int(waits[1]) > SHUTDOWN_SECONDS
    assert "\nRestart=always\n" in unit.read_text()


@pytest.mark.skipif(SYSTEMD is None, reason="there is no systemd-analyze")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_understands_a_unit(unit: Path) -> None:
    assert SYSTEMD is not None
    told = subprocess.run([SYSTEMD, "verify", str(unit)], capture_output=True, text=True, check=False)
    complaints = [line for line in told.stderr.splitlines() if unit.name.partition("@")[0] in line]
    # Of the program alone, which is not installed there.
    assert all("/opt/moot/bin/moot is not executable" in line for line in complaints)


@pytest.mark.parametrize(("number", "port"), [(1, 8101), (9, 8109), (10, 8110), (100, 8200)])
def test_a_worker_of_any_number_has_a_port(number: int, port: int) -> None:
    """The command of the unit as systemd and the shell read it."""
    started = re.search(r"^ExecStart=(.*)$", read("deploy/moot-worker@.service"), re.MULTILINE)
    assert started is not None
    command = shlex.split(started[1].replace("%i", str(number)))
    command = [word.replace("$$", "$").replace("exec /opt/moot/bin/moot", "echo") for word in command]
    told = subprocess.run(command, capture_output=True, text=True, check=True, env={"WORK_HOST": "10.0.0.5"})
    assert told.stdout.split() == ["work", "--host", "10.0.0.5", "--port", str(port)]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_where_a_unit_listens_is_set_in_its_environment_and_is_this_machine_at_first(unit: Path) -> None:
    text = unit.read_text()
    name = "SERVE_HOST" if "serve" in unit.name else "WORK_HOST"
    assert re.search(rf"^Environment={name}=127\.0\.0\.1\b", text, re.MULTILINE)
    assert re.search(rf"^ExecStart=.*--host \W*{name}\b", text, re.MULTILINE)
    assert f"#{name}=" in read("deploy/moot.env.example")
    assert text.index("Environment=" + name) < text.index("EnvironmentFile="), (
        "what follows has the last word"
    )


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_credential_of_a_unit_is_called_like_a_variable(unit: Path, tmp_path: Path) -> None:
    names = re.findall(r"^#LoadCredential=(\w+):/", unit.read_text(), re.MULTILINE)
    assert "MOOT_TOKEN" in names
    for name in names:
        (tmp_path / name).write_text("postgresql://moot:sesame@db/moot\n")
    read_by = load({"CREDENTIALS_DIRECTORY": str(tmp_path), "MOOT_DATA": str(tmp_path)})
    assert all(read_by.environ[name].endswith("/moot") for name in names)
    assert read_by.service.token is not None


def test_what_is_installed_by_hand_has_the_tested_versions() -> None:
    for page in ("docs/operating.md", "docs/library.md"):
        commands = [line for line in read(page).splitlines() if "pip install" in line]
        assert commands
        assert all("-c constraints.txt" in line for line in commands), commands


@pytest.mark.skipif(NGINX is None, reason="there is no nginx")
def test_nginx_understands_its_settings(tmp_path: Path) -> None:
    """With an address instead of a name, since there is nobody here to ask for it."""
    ours = read("deploy/nginx.conf").replace("api:8000 resolve", "127.0.0.1:8000")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f'{kind}_temp_path "{tmp_path}/{kind}";' for kind in kinds)
    whole = f'pid "{tmp_path}/pid"; events {{}} http {{ {paths} {ours} }}'
    (tmp_path / "nginx.conf").write_text(whole)
    assert NGINX is not None
    command = [NGINX, "-t", "-c", str(tmp_path / "nginx.conf"), "-e", str(tmp_path / "errors")]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr


# --- the operator's guide --------------------------------------------------------------------------------

GUIDE = "docs/operating.md"


def test_every_figure_of_the_guide_exists() -> None:
    known = set(re.findall(r'"(moot_[a-z_]+)"', read("src/moot/web/routes/metrics.py")))
    told = {name.removesuffix("_total") for name in re.findall(r"`(moot_[a-z_]+)", read(GUIDE))}
    assert told == known


def test_every_command_of_the_guide_exists() -> None:
    names = {name for _, name, *_ in COMMANDS}
    told = set(re.findall(r"(?:^|`)moot ([a-z][a-z-]+)", read(GUIDE), re.MULTILINE))
    assert len(told) > 6
    assert told <= names


def test_every_setting_and_link_of_the_guide_exists() -> None:
    known = set(re.findall(r"`(MOOT_[A-Z_]+)`", read("docs/settings.md")))
    assert set(re.findall(r"\bMOOT_[A-Z_]+", read(GUIDE))) <= known
    for target in re.findall(r"\]\(([^)#:]+)\)", read(GUIDE)):
        assert (ROOT / "docs" / target).exists(), target
