"""The process that moves a session says what came of it, or why nothing did."""

import asyncio
from pathlib import Path

import pytest

from holdfast.host import session_mover
from holdfast.host.guests import Guest
from holdfast.host.session_mover import _error, _last_line
from holdfast.linux.stored import operators
from holdfast.model.actors import ActorKind
from holdfast.model.errors import HostNotKnown, MoveFailed
from holdfast.model.ids import SessionId

SESSION = SessionId("s_" + "a" * 16)


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))


def guest() -> Guest:
    return Guest(operators.enrol("anna", ActorKind.HUMAN, b"k" * 32, None, b"t" * 32))


def test_what_the_process_fails_with_is_raised_here() -> None:
    with pytest.raises(HostNotKnown, match="nowhere"):
        asyncio.run(session_mover.move(guest(), SESSION, "nowhere"))


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        (b"", "it said nothing"),
        (b"Traceback (most recent call last):\nValueError: no\n", "ValueError: no"),
        (b'{"warning": 1}\n[1]\nodd \xff\x1b\n', "odd "),
    ],
)
def test_a_process_that_breaks_down_is_quoted(trouble: bytes, why: str) -> None:
    assert _error(trouble) is None
    assert why in _last_line(trouble)
    assert "\x1b" not in _last_line(trouble)


def test_an_error_is_read_wherever_it_stands() -> None:
    said = (
        b"a warning\n"
        b'{"error": {"code": "move-failed", "facts": {"session": "web", "host": "b",'
        b' "why": "full"}, "text": "x"}}\n'
    )

    found = _error(said)

    assert isinstance(found, MoveFailed)
    assert found.facts["why"] == "full"
