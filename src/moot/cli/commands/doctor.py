"""`moot doctor`: what works here, what is missing, and what to do about it."""

from __future__ import annotations


def doctor() -> int:
    """What works here, what is missing, and what to do about it."""
    from moot.cli.follow import run
    from moot.cli.machine_checks import check_machine
    from moot.cli.render.output import Terminal, add_row, make_table

    findings = run(check_machine())
    terminal = Terminal.out()
    made = make_table("", "", "", "")
    made.show_header = False
    marks = {"good": ("✓", "green"), "note": ("·", "dim"), "bad": ("✗", "bold red")}
    for finding in findings:
        add_row(made, marks[finding.state], (finding.what, "bold"), finding.detail, (finding.todo, "yellow"))
    made.columns[1].no_wrap = True
    terminal.table(made)
    bad = sum(finding.state == "bad" for finding in findings)
    terminal.line("")
    terminal.line("See the lines marked ✗." if bad else "All that Moot needs is here.")
    return 1 if bad else 0
