import json
from pathlib import Path

import pytest
from tests.cli.support.fakes import FakeKeeper
from tests.cli.support.pty_user import User

from holdfast.cli.main import main
from holdfast.cli.verbs import doctor, status, upgrade
from holdfast.model.process_status import KeeperStatus
from holdfast.version import __version__

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "run"
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(folder))
    return folder


def test_without_anything_running_status_says_so_and_starts_nothing(
    place: Path, capsys: Capture
) -> None:
    assert main(["status", "--json"]) == 0

    said = json.loads(capsys.readouterr().out)
    assert (said["keeper"], said["host"], said["sessions"]) == (None, None, None)
    assert said["version"] == __version__
    assert list(place.iterdir()) == []


def test_status_counts_sessions_by_state(keeper: FakeKeeper, capsys: Capture) -> None:
    one, _ = keeper.has("one", "two")
    one.exits(3)

    main(["status"])

    assert "1 running, 1 exited" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "warns"),
    [
        (KeeperStatus(__version__, root=upgrade.code_folder()), False),
        (KeeperStatus(__version__), False),
        (KeeperStatus("0.0.1", root=upgrade.code_folder()), True),
        (KeeperStatus(__version__, root="/elsewhere"), True),
        (KeeperStatus(__version__, nursery_version="0.0.1"), True),
    ],
)
def test_other_code_than_ours_is_pointed_out(
    answer: KeeperStatus, *, warns: bool
) -> None:
    found = status._warnings(answer, None)  # noqa: SLF001  # what status says

    assert bool(found) is warns
    assert all("holdfast upgrade" in one for one in found)


def test_down_and_upgrade_with_nothing_running_are_no_errors(
    place: Path, capsys: Capture
) -> None:
    assert main(["down"]) == 0
    assert main(["upgrade"]) == 0
    assert main(["down", "--json"]) == 0

    said = capsys.readouterr().out
    assert said.count("no keeper") == 2
    assert not (place / "keeper.sock").exists()


@pytest.mark.skipif(
    Path("/run/systemd/system").is_dir(), reason="it would be installed"
)
@pytest.mark.usefixtures("place")
def test_where_there_is_no_systemd_it_is_said_what_keeps_sessions(
    capsys: Capture,
) -> None:
    assert main(["up", "--install"]) == 0

    assert "setsid" in capsys.readouterr().out


@pytest.mark.usefixtures("keeper")
def test_doctor_has_a_line_for_each_ability(capsys: Capture) -> None:
    assert main(["doctor"]) == 0

    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "Sessions can work here." in said
    for name in ("python", "terminals", "log-out", "screens"):
        assert f"\n{name} " in f"\n{said}"


def test_doctor_fails_where_sessions_cannot_work(place: Path, capsys: Capture) -> None:
    place.mkdir(mode=0o777)
    place.chmod(0o777)

    assert main(["doctor", "--json"]) == doctor.EXIT_UNAVAILABLE

    said = json.loads(capsys.readouterr().out)
    assert said["works"] is False
    (sockets,) = [one for one in said["abilities"] if one["name"] == "sockets"]
    assert sockets["grade"] == "missing"
    assert "HOLDFAST_RUNTIME_DIR" in sockets["advice"]


def the_host(capsys: Capture) -> dict[str, object]:
    main(["doctor", "--json"])
    abilities = json.loads(capsys.readouterr().out)["abilities"]
    (found,) = [one for one in abilities if one["name"] == "host"]
    return dict(found)


def test_doctor_says_how_to_start_a_host(keeper: FakeKeeper, capsys: Capture) -> None:
    found = the_host(capsys)

    assert found["grade"] == "ok"
    assert "holdfast up --detach" in str(found["why"])
    assert keeper.folder.exists()


def test_doctor_sees_what_would_stop_the_host(
    keeper: FakeKeeper, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    relays = keeper.folder / "config/relays"
    relays.write_text("ftp://nowhere\n")

    bad_relay = the_host(capsys)
    relays.unlink()
    (keeper.folder / "open").mkdir()
    (keeper.folder / "open").chmod(0o777)
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(keeper.folder / "open"))
    open_folder = the_host(capsys)

    assert (bad_relay["grade"], open_folder["grade"]) == ("limited", "limited")
    assert "`up` would fail" in str(bad_relay["why"])
    assert "others may write" in str(open_folder["why"])
    assert "0700" in str(open_folder["advice"])


@pytest.mark.usefixtures("keeper")
@pytest.mark.parametrize("plain", ["", "1"])
def test_doctor_is_coloured_on_a_terminal_unless_asked_not_to_be(plain: str) -> None:
    user = User("doctor", env={"NO_COLOR": plain})

    user.sees(b"Sessions can work here.")

    assert (b"\x1b[32m" in user.shown) is not bool(plain)
    user.close()
