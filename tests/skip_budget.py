"""Which tests may be skipped on this machine?

A test that skips itself because the code under test is broken looks like a pass. So
every skip is named here with what the machine must lack for it, and that is found out
by looks of our own: no line of the product runs in them. A skip that is not named, or
on a machine that lacks nothing, fails the run.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent


def is_root() -> bool:
    """Whether we may become another user, mount and look into everybody."""
    return os.geteuid() == 0


def lacks(*programs: str) -> Callable[[], bool]:
    """Whether one of these programs is not installed."""
    return lambda: any(shutil.which(one) is None for one in programs)


def lacks_browser() -> bool:
    """Whether the page cannot be tried."""
    return lacks(os.environ.get("CHROMIUM", "chromium"), "node", "npm")()


def lacks_cgroups() -> bool:
    """Whether no cgroup of the second version can be made below our own."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    folders = [line.split()[4] for line in mounts if " - cgroup2 " in line]
    own = Path("/proc/self/cgroup").read_text().rpartition("0::")[2].split("\n")[0]
    for folder in folders:
        trial = Path(folder + own, f"skip-budget-{os.getpid()}")
        try:
            trial.mkdir()
        except OSError:
            continue
        has_freezer = (trial / "cgroup.freeze").exists()
        trial.rmdir()
        return not has_freezer
    return True


def lacks_exec_notices() -> bool:
    """Whether the kernel tells nobody of an exec before it happens."""
    known = Path("/proc/sys/kernel/seccomp/actions_avail")
    return not known.exists() or "user_notif" not in known.read_text().split()


def forbids_pushed_keys() -> bool:
    """Whether no program may push keys into its own terminal."""
    switch = Path("/proc/sys/dev/tty/legacy_tiocsti")
    is_off = switch.exists() and switch.read_text().strip() == "0"
    return is_off and not is_root()


def lacks_history() -> bool:
    """Whether there is no commit before the last one."""
    return not (ROOT / ".git").exists() or (ROOT / ".git" / "shallow").exists()


def is_other_processor() -> bool:
    """Whether the machine code of some tests does not run here."""
    return platform.machine() != "x86_64"


def lacks_numbers() -> bool:
    """Whether no number of a process can be had a second time."""
    return not os.access("/proc/sys/kernel/ns_last_pid", os.W_OK)


def gives_numbers_at_random() -> bool:
    """Whether other programs may take a number before we do: always possible."""
    return True


def lacks_criu() -> bool:
    """Whether no CRIU of 4.2 or later is installed or set up for us."""
    own = Path(sys.prefix, "lib", "holdfast", "criu", "usr")
    loaders = sorted(own.glob("lib/*-linux-gnu/ld-linux-*"))
    criu = shutil.which("criu", path=f"{os.environ['PATH']}:/usr/local/sbin:/usr/sbin")
    commands = [[criu]] if criu else []
    if loaders:
        library = ("--library-path", str(loaders[0].parent))
        commands.append([str(loaders[0]), *library, str(own / "sbin" / "criu")])
    said = (
        subprocess.run([*one, "--version"], capture_output=True, check=False)
        for one in commands
    )
    found = [re.search(rb"Version: (\d+)\.(\d+)", one.stdout) for one in said]
    return not any(one and (int(one[1]), int(one[2])) >= (4, 2) for one in found)


def lacks_apt() -> bool:
    """Whether this is no Debian, nor anything made from it."""
    return not Path("/usr/lib/apt/apt-helper").exists()


@dataclass(frozen=True, slots=True)
class Permitted:
    """Tests that may be skipped, if the machine is so."""

    test: str
    if_so: Callable[[], bool]


def _not_root() -> bool:
    return not is_root()


PERMITTED = (
    Permitted("tests/web/", lacks_browser),
    Permitted("tests/web/test_firefox_too.py", lacks("firefox-esr")),
    Permitted("tests/scenarios/test_a_browser_speaks_the_protocol.py", lacks("node")),
    Permitted("tests/scenarios/test_what_is_released_works.py", lacks("npm")),
    Permitted("tests/docs/test_behind_a_proxy.py", lacks("nginx")),
    Permitted("tests/linux/test_systemd.py", lacks("systemd-analyze")),
    Permitted("tests/cli/test_life.py", Path("/run/systemd/system").is_dir),
    Permitted("tests/linux/test_file_facts.py", is_root),
    Permitted("tests/linux/test_cgroups.py", lacks_cgroups),
    Permitted("tests/linux/test_cgroup_fork.py", lacks_cgroups),
    Permitted("tests/scenarios/test_a_human_can_take_the_wheel.py", lacks_cgroups),
    Permitted("tests/linux/criu/", lacks_criu),
    Permitted("tests/linux/capsule/test_trial.py", _not_root),
    Permitted("tests/linux/criu/", _not_root),
    Permitted("tests/tools/test_set_up_criu.py", lacks_apt),
    Permitted("tests/tools/test_set_up_criu.py", is_other_processor),
    Permitted("tests/linux/test_exec_filter.py", _not_root),
    Permitted("tests/linux/test_exec_gate.py", _not_root),
    Permitted("tests/linux/test_exec_gate.py", lacks_exec_notices),
    Permitted("tests/linux/test_exec_words.py", _not_root),
    Permitted("tests/linux/test_exec_words.py", lacks_exec_notices),
    Permitted(
        "tests/scenarios/test_an_exec_waits_for_its_answer.py", lacks_exec_notices
    ),
    Permitted(
        "tests/scenarios/test_no_exec_goes_round_the_gate.py", lacks_exec_notices
    ),
    Permitted(
        "tests/scenarios/test_no_exec_goes_round_the_gate.py", is_other_processor
    ),
    Permitted("tests/linux/test_wait_points.py", _not_root),
    Permitted("tests/linux/test_freezer.py", _not_root),
    Permitted("tests/linux/test_sockets.py", _not_root),
    Permitted("tests/linux/test_tcp_peers.py", _not_root),
    Permitted("tests/linux/test_graph.py", gives_numbers_at_random),
    Permitted("tests/painter/test_main.py", _not_root),
    Permitted("tests/scenarios/test_the_program_has_no_say.py", forbids_pushed_keys),
    Permitted("tests/scenarios/test_the_program_has_no_say.py", lacks_numbers),
    Permitted("tests/scenarios/test_others_stay_out.py", _not_root),
    Permitted("tests/scenarios/test_the_relay_learns_nothing.py", _not_root),
    Permitted("tests/scenarios/test_bad_words_are_refused.py", _not_root),
    Permitted("tests/scenarios/test_what_runs_out_is_said.py", _not_root),
    Permitted(
        "tests/scenarios/test_one_machine_needs_no_relay_of_others.py", _not_root
    ),
    Permitted("tests/scenarios/test_new_code_under_running_sessions.py", lacks_history),
    Permitted("tests/test_house_rules.py", lacks_history),
    Permitted("tests/scenarios/test_programs_that_ask.py", _not_root),
    Permitted("tests/scenarios/test_programs_that_ask.py", lacks("sshd")),
    Permitted("tests/", lacks("zsh", "fish", "dash", "sudo", "dialog", "ssh-keygen")),
)


def is_permitted(test: str) -> bool:
    """Tell whether a test may be skipped here."""
    return any(test.startswith(one.test) and one.if_so() for one in PERMITTED)
