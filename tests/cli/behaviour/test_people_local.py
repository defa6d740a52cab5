"""People at the terminal: they speak, judge and vote, typed or from a pipe, here and from another one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from moot.core.events import decode_recorded
from moot.core.evolve import fold
from moot.core.state import Debate
from moot.core.terms import Ballot
from tests.cli.conftest import Hold, Moot
from tests.cli.terminal import Terminal, environment, piped, words
from tests.support.moot_process import Moot as Program

MOTION = "Tea is better than coffee"
AGAINST_ME = ("--for", "human", "--against", "scripted/demo", "--judge", "scripted/judge")
CTRL_C, CTRL_D = "\x03", "\x04"


def spoken(data: Path, *arguments: str, typed: str, pace_ms: int = 0) -> subprocess.CompletedProcess[str]:
    return piped(environment(data, pace_ms), MOTION, *arguments, stdin=typed)


def debate_in(moot: Moot) -> Debate:
    """How the last one stands."""
    _, out, _ = moot("show", "--json")
    debate = fold(decode_recorded(line) for line in out.splitlines())
    assert debate is not None
    return debate


@contextmanager
def waiting(data: Path, *arguments: str, pace_ms: int = 0) -> Iterator[subprocess.Popen[str]]:
    """A debate in another process, which somebody can type into."""
    process = Program(
        MOTION,
        *arguments,
        "--json",
        env=environment(data, pace_ms),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def until(process: subprocess.Popen[str], tag: str, **members: Any) -> dict[str, Any]:
    assert process.stdout is not None
    for line in process.stdout:
        event = json.loads(line)["event"]
        if event["type"] == tag and members.items() <= event.items():
            return event
    raise AssertionError(f"never saw {tag}: {process.communicate()[1]}")


# --- speaking -----------------------------------------------------------------------------------------


def test_a_person_speaks_from_a_pipe_and_hears_but_does_not_read_minds(data: Path, moot: Moot):
    done = spoken(data, *AGAINST_ME, "--rounds", "2", typed="Tea is calm.\nAnd cheap.\n\nStill so.\n\n")
    assert done.returncode == 0, done.stderr
    assert "Proposition\tfor\ta person" in done.stdout
    assert "    Tea is calm.\n    And cheap.\n    5 words by hand\n" in done.stdout
    assert "Thinks:" not in done.stdout
    told = " ".join(done.stderr.split())
    assert "You speak for the motion: Opening statement, 200 words, 5:00 minutes." in told
    assert told.count("An empty line or Ctrl-D gives the speech.") == 1
    debate = debate_in(moot)
    assert [turn.text for turn in debate.turns if turn.seat == "part_1"] == [
        "Tea is calm.\nAnd cheap.",
        "Still so.",
    ]
    assert "Thinks:" in moot("show")[1]


def test_whoever_has_nothing_to_say_passes_or_leaves_the_seat_to_a_model(data: Path, moot: Moot):
    stand_in = ("--stand-in", "scripted/second")
    done = spoken(data, *AGAINST_ME, *stand_in, "--rounds", "2", typed="/what\n/skip\n/leave\n")
    assert done.returncode == 0, done.stderr
    assert "a person · scripted/second stands in" in done.stdout
    assert "The person in the seat of Proposition leaves: scripted/second speaks instead." in done.stdout
    states = [(turn.state, turn.by) for turn in debate_in(moot).turns if turn.seat == "part_1"]
    assert states == [("interrupted", "skip"), ("interrupted", "absent"), ("completed", "")]


def test_without_a_stand_in_nobody_can_leave(data: Path):
    done = spoken(data, *AGAINST_ME, "--rounds", "1", typed="/leave\nHere I am.\n\n")
    assert done.returncode == 0
    assert "No model stands in for this seat." in done.stderr


def test_a_text_that_ends_too_early_pauses_and_the_draft_is_found_again(data: Path, moot: Moot):
    done = spoken(data, *AGAINST_ME, "--rounds", "1", typed="Tea is calm.\nAnd cold.\n/undo\n/quit\n")
    assert done.returncode == 130
    assert "moot resume deb_" in done.stderr
    assert debate_in(moot).drafts == {"part_1": "Tea is calm."}
    resumed = piped(environment(data), "resume", stdin="And cheap.\n")
    assert resumed.returncode == 0, resumed.stderr
    assert "Kept from before: Tea is calm." in resumed.stderr
    said = [turn.text for turn in debate_in(moot).turns if turn.has_words]
    assert said[0] == "Tea is calm.\nAnd cheap."


def test_an_empty_text_is_nobody_at_the_terminal(data: Path):
    done = spoken(data, *AGAINST_ME, "--rounds", "1", typed="")
    assert done.returncode == 130
    assert "Continue: moot resume deb_" in done.stderr


def test_whoever_resumes_is_told_what_was_said_last(data: Path):
    spoken(data, "--for", "scripted/demo", "--against", "human", "--rounds", "1", typed="")
    resumed = piped(environment(data), "resume", stdin="No.\n")
    assert resumed.returncode == 0, resumed.stderr
    assert "Proposition said last: " in resumed.stderr


def test_when_the_time_is_up_what_was_written_is_said(data: Path, moot: Moot):
    with waiting(data, *AGAINST_ME, "--rounds", "1", "--person-seconds", "1.5") as process:
        until(process, "turn.started", seat="part_1")
        assert process.stdin is not None
        process.stdin.write("Half a thought\n")
        process.stdin.flush()
        assert until(process, "turn.completed")["truncated"] == "timeout"
        until(process, "debate.ended")
    assert next(turn.text for turn in debate_in(moot).turns) == "Half a thought"


def test_on_a_terminal_the_words_stand_on_the_page_once(data: Path):
    with Terminal(environment(data), MOTION, *AGAINST_ME, "--rounds", "1") as terminal:
        terminal.until("200 words left · 5:00 ›")
        terminal.type("Tea keeps one awake.\n")
        terminal.until("196 words left")
        terminal.type(CTRL_D)
        assert terminal.ended() == 0
    page = words(terminal.output)
    assert page.count("Tea keeps one awake.") == 1
    assert "4 words by hand" in page
    assert "── Verdict" in page


def test_an_interrupt_keeps_what_was_typed(data: Path, moot: Moot):
    with Terminal(environment(data), MOTION, *AGAINST_ME, "--rounds", "1") as terminal:
        terminal.until("words left")
        terminal.type("Tea keeps one awake.\n")
        terminal.until("196 words left")
        terminal.type(f"and unfinis{CTRL_C}")
        assert terminal.ended() == 130
    assert debate_in(moot).drafts == {"part_1": "Tea keeps one awake."}


# --- from another terminal ----------------------------------------------------------------------------


def test_a_seat_is_taken_spoken_for_and_left_from_another_terminal(data: Path, moot: Moot):
    models = ("--for", "scripted/a", "--against", "scripted/b", "--judge", "scripted/c", "--rounds", "2")
    with waiting(data, *models, pace_ms=15) as process:
        until(process, "call.delta", kind="text")
        code, done, hint = moot("take", "last", "against", "--name", "Zoe")
        assert (code, done) == (0, "You sit down as against.\n")
        assert "moot watch last --as against" in hint
        assert until(process, "seat.taken")["by"] == "Zoe"
        until(process, "turn.started", seat="part_2")
        assert moot("draft", "last", "Coffee") == (0, "Kept.\n", "")
        assert moot("say", "last", "Coffee wakes.") == (0, "You have spoken.\n", "")
        until(process, "turn.completed", words=2)
        assert moot("leave") == (0, "You have left your seat.\n", "")
        until(process, "debate.ended")
    page = moot("show")[1]
    assert "Zoe sits down as Opposition; scripted/b stands in." in page
    assert "The person in the seat of Opposition leaves: scripted/b speaks instead." in page
    assert "    Coffee wakes.\n    2 words by hand\n" in page
    assert "Take one first: moot take ID SEAT" in moot("say", "last", "More.")[2]


def test_who_watches_as_a_seat_is_asked_there(data: Path, moot: Moot):
    with waiting(data, *AGAINST_ME, "--rounds", "1") as process:
        until(process, "turn.started", seat="part_1")
        there = piped(environment(data), "watch", "last", "--as", "for", stdin="From the other room.\n\n")
        assert there.returncode == 0, there.stderr
        assert "From the other room." in there.stdout
        until(process, "debate.ended")
    assert debate_in(moot).turns[0].text == "From the other room."


def test_a_moderator_asks_and_gives_more_time(data: Path, moot: Moot):
    with waiting(data, *AGAINST_ME, "--rounds", "1") as process:
        until(process, "turn.started", seat="part_1")
        assert moot("ask", "last", "Who pays?", "--to", "against") == (0, "The question is put.\n", "")
        assert moot("extend", "last", "--seconds", "60") == (0, "Extended.\n", "")
        assert until(process, "turn.extended")["seconds"] == 60.0
        assert moot("say", "last", "All of us.")[0] == 0
        until(process, "debate.ended")
    page = moot("show")[1]
    assert "Proposition has 1:00 minutes more." in page
    assert "A question from the floor to demo: “Who pays?”" in page


def test_a_draft_can_be_said_as_it_stands_and_a_speech_come_from_a_file(data: Path, moot: Moot):
    with waiting(data, *AGAINST_ME, "--rounds", "2") as process:
        until(process, "turn.started", seat="part_1")
        assert piped(environment(data), "draft", "last", "-", stdin="From a file.").returncode == 0
        assert moot("say", "last")[0] == 0
        until(process, "turn.started", seat="part_1")
        assert piped(environment(data), "say", "last", "-", stdin="Once more.").returncode == 0
        until(process, "debate.ended")
    assert [t.text for t in debate_in(moot).turns if t.seat == "part_1"] == ["From a file.", "Once more."]


def test_a_text_with_paragraphs_can_be_pasted(data: Path, moot: Moot):
    with Terminal(environment(data), MOTION, *AGAINST_ME, "--rounds", "1") as terminal:
        terminal.until("words left")
        terminal.type("First paragraph.\n\nSecond paragraph.\n")
        terminal.until("196 words left")
        terminal.type("\n")
        assert terminal.ended() == 0
    assert debate_in(moot).turns[0].text == "First paragraph.\n\nSecond paragraph."


def test_who_opens_at_the_same_time_reads_the_other_when_they_have_spoken(data: Path, moot: Moot):
    options = ("--for", "scripted/demo", "--against", "human", "--judge", "none", "--rounds", "1", "--blind")
    with Terminal(environment(data), MOTION, *options) as terminal:
        terminal.until("words left")
        while not debate_in(moot).turns:
            pass
        terminal.type("Coffee wakes.\n\n")
        assert terminal.ended() == 0
    other = debate_in(moot).turns[0].text
    page = " ".join(words(terminal.output).replace("┃", "").split())
    assert page.index("words by hand") < page.index(other[:50])
    assert "Proposition Opening statement" not in page[: page.index("You speak against the motion")]


def test_who_comes_back_to_a_blind_opening_reads_the_other_when_they_have_spoken(data: Path, moot: Moot):
    options = ("--for", "scripted/demo", "--against", "human", "--judge", "none", "--rounds", "1", "--blind")
    assert spoken(data, *options, typed="").returncode == 130
    resumed = piped(environment(data), "resume", "last", stdin="Coffee wakes.\n")
    assert resumed.returncode == 0, resumed.stderr
    other = next(turn.text for turn in debate_in(moot).turns if turn.has_words and turn.seat == "part_1")
    page = " ".join(resumed.stdout.split())
    assert page.index("words by hand") < page.index(other[:50])


def left_by_a_process_that_died(data: Path, *arguments: str) -> None:
    with waiting(data, *arguments, pace_ms=50) as process:
        until(process, "call.started")


def test_a_draft_is_only_kept_where_nobody_runs_the_debate(data: Path, moot: Moot):
    left_by_a_process_that_died(data, *AGAINST_ME)
    kept = piped(environment(data), "draft", "last", "Not yet.")
    assert (kept.returncode, kept.stdout) == (0, "Kept.\n")
    assert "Continue: moot resume deb_" in kept.stderr
    assert debate_in(moot).drafts == {"part_1": "Not yet."}


def test_a_remark_does_not_wait_for_a_debate_that_nobody_runs(data: Path):
    left_by_a_process_that_died(data, "--model", "scripted/demo")
    said = piped(environment(data), "inject", "last", "Be brief.")
    assert said.returncode == 0
    assert "Continue: moot resume deb_" in said.stderr


def test_what_was_kept_is_not_said_by_a_terminal_where_nobody_sits(data: Path, moot: Moot):
    left_by_a_process_that_died(data, *AGAINST_ME)
    piped(environment(data), "draft", "last", "Not yet.")
    assert piped(environment(data), "resume", "last").returncode == 130
    assert debate_in(moot).drafts == {"part_1": "Not yet."}


# --- judging ------------------------------------------------------------------------------------------

MODELS = ("--for", "scripted/a", "--against", "scripted/b", "--rounds", "1")


def test_a_person_judges_from_a_pipe(data: Path, moot: Moot):
    typed = "nobody\nagainst\nIt was answered.\nPlainly.\n\n1 9\n1, 2\n"
    done = spoken(data, *MODELS, "--judge", "human", typed=typed)
    assert done.returncode == 0, done.stderr
    assert "b wins, arguing against" in done.stdout
    assert "Key speeches: a, Opening statement (speech 1); b," in done.stdout
    assert "There is no seat 'nobody' here." in done.stderr
    assert "There is no speech 9. Known: 1, 2." in done.stderr
    judging = debate_in(moot).judging
    assert judging is not None
    assert judging.ballots == (
        Ballot("judge_1", 0, "part_2", {}, "It was answered.\nPlainly.", cites=(1, 2)),
    )


def test_a_ballot_is_cast_from_another_terminal(data: Path, moot: Moot):
    with waiting(data, *MODELS, "--judge", "human") as process:
        until(process, "judging.started")
        assert moot("ballot", "last", "draw", "Level.", "--speeches", "1 2")[:2] == (
            0,
            "Your ballot is cast.\n",
        )
        assert until(process, "verdict.reached")["verdict"]["outcome"] == "draw"


def test_a_panel_of_people_and_models_is_shown_judge_by_judge(data: Path, moot: Moot):
    panel = ("--judge", "scripted/x", "--judge", "scripted/y", "--judge", "human")
    done = spoken(data, *MODELS, *panel, typed="for\nClearer.\n\n1\n")
    assert done.returncode == 0, done.stderr
    assert "Clearer." in done.stdout
    told = moot("verdicts")[1]
    assert "Judge 3  a person\n    a\n    Clearer.\n" in told
    assert told.count("Key speeches: ") >= 5


def test_a_debate_is_judged_again_and_the_first_verdict_stays(hold: Hold, moot: Moot):
    hold(rounds=1)
    first = debate_in(moot).verdict
    code, out, _ = moot("rejudge", "last", "--judge", "scripted/other", "--criterion", "Who was clearer?")
    assert code == 0
    assert "── Judged again ──" in out
    debate = debate_in(moot)
    assert debate.verdict == first
    assert len(debate.verdicts) == 2
    assert debate.judgings[1].judges[0].criteria == ("Who was clearer?",)
    told = moot("verdicts")[1]
    assert told.index("The verdict") < told.index("Judged again, 1")
    assert "── Judged again ──" in moot("show")[1]


def test_a_second_look_that_was_left_is_taken_up_again(hold: Hold, data: Path, moot: Moot):
    hold(rounds=1)
    left = piped(environment(data), "rejudge", "last", "--judge", "human")
    assert left.returncode == 130
    assert "It is being judged again. Continue: moot resume deb_" in left.stderr
    done = piped(environment(data), "resume", stdin="draw\nLevel.\n\n\n2\n")
    assert done.returncode == 0, done.stderr
    assert "A draw" in done.stdout
    assert [verdict.outcome for verdict in debate_in(moot).verdicts][1] == "draw"


def test_before_there_is_a_verdict_that_is_said(data: Path, moot: Moot):
    spoken(data, *AGAINST_ME, typed="")
    assert moot("verdicts") == (0, "There is no verdict yet.\n", "")


# --- the audience -------------------------------------------------------------------------------------


def test_an_audience_votes_before_and_after_and_the_swing_is_shown(data: Path, moot: Moot):
    with waiting(data, *MODELS, "--audience", "600", "--winning", "audience") as process:
        until(process, "poll.opened", poll="before")
        for voter, choice in (("ann", "against"), ("bob", "undecided"), ("cid", "for")):
            assert moot("vote", "last", choice, "--voter", voter) == (0, "Your vote is cast.\n", "")
        code, _, err = moot("vote", "last", "for", "--voter", "ann")
        assert (code, "You have voted." in err) == (1, True)
        assert "before the debate\t3 votes, open" in moot("polls")[1]
        assert moot("polls", "close")[1] == "The vote is closed.\n"
        until(process, "poll.opened", poll="after")
        for voter in ("ann", "bob", "cid"):
            moot("vote", "last", "for", "--voter", voter)
        assert moot("polls", "close", "last")[0] == 0
        until(process, "debate.ended")
    page = moot("show")[1]
    assert "the audience decides" in page
    assert "The audience votes for 10:00 minutes: for, against, undecided." in page
    assert "The vote is closed: 3 votes." in page
    assert "── The audience ──" in page
    assert "For\t1\t3\t+66.7" in page
    assert "Only 3 people voted both before and after: too few to say how sure this is." in page
    assert "a wins the vote, arguing for" in page
    assert moot("polls")[1].startswith("  For, by a swing of")


def test_a_debater_is_shown_what_the_audience_said_when_it_is_told(data: Path, moot: Moot):
    with Terminal(environment(data), MOTION, *AGAINST_ME, "--rounds", "1", "--audience", "600") as terminal:
        terminal.until("votes for 10:00")
        moot("vote", "last", "against", "--voter", "ann")
        moot("polls", "close")
        terminal.until("words left")
        terminal.type("Tea is calm.\n\n")
        while (poll := debate_in(moot).poll("after")) is None or moot("vote", "last", "for")[0]:
            assert poll is None
        moot("polls", "close")
        assert terminal.ended() == 0
    assert "── The audience ──" in words(terminal.output)


def test_nobody_reads_in_the_log_who_voted_what(data: Path, moot: Moot):
    with waiting(data, *MODELS, "--audience", "600") as process:
        until(process, "poll.opened")
        moot("vote", "last", "against", "--voter", "ann")
        vote = until(process, "vote.cast")
    assert (vote["voter"], vote["choice"]) == ("", "")
    assert '"ann"' not in moot("show", "--json")[1]


def test_a_debate_without_an_audience_says_so(hold: Hold, moot: Moot):
    hold(rounds=1)
    assert moot("polls") == (0, "The audience is not asked in this debate.\n", "")
    assert moot("vote", "last", "for")[0] == 1


def test_a_vote_without_a_clock_waits_for_somebody_who_closes_it(data: Path, moot: Moot):
    code, _, hint = moot(MOTION, *MODELS, "--winning", "audience")
    assert code == 0
    assert "moot vote deb_" in hint
    assert "moot polls close deb_" in hint
    assert "Opening statement" in moot("polls", "close")[1]


# --- invitations --------------------------------------------------------------------------------------


def test_people_are_invited_listed_and_uninvited(hold: Hold, moot: Moot):
    debate_id = hold(rounds=1)
    code, link, _ = moot("invite", "last", "participant", "--seat", "against", "--name", "Zoe")
    assert code == 0
    assert link.startswith(f"/debate/{debate_id}#token=")
    assert moot("invite", "last", "audience", "--many", "--days", "2")[0] == 0
    listed = moot("invite", "last")[1]
    assert "Zoe" in listed
    assert "many, by one link" in listed
    assert moot("invite", "last", "--withdraw", "Zoe") == (0, "Withdrawn: Zoe.\n", "")
    assert "Zoe" not in moot("invite", "last")[1]
    for wrong in (["participant"], ["judge"], ["observer", "--many"], ["observer", "--days", "0"]):
        assert moot("invite", "last", *wrong)[0] == 2
    assert moot("invite", "last", "--withdraw", "Zoe")[0] == 2


# --- options ------------------------------------------------------------------------------------------


def test_the_options_for_people_reach_the_debate(moot: Moot):
    _, out, _ = moot(
        MOTION, "--for", "scripted/a", "--against", "scripted/b", "--judge", "scripted/c",
        "--judge", "scripted/d", "--audience", "0.1", "--objective", "Whom to invite.", "--prep", "--blind",
        "--reading", "by-side", "--winning", "self-terminate", "--rounds", "1", "--json",
    )  # fmt: skip
    debate = fold(decode_recorded(line) for line in out.splitlines())
    assert debate is not None
    setup = debate.setup
    assert [judge.model.name for judge in debate.judges] == ["c", "d"]
    assert (setup.objective, setup.prep, setup.blind) == ("Whom to invite.", True, True)
    assert (setup.reading, setup.winning) == ("by-side", "self-terminate")
    assert setup.polls is not None
    assert setup.polls.seconds == 0.1
    assert debate.polls[1].closed_at is not None


def test_what_is_wrong_with_people_is_said_by_its_option(moot: Moot):
    code, _, err = moot(MOTION, *MODELS, "--audience", "0", "--person-seconds", "-1")
    assert code == 2
    assert "--audience: Must be greater than 0" in err
    assert "--person-seconds: Must be greater than 0" in err
    assert moot("say", "last", "Hello.")[0] == 2


def test_nobody_is_asked_twice_for_what_was_answered_elsewhere(data: Path):
    with Terminal(environment(data), MOTION, *AGAINST_ME, "--rounds", "1") as terminal:
        terminal.until("words left")
        assert piped(environment(data), "say", "last", "Spoken elsewhere.").returncode == 0
        assert terminal.ended() == 0
    page = words(terminal.output)
    assert page.count("words left") == 1
