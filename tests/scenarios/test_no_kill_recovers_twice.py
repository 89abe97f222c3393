"""Recovering: judged like a start, never twice, and never confused by its files."""

import contextlib
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.scenarios.gated import write_policy
from tests.scenarios.losing import (
    a_machine,
    begun,
    has_tail,
    holdfast,
    is_alive,
    lose,
    lose_everything,
    lost,
)
from tests.scenarios.starts import book, bot
from tests.scenarios.support import Machine, eventually, machine

from holdfast.core.book.logbook import EntryKind
from holdfast.linux import process_start
from holdfast.linux.stored import places, recovery_places
from holdfast.model.ids import SessionId

__all__ = ["a_machine"]

DENY = """
[[rule]]
name = "no-sleep"
verdict = "deny"
input = "start"
first = "sleep"
"""

ASK = """
[[rule]]
name = "ask-first"
verdict = "ask"
kind = "agent"
input = "start"
"""


def files_of(session: SessionId) -> dict[str, Path]:
    folder = Path(recovery_places.folder())
    return {one.suffix[1:]: one for one in folder.iterdir() if one.stem == session}


# ── a recover is a start ──────────────────────────────────────────────────


def test_what_the_policy_denies_stays_lost(here: Machine) -> None:
    session = begun(here, "sleep", "600")
    lose(session)
    write_policy(DENY)

    done = holdfast("recover", "--json", "web")

    assert done.returncode == 77
    assert "no-sleep" in done.stderr
    assert here.facts(session) is None
    assert session in lost()
    assert book(session)[-1].kind is EntryKind.REFUSED
    write_policy("")
    assert holdfast("recover", "--json", "web").returncode == 0
    facts = here.facts(session)
    assert facts is not None
    assert facts["incarnation"] == 3  # The second was refused, and is on record.


def test_an_agent_recovers_nothing_that_others_have_begun(here: Machine) -> None:
    session = begun(here, "sleep", "600")
    lose(session)
    bot()

    done = holdfast("--as", "bot", "recover", "--json", "web")

    assert done.returncode == 77
    assert "not-allowed" in done.stderr
    assert session in lost()


def test_an_agent_waits_for_approval_and_a_denial_leaves_it_lost(
    here: Machine,
) -> None:
    bot()
    write_policy(ASK.replace('"ask"', '"allow"'))
    session = begun(here, "sleep", "600", as_="bot")
    lose(session)
    write_policy(ASK)
    command = [sys.executable, "-m", "holdfast", "--as", "bot", "recover", "--json"]

    def asks() -> "subprocess.Popen[str]":
        return subprocess.Popen([*command, "web"], stderr=subprocess.PIPE, text=True)

    with asks() as first:
        ticket = _ticket(first)
        assert holdfast("deny", session, ticket).returncode == 0
        assert first.wait(60) == 77
    eventually("it is lost again", lambda: session in lost())
    with asks() as second:
        ticket = _ticket(second)
        assert holdfast("approve", session, ticket).returncode == 0
        assert second.wait(60) == 0
    facts = here.facts(session)
    assert facts is not None
    assert facts["state"] == "running"


def _ticket(asks: "subprocess.Popen[str]") -> str:
    """Return the number of what waits, as the command says it."""
    assert asks.stderr is not None
    for line in asks.stderr:
        if found := re.search(r"holdfast approve \S+ (\d+)", line):
            return found[1]
    raise AssertionError("nobody was asked")


def test_attach_recovers_by_itself_if_the_settings_say_so(here: Machine) -> None:
    session = begun(here, "sh", "-c", "echo ready; exec sleep 600")
    lose(session)
    config = Path(os.environ["HOLDFAST_CONFIG_DIR"]) / "config.toml"
    config.write_text("[recover]\nautomatic = true\n")

    pid, master = pty.fork()
    if pid == 0:
        words = [sys.executable, "-m", "holdfast", "attach", "web"]
        os.execv(sys.executable, words)  # noqa: S606  # on the terminal just made
    facts = eventually("it lives", lambda: here.facts(session))

    assert facts["incarnation"] == 2
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(master)


def test_what_is_forgotten_is_listed_no_more(here: Machine) -> None:
    session = begun(here, "sleep", "600")
    lose(session)

    assert holdfast("recover", "--forget", "web").returncode == 0

    assert lost() == {}
    assert files_of(session) == {}
    assert places.session_log(session).exists()


def test_a_session_that_ends_leaves_nothing_to_recover(here: Machine) -> None:
    session = begun(here, "sleep", "600")
    eventually("its output is on disk", lambda: has_tail(session))
    assert holdfast("end", "web").returncode == 0

    eventually("nothing is kept", lambda: not files_of(session))
    lose_everything()
    process_start.ensure_keeper()
    assert lost() == {}
    assert holdfast("recover", "--json", "web").returncode == 64


def test_all_are_recovered_with_one_command(here: Machine) -> None:
    sessions = {begun(here, "sleep", "600", name=name) for name in ("one", "two")}
    for one in sessions:
        eventually("its output is on disk", partial(has_tail, one))
    lose_everything()
    process_start.ensure_keeper()

    done = holdfast("recover", "--all", "--detach")

    assert done.returncode == 0, done.stderr
    assert "one was started again (incarnation 2)" in done.stdout
    assert all(here.facts(one) for one in sessions)


# ── files that are not what they were ─────────────────────────────────────


@pytest.mark.parametrize("what", ["cut", "empty", "flipped", "foreign", "pipe", "link"])
def test_damaged_records_are_said_and_never_fatal(here: Machine, what: str) -> None:
    session = begun(here, "sleep", "600")
    lose(session)
    facts = files_of(session)["facts"]
    raw = facts.read_bytes()
    if what == "foreign" and os.geteuid():
        pytest.skip("only root can give a file away")
    match what:
        case "cut":
            facts.write_bytes(raw[:100])
        case "empty":
            facts.write_bytes(b"")
        case "flipped":
            facts.write_bytes(raw[:60] + bytes([raw[60] ^ 1]) + raw[61:])
        case "foreign":
            os.chown(facts, 65534, 65534)
        case "pipe":
            facts.unlink()
            os.mkfifo(facts)
        case _:
            other = facts.with_suffix(".elsewhere")
            facts.rename(other)
            facts.symlink_to(other)

    told = lost()[session]

    assert (told["name"], told["recoverable"]) == ("web", False)
    done = holdfast("recover", "--json", "web")
    assert done.returncode == 64
    assert "cannot be read" in done.stderr


def test_damaged_output_costs_the_output_and_no_more(here: Machine) -> None:
    session = begun(here, "sh", "-c", "echo printed; exec sleep 600")
    lose(session)
    for kind, path in files_of(session).items():
        if kind.startswith("tail"):
            path.write_bytes(path.read_bytes()[:-1])

    assert holdfast("recover", "--json", "web").returncode == 0

    assert "Of its output nothing was kept." in holdfast("screen", "web").stdout


def test_records_of_one_session_are_not_those_of_another(here: Machine) -> None:
    first, second = (begun(here, "sleep", "600", name=name) for name in ("a", "b"))
    for one in (first, second):
        eventually("its output is on disk", partial(has_tail, one))
    lose_everything()
    process_start.ensure_keeper()
    shutil.copy(files_of(first)["facts"], files_of(second)["facts"])

    assert lost()[second]["recoverable"] is False
    assert lost()[first]["recoverable"] is True


# ── kills ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("victim", ["keeper", "nursery", "newest"])
@pytest.mark.parametrize("moment", [0.0, 0.01, 0.03, 0.08])
def test_a_kill_amid_it_leaves_it_lost_or_recovered(
    here: Machine, tmp_path: Path, victim: str, moment: float
) -> None:
    ran = tmp_path / "ran"
    session = begun(here, "sh", "-c", f"echo $$ >> {ran}; exec sleep 600")
    lose(session)
    pid = here.pid("nursery" if victim == "newest" else victim)
    command = [sys.executable, "-m", "holdfast", "recover", "--json", "web"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as asks:
        log = places.session_log(session)
        before = log.stat().st_size
        # It is known to be on its way from when its book grows, or soon before.
        deadline = time.monotonic() + 2 * moment + 0.4
        while log.stat().st_size == before and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(moment)
        for one in [_newest(pid)] if victim == "newest" else [pid]:
            with contextlib.suppress(OSError):
                os.kill(one, signal.SIGKILL)
        asks.wait(60)

    def settled() -> bool:
        # While nothing of ours runs, `ls` starts a keeper; nobody else does.
        is_lost = session in lost()
        is_listed = here.facts(session) is not None
        return is_listed is not is_lost

    eventually("it is lost or it lives, and is listed once", settled)
    if here.facts(session) is None:
        assert holdfast("recover", "--json", "web").returncode == 0
    here.wait_whole(session)
    leaders = [int(one) for one in ran.read_text().split()]
    living = [one for one in leaders if is_alive(one)]
    assert living == [here.pid("leader", session)]
    assert holdfast("log", "--verify", "web").returncode == 0


def _newest(nursery: int) -> int:
    """Return the last holder that a nursery has forked, or the nursery."""
    children = Path(f"/proc/{nursery}/task/{nursery}/children").read_text().split()
    return int(children[-1]) if children else nursery


# ── the disk ──────────────────────────────────────────────────────────────


@pytest.fixture
def small() -> Iterator[str]:
    """Return a folder on a disk of 12 MB, which ends with its only process."""
    folder = tempfile.mkdtemp(prefix="hf")
    program = (
        'mount -t tmpfs -o size=12m,mode=700 none "$0" && echo ok && exec sleep 600'
    )
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", program]
    with subprocess.Popen([*command, folder], stdout=subprocess.PIPE) as holding:
        assert holding.stdout is not None
        if holding.stdout.readline() != b"ok\n":
            pytest.skip("nothing can be mounted here")
        yield f"/proc/{holding.pid}/root{folder}"
        holding.kill()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_costs_the_session_nothing_and_is_made_up_for(
    small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_DOZE_AFTER", "0.2")
    with machine(small) as here:
        filler = places.runtime_dir() / "filler"
        filler.write_bytes(bytes(6 * 1024 * 1024))
        done = holdfast("new", "--detach", "--json", "-n", "web", "--", "cat")
        assert done.returncode == 0, done.stderr
        session = SessionId(json.loads(done.stdout)["id"])
        client = here.join(session)
        client.enter(b"typed while it was full\r")
        client.wait_output(b"full\r\ntyped")
        assert files_of(session) == {}
        filler.unlink()
        client.enter(b"typed later\r")
        client.close()

        eventually("it is kept now", lambda: "facts" in files_of(session))
        eventually("its output too", lambda: has_tail(session))


def test_a_flood_is_kept_in_part_and_nobody_waits(here: Machine) -> None:
    script = (
        "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo the-end; exec sleep 600"
    )
    session = begun(here, "sh", "-c", script)
    eventually("it is over", lambda: "the-end" in holdfast("read", "web").stdout)
    lose(session)

    assert sum(one.stat().st_size for one in files_of(session).values()) < 2_000_000
    assert holdfast("recover", "--json", "web").returncode == 0
    assert "the-end" in holdfast("screen", "web").stdout
