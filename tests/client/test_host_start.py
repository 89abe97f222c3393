from pathlib import Path

import pytest

from holdfast.client import host
from holdfast.linux.stored import places
from holdfast.model.errors import HostDidNotStart


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setattr(host, "START_PATIENCE", 0.05)
    path = places.host_log()
    path.write_text("holdfast: an old story\n")
    return path


def prints(log: Path, text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a host that is started print something, and end."""

    def start() -> None:
        with log.open("ab") as file:
            file.write(text)

    monkeypatch.setattr(host, "start_host", start)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"holdfast: no room\n", "no room"),
        (b"one\nholdfast: cannot use it\n\n", "cannot use it"),
        (b"x" * 9000 + b"\nlast\n", "last"),
        (b"bad \x1b[31m\xff\n", "bad \\x1b[31m\ufffd"),
        (b"", "no answer within"),
    ],
)
def test_a_host_that_does_not_start_is_quoted(
    text: bytes, why: str, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prints(log, text, monkeypatch)

    with pytest.raises(HostDidNotStart) as raised:
        host.start()

    assert str(raised.value).startswith(f"the host did not start: {why}")


def test_a_log_that_is_not_there_hides_nothing(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "start_host", lambda: None)
    log.unlink()

    with pytest.raises(HostDidNotStart, match="no answer"):
        host.start()
