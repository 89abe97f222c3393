"""Two operators at two terminals, with a real keeper and a real holder."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.support.pty_user import User
from tests.cli.test_live import BASH, place  # noqa: F401  # a fixture

from holdfast.cli.main import main

POLICY = """
[default]
agent = "allow"

[[rule]]
name = "ask-first"
verdict = "ask"
kind = "agent"
first = "rm"
"""


@pytest.fixture
def seats(place: Path) -> Iterator[tuple[User, User]]:  # noqa: F811
    (place / "config").mkdir(mode=0o700)
    (place / "config/policy.toml").write_text(POLICY)
    assert main(["gate", "apply", "--yes"]) == 0
    assert main(["new", "--detach", "--name", "live", "--", *BASH]) == 0
    human = User("attach", "live", size=(160, 24))
    human.sees(b"turn: ")
    bot = User("--as", "bot", "attach", "live", size=(160, 24))
    bot.sees(b"turn: ")
    yield human, bot
    human.close()
    bot.close()


def test_a_human_takes_the_wheel_looks_around_and_hands_it_back(
    seats: tuple[User, User],
) -> None:
    human, bot = seats
    main(["drop", "live"])

    bot.types(b"expr 1200 + 34\r")
    human.sees(b"1234")
    human.sees(b"turn: bot (agent, ")

    human.types(b"\x1dF")
    human.sees(b"frozen: no process runs")
    bot.sees(b"seized the turn from you")
    bot.types(b"echo never\r")
    bot.sees(b"the session is frozen")

    human.types(b"\x1df")
    bot.sees(b"thawed: running again")
    bot.types(b"echo never\r")
    bot.sees(b"has the turn; Ctrl-] t asks for it, Ctrl-] S seizes it")
    human.types(b"echo human-$((1+1))\r")
    bot.sees(b"human-2")
    bot.types(b"\x1dt")
    human.sees(b"asks for the turn (for ")
    human.types(b"\x1dg")
    bot.sees(b"gave you the turn")
    bot.types(b"expr 5600 + 78\r")
    # Others have typed here, and this shell does not tell what stands on its line: no
    # rule about words can decide, so a person does.
    human.sees(b"(rule undecidable); Ctrl-] a approves")
    human.types(b"\x1da")
    human.sees(b"by bot (agent, ")
    human.types(b"y")
    human.sees(b"5678")
    assert b"never" not in human.shown


def test_what_waits_runs_once_a_human_approves_it(
    seats: tuple[User, User], capsys: pytest.CaptureFixture[str]
) -> None:
    human, _ = seats
    main(["drop", "live"])
    words = ["--as", "bot", "send", "live", "--timeout", "20"]
    sender = User(*words, "--enter", "rm --version | head -1")

    human.sees(b"(rule ask-first); Ctrl-] a approves")
    assert main(["gate", "pending", "live"]) == 0
    assert '"rm --version | head -1' in capsys.readouterr().out
    human.types(b"\x1da")
    human.sees(b"by bot (agent, ")
    human.types(b"y")

    assert sender.left() == 0
    human.sees(b"coreutils")
    sender.close()


def test_whoever_asks_from_a_script_gets_what_is_given(
    seats: tuple[User, User], capsys: pytest.CaptureFixture[str]
) -> None:
    _, bot = seats
    main(["drop", "live"])
    bot.types(b"\x1dt")
    bot.sees(b"turn: you")
    asked: list[int] = []
    asking = threading.Thread(
        target=lambda: asked.append(main(["ask", "live", "--timeout", "20"]))
    )

    asking.start()
    bot.sees(b"asks for the turn (for ")
    bot.types(b"\x1dg")
    asking.join()

    assert asked == [0]
    assert "live: you have the turn" in capsys.readouterr().out
    bot.types(b"echo never\r")
    bot.sees(b"Ctrl-] S seizes it")
    assert main(["send", "live", "--enter", "expr 1200 + 34"]) == 0
    bot.sees(b"1234")
