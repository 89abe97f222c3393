import os
import signal
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.judges import (
    ask_at,
    command,
    install_plugins,
    is_gone,
    judge_pid,
    running_engine,
    shell,
    use,
    wait_asleep,
)
from tests.scenarios.shells import local_flags
from tests.scenarios.support import Machine, eventually, machine

from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire
from holdfast.wire.trials import Tried, Try


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        install_plugins()
        yield made


def test_t19_a_human_seizes_while_a_plug_in_sleeps(here: Machine) -> None:
    session, bot, anna = shell(here)
    use("sleeps_once")
    bot.post(b"echo precious\r", InputKind.COMMAND)
    worker = wait_asleep(session)

    assert anna.request(wire.Seize(wire.Halt.NONE)) is None

    # Had it waited for the plug-in, the policy would have refused this first.
    answer = bot.settle()
    assert isinstance(answer, wire.Refuse)
    assert answer.code == "turn-moved"
    assert anna.who().holder == anna.operator.actor.id
    assert isinstance(command(anna, b"echo fine\r"), wire.Acknowledge)
    assert b"precious" not in anna.wait_output(b"\rfine\r\n")
    eventually("nobody works for nobody", lambda: is_gone(worker))


def test_everything_else_goes_on_while_a_plug_in_sleeps(here: Machine) -> None:
    session, bot, anna = shell(here)
    use("sleeps")
    bot.post(b"echo precious\r", InputKind.COMMAND)
    wait_asleep(session)

    assert anna.who().holder == ""
    assert anna.request(wire.Freeze()) is None

    answer = bot.settle()
    assert isinstance(answer, wire.Refuse)
    assert answer.code == "frozen"
    assert anna.request(wire.Thaw()) is None


def test_a_judge_that_is_killed_denies_and_the_next_works(here: Machine) -> None:
    session, bot, _ = shell(here)
    use("sleeps_once")
    bot.post(b"echo precious\r", InputKind.COMMAND)
    worker, killed = wait_asleep(session), judge_pid(here)
    assert killed  # 0 would be ourselves.

    os.kill(killed, signal.SIGKILL)

    answer = bot.settle()
    assert isinstance(answer, wire.Refuse)
    assert answer.code == "policy-unavailable"
    assert "lost its judge" in str(answer.facts["why"])
    assert isinstance(command(bot, b"echo fine\r"), wire.Acknowledge)
    assert judge_pid(here) not in (0, killed)
    eventually("its worker went with it", lambda: is_gone(worker))


def test_a_judge_that_stands_still_denies(here: Machine) -> None:
    _, bot, _ = shell(here)
    use("allows")
    command(bot, b"true\r")
    stopped = judge_pid(here)
    assert stopped  # 0 would be ourselves.
    os.kill(stopped, signal.SIGSTOP)

    answer = command(bot, b"echo judged\r")

    # Nobody's silence allows anything: either it was refused, or it was the judge that
    # took the place of this one who allowed it.
    if isinstance(answer, wire.Refuse):
        assert "no answer from its judge in time" in str(answer.facts["why"])
    else:
        assert judge_pid(here) not in (0, stopped)
    eventually("it is replaced", lambda: is_gone(stopped))
    assert isinstance(command(bot, b"true\r"), wire.Acknowledge)


def test_a_holder_that_is_killed_takes_its_question_along(here: Machine) -> None:
    session, bot, anna = shell(here)
    use("sleeps_once")
    bot.request(wire.Take())
    bot.submit(b"echo fine\r", InputKind.COMMAND)
    worker = wait_asleep(session)

    here.kill("holder", session)

    eventually("nobody works for nobody", lambda: is_gone(worker))
    # The agent asks again, with the same id, and the plug-in is awake now.
    assert isinstance(bot.settle_through_cuts(), wire.Acknowledge)
    assert anna.wait_output(b"\rfine\r\n").count(b"\rfine\r\n") == 1


def test_who_only_asks_keeps_nobody_from_acting(here: Machine) -> None:
    session, bot, anna = shell(here)
    use("sleeps_once")
    trial = Try(bot.operator.actor.id, InputKind.COMMAND, b"echo x\r", None)

    for _ in range(50):
        bot.send(trial)
    wait_asleep(session)

    assert isinstance(command(anna, b"echo fine\r"), wire.Acknowledge)
    said = [bot.wait(Tried) for _ in range(50)]
    assert any("too much at once" in one.why for one in said)


def test_a_question_that_nobody_waits_for_is_taken_back(here: Machine) -> None:
    first, earlier, _ = shell(here)
    use("sleeps")
    earlier.post(b"true\r", InputKind.COMMAND)
    longer = wait_asleep(first)
    second = here.new("bash", "--norc", "-i")
    bot = here.join(second, "bot", ActorKind.AGENT)
    anna = here.join(second)
    bot.post(b"true\r", InputKind.COMMAND)
    worker = wait_asleep(second)

    anna.request(wire.Seize(wire.Halt.NONE))

    eventually("nobody works for nobody", lambda: is_gone(worker))
    # Were it the deadline that ended it, this one would have gone before.
    assert not is_gone(longer)


def test_t67_echo_that_goes_off_while_somebody_is_asked_keeps_a_secret(
    here: Machine, tmp_path: Path
) -> None:
    with running_engine() as engine:
        flag = tmp_path / "flag"
        session = here.new(
            "bash", "-c", f"while [ ! -e {flag} ]; do :; done; stty -echo; read x"
        )
        anna = here.join(session)
        ask_at(f"{engine.url}/slow")
        anna.post(b"hunter2\r")
        eventually("it is asked", lambda: engine.heard)

        flag.touch()
        eventually("no echo", lambda: not local_flags(here, session) & termios.ECHO)
        engine.is_released.set()

        # On a machine that is slow beyond belief it is refused; nothing leaks.
        anna.settle()
    assert b"aHVudGVyMg" not in places.session_log(session).read_bytes()
