"""The host reaps what nobody uses, says so first, and touches nothing that is used."""

import json
import os
import subprocess
import time
from collections.abc import Iterator

import pytest
from tests.scenarios.capsules import HOLDFAST, Account, account
from tests.scenarios.support import eventually

SOON = '[reap]\nafter = "4s"\nwarning = "2s"\n'
EVERYBODY = f"{SOON}people = true\n"
STARTS = '[[rule]]\nkind = "agent"\ninput = "start"\nverdict = "allow"\n'
BUSY = "import time\nwhile True: time.sleep(0.05), sum(range(300000))"


@pytest.fixture
def here() -> Iterator[Account]:
    with account(os.getuid()) as made:
        (made.place / "config").mkdir(mode=0o700)
        yield made


def settle(here: Account, text: str) -> None:
    path = here.place / "config" / "config.toml"
    path.with_suffix(".new").write_text(text)
    path.with_suffix(".new").replace(path)


def state(here: Account, name: str) -> str:
    return str(here.facts(name)["state"])


def standing(here: Account, name: str) -> dict[str, object]:
    report = json.loads(here.ask("reap", "--dry-run", "--json"))
    found: dict[str, object] = next(
        (one for one in report["standings"] if one["name"] == name), {}
    )
    return found


def reaped(here: Account) -> int:
    return int(json.loads(here.ask("reap", "--dry-run", "--json"))["reaped"])


def test_nothing_is_reaped_unless_the_settings_say_so(here: Account) -> None:
    here.ask("up", "--detach")
    here.new("web")

    said = here.ask("reap", "--dry-run")

    assert "Nothing is reaped" in said
    assert json.loads(here.ask("reap", "--dry-run", "--json"))["on"] is False


def test_a_session_that_nobody_uses_is_warned_of_and_reaped(here: Account) -> None:
    settle(here, '[reap]\nafter = "10s"\nwarning = "8s"\npeople = true\n')
    here.ask("up", "--detach")
    session = here.new("web")
    watching = subprocess.Popen(
        [HOLDFAST, "watch", "--json", "web"],
        env=here.variables,
        stdout=subprocess.PIPE,
        text=True,
    )

    # To begin to watch is an entry in the book, and takes an earlier warning back.
    eventually("it is warned of", lambda: "reaped in" in here.ask("ls"))
    assert here.facts("web")["reaps_ms"]
    eventually("it has ended", lambda: state(here, "web") == "exited")

    said, _ = watching.communicate(timeout=20)
    told = [json.loads(line) for line in said.splitlines()]
    events = [one["event"] for one in told]
    assert events.index("reap.warned") < events.index("session.reaped")
    (last,) = (one for one in told if one["event"] == "session.reaped")
    assert last["session"] == session
    assert last["why"] == "idle-window"
    assert last["idle_s"] >= 4
    log = here.ask("log", "web")
    assert "reaper" in log
    assert "ended the session with SIGHUP: idle for" in log
    assert "reaper" in here.ask("operators")


def test_a_person_s_session_is_left_alone_and_an_agent_s_is_not(
    here: Account,
) -> None:
    settle(here, SOON)
    here.ask("up", "--detach")
    here.ask("operators", "add", "bot", "--kind", "agent")
    (here.place / "config" / "policy.toml").write_text(STARTS)
    here.ask("gate", "apply", "--yes")
    here.new("mine")
    here.ask("--as", "bot", "new", "-d", "-n", "its")

    eventually("it has ended", lambda: reaped(here) == 1)

    assert standing(here, "mine")["why_not"] == "a person began it"
    assert state(here, "mine") == "running"


def test_what_is_in_use_is_not_reaped(here: Account) -> None:
    settle(here, EVERYBODY)
    for name in ("kept", "job", "daemon", "idle"):
        here.new(name)
    here.ask("keep", "kept")
    here.ask("send", "job", "--enter", "sleep 1000")
    program = here.place / "home" / "busy.py"
    program.write_text(BUSY)
    # It leaves its shell, its terminal and its parent.
    here.run(
        "daemon", f"setsid -f /usr/bin/python3 {program} </dev/null >/dev/null 2>&1"
    )

    here.ask("up", "--detach")
    eventually("the idle one has ended", lambda: state(here, "idle") == "exited")
    time.sleep(3)  # Longer than a look takes; nothing is to happen.

    assert standing(here, "kept")["why_not"] == "it is kept"
    assert standing(here, "job")["why_not"] == "a job runs in the foreground"
    assert float(str(standing(here, "daemon")["idle"])) < 2
    assert reaped(here) == 1


def test_somebody_who_comes_in_time_keeps_it(here: Account) -> None:
    settle(here, '[reap]\nafter = "16s"\nwarning = "14s"\npeople = true\n')
    here.ask("up", "--detach")
    here.new("web")
    eventually("it is warned of", lambda: here.facts("web")["reaps_ms"])

    here.run("web", "true")

    eventually("it is taken back", lambda: not here.facts("web")["reaps_ms"])
    assert state(here, "web") == "running"


def test_looking_wakes_nobody(here: Account) -> None:
    settle(here, '[reap]\nafter = "1h"\nwarning = "6s"\npeople = true\n')
    here.new("web")
    eventually("it dozes", lambda: here.facts("web")["dozing"])
    since = here.facts("web")["idle_ms"]

    here.ask("up", "--detach")
    eventually(
        "it is idle", lambda: float(str(standing(here, "web").get("idle", 0))) > 2
    )

    facts = here.facts("web")
    assert facts["dozing"]
    assert facts["idle_ms"] == since


def test_over_the_number_of_sessions_the_longest_idle_goes(here: Account) -> None:
    settle(here, '[reap]\nsessions = 2\nwarning = "1s"\npeople = true\n')
    for name in ("first", "second", "third"):
        here.new(name)
    here.ask("up", "--detach")
    here.run("first", "true")

    eventually("one has ended", lambda: reaped(here) == 1)
    time.sleep(2)

    assert reaped(here) == 1
    over = {
        name for name in ("first", "second", "third") if state(here, name) == "exited"
    }
    assert over <= {"second", "third"}
    (name,) = over
    assert "there were too many sessions" in here.ask("log", name)


def test_a_capsule_goes_to_disk_and_comes_back(here: Account) -> None:
    settle(here, EVERYBODY)
    here.new("web", "--capsule")
    here.run("web", "memory=kept")
    if not here.ask("can-checkpoint", "web", status=None).startswith("yes"):
        pytest.skip("no checkpoint can be made here")
    here.ask("up", "--detach")

    eventually("it is on disk", lambda: "stopped" in here.ask("ls", "--all"))
    settle(here, "")
    here.ask("restore", "web", "--detach")

    assert here.run("web", "echo $memory").strip() == "kept"
    assert "saved the session to disk as image 1, and ended it: idle" in here.ask(
        "log", "web"
    )


def test_a_host_that_is_killed_begins_to_count_anew(here: Account) -> None:
    settle(here, EVERYBODY)
    here.ask("up", "--detach")
    here.new("web")
    before = eventually("it is warned of", lambda: here.facts("web")["reaps_ms"])
    pid = int(json.loads(here.ask("status", "--json"))["host"]["pid"])

    os.kill(pid, 9)

    eventually("the next says when", lambda: here.facts("web")["reaps_ms"] > before)
    eventually("and reaps it in its time", lambda: state(here, "web") == "exited")
