"""`moot export`: to a pipe or a file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from moot.cli.commands.export import _print
from moot.core.errors import Invalid
from moot.views.exports import EXPORTS, ExportFormat
from tests.cli.conftest import Hold, Moot


@pytest.mark.parametrize(
    ("kind", "begins"),
    [("markdown", "# Debate: Cats"), ("html", "<!doctype html>"), ("json", '{\n  "debate"')],
)
def test_an_export_goes_to_a_pipe_or_a_file(hold: Hold, moot: Moot, tmp_path: Path, kind: str, begins: str):
    hold(rounds=1)
    code, out, _ = moot("export", "last", "--format", kind)
    assert code == 0
    assert out.startswith(begins)
    assert "strongest point" not in out
    file = tmp_path / f"debate.{kind[:4]}"
    code, nothing, err = moot("export", "last", "--format", kind, "-o", str(file))
    assert (code, nothing) == (0, "")
    assert str(file) in err.replace("\n", "")
    assert file.read_text("utf-8") == out


def test_the_suffix_of_a_file_says_what_to_write(hold: Hold, moot: Moot, tmp_path: Path):
    hold(rounds=1)
    moot("export", "-o", str(tmp_path / "debate.md"))
    assert (tmp_path / "debate.md").read_text("utf-8").startswith("# Debate")
    code, _, err = moot("export", "-o", str(tmp_path / "nowhere" / "debate.md"))
    assert code == 1
    assert "cannot be written" in err.replace("\n", " ")


def test_a_binary_export_is_written_unchanged_to_a_pipe_and_refused_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
):
    monkeypatch.setitem(EXPORTS, "markdown", ExportFormat("application/pdf", (".pdf",), None))
    document = b"%PDF-1.7\r\n\x1b[31m\xff\x00"
    with os.fdopen(os.dup(1), "w") as pipe:
        monkeypatch.setattr("sys.stdout", pipe)
        _print("markdown", document)
        monkeypatch.setattr(pipe, "isatty", lambda: True)
        with pytest.raises(Invalid, match="--output"):
            _print("markdown", document)
    assert capfdbinary.readouterr().out == document
