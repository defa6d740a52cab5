"""`moot doctor`: what works here, what is missing, and what to do about it."""

from __future__ import annotations


def doctor() -> int:
    """What works here, what is missing, and what to do about it."""
    from moot.cli.follow import run
    from moot.cli.machine_checks import examine
    from moot.cli.render.output import Page, row, table

    findings = run(examine())
    page = Page.out()
    made = table("", "", "", "")
    made.show_header = False
    marks = {"good": ("✓", "green"), "note": ("·", "dim"), "bad": ("✗", "bold red")}
    for finding in findings:
        row(made, marks[finding.state], (finding.what, "bold"), finding.how, (finding.todo, "yellow"))
    made.columns[1].no_wrap = True
    page.table(made)
    bad = sum(finding.state == "bad" for finding in findings)
    page.line("")
    page.line("See the lines marked ✗." if bad else "All that Moot needs is here.")
    return 1 if bad else 0
