"""A session that was lost with all of our processes is begun again as itself."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.scenarios.leftovers import left_over
from tests.scenarios.losing import (
    CANARY,
    a_machine,
    begun,
    holdfast,
    lose,
    lose_everything,
    lost,
)
from tests.scenarios.proving import creation_proven
from tests.scenarios.starts import book
from tests.scenarios.support import Machine, eventually

from holdfast.client import current_operator
from holdfast.core.book.logbook import EntryKind
from holdfast.linux import process_start
from holdfast.linux.stored import recovery_places
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

__all__ = ["a_machine"]


def recovered(name: str = "web", *more: str, **env: str) -> dict[str, object]:
    done = holdfast("recover", "--json", *more, name, **env)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def listed() -> dict[str, dict[str, object]]:
    done = holdfast("ls", "--json")
    assert done.returncode == 0, done.stderr
    return {one["id"]: one for one in json.loads(done.stdout)["sessions"]}


def test_it_goes_on_as_itself_below_a_banner(here: Machine, tmp_path: Path) -> None:
    made = tmp_path / "ran"
    script = f'echo "$MINE in $PWD" >> {made}; echo before-it-was-lost; exec sleep 600'
    session = begun(here, "sh", "-c", script, MINE="one")
    before = here.facts(session)
    assert before is not None

    lose(session)

    told = lost()[session]
    assert (told["name"], told["incarnation"], told["recoverable"]) == ("web", 1, True)
    assert "lost, " in holdfast("ls").stdout
    asked = holdfast("attach", "web")
    assert asked.returncode == 64
    assert "`holdfast recover web`" in asked.stderr
    answer = recovered("web", MINE="of another shell")
    assert (answer["id"], answer["incarnation"]) == (session, 2)
    assert lost() == {}
    now = listed()[session]
    for name in ("id", "name", "command", "cwd", "size", "created_ms"):
        assert now[name] == before[name], name
    assert now["incarnation"] == 2
    assert now["recovered_ms"]
    assert "reconstructed" in holdfast("ls").stdout
    eventually("it ran again", lambda: len(made.read_text().splitlines()) == 2)
    first, second = made.read_text().splitlines()
    assert first == second == f"one in {Path.cwd()}"
    screen = holdfast("screen", "web").stdout
    above, _, below = screen.partition("holdfast: recovered at")
    assert "before-it-was-lost" in above
    assert "(incarnation 2)" in below
    assert "Gone: the processes" in below
    assert "before-it-was-lost" in below.partition("started again")[2]


def test_one_that_was_lost_frozen_runs_again(here: Machine, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    session = begun(here, "sh", "-c", f"echo $$ >> {ran}; exec sleep 600")
    eventually("it runs", ran.exists)
    assert holdfast("freeze", "web").returncode == 0
    lose_everything()
    process_start.ensure_keeper()

    recovered()

    eventually("it ran again", lambda: len(ran.read_text().splitlines()) == 2)
    facts = here.facts(session)
    assert facts is not None
    assert facts["state"] == "running"


def test_its_logbook_goes_on_and_says_who_recovered_it(here: Machine) -> None:
    session = begun(here, "sleep", "600")
    lose(session)

    recovered()

    entries = book(session)
    [entry] = [one for one in entries if one.kind is EntryKind.RECOVERED]
    assert entry.incarnation == 2
    assert entry.fields["by"] == entries[1].fields["actor"]
    assert [one.index for one in entries] == list(range(len(entries)))
    checked = holdfast("log", "--verify", "web")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "recovered the session (incarnation 2)" in holdfast("log", "web").stdout


def test_a_shell_is_whole_again_and_counts_its_commands_on(here: Machine) -> None:
    session = begun(here, "bash")
    assert holdfast("run", "web", "--", "echo first; X=1").returncode == 0
    lose(session)
    recovered()

    again = holdfast("run", "web", "--", 'echo "second${X-}"')

    assert again.stdout == "second\n"
    begins = [one for one in book(session) if one.kind is EntryKind.BEGAN]
    assert [one.fields["number"] for one in begins] == [1, 2]
    here.replace_holder(session)
    assert holdfast("run", "web", "--", "echo third").stdout == "third\n"
    lose(session)
    assert recovered()["incarnation"] == 3
    assert holdfast("run", "web", "--", "echo fourth").stdout == "fourth\n"


def test_an_input_for_an_earlier_life_is_refused_in_the_next(here: Machine) -> None:
    session = begun(here, "cat")
    here.join(session)
    lose_everything()
    process_start.ensure_keeper()
    recovered()
    late = here.join(session)

    answer = late.enter(b"too late\n")  # These clients believe in the first life.

    assert isinstance(answer, wire.Refuse)
    assert answer.code == "stale-incarnation"


def test_no_secret_of_its_environment_is_on_disk_in_clear(here: Machine) -> None:
    session = begun(here, "sh", "-c", "exec sleep 600", API_TOKEN=CANARY)
    lose(session)

    def clear() -> list[Path]:
        roots = [os.environ["HOLDFAST_RUNTIME_DIR"], os.environ["HOLDFAST_CONFIG_DIR"]]
        files = [one for root in roots for one in Path(root).rglob("*")]
        return [
            one
            for one in files
            if one.is_file() and CANARY.encode() in one.read_bytes()
        ]

    assert clear() == []
    for one in Path(recovery_places.folder()).iterdir():
        assert one.stat().st_mode & 0o777 == 0o600, one
    pid = recovered()["pid"]
    environ = Path(f"/proc/{pid}/environ")
    eventually("it runs", lambda: CANARY.encode() in environ.read_bytes())
    assert clear() == []


def test_an_environment_that_is_left_out_is_that_of_who_recovers(here: Machine) -> None:
    config = Path(os.environ["HOLDFAST_CONFIG_DIR"]) / "config.toml"
    config.write_text("[recover]\nenvironment = false\n")
    session = begun(here, "sh", "-c", "exec sleep 600", API_TOKEN=CANARY, MINE="one")
    lose(session)

    pid = recovered("web", MINE="another")["pid"]

    def variables() -> list[bytes]:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")

    eventually("it runs", lambda: b"MINE=another" in variables())
    assert CANARY.encode() not in b"".join(variables())


def test_one_that_lives_is_not_recovered(here: Machine) -> None:
    session = begun(here, "sleep", "600")

    done = holdfast("recover", "--json", "web")

    assert done.returncode == 64
    assert "not-recoverable" in done.stderr
    asked = here.ask(**request(session))
    assert (asked["ok"], asked["code"]) == (False, "still-alive")
    facts = here.facts(session)
    assert facts is not None
    assert facts["incarnation"] == 1


def request(session: SessionId) -> dict[str, object]:
    us = current_operator.ourselves()
    asked: dict[str, object] = {"do": "recover", "recovers": session, "name": "web"}
    return creation_proven(asked, us.actor.id, us.token())


def test_a_leader_that_runs_without_us_is_still_its_life(here: Machine) -> None:
    script = "trap '' HUP; while :; do sleep 1; done"
    session = begun(here, "sh", "-c", script)
    facts = here.facts(session)
    assert facts is not None
    pid = facts["pid"]
    assert isinstance(pid, int)
    for what in ("trustee", "keeper", "nursery"):
        os.kill(here.pid(what), signal.SIGSTOP)
    stopped = [here_pid for here_pid in ours() if here_pid != pid]
    for one in stopped:
        os.kill(one, signal.SIGKILL)
    process_start.ensure_keeper()

    [told] = lost().values()
    done = holdfast("recover", "--json", "web")

    assert told["recoverable"] is False
    assert done.returncode == 64
    asked = here.ask(**request(session))
    assert (asked["ok"], asked["code"]) == (False, "still-alive")
    os.kill(pid, signal.SIGKILL)
    eventually("it is gone", lambda: not Path(f"/proc/{pid}").exists())
    assert recovered()["incarnation"] == 2


def ours() -> list[int]:
    """Return the pids of our own processes, without what runs in sessions."""
    found = left_over(os.environ["HOLDFAST_RUNTIME_DIR"], "HOLDFAST_RUNTIME_DIR")
    return [
        one for one in found if b"holdfast" in Path(f"/proc/{one}/cmdline").read_bytes()
    ]


def test_two_who_recover_at_once_start_one(here: Machine, tmp_path: Path) -> None:
    made = tmp_path / "ran"
    session = begun(here, "sh", "-c", f"echo $$ >> {made}; exec sleep 600")
    lose(session)
    command = [sys.executable, "-m", "holdfast", "recover", "--json", "web"]

    both = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    ends = sorted(one.wait(60) for one in both)

    assert ends == [0, 64, 64, 64]
    time.sleep(0.2)  # For one that should not have begun.
    assert len(made.read_text().splitlines()) == 2
    assert here.facts(session) is not None
    for one in both:
        assert one.stderr is not None
        one.stderr.close()
