"""Sizes, names, commands and folders that cannot be: said, and nothing is left."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.support.pty_user import User
from tests.scenarios import witness
from tests.scenarios.support import Machine, eventually, machine

from holdfast.linux.stored import places

NAMES = (
    "",
    "-x",
    "-rf",
    "../x",
    "/etc/passwd",
    ".",
    "..",
    ".hidden",
    "a b",
    "a\tb",
    "a\nb",
    "a;b",
    "$(id)",
    '"',
    "\x1b[31mred",
    "\x1b]0;title\x07",
    "\u202eevil",
    "e\u0301",
    "\u00e9",
    "\uff57\uff45\uff42",
    "\U0001f468\u200d\U0001f469",
    "x" * 65,
    "x" * 10_000,
    "s_abcdefgh",
    "S_abcdefgh",
    "\udcff\udcfe",
)

SIZES = (
    "0x0",
    "0x24",
    "80x0",
    "65535x65535",
    "1001x24",
    "-1x-1",
    "80",
    "x",
    "80x24x1",
    "\u0668\u0660x24",
    "9" * 400 + "x24",
    "1e2x24",
    " 80x24",
)


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        try:
            yield made
        finally:
            witness.end_marked()


def run(*words: str, cwd: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        timeout=30,
    )


def is_plain(text: str) -> bool:
    return all(character.isprintable() or character == "\n" for character in text)


def assert_nothing_is_left(here: Machine) -> None:
    assert here.ask(do="list")["sessions"] == []
    eventually("no file is left", lambda: not [*places.session_dir().iterdir()])
    witness.all_is_tidy(here)


@pytest.mark.parametrize("chunk", range(3))
def test_a_name_from_the_hostile_list_is_refused_and_shown_escaped(
    here: Machine, chunk: int
) -> None:
    for name in NAMES[chunk::3]:
        refused = run("new", "--detach", f"--name={name}", "--", "sleep", "60")
        assert refused.returncode == 64, name
        assert is_plain(refused.stderr), refused.stderr
        assert len(refused.stderr) < 2000

    assert_nothing_is_left(here)


def test_a_size_that_cannot_be_is_refused(here: Machine) -> None:
    for size in SIZES:
        refused = run("new", "--detach", f"--size={size}", "--", "sleep", "60")
        assert refused.returncode == 64, size
        assert is_plain(refused.stderr), refused.stderr

    assert_nothing_is_left(here)


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ([0, 0], (1, 1)),
        ([65535, 65535], (1000, 1000)),
        ([-5, 2**62], (1, 1000)),
        (None, (80, 24)),
    ],
)
def test_a_size_in_a_packet_is_brought_within_bounds(
    here: Machine, asked: object, given: tuple[int, int]
) -> None:
    env = {"PATH": os.environ["PATH"]}
    made = here.ask(do="create", command=["sleep", "60"], cwd="/", env=env, size=asked)

    assert witness.terminal_size(int(str(made["pid"]))) == given


@pytest.mark.parametrize("size", ["80x24", [80], [80, 24, 1], ["80", "24"], {}, 5])
def test_a_size_that_is_none_is_refused(here: Machine, size: object) -> None:
    answer = here.ask(do="create", command=["sleep", "60"], cwd="/", env={}, size=size)

    assert answer["code"] == "malformed-message"
    assert_nothing_is_left(here)


def test_a_command_that_cannot_be_started_is_said(
    here: Machine, tmp_path: Path
) -> None:
    plain = tmp_path / "not-executable"
    plain.write_text("#!/bin/sh\n")
    broken = tmp_path / "no-interpreter"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o700)

    for command in ("no-such-thing", str(plain), "/", str(broken), "a\nb", "\x1b[31m"):
        refused = run("new", "--detach", "--", command)
        assert refused.returncode == 64, refused.stderr
        assert is_plain(refused.stderr), refused.stderr
    assert_nothing_is_left(here)


def test_a_folder_that_does_not_exist_is_said_and_named(here: Machine) -> None:
    refused = run("new", "--detach", "--cwd", "/no/such/folder", "--", "sleep", "60")

    assert refused.returncode == 64
    assert "/no/such/folder" in refused.stderr
    assert_nothing_is_left(here)


def test_words_with_characters_that_no_program_takes_are_refused(
    here: Machine,
) -> None:
    env = {"PATH": os.environ["PATH"]}
    asked = {"do": "create", "command": ["sleep", "60"], "cwd": "/", "env": env}

    for change in (
        {"command": ["sleep", "6\0"]},
        {"command": ["\ud800"]},
        {"cwd": "/\0"},
        {"env": {**env, "A": "\0"}},
        {"env": {**env, "A=B": "c"}},
        {"env": {**env, "": "c"}},
    ):
        answer = here.ask(**{**asked, **change})
        assert answer["code"] == "cannot-start", change
    assert_nothing_is_left(here)


def test_a_command_that_dies_at_once_gives_its_status(here: Machine) -> None:
    for command, status in ((["false"], 1), (["sh", "-c", "kill -9 $$"], 128 + 9)):
        user = User("new", "--", *command)
        assert user.left() == status
        assert user.modes() == user.before
        user.close()

    assert_nothing_is_left(here)


def test_a_command_that_dies_at_once_is_listed_with_its_status(here: Machine) -> None:
    assert run("new", "--detach", "--name", "brief", "--", "false").returncode == 0

    ended = run("wait", "brief", "--for", "exit", "--json")
    listed = json.loads(run("ls", "--json").stdout)["sessions"]

    assert '"exit": 1' in ended.stdout
    assert [(one["name"], one["exit"]) for one in listed] == [("brief", 1)]
    assert run("end", "brief").returncode == 0
    assert_nothing_is_left(here)


def test_bytes_that_are_no_text_arrive_as_they_were_given(here: Machine) -> None:
    command = [sys.executable, "-m", "holdfast", "new", "--detach", "--json", "--"]
    made = subprocess.run(
        [*command, b"printf", b"%s", b"\xff\xfe."],
        capture_output=True,
        check=True,
    )

    client = here.join(json.loads(made.stdout)["id"])
    assert client.wait_output(b".") == b"\xff\xfe."


def test_a_place_too_long_for_the_sockets_of_sessions_is_said() -> None:
    with tempfile.TemporaryDirectory(prefix="hf") as short:
        room = places.MAX_SOCKET_PATH - len("/painter.sock") - len(short) - 1
        with machine(f"{short}/{'x' * room}") as here:
            refused = run("new", "--detach", "--", "sleep", "60")

            assert refused.returncode == 64
            assert "shorter path" in refused.stderr
            assert_nothing_is_left(here)


@pytest.mark.parametrize("kind", ["open", "link", "file", "long", "foreign"])
def test_a_place_that_is_not_ours_alone_is_not_used(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    match kind:
        case "open":
            place.mkdir()
            place.chmod(0o777)
        case "link":
            (tmp_path / "real").mkdir(mode=0o700)
            place.symlink_to(tmp_path / "real")
        case "file":
            place.touch()
        case "long":
            place = tmp_path / ("x" * 100)
        case _:
            if os.getuid() != 0:
                pytest.skip("only root can make a folder of somebody else's")
            place.mkdir(mode=0o700)
            os.chown(place, 65534, 65534)
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(place))

    for words in (("new", "--detach", "--", "true"), ("ls",), ("status",)):
        refused = run(*words)
        assert refused.returncode == 64, refused.stderr
        assert is_plain(refused.stderr)
    assert not (tmp_path / "real").exists() or not [*(tmp_path / "real").iterdir()]
