"""One terminal that goes from session to session, seen through a real emulator."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.support.onlooker import Onlooker
from tests.scenarios.support import Machine, eventually, machine

from holdfast.linux.stored import folders
from holdfast.model.ids import SessionId

PREFIX = b"\x1d"
MOUSE, PASTE, ALTERNATE, KEYPAD = 1002, 2004, 1049, 1

FULL_SCREEN = r"""
printf '\033[?1049h\033[?1002h\033[?1006h\033[?2004h\033[?1h\033[2J\033[5;7Hfull screen'
printf '\033[22;0;0t\033]2;its own title\007'
stty -echo; exec cat > /dev/null
"""

Sit = Callable[..., Onlooker]


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def sit() -> Iterator[Sit]:
    sitting: list[Onlooker] = []

    def attach(*words: str, size: tuple[int, int] = (80, 24)) -> Onlooker:
        sitting.append(Onlooker("attach", *words, size=size))
        return sitting[-1]

    yield attach
    for one in sitting:
        one.close()


def holdfast(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def started(name: str, script: str = "") -> SessionId:
    """Start a session that says who it is, and then shows what is typed."""
    program = script or f"echo I am {name}; exec cat"
    words = ["--name", name, "--", "sh", "-c", program]
    return SessionId(json.loads(holdfast("new", "--detach", "--json", *words))["id"])


@pytest.mark.usefixtures("here")
def test_next_previous_and_last_go_round(sit: Sit) -> None:
    for name in ("web", "db", "api"):
        started(name)
    user = sit("web")
    user.finds("I am web")

    for keys, name in (
        (b"n", "db"),
        (b"n", "api"),
        (b"n", "web"),
        (b"p", "api"),
        (b"l", "web"),
        (b"l", "api"),
    ):
        user.types(PREFIX + keys)
        shown = user.finds(f"I am {name}")
        assert [line for line in shown.lines if "I am" in line] == [f"I am {name}"]
    user.types(PREFIX + b"d")
    assert user.left() == 0
    user.finds("detached; `holdfast attach api` reattaches")
    assert user.modes() == user.before


@pytest.mark.usefixtures("here")
def test_what_is_typed_ahead_is_for_the_session_that_comes(sit: Sit) -> None:
    for name in ("web", "db", "api"):
        started(name)
    user = sit("web")
    user.finds("I am web")

    user.types(b"for web\r" + PREFIX + b"n" + PREFIX + b"nfor api\r")

    user.finds("I am api")
    eventually("api has it", lambda: "for api" in holdfast("read", "api"))
    eventually("web has it", lambda: "for web" in holdfast("read", "web"))
    assert "for" not in holdfast("read", "db")


@pytest.mark.usefixtures("here")
def test_a_session_is_found_by_what_is_typed_of_it(sit: Sit) -> None:
    started("web")
    for number in range(30):
        started(f"build-{number}")
    user = sit("web")
    user.finds("I am web")

    user.types(PREFIX + b"s")
    user.finds("switch to:")
    user.types(b"build-17")
    user.finds("1 of 31")
    user.finds("I am build-17")  # The preview.
    user.types(b"\r")
    user.until("it is there", lambda: user.lines()[0] == "I am build-17")
    user.until("it is named", lambda: user.screen().title.startswith("build-17 "))


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("key", [b"s", b"?", b","])
@pytest.mark.parametrize("how", [b"\x1b", b"\x03"])
def test_what_is_opened_leaves_the_screen_as_it_was(
    key: bytes, how: bytes, sit: Sit
) -> None:
    lines = "; ".join(f"echo line {number}" for number in range(40))
    started("web", f"{lines}; printf '\\033[?2004h\\033[?25lhalf a line'; exec cat")
    user = sit("web")
    before = user.finds("half a line")

    user.types(PREFIX + key)
    user.until("something is over it", lambda: user.has_mode(ALTERNATE))
    assert not user.has_mode(PASTE)
    user.types(how)
    user.until("it is gone", lambda: not user.has_mode(ALTERNATE))

    user.until("all is as it was", lambda: user.screen().lines == before.lines)
    after = user.screen()
    assert (after.cursor_row, after.cursor_column) == (
        before.cursor_row,
        before.cursor_column,
    )
    assert user.has_mode(PASTE)
    assert not after.cursor_visible
    user.types(b"typed\r")
    eventually("keys go to it again", lambda: "typed" in holdfast("read", "web"))


@pytest.mark.usefixtures("here")
def test_a_full_screen_program_is_shown_as_it_was(sit: Sit) -> None:
    started("web")
    started("full", FULL_SCREEN)
    user = sit("full")
    user.finds("full screen")
    user.until("it tracks the mouse", lambda: user.has_mode(MOUSE))

    user.types(PREFIX + b"?")
    user.finds("any key goes back")
    assert not user.has_mode(MOUSE)
    user.types(b"x")
    user.finds("full screen")
    for mode in (MOUSE, PASTE, ALTERNATE, KEYPAD):
        user.until(f"mode {mode} is on", lambda mode=mode: user.has_mode(mode))  # type: ignore[misc]  # the loop's

    user.types(PREFIX + b"p")
    user.finds("I am web")
    for mode in (MOUSE, PASTE, ALTERNATE, KEYPAD):
        assert not user.has_mode(mode)
    assert not any("full screen" in line for line in user.lines())


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("count", [10, 30_000])
def test_what_is_printed_meanwhile_is_shown_afterwards(
    count: int, sit: Sit, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    wait = f"until [ -e {go} ]; do sleep 0.05; done"
    started("web", f"echo begun; {wait}; seq {count}; echo over; exec cat")
    user = sit("web")
    user.finds("begun")
    user.types(PREFIX + b"?")
    user.finds("any key goes back")

    go.touch()
    eventually("it is printed", lambda: "over" in holdfast("read", "web"))
    assert "any key goes back" in user.lines()
    user.types(b"x")

    shown = user.finds("over")
    assert str(count) in "\n".join(shown.lines)


@pytest.mark.usefixtures("here")
def test_a_session_is_started_and_renamed_from_inside(sit: Sit) -> None:
    Path(folders.owned(folders.config_path()), "config.toml").write_text(
        'shell = ["sh", "-c", "echo a new one; exec cat"]\n'
    )
    started("web")
    user = sit("web")
    user.finds("I am web")

    user.types(PREFIX + b"c")
    user.finds("a new one")
    user.types(PREFIX + b",")
    user.finds("new name: ")
    user.types(b"\x15web\r")
    user.finds("a session named 'web' already exists")
    user.types(b"\x15shop\r")
    user.until("it is called so", lambda: user.screen().title.startswith("shop "))

    assert "shop" in holdfast("ls", "--names").split()
    user.types(PREFIX + b"d")
    assert user.left() == 0
    user.finds("`holdfast attach shop`")


@pytest.mark.usefixtures("here")
def test_a_session_that_cannot_be_shown_is_told_and_the_one_before_stays(
    sit: Sit,
) -> None:
    started("web", "echo; echo; echo; echo I am web; exec cat")
    started("db")
    user = sit("web")
    user.finds("I am web")
    user.types(PREFIX + b"s")
    user.finds(" db ")

    holdfast("end", "db")
    eventually("it is gone", lambda: "db" not in holdfast("ls", "--names").split())
    user.types(b"db\r")

    user.finds("[holdfast] db: ")
    user.finds("I am web")
    user.types(b"still here\r")
    eventually("keys go to it", lambda: "still here" in holdfast("read", "web"))


@pytest.mark.usefixtures("here")
def test_alone_there_is_nowhere_to_go(sit: Sit) -> None:
    started("web")
    user = sit("web")
    user.finds("I am web")

    for key in (b"n", b"p", b"l"):
        user.types(PREFIX + key)
        user.finds("there is no other session")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_who_is_told_to_end_under_a_list_leaves_the_terminal_as_it_was(
    number: int, sit: Sit
) -> None:
    started("web")
    user = sit("web")
    user.finds("I am web")
    user.types(PREFIX + b"s")
    user.finds("switch to:")

    user.signal(number)

    assert user.left() == 128 + number
    assert user.modes() == user.before
    user.until("the list is gone", lambda: not user.has_mode(ALTERNATE))
    assert user.screen().cursor_visible


@pytest.mark.usefixtures("here")
def test_a_session_that_ends_under_a_list_is_told(sit: Sit) -> None:
    started("web", "echo I am web; read line; exit 7")
    started("db")
    user = sit("web")
    user.finds("I am web")
    user.types(PREFIX + b"s")
    user.finds("switch to:")

    holdfast("send", "web", "x", "--enter")

    assert user.left() == 7
    user.finds("web ended (status 7)")
    assert not user.has_mode(ALTERNATE)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("size", [(20, 5), (200, 60)])
def test_a_list_fits_every_terminal_and_follows_its_size(
    size: tuple[int, int], sit: Sit
) -> None:
    started("web")
    started("db")
    user = sit("web", size=size)
    user.finds("I am web")
    user.types(PREFIX + b"s")
    user.finds("switch to:")

    for columns in range(40, 80):
        user.resize(columns, 10)
        os.kill(user.program.pid, signal.SIGWINCH)
        time.sleep(0.002)  # A hundred times a second, and more.
    user.types(b"\x1b")
    user.until("it is gone", lambda: not user.has_mode(ALTERNATE))
    user.types(PREFIX + b"d")
    assert user.left() == 0


@pytest.mark.usefixtures("here")
def test_the_keys_are_those_of_the_settings_and_mistakes_are_named(sit: Sit) -> None:
    file = Path(folders.owned(folders.config_path()), "config.toml")
    file.write_text('prefix = "C-a"\nfly = 1\n\n[keys]\ndetach = "Z"\n')
    started("web")
    user = sit("web")

    user.sees(b"Ctrl-a Z detaches, Ctrl-a ? help")
    user.finds("config.toml: line 2: fly: unknown name")
    user.types(b"\x1dd")
    user.types(b"\x01?")
    user.finds("after Ctrl-a:")
    user.types(b"q\x01Z")
    user.until("help is gone", lambda: not user.has_mode(ALTERNATE))
    user.types(b"\x01Z")
    assert user.left() == 0
    eventually("the old prefix is typed", lambda: "d" in holdfast("read", "web"))
