import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.copies import PRESENT, finish, start_upgrade
from tests.scenarios.judges import (
    command,
    install_plugins,
    is_gone,
    judge_pid,
    refused,
    shell,
    use,
)
from tests.scenarios.support import Machine, eventually, machine

from holdfast.linux.programs import PASSED
from holdfast.linux.stored import places
from holdfast.wire import messages as wire


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        install_plugins()
        yield made


def test_nobody_judges_until_a_policy_has_somebody_to_ask(here: Machine) -> None:
    _, bot, anna = shell(here)
    refused(bot)
    bot.request(wire.Drop())
    anna.who()
    command(anna, b"true\r")

    assert judge_pid(here) == 0
    use("allows")
    command(anna, b"true\r")
    assert judge_pid(here) > 0


def test_a_plug_in_is_not_taken_from_where_programs_may_write() -> None:
    with tempfile.TemporaryDirectory() as elsewhere:
        install_plugins(Path(elsewhere))
        os.environ["PYTHONPATH"] = elsewhere
        try:
            with machine() as here:
                _, bot, _ = shell(here)
                use("allows")

                found = refused(bot)
        finally:
            del os.environ["PYTHONPATH"]

    assert "of which there are 0" in str(found.facts["why"])


def test_a_judge_has_little_of_ours(here: Machine) -> None:
    _, bot, _ = shell(here)
    use("allows")
    command(bot, b"true\r")
    pid = judge_pid(here)

    folder = Path(f"/proc/{pid}")
    variables = (folder / "environ").read_bytes().decode().split("\0")
    assert {one.partition("=")[0] for one in variables if one} <= {*PASSED}
    assert os.getsid(pid) == pid
    assert (folder / "cwd").readlink() == Path("/")
    assert places.judge_socket().stat().st_mode & 0o777 == 0o600


def test_after_an_upgrade_the_judge_is_of_the_new_code(here: Machine) -> None:
    _, bot, _ = shell(here)
    use("allows")
    command(bot, b"true\r")
    first = judge_pid(here)

    said = finish(start_upgrade(PRESENT))

    assert "after" in said, said
    eventually("it is gone", lambda: judge_pid(here) != first)
    bot.attach()
    assert isinstance(command(bot, b"echo fine\r"), wire.Acknowledge)
    assert judge_pid(here) not in (0, first)


def test_a_keeper_that_is_killed_leaves_somebody_to_ask(here: Machine) -> None:
    session, bot, _ = shell(here)
    use("allows")
    command(bot, b"true\r")
    first = judge_pid(here)

    here.kill("keeper", session)
    eventually("another keeper", lambda: here.ask(do="status"))
    here.wait_whole(session)

    assert isinstance(command(bot, b"echo fine\r"), wire.Acknowledge)
    assert judge_pid(here) not in (0, first)
    os.kill(first, signal.SIGKILL)


def test_down_ends_the_judge(here: Machine) -> None:
    _, bot, _ = shell(here)
    use("allows")
    command(bot, b"true\r")
    pid = judge_pid(here)

    assert here.ask(do="down")["ok"]

    eventually("it is gone", lambda: is_gone(pid))
    eventually("its socket is", lambda: not places.judge_socket().exists())
    assert "cannot reach its judge" in str(refused(bot).facts["why"])
