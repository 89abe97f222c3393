import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import Machine, eventually, machine

from holdfast.linux.stored import places
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


OURS = ("holder", "keeper", "nursery")


@pytest.mark.parametrize("victim", OURS)
def test_a_shell_keeps_its_variables_whoever_is_killed(
    here: Machine, victim: str
) -> None:
    session = here.new("bash", "--norc")
    client = here.join(session)
    leader = here.pid("leader", session)
    client.enter(b"X=42\r")

    here.kill(victim, session)

    client.enter(b"echo it-is-$X\r")
    client.wait_output(b"it-is-42")
    here.wait_whole(session)
    assert here.pid("leader", session) == leader


def test_all_of_them_in_turn_and_again(here: Machine) -> None:
    session = here.new("bash", "--norc")
    client = here.join(session)
    client.enter(b"X=1\r")

    for victim in OURS * 3:
        if victim == "holder":
            here.replace_holder(session)
        else:
            here.kill(victim, session)
        client.enter(b"X=$((X+1)); echo now-$X.\r")
        here.wait_whole(session)

    client.wait_output(b"now-10.")


def test_no_byte_is_lost_and_none_comes_twice_while_a_program_prints(
    here: Machine,
) -> None:
    program = "i=0; while [ $i -lt 4000 ]; do i=$((i+1)); echo line-$i; done; echo end."
    session = here.new("sh", "-c", f"sleep 0.3; {program}; sleep 60")
    client = here.join(session)

    for pause in (0.01, 0.09, 0.02, 0.05, 0.03, 0.07):
        time.sleep(pause)
        here.kill("holder", session)
        client.wait_output(b"line-")
    client.wait_output(b"end.")

    assert client.gone == 0
    lines = client.output.split()
    assert lines == [f"line-{n}".encode() for n in range(1, 4001)] + [b"end."]


def test_what_was_typed_once_is_applied_once(here: Machine) -> None:
    session = here.new("cat")
    client = here.join(session)
    for number in range(40):
        if number % 4 == 1:
            here.kill("holder", session)
        answer = client.enter(b"word-%03d\r" % number)
        assert isinstance(answer, (wire.Acknowledge, wire.Report)), answer
        if isinstance(answer, wire.Report):
            assert answer.outcome in ("unknown", "dropped")

    client.enter(b"done.\r")
    output = client.wait_output(b"done.\r\ndone.")
    for number in range(40):
        assert output.count(b"word-%03d" % number) in (0, 2)  # Echoed, and read.


def test_a_keeper_killed_while_it_replaces_a_holder_loses_nothing(
    here: Machine,
) -> None:
    session = here.new("bash", "--norc")
    client = here.join(session)
    client.enter(b"X=42\r")
    keeper, nursery = here.pid("keeper"), here.pid("nursery")
    holder = here.pid("holder", session)
    children = Path(f"/proc/{nursery}/task/{nursery}/children")

    os.kill(holder, signal.SIGKILL)
    eventually(
        "the successor is forked",
        lambda: [pid for pid in children.read_text().split() if int(pid) != holder],
    )
    os.kill(keeper, signal.SIGKILL)

    client.enter(b"echo it-is-$X\r")
    client.wait_output(b"it-is-42")


def test_an_exit_status_is_kept_whoever_dies_first(here: Machine) -> None:
    session = here.new("sh", "-c", "sleep 0.4; exit 7")

    here.replace_holder(session)
    here.kill("keeper")

    def status() -> object:
        facts = here.facts(session)
        return facts["exit"] if facts is not None else None

    assert eventually("the status is known", status) == 7


def test_connects_queue_while_a_holder_is_replaced(here: Machine) -> None:
    session = here.new("bash", "--norc")
    for _ in range(10):
        here.kill("holder", session)

        client = here.join(session)
        client.enter(b"echo ok\r")
        client.close()
        here.wait_whole(session)


def test_a_command_that_does_not_exist_is_said_and_nothing_is_left(
    here: Machine,
) -> None:
    answer = here.ask(do="create", command=["no-such-thing"], cwd="/", env={})

    assert (answer["ok"], answer["code"]) == (False, "cannot-start")
    assert here.ask(do="list")["sessions"] == []
    assert list(places.session_dir().glob("*.sock")) == []


def test_a_second_keeper_ends_by_itself_and_steals_nothing(here: Machine) -> None:
    from holdfast.linux import process_start  # noqa: PLC0415  # shows what is called

    before = here.pid("keeper")
    process_start.start_keeper()
    process_start.start_keeper()
    time.sleep(0.5)

    assert here.pid("keeper") == before


def test_t44_sockets_and_logs_are_for_us_alone(here: Machine) -> None:
    session = here.new("bash", "--norc")

    for path in (
        places.keeper_socket(),
        places.session_socket(session),
        places.session_log(session),
    ):
        assert path.stat().st_mode & 0o777 == 0o600, path


def test_an_end_that_is_not_obeyed_is_enforced(here: Machine) -> None:
    session = here.new("sh", "-c", "trap '' HUP TERM; while :; do sleep 1; done")
    client = here.join(session)

    client.send(wire.End(signal.SIGTERM, leave=False))

    assert client.wait(wire.Exited).status == -signal.SIGKILL


def test_nobody_speaks_to_a_client_that_does_not_speak_the_protocol(
    here: Machine,
) -> None:
    session = here.new("bash", "--norc")
    rude = here.join(session)
    rude._link.sendall(os.urandom(4096))  # noqa: SLF001  # below the protocol

    with pytest.raises((EOFError, ConnectionError)):
        rude.wait(wire.Pong)
    polite = here.join(session)
    polite.enter(b"echo fine\r")
    polite.wait_output(b"fine")


@pytest.mark.parametrize(
    ("kind", "payload"), [("resize", b"0x0"), ("signal", b"abc"), ("keys", b"x" * 5000)]
)
def test_input_that_means_nothing_is_refused_and_harms_nobody(
    here: Machine, kind: str, payload: bytes
) -> None:
    session = here.new("cat")
    client = here.join(session)
    holder = here.pid("holder", session)

    client.post(payload, InputKind(kind))

    assert isinstance(client.settle(), wire.Refuse)
    assert here.pid("holder", session) == holder


def test_a_resize_reaches_the_program_and_every_viewer(here: Machine) -> None:
    session = here.new(
        "sh", "-c", "trap 'stty size' WINCH; while :; do sleep 0.05; done"
    )
    client, viewer = here.join(session), here.join(session)

    client.post(b"132x43", InputKind.RESIZE)

    assert viewer.wait(wire.Resized).size == wire.Cells(132, 43)
    viewer.wait_output(b"43 132")
    eventually(
        "the keeper lists it",
        lambda: (here.facts(session) or {}).get("size") == [132, 43],
    )
    assert here.join(session).attach().size == wire.Cells(132, 43)


def test_a_forgotten_session_is_gone_with_its_holder(here: Machine) -> None:
    session = here.new("true")
    eventually("it has exited", lambda: (here.facts(session) or {}).get("exit") == 0)
    holder = here.pid("holder", session)

    here.ask(do="forget", id=session)

    assert here.facts(session) is None
    eventually("its holder is gone", lambda: not Path(f"/proc/{holder}/fd").exists())


def test_the_end_is_told_after_the_last_byte_to_whoever_attaches(
    here: Machine,
) -> None:
    session = here.new("sh", "-c", "seq 1 100000; exit 5")
    early = here.join(session)
    assert early.wait(wire.Exited).status == 5
    assert early.output.endswith(b"100000\r\n")

    late = here.join(session)
    assert late.wait(wire.Exited).status == 5
    assert late.output.endswith(b"100000\r\n")
