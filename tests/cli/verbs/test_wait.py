import json
import threading

import pytest
from tests.cli.support.fakes import FakeSession

from holdfast.cli.main import main

Capture = pytest.CaptureFixture[str]


def once_watched(web: FakeSession, *happens: tuple[str, object]) -> threading.Thread:
    """Let things happen as soon as somebody watches."""

    def act() -> None:
        web.wait_until(lambda: bool(web.attaches))
        for what, value in happens:
            getattr(web, what)(*() if value is None else (value,))

    thread = threading.Thread(target=act)
    thread.start()
    return thread


def test_what_was_printed_already_counts(web: FakeSession, capsys: Capture) -> None:
    web.prints(b"before listening on 80")

    assert main(["wait", "web", "--for", r"listening on \d+", "--json"]) == 0

    found = json.loads(capsys.readouterr().out)
    assert (found["offset"], found["next"]) == (7, 22)


def test_a_match_may_be_cut_anywhere(web: FakeSession) -> None:
    printing = once_watched(web, ("prints", b"listen"), ("prints", b"ing"))

    assert main(["wait", "web", "--for", "listening", "--timeout", "9"]) == 0
    printing.join()


def test_from_leaves_out_what_was_before(web: FakeSession, capsys: Capture) -> None:
    web.prints(b"done")

    words = ["wait", "web", "--for", "done", "--from", "4", "--timeout", "0.05"]
    assert main(words) == 75
    assert "did not happen within 50 ms" in capsys.readouterr().err


def test_a_session_that_ends_first_will_never_print_it(web: FakeSession) -> None:
    ending = once_watched(web, ("exits", 0))

    assert main(["wait", "web", "--for", "never", "--timeout", "9"]) == 64
    ending.join()


def test_exit_waits_for_the_end(web: FakeSession, capsys: Capture) -> None:
    ending = once_watched(web, ("prints", b"bye"), ("exits", 3))

    assert main(["wait", "web", "--for", "exit", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["exit"] == 3
    ending.join()
    assert main(["wait", "web", "--for", "exit", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["exit"] == 3


def test_quiet_waits_until_nothing_comes(web: FakeSession, capsys: Capture) -> None:
    printing = once_watched(web, ("prints", b"12345"))

    words = ["wait", "web", "--for", "quiet", "--quiet-for", "0.2", "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["offset"] == 5
    printing.join()


def test_quiet_may_not_come_in_time(web: FakeSession) -> None:
    assert main(["wait", "web", "--for", "quiet", "--timeout", "0.05"]) == 75
    assert web.detached == 0


def test_a_holder_that_dies_is_waited_for(web: FakeSession) -> None:
    happening = once_watched(
        web,
        ("prints", b"lis"),
        ("die", None),
        ("revive", None),
        ("prints", b"tening"),
    )

    assert main(["wait", "web", "--for", "tening", "--timeout", "9"]) == 0
    happening.join()


@pytest.mark.parametrize("words", [["--for", "("], ["--for", "x", "--from", "-1"]])
def test_what_makes_no_sense_is_refused(words: list[str], web: FakeSession) -> None:
    assert main(["wait", "web", *words]) == 64
    assert not web.attaches
