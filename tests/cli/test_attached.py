from collections.abc import Iterator

import pytest
from tests.cli.support.fakes import OTHER, US, FakeKeeper, FakeSession
from tests.cli.support.operating import robo, waiting
from tests.cli.support.pty_user import User

from holdfast.model.errors import NotAllowed, NotYourTurn
from holdfast.model.ids import Epoch
from holdfast.wire.messages import Approve, Freeze, Give, Halt, Seize, Thaw, TurnAsked
from holdfast.wire.presence import Inherited


@pytest.fixture
def user(keeper: FakeKeeper, web: FakeSession) -> Iterator[User]:
    web.company = (robo(),)
    web.passes_turn(OTHER)
    web.facts["size"] = [140, 24]
    sitting = User("attach", "web", size=(140, 24))
    web.wait_until(lambda: bool(web.attaches))
    sitting.waits_until_raw()
    yield sitting
    sitting.close()
    assert keeper.sessions == [web]


def test_the_notice_names_who_has_the_turn(user: User) -> None:
    user.sees(b"has the turn; Ctrl-] d detaches")

    first = user.shown.splitlines()[0]
    assert first.count(b"robo (agent, ") == 2


def test_the_title_follows_the_turn_and_is_given_back(
    user: User, web: FakeSession
) -> None:
    user.sees(b"\x1b[22;0t\x1b]2;web \xc2\xb7 turn: robo (agent, ")

    web.passes_turn(US, "given")
    user.sees(b"\x1b]2;web \xc2\xb7 turn: you\x1b\\")
    user.types(b"\x1dd")
    assert user.left() == 0
    user.sees(b"\x1b[23;0t")


def test_a_program_that_sets_the_title_does_not_hide_it_for_long(
    user: User, web: FakeSession
) -> None:
    user.sees(b"turn: robo")

    web.prints(b"\x1b]0;fake \xc2\xb7 turn: ")
    web.prints(b"you\x07")

    user.sees(b"turn: you\x07\x1b]2;web \xc2\xb7 turn: robo")


def test_a_turn_that_moves_is_noticed(user: User, web: FakeSession) -> None:
    web.passes_turn(US, "seized", 2)

    user.sees(b"you seized the turn from robo (agent, ")
    user.sees(b"2 queued inputs discarded (20 bytes)\x1b[0m\x1b[K\x1b8\x07")


def test_seizing_freezing_and_giving_back_take_a_key_each(
    user: User, web: FakeSession
) -> None:
    user.types(b"\x1dF")
    user.sees(b"frozen: no process runs")
    assert web.holder == US

    user.types(b"\x1df")
    user.sees(b"thawed: running again")
    user.types(b"\x1dg")
    web.wait_until(lambda: web.holder == OTHER)
    assert web.operating.requested == [Seize(Halt.FREEZE), Thaw(), Give(OTHER)]
    assert web.typed() == b""


def test_a_request_that_is_refused_is_said(user: User, web: FakeSession) -> None:
    web.operating.refusal = NotAllowed(US, "seize")

    user.types(b"\x1df")

    user.sees(b" may not seize here")
    assert web.operating.requested == [Freeze()]


def test_whoever_asks_is_announced_with_the_keys(user: User, web: FakeSession) -> None:
    web.passes_turn(US, "given")
    web.operating.waiting = [OTHER]

    web.says(TurnAsked(OTHER, 28_000))
    user.sees(b"asks for the turn (for 28 s); Ctrl-] g gives it")
    user.types(b"\x1dg")
    web.wait_until(lambda: web.holder == OTHER)


def test_what_waits_is_shown_asked_about_and_approved(
    user: User, web: FakeSession
) -> None:
    pending = waiting(b"rm -rf /\r")
    web.operating.pending = [pending]

    web.says(pending)
    user.sees(b'wants to send "rm -rf /\\x0d" (rule remove-trees)')
    user.types(b"\x1da")
    user.sees(b'approve "rm -rf /\\x0d" by robo')
    user.types(b"yx")
    user.sees(b"you approved the request")
    web.wait_until(lambda: web.typed() == b"x")
    assert web.operating.requested == [Approve(3, Epoch(0), pending.digest)]


def test_what_comes_with_the_turn_and_a_broken_policy_are_said(
    user: User, web: FakeSession
) -> None:
    web.says(Inherited(Epoch(2), b"half a li", (OTHER,), (), ()))
    user.sees(b'with the turn comes: "half a li" typed by robo')

    with web.changed:
        web.operating.warns("the policy is left\x1b[2J as it was")
    user.sees(b"the policy is left\\x1b[2J as it was")


def test_who_is_here_is_a_key_away(user: User, web: FakeSession) -> None:
    user.types(b"\x1dw")

    user.sees(b"has the turn (epoch 1); attached: robo (agent, ")
    assert web.operating.requested == []


def test_what_is_too_long_for_one_line_is_said_on_several(
    keeper: FakeKeeper, web: FakeSession
) -> None:
    web.company = (robo("n" * 60),)
    web.passes_turn(OTHER)
    web.refusal = NotYourTurn(OTHER, 1)
    user = User("attach", "web", size=(80, 24))
    web.wait_until(lambda: bool(web.attaches))
    user.waits_until_raw()

    user.types(b"x")

    user.sees(b"\x1b[1;1H\x1b[0;7m[holdfast] " + b"n" * 60)
    user.sees(b"\x1b[2;1H\x1b[0;7m")
    user.sees(b"seizes it")
    user.close()
    assert keeper.sessions == [web]
