"""Sets up what Moot needs, and says what it is doing, how far it is, and how long each step took.

    python3 scripts/set_up.py run      what running needs: packages, the page, and a small local model
    python3 scripts/set_up.py tests    that, and what tests and checks need
    python3 scripts/set_up.py pictures that, and the fonts of the pictures in the documentation

A step that has nothing to do is left out: its stamp in the environment names the inputs that it was done
with. Steps that do not need one another run at the same time. pip, npm and apt are used as this machine has
configured them.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUN_EXTRAS = ("local", "mcp", "experiments", "tokenizers")
TEST_EXTRAS = (*RUN_EXTRAS, "cluster", "parquet", "testing", "dev")
CLIENT_FILES = ("scripts/sync_client.py", "src/moot/client/async_client.py", "src/moot/client/sync_client.py")
"""The last is generated from the other two."""
NODE = 18
"""The oldest Node.js that puts the page together."""
TEST_PACKAGES = ("nginx", "redis-server", "curl", "systemd", "libatomic1", "fontconfig", "fonts-dejavu-core")
PICTURE_FONTS = ("fonts-noto-core", "fonts-noto-cjk", "fonts-noto-color-emoji")
BROWSERS = ("chromium-headless-shell", "chromium")
TEST_MODELS = ROOT / ".cache" / "models"
ERROR_LINES = 30

Say = Callable[[str], object]


class Failed(Exception):
    """A step cannot be done. The text says why, and what to do."""


@dataclass
class Step:
    """One thing to set up."""

    title: str
    work: Callable[[Say], None]
    after: tuple[Step, ...] = ()
    inputs: Callable[[], Iterable[str]] | None = None
    """What its result depends on; without it, the step finds out by itself what there is to do."""
    needed: bool = True
    """Whether a failure of it is one of the whole."""
    seconds: float = 0.0
    error: str = ""
    now: str = ""
    """The last line that it printed."""
    started: float = field(default=0.0, repr=False)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("run", "tests", "pictures"))
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv", help="the environment of Python")
    parser.add_argument("--model", default="", help="the local model to install, for `run`")
    asked = parser.parse_args()
    os.chdir(ROOT)
    environment = Environment(asked.venv.absolute())
    steps = environment.steps(tests=asked.what != "run", model=asked.model)
    if asked.what == "pictures":
        steps.append(Step("Fonts", lambda say: _install_debian_packages([*PICTURE_FONTS], say)))
    if not Progress(steps, environment.stamps).perform():
        sys.exit(1)


class Environment:
    """The folder of installed packages, and the steps that fill it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"
        self.stamps = folder / ".set-up"

    def steps(self, *, tests: bool, model: str) -> list[Step]:
        interpreter = Step("Python environment", self._make, inputs=self._interpreter)
        packages = self._packages(TEST_EXTRAS, interpreter)
        if not tests and not is_done(packages, self.stamps):  # what tests need is enough for running
            packages = self._packages(RUN_EXTRAS, interpreter)
        libraries = Step(
            "Libraries of the page",
            _install_libraries,
            (interpreter,),
            lambda: _contents("package-lock.json"),
        )
        page = Step("The page", _build_page, (libraries,), _page_inputs)
        client = Step("The blocking client", _write_client, inputs=lambda: _contents(*CLIENT_FILES))
        steps = [interpreter, packages, libraries, page, client]
        if model or tests:
            steps.append(Step("Local model", lambda say: self._install_model(model, say), after=(packages,)))
        if tests:
            # Tests that need something which is not there are skipped, and say so.
            steps.append(Step("Programs that tests use", _install_test_programs, needed=False))
        return steps

    def _packages(self, extras: tuple[str, ...], interpreter: Step) -> Step:
        return Step(
            "Python packages",
            lambda say: self._install_packages(extras, say),
            after=(interpreter,),
            inputs=lambda: [*self._interpreter(), *_contents("pyproject.toml", "constraints.txt"), *extras],
        )

    def _interpreter(self) -> list[str]:
        return [sys.version, sys.base_prefix, str(self.folder)]

    def _make(self, say: Say) -> None:
        if subprocess.run([sys.executable, "-c", "import ensurepip, venv"], capture_output=True).returncode:
            _install_debian_packages(["python3-venv"], say)
        # Not the Python of an environment that is active: it may be the one that is made anew.
        python = getattr(sys, "_base_executable", sys.executable)
        _run([python, "-m", "venv", "--clear", str(self.folder)], say)

    def _install_packages(self, extras: tuple[str, ...], say: Say) -> None:
        install = [str(self.python), "-m", "pip", "install", "--progress-bar", "off", "-c", "constraints.txt"]
        # An older pip takes three times as long to find out what to install.
        _run([*install, "pip", "hatchling", "editables"], say)
        _run([*install, "--no-build-isolation", "-e", f".[{','.join(extras)}]"], say)

    def _install_model(self, model: str, say: Say) -> None:
        environ = {} if model else {"MOOT_DATA": str(TEST_MODELS.parent)}
        install = "from moot.cli import main; main()", "models", "install", model or "smollm2-135m"
        there = "It is installed already"
        _run([str(self.python), "-c", *install], lambda line: line.startswith(there) or say(line), environ)


class Progress:
    """Performs the steps and shows them: on a terminal as one line that changes, else as a line for each."""

    def __init__(self, steps: list[Step], stamps: Path) -> None:
        self._stamps = stamps
        self._steps = steps
        self._lock = threading.Lock()
        self._live = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self._quiet = {step.title for step in steps if step.inputs is None}
        """Steps that may find nothing to do: told only once they print something."""

    def perform(self) -> bool:
        """Returns whether all that is needed is there."""
        due = [step for step in self._steps if not is_done(step, self._stamps)]
        began = time.monotonic()
        with ThreadPoolExecutor(len(due) or 1) as pool:
            futures: dict[str, Future[None]] = {}
            for step in due:
                before = [futures[each.title] for each in step.after if each.title in futures]
                futures[step.title] = pool.submit(self._perform, step, before)
            while wait(futures.values(), timeout=0.2 if self._live else None).not_done:
                self._show_live(due, began)
        self._clear()
        told = [step for step in due if step.title not in self._quiet]
        for step in (step for step in due if step.error):
            print(f"\n{step.title}: {step.error}", file=sys.stderr)
        failed = [step for step in due if step.error and step.needed]
        if told and not failed:
            times = ", ".join(f"{step.title} {step.seconds:.0f} s" for step in told)
            print(f"Set up in {time.monotonic() - began:.0f} s: {times}.", flush=True)
        return not failed

    def _perform(self, step: Step, before: list[Future[None]]) -> None:
        for each in before:
            each.result()
        if any(each.error for each in step.after):
            return
        step.started = time.monotonic()
        if step.title not in self._quiet:
            self._print(f"{self._count(step)} {step.title} ...")
        try:
            step.work(lambda line: self._note(step, line))
        except Failed as error:
            step.error = str(error)
            self._quiet.discard(step.title)
        step.seconds = time.monotonic() - step.started
        if step.inputs and not step.error:
            self._stamps.mkdir(parents=True, exist_ok=True)
            _stamp(step, self._stamps).write_text(_digest(step.inputs()))
        if step.title not in self._quiet:
            result = "failed" if step.error else "done"
            self._print(f"{self._count(step)} {step.title}: {result}, {step.seconds:.0f} s")
        step.started = 0.0

    def _note(self, step: Step, line: str) -> None:
        step.now = line
        if step.title in self._quiet:
            self._quiet.discard(step.title)
            self._print(f"{self._count(step)} {step.title} ...")

    def _count(self, step: Step) -> str:
        return f"[{self._steps.index(step) + 1}/{len(self._steps)}]"

    def _print(self, line: str) -> None:
        with self._lock:
            self._clear()
            print(line, flush=True)

    def _show_live(self, due: list[Step], began: float) -> None:
        with self._lock:
            running = [f"{step.title}: {step.now}" for step in due if step.started and step.now]
            width = shutil.get_terminal_size().columns - 1
            line = f"{time.monotonic() - began:4.0f} s  {' | '.join(running)}"
            sys.stdout.write(f"\r\x1b[K{line[:width]}")
            sys.stdout.flush()

    def _clear(self) -> None:
        if self._live:
            sys.stdout.write("\r\x1b[K")


def is_done(step: Step, stamps: Path) -> bool:
    """Whether it was done with the inputs of today."""
    if step.inputs is None or any(not is_done(each, stamps) for each in step.after):
        return False
    try:
        return _stamp(step, stamps).read_text() == _digest(step.inputs())
    except OSError:
        return False


def _stamp(step: Step, stamps: Path) -> Path:
    return stamps / step.title.lower().replace(" ", "-")


def _install_libraries(say: Say) -> None:
    version = _node_version()
    if version is None or version < NODE or shutil.which("npm") is None:
        found = "there is none here" if version is None else f"this is {version}"
        found = "npm is missing" if version and version >= NODE else found
        raise Failed(
            f"the page is put together with Node.js {NODE} or newer and npm; {found}.\n"
            "  Debian: apt-get install nodejs npm       macOS: brew install node\n"
            "  Without Node.js, install a wheel that `make wheel` built elsewhere: see README.md, Install."
        )
    _run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], say)


def _node_version() -> int | None:
    if (node := shutil.which("node")) is None:
        return None
    shown = subprocess.run([node, "--version"], capture_output=True, text=True)
    return int(shown.stdout.strip().removeprefix("v").partition(".")[0])


def _build_page(say: Say) -> None:
    _run(["node", "scripts/vendor.js"], say)


def _write_client(say: Say) -> None:
    _run([sys.executable, "scripts/sync_client.py"], say)


def _page_inputs() -> Iterable[str]:
    static = sorted((ROOT / "src/moot/web/static").rglob("*.[jc]s*"))
    return _contents("package-lock.json", "scripts/vendor.js", *map(str, static))


def _install_test_programs(say: Say) -> None:
    browser = next((name for name in BROWSERS if _debian_status(name)), BROWSERS[0])
    _install_debian_packages([*TEST_PACKAGES, browser], say, instead=(browser, BROWSERS[-1]))


def _install_debian_packages(names: list[str], say: Say, instead: tuple[str, str] = ("", "")) -> None:
    """Install those that are missing, if we may. Where there is no `instead[0]`, the other is taken."""
    if shutil.which("apt-get") is None:
        raise Failed(f"please install what Debian calls: {' '.join(names)}")
    missing = [name for name in names if not _debian_status(name)]
    if not missing:
        return
    if os.geteuid():
        raise Failed(f"please run: sudo apt-get install {' '.join(missing)}")
    say("reading the lists of Debian")
    environ = {"DEBIAN_FRONTEND": "noninteractive"}
    apt = ["apt-get", "-q", "-o", "DPkg::Lock::Timeout=300"]
    _run([*apt, "update"], say, environ)
    known = subprocess.run(["apt-cache", "show", instead[0]], capture_output=True).returncode == 0
    chosen = [instead[1] if name == instead[0] and not known else name for name in missing]
    with _no_services_started():
        _run([*apt, "install", "--yes", "--no-install-recommends", *chosen], say, environ)


@contextmanager
def _no_services_started() -> Generator[None]:
    """Debian asks this program whether it may start a service; tests start their own."""
    policy = Path("/usr/sbin/policy-rc.d")
    if policy.exists():
        yield
        return
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)
    try:
        yield
    finally:
        policy.unlink()


def _debian_status(name: str) -> bool:
    shown = subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Status}", name], capture_output=True, text=True
    )
    return shown.stdout == "installed"


def _run(command: list[str], say: Say, environ: dict[str, str] | None = None) -> None:
    """Run a program; each line that it prints is said. Raises Failed with the last ones."""
    last = deque[str](maxlen=ERROR_LINES)
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"} | (environ or {}),
    ) as process:
        for line in process.stdout or ():
            if line := line.strip():
                last.append(line)
                say(line)
    if process.returncode:
        shown = "\n  ".join(last)
        raise Failed(f"`{' '.join(command[:6])} …` failed (exit {process.returncode}):\n  {shown}")


def _contents(*names: str) -> list[str]:
    return [Path(ROOT, name).read_text("utf-8", errors="replace") for name in names]


def _digest(inputs: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in inputs:
        digest.update(hashlib.sha256(text.encode()).digest())
    return digest.hexdigest()


if __name__ == "__main__":
    main()
