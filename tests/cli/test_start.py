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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.cli.support.fakes import OTHER, FakeKeeper, FakeSession
from tests.cli.support.kernel import evidence
from tests.cli.support.operating import robo
from tests.cli.support.screens import seen

from holdfast.cli import early_answers, start
from holdfast.cli.main import main
from holdfast.client import early_session
from holdfast.client.own_name import login_name
from holdfast.linux import early_requests
from holdfast.model.ids import Index
from holdfast.wire.messages import Acknowledge
from holdfast.wire.screens import ScreenHidden

Capture = pytest.CaptureFixture[str]

STANDARD = {
    *("_blake2", "_hashlib", "_operator", "_socket", "hashlib", "hmac", "pwd"),
    *("_contextvars", "contextvars", "termios", "tty", "unicodedata", "warnings"),
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
    "holdfast.core.client.cleared_screen",
    "holdfast.core.client.early_link",
    "holdfast.core.client.early_picture",
    "holdfast.crypto",
    "holdfast.crypto.local_proof",
    "holdfast.linux",
    "holdfast.linux.login",
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


def test_settings_are_loaded_only_where_they_could_change_the_line(
    web: FakeSession, keeper: FakeKeeper
) -> None:
    web.prints(b"x" * 1000)
    file = keeper.folder / "config/config.toml"

    file.write_text('window = "2M"\nview = "raw"\n')
    assert "tomllib" not in loaded("attach", "web")
    file.write_text('prefix = "C-a"\n')
    assert "tomllib" in loaded("attach", "web")


def test_a_session_is_made_without_settings_to_load(keeper: FakeKeeper) -> None:
    file = keeper.folder / "config/config.toml"
    settings = "holdfast.linux.creation_settings"

    assert not {settings, "tomllib"} & loaded("new", "--detach")
    file.write_text('prefix = "C-a"\n')
    assert "tomllib" not in loaded("new", "--detach")
    file.write_text('window = "2M"\n')
    assert "tomllib" in loaded("new", "--detach")
    assert keeper.asked[-1]["window"] == 2 << 20


@pytest.mark.parametrize("verb", ["state", "screen", "send", "ls", "new"])
def test_no_command_is_done_with_what_is_slow_to_load(
    verb: str, web: FakeSession
) -> None:
    web.operating.kernel.states = [evidence("running")]
    web.screen = [seen("text")]
    words = {"send": ["web", "x"], "ls": [], "new": ["--detach"]}.get(verb, ["web"])

    assert not loaded(verb, *words) & (SLOW - ({"socket"} if verb == "send" else set()))


def test_a_session_is_made_with_what_is_quick_to_load(keeper: FakeKeeper) -> None:
    assert not loaded("new", "--detach") & {"typing", "re", "enum", "json", "functools"}
    assert len([one for one in keeper.asked if one["do"] == "create"]) == 1


def test_the_command_as_it_is_installed_loads_no_patterns(web: FakeSession) -> None:
    web.operating.kernel.states = [evidence("running")]
    script = Path(start.__file__).parents[2] / "bin" / "holdfast"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", script, "state", "web"],
        capture_output=True,
        text=True,
        check=True,
    )

    names = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "holdfast.cli.early_answers" in names
    assert not {"re", "typing", "argparse"} & names


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


def test_a_screen_with_something_hidden_is_left(
    web: FakeSession, capsys: Capture
) -> None:
    web.screen = [seen("one", hidden=(ScreenHidden(0, 0, 1, "concealed"),))]

    assert begun("screen", "web") is None
    assert main(["screen", "web"]) == 0
    assert "ne" in capsys.readouterr().out


def test_that_not_all_was_painted_is_said_on_a_terminal_only(
    web: FakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.screen = [seen("one", exact=False)]

    assert begun("screen", "web") == "one\n"
    early_session.forget()
    master, slave = terminal()
    monkeypatch.setattr(early_answers, "STANDARD_ERROR", slave)
    assert begun("screen", "web") is None
    os.close(master)
    os.close(slave)


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


@pytest.mark.parametrize("ends_first", [True, False])
def test_what_ends_the_session_was_sent_all_the_same(
    web: FakeSession, *, ends_first: bool
) -> None:
    web.is_silent = True

    def answer() -> None:
        web.wait_until(lambda: bool(web.inputs))
        (one,) = web.inputs
        if ends_first:
            web.exits(7)
        web.says(Acknowledge(one.client, one.sequence, Index(1), None))
        if not ends_first:
            web.exits(7)

    with ThreadPoolExecutor(1) as other:
        answered = other.submit(answer)
        assert begun("send", "web", "--enter", "exit 7") == ""
        answered.result()

    assert len(web.submitted) == 1


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


# ── a session that ends ───────────────────────────────────────────────────────


def test_a_session_is_ended_and_its_record_removed(
    web: FakeSession, keeper: FakeKeeper
) -> None:
    assert begun("end", "web") == "web has ended\n"

    assert web.ended_with == 1
    assert keeper.sessions == []


def test_little_is_loaded_for_that(web: FakeSession) -> None:
    assert not loaded("end", "web") & SLOW
    assert web.ended_with == 1
