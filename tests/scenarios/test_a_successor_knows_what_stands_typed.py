"""What an agent left typed is asked about by every later holder as well."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.scenarios.dozing import dozing_machine, fall_asleep, leave
from tests.scenarios.shells import shell
from tests.scenarios.support import Client, Machine, apply_policy

from holdfast.client import calls
from holdfast.holder.record.book_recovery import WINDOW
from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire
from holdfast.wire.intents import MAX_EFFECT, MAX_INTENT, MAX_PARAMETERS, Intend

POLICY = """
[default]
agent = "allow"

[[rule]]
name = "left-by-agents"
verdict = "ask"
kind = "human"
originator_kind = "agent"
staged = "line"
"""

SPEECH = Intend(
    act="run",
    intent="\U0001f600" * MAX_INTENT,
    effect="\U0001f600" * MAX_EFFECT,
    parameters="\U0001f600" * MAX_PARAMETERS,
    prompt="",
    expects="",
    idempotent=False,
    attempt=1,
)
LINE = b"touch left-by-the-agent"


@pytest.fixture
def here() -> Iterator[Machine]:
    with dozing_machine() as made:
        apply_policy(POLICY)
        yield made


@pytest.fixture
def session(here: Machine, tmp_path: Path) -> SessionId:
    return shell(here, tmp_path, "bash")


def leaves(here: Machine, session: SessionId, keys: bytes, *, is_long: bool) -> Client:
    """Have an agent leave a line, and perhaps as much in the book as is read again."""
    bots = [here.join(session, name, ActorKind.AGENT) for name in ("bot", "other")]
    assert isinstance(bots[0].enter(keys), wire.Acknowledge)
    while is_long and places.session_log(session).stat().st_size <= WINDOW:
        for bot in bots:
            bot.request(SPEECH)  # Some come too fast, and are refused.
    for bot in bots:
        leave(bot)
    return bots[0]


def killed(here: Machine, session: SessionId) -> None:
    here.replace_holder(session)


SUCCESSIONS = {"killed": killed, "dozing": fall_asleep}


@pytest.mark.parametrize("is_long", [True, False], ids=["long book", "short book"])
@pytest.mark.parametrize("keys", [LINE, LINE + b"\x01\x15\x16\r"])
@pytest.mark.parametrize("succeed", SUCCESSIONS.values(), ids=SUCCESSIONS)
def test_the_next_holder_knows_the_line(
    here: Machine,
    session: SessionId,
    succeed: Callable[[Machine, SessionId], None],
    keys: bytes,
    *,
    is_long: bool,
) -> None:
    bot = leaves(here, session, keys, is_long=is_long)

    succeed(here, session)

    anna = here.join(session)
    report = calls.blame(session, "line")
    hands = {*(one.actor for one in report.by), *report.others}
    assert bot.operator.actor.id in hands
    anna.post(b"\r")
    assert isinstance(
        anna.wait(wire.Acknowledge, wire.Refuse, wire.Pending), wire.Pending
    )
