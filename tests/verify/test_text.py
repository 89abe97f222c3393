from tests.verify.samples import BROKEN, HOLDS, MISSING, finding, report

from holdfast.verify.finding import Control
from holdfast.verify.mode import NOT_PROMISED
from holdfast.verify.text import rendered, summary


def test_each_mode_is_told_with_its_verdict_and_what_was_seen() -> None:
    found = report(finding(1, HOLDS), finding(2, BROKEN), finding(3, MISSING))

    text = rendered(found, 80, colour=False)

    assert "1  A client disconnects: pass (1.2 s)" in text
    assert "+ it lives\n         pid 12, next offset 4096" in text
    assert "2  The host dies: FAIL" in text
    assert "FAIL <b>it lives</b>" in text
    assert "3  A connection to outside breaks: not available here" in text
    assert "- a restore: not available here: no CRIU & no luck" in text
    assert "trigger" in text
    assert "handed off" in text


def test_it_ends_with_what_is_not_promised_and_the_result() -> None:
    text = rendered(report(finding(1, HOLDS)), 200, colour=False)

    told = text[text.index("Not promised") :]
    assert all(one in told for one in NOT_PROMISED)
    assert text.endswith("1 pass of 1, in 61 s\n")


def test_no_line_is_wider_than_the_terminal() -> None:
    controls = (Control("tmux", "server killed", survived=False, seen="gone " * 40),)
    text = rendered(report(finding(1, HOLDS), controls=controls), 70, colour=False)

    assert max(map(len, text.splitlines())) <= 70
    assert "LOST: gone gone" in text


def test_a_verdict_has_its_colour_on_a_terminal_only() -> None:
    found = report(finding(1, BROKEN))

    assert "\x1b[31mFAIL\x1b[0m" in rendered(found, 80, colour=True)
    assert "\x1b" not in rendered(found, 80, colour=False)


def test_the_result_counts_every_verdict() -> None:
    found = report(finding(1, HOLDS), finding(2, HOLDS, MISSING), finding(3, BROKEN))

    assert summary(found) == "1 pass, 1 pass in part, 1 FAIL of 3, in 61 s"
