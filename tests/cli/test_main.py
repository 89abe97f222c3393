import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.support.fakes import US, FakeKeeper, FakeSession
from tests.cli.support.pty_user import User

from holdfast.cli.main import VERBS, Parser, main, module_of
from holdfast.linux.stored import operators
from holdfast.model.actors import ActorKind
from holdfast.model.errors import NotYourTurn
from holdfast.version import __version__

HOLDFAST = [sys.executable, "-m", "holdfast"]


def at_home(web: FakeSession) -> dict[str, str]:
    return {
        "HOLDFAST_RUNTIME_DIR": str(web.folder),
        "HOLDFAST_CONFIG_DIR": str(web.folder / "config"),
    }


def test_the_module_is_the_command() -> None:
    said = subprocess.check_output([*HOLDFAST, "--version"], text=True)

    assert said == f"holdfast {__version__}\n"


def test_help_shows_every_verb_and_what_there_is_without_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])

    assert stopped.value.code == 0
    shown = capsys.readouterr().out
    assert all(verb in shown for verb in VERBS)
    assert "`holdfast` alone" in shown


def test_a_verb_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["fly\x1b[2J"])

    assert stopped.value.code == 64
    said = capsys.readouterr().err
    assert "fly" in said
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("typed", "meant"), [("atach", "attach"), ("LST", "list"), ("scren", "screen")]
)
def test_a_verb_that_looks_like_another_is_refused_with_that(
    typed: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([typed, "web"])

    assert f"Did you mean `{meant}`" in capsys.readouterr().err


def test_options_of_a_command_are_told_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["new", "--detach", "sh", "-c", "true"])

    assert "Options of the command come after `--`" in capsys.readouterr().err


@pytest.mark.parametrize("verb", VERBS)
def test_help_says_what_why_and_with_what_status(verb: str) -> None:
    parser = Parser(prog=f"holdfast {verb}")
    module_of(verb).add_arguments(parser)

    shown = parser.format_help()

    for part in ("usage: holdfast", "options:", "examples:", "exit status:", "  64 "):
        assert part in shown
    assert all(line.isprintable() for line in shown.splitlines())


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["s", "--enter", "a", "b"], (True, "s", ["a", "b"])),
        (["--", "-rf"], (False, "-rf", [])),
        (["s", "--", "-n", "--enter"], (False, "s", ["-n", "--enter"])),
        (["--by", "--enter", "s", "-"], (False, "s", ["-"])),
        (["--by=x", "s", "a", "--enter"], (True, "s", ["a"])),
    ],
)
def test_options_may_stand_anywhere_before_two_dashes(
    words: list[str], text: tuple[bool, str, list[str]]
) -> None:
    parser = Parser()
    parser.add_argument("--enter", action="store_true")
    parser.add_argument("--by", nargs="?" if "--by" in words else None)
    parser.add_argument("session")
    parser.add_argument("text", nargs="*")

    if words[0] == "--by":
        with pytest.raises(SystemExit):
            parser.parse_words(["--wrong", *words])
        return
    read = parser.parse_words(words)

    assert (read.enter, read.session, read.text) == text


@pytest.mark.parametrize("verb", ["ls", "keep", "rename"])
def test_what_asks_the_keeper_only_loads_little(verb: str, web: FakeSession) -> None:
    words = {"keep": ["web"], "rename": ["web", "shop"]}.get(verb, [])
    program = (
        "import sys; from holdfast.cli.main import main;"
        f"assert main({[verb, *words]!r}) == 0;"
        "heavy = {'asyncio', 'websockets', 'cryptography', 'msgspec', 'rich',"
        " 'logging', 'dataclasses', 'subprocess'};"
        "print(heavy & set(sys.modules), file=sys.stderr)"
    )

    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=at_home(web),  # and nothing that measures
    )

    assert run.stderr == "set()\n"


@pytest.mark.parametrize(
    ("words", "loaded"),
    [(["read", "web"], "set()\n"), (["send", "web", "x"], "{'cryptography'}\n")],
)
def test_what_talks_to_a_holder_needs_no_loop_and_keys_only_to_sign(
    words: list[str], loaded: str, web: FakeSession
) -> None:
    program = (
        "import sys; from holdfast.cli.main import main;"
        f"assert main({words!r}) == 0;"
        "print({'asyncio', 'websockets', 'cryptography'} & set(sys.modules))"
    )

    said = subprocess.check_output(
        [sys.executable, "-c", program],
        text=True,
        env=at_home(web),
    )

    assert said == loaded
    assert web.attaches


def test_a_reader_that_stops_reading_is_no_error(web: FakeSession) -> None:
    web.prints(b"x" * 1_000_000)
    read_end, write_end = os.pipe()
    os.close(read_end)

    run = subprocess.run(
        [*HOLDFAST, "read", "web"],
        stdout=write_end,
        stderr=subprocess.PIPE,
        check=False,
    )

    os.close(write_end)
    assert (run.returncode, run.stderr) == (141, b"")


def test_a_full_disk_is_said(web: FakeSession) -> None:
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run(
            [*HOLDFAST, "ls"], stdout=full, stderr=subprocess.PIPE, check=False
        )

    assert web.facts["id"]
    assert run.returncode == 74
    assert run.stderr == b"holdfast: cannot write: No space left on device\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", ["ls", "read web", "send web x", "status --json"])
def test_closed_descriptors_do_not_become_sockets(
    closed: str, words: str, web: FakeSession
) -> None:
    web.prints(b"printed")
    command = f'exec "{sys.executable}" -m holdfast {words} {closed}'

    run = subprocess.run(["sh", "-c", command], capture_output=True, check=False)  # noqa: S607

    assert (run.returncode, run.stderr) == (0, b"")


def test_an_interrupt_is_no_traceback(keeper: FakeKeeper, web: FakeSession) -> None:
    user = User("wait", "web", "--for", "never")
    web.wait_until(lambda: bool(web.attaches))

    user.signal(signal.SIGINT)

    assert user.left() == 130
    assert user.shown == b""
    assert keeper.sessions == [web]
    user.close()


def test_nonsense_from_the_keeper_is_an_error_and_no_traceback(
    keeper: FakeKeeper, capsys: pytest.CaptureFixture[str]
) -> None:
    keeper.answer = b"[]"
    assert main(["ls"]) == 76
    keeper.answer = b'{"ok": false, "code": "x-y", "text": "\\u001b[2Jno", "facts": 3}'
    assert main(["ls"]) == 70
    keeper.answer = b""
    assert main(["ls"]) == 75

    assert "\x1b" not in capsys.readouterr().err


def test_status_says_what_runs_and_starts_nothing(
    keeper: FakeKeeper, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["status"]) == 0
    assert "pid" in capsys.readouterr().out
    keeper.close()

    assert main(["status"]) == 0
    assert "not running" in capsys.readouterr().out
    assert main(["status", "--json"]) == 0
    assert '"keeper": null' in capsys.readouterr().out


def test_a_long_list_comes_in_parts(
    keeper: FakeKeeper, capsys: pytest.CaptureFixture[str]
) -> None:
    keeper.has(*(f"n{number}" for number in range(5)))
    keeper.parts = 5

    assert main(["ls", "--names"]) == 0
    assert capsys.readouterr().out.split() == ["n0", "n1", "n2", "n3", "n4"]


@pytest.mark.parametrize("words", [["--as", "bot"], ["--as=bot"]])
def test_as_before_the_verb_acts_as_somebody_else(
    words: list[str], web: FakeSession
) -> None:
    assert main([*words, "send", "web", "x"]) == 0

    known = operators.by_name("bot")
    assert known is not None
    assert known.actor.kind is ActorKind.AGENT
    assert web.operating.identified == [known.actor.id]


@pytest.mark.parametrize(
    "words", [["--as"], ["--as", ""], ["--as="], ["--as", "../x", "ls"], ["--as=a b"]]
)
def test_as_somebody_who_cannot_be_is_refused(
    words: list[str], keeper: FakeKeeper, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 64
    assert "Traceback" not in capsys.readouterr().err
    assert len(operators.enrolled()) == 1
    assert keeper.asked == []


def test_errors_name_operators_instead_of_their_ids(
    web: FakeSession, capsys: pytest.CaptureFixture[str]
) -> None:
    known = operators.enrol("robo", ActorKind.AGENT, b"robo", None, b"x" * 32)
    web.refusal = NotYourTurn(known.actor.id, 4)

    assert main(["send", "web", "x"]) == 77
    said = capsys.readouterr().err
    assert f"{known.actor.shown()} has the turn (epoch 4)" in said
    assert known.actor.id not in said


def test_new_says_who_began_it(keeper: FakeKeeper) -> None:
    assert main(["new", "--detach", "--", "true"]) == 0

    (asked,) = (one for one in keeper.asked if one["do"] == "create")
    assert asked["creator"] == US
