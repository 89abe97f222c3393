"""What is begun before the rest is loaded: as the ordinary way does it, and lightly."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator

import pytest
from tests.cli.support.fakes import OTHER, FakeKeeper, FakeSession
from tests.cli.support.kernel import evidence
from tests.cli.support.operating import robo, waiting

from holdfast.cli import start
from holdfast.cli.main import main
from holdfast.client import early_session
from holdfast.client.own_name import login_name
from holdfast.linux import early_requests
from holdfast.model.errors import HoldfastError, NotAllowed, NotYourTurn
from holdfast.model.ids import Epoch, Incarnation
from holdfast.wire.codec import Message
from holdfast.wire.messages import Cells, Goodbye, Ping, State
from holdfast.wire.screens import Screen, ScreenHidden

Capture = pytest.CaptureFixture[str]

STANDARD = {
    *("_blake2", "_hashlib", "_operator", "_socket", "hashlib", "hmac", "pwd"),
    *("termios", "tty", "unicodedata", "warnings"),
}
"""What of the standard library is loaded before a session is painted."""

OURS = {
    "holdfast",
    "holdfast.cli",
    "holdfast.cli.attach_notice",
    "holdfast.cli.early_attach",
    "holdfast.cli.early_terminal",
    "holdfast.cli.start",
    "holdfast.client",
    "holdfast.client.early_session",
    "holdfast.client.own_name",
    "holdfast.core",
    "holdfast.core.client",
    "holdfast.core.client.clearing",
    "holdfast.core.client.early_link",
    "holdfast.core.client.early_picture",
    "holdfast.crypto",
    "holdfast.crypto.local_proof",
    "holdfast.linux",
    "holdfast.linux.stored",
    "holdfast.linux.stored.folders",
    "holdfast.linux.stored.session_names",
    "holdfast.model",
    "holdfast.model.actor_text",
    "holdfast.model.ids",
    "holdfast.model.text",
    "holdfast.version",
    "holdfast.wire",
    "holdfast.wire.first_messages",
    "holdfast.wire.versions",
}
"""What of ours is."""

SLOW = {"argparse", "dataclasses", "msgspec", "socket", "selectors", "asyncio"}

PROGRAM = """
import sys
before = {*sys.modules}
from holdfast.cli import start
said = start._begun(start.EARLY[sys.argv[1]], sys.argv[2:])
print(*sorted({*sys.modules} - before), file=sys.stderr)
"""


@pytest.fixture(autouse=True)
def at_home(keeper: FakeKeeper) -> Iterator[None]:
    """Have a key of our own, and forget what a test has begun."""
    folder = keeper.folder / "config/operators" / login_name()
    (folder / "key").write_bytes(bytes(32))
    yield
    early_session.forget()
    if (creation := early_requests.take_creation()) is not None:
        creation.close()


def loaded(*words: str) -> set[str]:
    """Return what a command loads before the rest, on a terminal."""
    master, slave = terminal()
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        stdin=slave,
        stdout=slave,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
        env={k: v for k, v in os.environ.items() if "COVERAGE" not in k},
    )
    os.close(slave)
    os.close(master)
    return set(run.stderr.split())


def terminal() -> tuple[int, int]:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    return master, slave


def begun(*words: str) -> str | None:
    return start._begun(start.EARLY[words[0]], list(words[1:]))  # noqa: SLF001


def ran(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        capture_output=True,
        text=True,
        check=False,
    )


# ── what is loaded ────────────────────────────────────────────────────────────


def test_a_session_is_painted_with_this_and_nothing_more(web: FakeSession) -> None:
    web.prints(b"x" * 1000)
    before = len(web.attaches)

    assert loaded("attach", "web") - STANDARD <= OURS
    assert len(web.attaches) == before + 1


@pytest.mark.parametrize("verb", ["state", "screen", "send", "ls", "new"])
def test_no_command_is_done_with_what_is_slow_to_load(
    verb: str, web: FakeSession
) -> None:
    web.operating.kernel.states = [evidence("running")]
    web.screen = [seen("text")]
    words = {"send": ["web", "x"], "ls": [], "new": ["--detach"]}.get(verb, ["web"])

    assert not loaded(verb, *words) & (SLOW - ({"socket"} if verb == "send" else set()))


def test_what_needs_no_key_loads_no_library_for_keys(web: FakeSession) -> None:
    web.operating.kernel.states = [evidence("running")]

    assert not {"cryptography", "typing", "json", "re", "enum"} & loaded("state", "web")


# ── the same as in the ordinary way ───────────────────────────────────────────


@pytest.mark.parametrize("words", [["web"], ["web", "--json"], ["--json", "--", "web"]])
@pytest.mark.parametrize("state", ["running", "waiting-for-secret"])
def test_state_says_the_same(
    state: str, words: list[str], web: FakeSession, capsys: Capture
) -> None:
    web.operating.kernel.states = [evidence(state, sure=False, unread=2)] * 2

    early = begun("state", *words)
    assert early is not None
    early_session.forget()
    assert main(["state", *words]) == 0
    assert capsys.readouterr().out == early


def test_screen_says_the_same(web: FakeSession, capsys: Capture) -> None:
    web.screen = [seen("one  \ntw", more=True), seen("o\n\n")]

    early = begun("screen", "web")
    assert early == "one\ntwo\n"
    early_session.forget()
    assert main(["screen", "web"]) == 0
    assert capsys.readouterr().out == early


@pytest.mark.parametrize("is_hidden", [False, True])
def test_a_screen_about_which_something_is_to_be_said_is_left(
    is_hidden: bool,  # noqa: FBT001
    web: FakeSession,
    capsys: Capture,
) -> None:
    hidden = (ScreenHidden(0, 0, 1, "concealed"),) if is_hidden else ()
    web.screen = [seen("one", exact=is_hidden, hidden=hidden)]

    assert begun("screen", "web") is None
    assert main(["screen", "web"]) == 0
    assert "one" in capsys.readouterr().out.replace("⟦", "").replace("⟧", "")


def test_ls_says_the_same(keeper: FakeKeeper, capsys: Capture) -> None:
    first, second, third = keeper.has("web", "db", "old")
    second.facts["keep"] = True
    third.facts |= {"exit": 3, "state": "exited", "command": ["sh", "-c", "\x1b"]}
    first.facts["exit"] = -9
    keeper.parts = 2

    early = begun("ls")
    assert early is not None
    assert main(["ls"]) == 0
    assert capsys.readouterr().out == early


@pytest.mark.parametrize(
    "answer",
    [
        *(b"", b"no", b"[]", b"{}", b'{"ok": true}'),
        *(b'{"ok": true, "sessions": [1]}', b'{"ok": true, "sessions": []}'),
        b'{"ok": true, "sessions": [{"id": "s"}]}',
    ],
)
def test_a_list_that_is_none_is_left(answer: bytes, keeper: FakeKeeper) -> None:
    keeper.answer = answer

    assert begun("ls") is None


@pytest.mark.parametrize("words", [[], ["--name", "shop"], ["--json"]])
def test_new_says_the_same(
    words: list[str], keeper: FakeKeeper, capsys: Capture
) -> None:
    early = begun("new", "--detach", *words, "--", "sleep", "1")
    assert early is not None
    creation = early_requests.take_creation()
    assert creation is not None
    creation.close()
    made = keeper.sessions[-1].id
    assert main(["new", "--detach", *words, "--", "sleep", "1"]) == 0

    ordinary = capsys.readouterr().out.replace(keeper.sessions[-1].id, made)
    assert ordinary == early
    proven = {"proof", "asked_ms", "client"}
    one, two = ({**one} for one in keeper.asked if one["do"] == "create")
    assert {k: v for k, v in one.items() if k not in proven} == {
        k: v for k, v in two.items() if k not in proven
    }
    assert proven <= one.keys()


def test_send_types_and_signs_it(web: FakeSession) -> None:
    web.prints(b"12345")

    early = begun("send", "web", "--json", "--enter", "echo", "hi")

    assert early is not None
    assert json.loads(early) == {"session": web.id, "offset": 5}
    assert web.typed() == b"echo hi\r"
    web.wait_until(lambda: bool(web.signed))
    assert web.signed == [(web.inputs[0].client, 1)]


# ── what is unusual is left to the ordinary way, which goes on with it ────────


@pytest.mark.parametrize(
    "words",
    [
        ["attach"],
        ["attach", "web", "--wrong"],
        ["attach", "web", "--observe"],  # no terminal here
        ["attach", "box/web"],
        ["state", "nobody"],
        ["state", "s_"],
        ["screen", "web", "--cells"],
        ["send", "web"],
        ["send", "web", "--timeout", "1", "x"],
        ["send"],
        ["ls", "--all"],
        ["new"],
        ["new", "--detach", "--size", "1x1"],
        ["new", "--detach", "--name"],
        ["new", "--detach", "--name", "-x"],
        ["new", "--detach", "--name", "s_"],
    ],
    ids=" ".join,
)
def test_what_is_not_usual_is_not_begun(words: list[str], web: FakeSession) -> None:
    assert begun(*words) is None
    assert web.attaches == []
    assert web.inputs == []


@pytest.mark.parametrize("early", [[Ping(1)], [State("running", Incarnation(1))]])
def test_a_message_between_is_no_second_attach(
    early: list[Message], web: FakeSession
) -> None:
    web.operating.early = early

    assert ran("send", "web", "x").returncode == 0
    assert len(web.attaches) == 1
    assert web.typed() == b"x"
    assert len(web.submitted) == 1


@pytest.mark.parametrize(
    ("refusal", "status"),
    [(NotYourTurn(OTHER, Epoch(1)), 77), (NotAllowed(OTHER, "input"), 77)],
)
def test_an_input_that_is_refused_was_made_once(
    refusal: HoldfastError, status: int, web: FakeSession
) -> None:
    web.refusal = refusal

    assert ran("send", "web", "x").returncode == status
    assert len(web.attaches) == len(web.submitted) == 1


def test_an_input_that_is_put_off_is_sent_again_by_the_same_client(
    web: FakeSession,
) -> None:
    web.busy_times = 1

    assert ran("send", "web", "x").returncode == 0
    assert len(web.attaches) == 1
    assert web.typed() == b"x"


def test_an_input_that_waits_is_waited_for(web: FakeSession) -> None:
    web.operating.early = [waiting()]

    assert ran("send", "web", "x").returncode == 0
    assert len(web.attaches) == 1


def test_who_is_not_let_in_is_told_so_once(web: FakeSession) -> None:
    web.door = NotAllowed(OTHER, "observe")

    assert ran("send", "web", "x").returncode == 77
    assert len(web.attaches) == 1


@pytest.mark.parametrize(
    ("farewell", "status"),
    [(Goodbye("no-common-version", "2, 3"), 76), (Goodbye("full", "too many"), 75)],
)
def test_a_holder_of_another_age_is_understood(
    farewell: Goodbye, status: int, web: FakeSession
) -> None:
    web.farewell = farewell
    web.operating.kernel.states = [evidence("running")]

    assert ran("state", "web").returncode == status


def test_a_session_that_has_ended_is_told_of_by_the_keeper(web: FakeSession) -> None:
    web.exits(3)
    web.operating.kernel.states = [evidence("exited")]

    assert "exited 3" in ran("state", "web").stdout
    assert ran("send", "web", "x").returncode == 64
    assert web.inputs == []


def test_what_the_keeper_refuses_is_not_asked_twice(keeper: FakeKeeper) -> None:
    keeper.answer = b'{"ok": false, "code": "host-full", "text": "", "facts": {}}'

    assert ran("new", "--detach").returncode == 70
    assert [one["do"] for one in keeper.asked] == ["create"]


def test_a_keeper_that_dies_with_a_creation_leaves_it_open(keeper: FakeKeeper) -> None:
    keeper.answer = b""

    run = ran("new", "--detach")

    assert run.returncode == 75
    assert "is not known" in run.stderr
    assert [one["do"] for one in keeper.asked] == ["create"]


def test_without_a_keeper_a_session_is_reached(keeper: FakeKeeper) -> None:
    (web,) = keeper.has("web")
    keeper.close()
    web.revive()

    assert ran("send", "web", "x").returncode == 0
    assert web.typed() == b"x"


def test_an_operator_who_is_not_known_yet_is_made_known(web: FakeSession) -> None:
    early_env = {**os.environ, "HOLDFAST_AS": "robo"}
    words = [sys.executable, "-m", "holdfast", "send", "web", "x"]

    run = subprocess.run(words, env=early_env, check=False, capture_output=True)

    assert (web.folder / "config/operators/robo/key").exists(), run.stderr


def test_closed_descriptors_are_left_to_the_ordinary_way(web: FakeSession) -> None:
    run = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable} -m holdfast send web x >&-"], check=False
    )

    assert run.returncode == 0
    assert web.typed() == b"x"


def test_output_that_cannot_be_written_is_said(web: FakeSession) -> None:
    web.operating.kernel.states = [evidence("running")]
    words = f"{sys.executable} -m holdfast state web >/dev/full"

    run = subprocess.run(["/bin/sh", "-c", words], check=False, capture_output=True)

    assert run.returncode == 74
    assert b"cannot write" in run.stderr


def seen(
    text: str,
    *,
    more: bool = False,
    exact: bool = True,
    hidden: tuple[ScreenHidden, ...] = (),
) -> Screen:
    return Screen(
        offset=1,
        size=Cells(80, 24),
        cursor_row=0,
        cursor_column=0,
        cursor_visible=True,
        title="",
        alternate=False,
        exact=exact,
        text=text,
        runs=(),
        hidden=hidden,
        above=0,
        more=more,
    )


def test_company_is_named_before_the_picture(web: FakeSession) -> None:
    web.company = (robo(),)
    web.passes_turn(OTHER)
    web.prints(b"PICTURE")
    master, slave = terminal()
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, "attach", "web"],
        stdin=slave,
        stdout=slave,
        check=False,
        stderr=subprocess.DEVNULL,
    )
    shown = os.read(master, 4096)
    os.close(slave)
    os.close(master)

    assert run.returncode == 0
    assert shown.startswith(b"[holdfast] web: with robo (agent, ")
    assert shown.endswith(b"PICTURE")
