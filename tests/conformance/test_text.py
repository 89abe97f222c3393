from holdfast.conformance.link import UnixCarrier
from holdfast.conformance.subject import Operator, Subject
from holdfast.conformance.text import as_json, line, printable, summary
from holdfast.conformance.verdict import Finding, Verdict

US = Operator("anna", "a_x", "human", b"")
SUBJECT = Subject("here", "s_x", lambda: UnixCarrier("/nowhere"), US, None)
FOUND = [
    Finding("4.5", "drop", "DROP frees the turn", Verdict.PASS, "epoch 1", 0.1),
    Finding("2.2", "oversize", "A frame", Verdict.FAIL, "it said \x1b[2J", 0.1),
    Finding("1.2", "name", "Who", Verdict.NOT_TRIED, "nobody", 0.1),
]


def test_each_verdict_has_a_word() -> None:
    words = [line(one, colour=False).split("  ")[0] for one in FOUND]

    assert words == ["pass", "FAIL", "not tried 1.2"]
    assert "\x1b[1;31mFAIL" in line(FOUND[1], colour=True)


def test_nothing_that_the_subject_said_is_obeyed_by_a_terminal() -> None:
    assert "\x1b" not in line(FOUND[1], colour=False)
    assert printable("a\x9bb\n") == "a?b?"


def test_the_last_line_counts() -> None:
    assert "1 passed, 1 failed, 1 not tried" in summary(SUBJECT, FOUND)


def test_a_failure_does_not_conform_and_what_was_not_tried_is_no_failure() -> None:
    assert not as_json(SUBJECT, FOUND)["conforms"]
    assert as_json(SUBJECT, [FOUND[0], FOUND[2]])["conforms"]
