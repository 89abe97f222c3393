"""The keeper's process: how it begins, and how it ends."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from tests.keeper.keeper_process import PATIENCE, Kept, kept, said
from tests.keeper.keeper_world import ONE, TWO
from tests.scenarios.support import eventually

from holdfast.linux import packets
from holdfast.linux.processes import is_alive
from holdfast.linux.replacements import kill_keeper
from holdfast.linux.stored import places
from holdfast.version import __version__

__all__ = ["kept"]

OTHERS = ("nursery", "trustee")

HIDDEN = """
import os, resource, signal
from holdfast.keeper import loop
from holdfast.linux.libc import libc
resource.setrlimit(resource.RLIMIT_NOFILE, (99, resource.getrlimit(7)[1]))
loop._keeper(os.open(os.devnull, os.O_RDONLY))
import ctypes
adopts = ctypes.c_int()
libc.prctl(37, ctypes.byref(adopts), 0, 0, 0)
print(libc.prctl(3, 0, 0, 0, 0), adopts.value)
print(resource.getrlimit(7)[0] == resource.getrlimit(7)[1])
print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)
"""


def test_a_keeper_hides_its_memory_adopts_orphans_and_may_open_much(
    kept: Kept,
) -> None:
    found = subprocess.run(
        [sys.executable, "-c", HIDDEN],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "HOLDFAST_RUNTIME_DIR": str(kept.folder)},
    )

    assert found.stdout.split() == ["0", "1", "True", "True"]


def test_a_keeper_begins_with_all_that_belongs_to_it(kept: Kept) -> None:
    kept.start()

    eventually("a ready nursery", lambda: kept.ask(do="status")["nursery_version"])
    status = kept.ask(do="status")
    assert (status["ok"], status["pid"]) == (True, kept.started[0].pid)
    assert is_alive(int(str(status["nursery"])))
    assert is_alive(int(str(status["trustee"])))
    assert (status["painter"], status["judge"], status["sessions"]) == (0, 0, 0)
    replaced = status["replaced"]
    assert isinstance(replaced, dict)
    assert replaced["count"] == 0
    assert places.painter_socket().is_socket()
    assert places.judge_socket().is_socket()


def test_the_second_keeper_of_a_folder_ends_and_says_why(kept: Kept) -> None:
    kept.start()
    kept.link()

    second = kept.start()

    _, why = second.communicate(timeout=PATIENCE)
    assert second.returncode == 1
    assert "another keeper is running here" in why
    assert kept.ask(do="status")["pid"] == kept.started[0].pid


def test_a_keeper_that_ends_takes_everything_along(kept: Kept) -> None:
    kept.start()
    status = kept.ask(do="status")
    before = [int(str(status[one])) for one in ("nursery", "trustee")]

    assert kept.ask(do="down") == {"ok": True, "pid": kept.started[0].pid}

    assert kept.started[0].wait(PATIENCE) == 0
    eventually("nobody is left", lambda: not any(map(is_alive, before)))
    for path in (
        *(places.keeper_socket(), places.painter_socket(), places.judge_socket()),
    ):
        assert not path.exists()


def test_a_keeper_collects_a_nursery_that_died_and_starts_another(kept: Kept) -> None:
    kept.start()
    eventually("a ready nursery", lambda: kept.ask(do="status")["nursery_version"])
    first = int(str(kept.ask(do="status")["nursery"]))

    os.kill(first, signal.SIGKILL)

    eventually(
        "another nursery", lambda: kept.ask(do="status")["nursery"] not in (0, first)
    )
    eventually("it is collected", lambda: not Path(f"/proc/{first}").exists())


def test_a_keeper_hears_who_was_replaced_by_it(kept: Kept) -> None:
    with subprocess.Popen(["sleep", "60"]) as former:  # noqa: S607  # whichever there is
        kill_keeper(former.pid, "it was stopped")

    kept.start()

    replaced = kept.ask(do="status")["replaced"]
    assert isinstance(replaced, dict)
    assert replaced["count"] == 1
    assert str(replaced["last"]).startswith("the keeper")


def test_a_keeper_knocks_at_the_dozer_of_one_before(kept: Kept) -> None:
    with packets.listen(places.dozer_socket()) as dozer:
        dozer.settimeout(PATIENCE)
        kept.start()

        dozer.accept()[0].close()


def test_what_nobody_listens_at_is_cleared_away_and_nothing_else(kept: Kept) -> None:
    folder = places.session_dir()
    with (
        socket.socket(socket.AF_UNIX) as dead,
        socket.socket(socket.AF_UNIX) as alive,
    ):
        dead.bind(str(folder / f"{ONE}.sock"))  # It never listens.
        alive.bind(str(folder / f"{TWO}.sock"))
        alive.listen(8)
        (folder / f"{ONE}.name").write_text("one")
        (folder / f"{TWO}.name").write_text("two")

        kept.start()

        eventually("it is cleared away", lambda: not (folder / f"{ONE}.name").exists())
        assert not (folder / f"{ONE}.sock").exists()
        assert (folder / f"{TWO}.sock").exists()
        assert (folder / f"{TWO}.name").exists()


def test_a_socket_that_is_being_made_is_given_time(kept: Kept) -> None:
    kept.patience = 10.0**6
    path = places.session_dir() / f"{ONE}.sock"
    with socket.socket(socket.AF_UNIX) as early:
        early.bind(str(path))  # It does not listen yet.
        kept.start()
        eventually("a ready nursery", lambda: kept.ask(do="status")["nursery_version"])

        assert path.exists()


def upgraded(kept: Kept, link: socket.socket) -> None:
    """Ask for the same code once more, over a link."""
    status = kept.ask(do="status")
    asked = {"do": "upgrade", "python": status["python"], "root": status["root"]}
    packets.send(link, {**asked})


def test_a_keeper_becomes_other_code_and_says_so_to_who_asked(kept: Kept) -> None:
    kept.start()
    eventually("a ready nursery", lambda: kept.ask(do="status")["nursery_version"])
    before, link = kept.ask(do="status"), kept.link()

    upgraded(kept, link)
    while (told := said(link)).get("more"):
        pass

    assert (told["ok"], told["was"], told["now"]) == (True, __version__, __version__)
    after = kept.ask(do="status")
    assert (after["pid"], after["upgrading"]) == (before["pid"], False)
    assert float(str(after["uptime"])) > float(str(before["uptime"]))
    assert after["nursery"] not in (0, before["nursery"])
    assert after["nursery_version"] == __version__
    assert after["trustee"] not in (0, before["trustee"])
    eventually(
        "the former ones are gone",
        lambda: not any(is_alive(int(str(before[one]))) for one in OTHERS),
    )


def test_an_upgrade_goes_on_without_who_asked_for_it(kept: Kept) -> None:
    kept.start()
    eventually("a ready nursery", lambda: kept.ask(do="status")["nursery_version"])
    before = kept.ask(do="status")["trustee"]

    with packets.connect(places.keeper_socket(), PATIENCE) as link:
        upgraded(kept, link)
        eventually("it is on", lambda: kept.ask(do="status")["upgrading"])

    def is_over() -> bool:
        status = kept.ask(do="status")
        return not status["upgrading"] and status["trustee"] not in (0, before)

    eventually("it is over", is_over)
    assert kept.started[0].poll() is None
