"""The browser of the tests, which sees a few known fonts and no others, the same on every machine.

`WIDE_FONTS` come with a browser on a bare Debian. They are wide, and so a hard case for a layout.
`PICTURE_FONTS` have every script, for the pictures in the docs.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.async_api import Browser, async_playwright

SHELL = Path("/usr/bin/chromium-headless-shell")
"""The same browser without a window to draw: half the work for the machine."""
CHROMIUM = SHELL if SHELL.exists() else Path("/usr/bin/chromium")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    # A name that the attacker owns and has pointed at this machine.
    "--host-resolver-rules=MAP evil.test 127.0.0.1",
)  # fmt: skip
FRUGAL = (*FLAGS, "--renderer-process-limit=1", "--in-process-gpu")
"""Few processes: to start one for each page costs more than most pages do."""

FONTS = Path("/usr/share/fonts")
WIDE_FONTS = tuple(
    FONTS / "truetype" / "dejavu" / f"DejaVu{face}.ttf"
    for face in ("Sans", "Sans-Bold", "SansMono", "SansMono-Bold", "Serif", "Serif-Bold")
)
PICTURE_FONTS = tuple(sorted(FONTS.glob("*/noto/Noto*")))
FONTS_CONF = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<dir>{folder}</dir>
<cachedir>{folder}/cache</cachedir>
{aliases}
<match target="font"><edit name="hintstyle" mode="assign"><const>hintslight</const></edit></match>
</fontconfig>
"""
ALIAS = "<alias><family>{generic}</family><prefer>{families}</prefer></alias>"
GENERIC = {
    "sans-serif": ("DejaVu Sans", "Noto Sans", "Noto Sans CJK SC"),
    "serif": ("DejaVu Serif", "Noto Serif", "Noto Serif CJK SC"),
    "monospace": ("DejaVu Sans Mono", "Noto Sans Mono"),
    "system-ui": ("DejaVu Sans", "Noto Sans"),
}


def missing() -> str:
    """What is not installed and why it is needed, or nothing."""
    for needed in (CHROMIUM, *WIDE_FONTS):
        if not needed.exists():
            return f"there is no {needed}; `make test` installs it on Debian"
    return ""


@asynccontextmanager
async def launched(
    flags: Iterable[str] = FRUGAL, fonts: Iterable[Path] = WIDE_FONTS
) -> AsyncGenerator[Browser]:
    with TemporaryDirectory(prefix="fonts") as folder:
        env: dict[str, str | float | bool] = {**os.environ, **_only(fonts, Path(folder))}
        async with (
            async_playwright() as playwright,
            await playwright.chromium.launch(executable_path=CHROMIUM, args=[*flags], env=env) as browser,
        ):
            yield browser


def _only(fonts: Iterable[Path], folder: Path) -> dict[str, str]:
    """The environment in which a program sees only these fonts; `folder` is where they are put."""
    for font in fonts:
        (folder / font.name).symlink_to(font)
    conf = folder / "fonts.conf"
    conf.write_text(FONTS_CONF.format(folder=folder, aliases="\n".join(_aliases())))
    return {"FONTCONFIG_FILE": str(conf)}


def _aliases() -> Iterator[str]:
    for generic, names in GENERIC.items():
        families = "".join(f"<family>{name}</family>" for name in names)
        yield ALIAS.format(generic=generic, families=families)
