import contextlib
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.verify import processes
from holdfast.verify.account import (
    COMMAND,
    Account,
    BrokenOff,
    Said,
    account,
    ends_by_signal,
)


@pytest.fixture
def echoing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have an account say its words, instead of doing them."""
    monkeypatch.setenv(
        COMMAND, f"{sys.executable} -c 'import sys; print(sys.argv[1:])'"
    )


def test_an_account_has_nothing_of_its_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_AS", "mallory")
    monkeypatch.setenv("HOLDFAST_SESSION", "s_other")

    variables = Account(tmp_path).variables

    assert not {"HOLDFAST_AS", "HOLDFAST_SESSION"} & set(variables)
    ours = [value for name, value in variables.items() if name.endswith("_DIR")]
    assert all(value.startswith(str(tmp_path)) for value in ours)
    assert len(ours) == 3


@pytest.mark.usefixtures("echoing")
def test_nothing_is_left_of_it() -> None:
    with account() as made:
        place, mark = made.place, made.mark
        left = made.start("x")
        left.wait()
        name, _, value = mark.decode().partition("=")
        daemon = subprocess.Popen(["/bin/sleep", "60"], env={name: value})
        assert place.is_dir()

    assert daemon.wait() == -signal.SIGKILL
    assert not place.exists()
    assert list(processes.marked(mark)) == []


@pytest.mark.usefixtures("echoing")
def test_nothing_is_left_of_it_after_an_error() -> None:
    with contextlib.suppress(RuntimeError), account() as made:
        raise RuntimeError

    assert not made.place.exists()


@pytest.mark.usefixtures("echoing")
def test_a_command_is_run_as_somebody(tmp_path: Path) -> None:
    assert Account(tmp_path).say("ls", by="ada").out == "['--as', 'ada', 'ls']\n"


def test_a_command_that_fails_or_hangs_breaks_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(COMMAND, "/bin/sh -c 'echo holdfast: no >&2; exit 3'")
    with pytest.raises(BrokenOff, match=r"`ls --all` failed \(3\): no"):
        Account(tmp_path).do("ls", "--all")
    monkeypatch.setenv(COMMAND, "/bin/sh -c 'exec sleep 60'")
    tmp_path.joinpath("home").rmdir()
    with pytest.raises(BrokenOff, match="took more than 0 s"):
        Account(tmp_path).say("ls", patience=0.1)


@pytest.mark.usefixtures("echoing")
def test_only_its_own_processes_are_killed(tmp_path: Path) -> None:
    with subprocess.Popen(["/bin/sleep", "60"], env={}) as stranger:
        with pytest.raises(BrokenOff, match="is not of this account"):
            Account(tmp_path).kill(stranger.pid)
        assert stranger.poll() is None
        stranger.kill()


def test_what_was_said_is_read_as_json_or_as_an_error() -> None:
    said = Said(77, 'a notice\n{"x": 1}\n', 'hint\n{"error": {"code": "no"}}\n')

    assert said.facts == {"x": 1}
    assert said.error == {"code": "no"}
    assert Said(0, "", "nonsense").error == {}
    assert Said(1, "", "").trouble == "it said nothing"
    with pytest.raises(TypeError):
        assert Said(0, "[]", "").facts


def test_a_signal_ends_it_in_order() -> None:
    with pytest.raises(SystemExit) as ended, ends_by_signal():
        signal.raise_signal(signal.SIGTERM)

    assert ended.value.code == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
