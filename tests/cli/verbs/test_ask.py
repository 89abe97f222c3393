import threading

import pytest
from tests.cli.support.fakes import OTHER, US, FakeSession

from holdfast.cli.main import main
from holdfast.model.errors import AskRefused
from holdfast.wire.codec import refusal
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import MAX_ASK_MS, Ask

Capture = pytest.CaptureFixture[str]


def test_ask_ends_well_when_the_turn_is_ours(web: FakeSession, capsys: Capture) -> None:
    web.passes_turn(OTHER)

    def give() -> None:
        web.wait_until(lambda: US in web.operating.waiting)
        web.passes_turn(US, "answered")

    giving = threading.Thread(target=give)
    giving.start()

    assert main(["ask", "web", "--wait"]) == 0
    giving.join()
    assert "you have the turn (epoch 2)" in capsys.readouterr().out
    assert isinstance(web.operating.requested[0], Ask)
    assert web.operating.requested[0].timeout_ms > MAX_ASK_MS - 60_000


def test_ask_that_is_refused_says_why_and_may_be_tried_again(
    web: FakeSession, capsys: Capture
) -> None:
    web.passes_turn(OTHER)

    def refuse() -> None:
        web.wait_until(lambda: US in web.operating.waiting)
        web.says(refusal(AskRefused(OTHER, "the holder said no"), FrameKind.ASK))

    refusing = threading.Thread(target=refuse)
    refusing.start()

    assert main(["ask", "web", "--timeout", "9"]) == 75
    refusing.join()
    assert "keeps the turn: the holder said no" in capsys.readouterr().err


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "1e9"])
def test_a_time_that_is_none_is_not_waited_for(
    seconds: str, web: FakeSession, capsys: Capture
) -> None:
    assert main(["ask", "web", "--timeout=" + seconds]) == 64
    assert "at most a day" in capsys.readouterr().err
    assert web.operating.requested == []
