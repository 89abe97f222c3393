import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DRIVER = Path(__file__).parent / "one_capsule.py"
NOBODY = 65534

USERS = [os.getuid(), NOBODY] if os.getuid() == 0 else [os.getuid()]

as_each = pytest.mark.parametrize("user", USERS)
"""As root and as an ordinary user, or as whoever runs the tests."""


def inside(
    user: int,
    script: str,
    *,
    hidden: tuple[Path, ...] = (),
    net: str = "host",
    before: tuple[str, ...] = (),
    fixed: tuple[Path, ...] = (),
) -> dict[str, Any]:
    """Run a shell's command in a capsule; skip where there can be none."""
    lists = [json.dumps([*map(str, one)]) for one in (hidden, fixed)]
    words = [*before, sys.executable, str(DRIVER), script, lists[0], net, lists[1]]
    who: dict[str, Any] = {} if user == os.getuid() else {"user": user, "group": user}
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=60, check=False, cwd="/", **who
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    if "not permitted" in found.get("refused", ""):
        pytest.skip(found["refused"])
    assert before or "refused" not in found, found["refused"]
    return found


def secret_of(user: int, folder: Path) -> Path:
    """Make a folder with a secret in it that its user may read."""
    for above in (folder, *folder.parents[:-1]):
        if above.stat().st_uid == os.getuid():
            above.chmod(above.stat().st_mode | 0o755)
    made = folder / "keys"
    made.mkdir(mode=0o700)
    (made / "token").write_text("the token")
    if os.getuid() == 0:
        os.chown(made, user, user)
        os.chown(made / "token", user, user)
    return made


@as_each
def test_a_leader_runs_on_a_terminal_of_its_own_and_its_end_is_known(user: int) -> None:
    found = inside(user, "tty; stty size; exit 7")

    assert (found["why"], found["printed"]) == ("", "/dev/pts/0\n50 200\n")
    assert found["status"] == 7
    assert found["terminal"].startswith("tty[")


@as_each
def test_it_sees_no_process_but_its_own(user: int) -> None:
    found = inside(user, "ps -e -o pid=,comm=")

    seen = [line.split() for line in found["printed"].splitlines()]
    assert seen[:3] == [["1", "cat"], ["2", "sleep"], ["3", "sleep"]]
    assert [name for _, name in seen[3:]] == ["sh", "ps"]
    assert (found["inner_init"], found["inner_leader"]) == (2, 4)


@as_each
def test_it_is_who_it_is_outside(user: int) -> None:
    assert inside(user, "id -u")["printed"] == f"{user}\n"


@as_each
def test_at_the_end_of_the_lifeline_nothing_is_left(user: int) -> None:
    found = inside(user, "trap '' HUP TERM; setsid sleep 600 & sleep 0.1")

    assert (found["first_ended"], found["left"]) == (0, [])


@as_each
def test_a_hidden_folder_is_empty_under_every_name(user: int, tmp_path: Path) -> None:
    keys = secret_of(user, tmp_path)
    tricks = (
        f"cat {keys}/token; cat /proc/1/root{keys}/token; ls -A {keys}; cd {keys}/..;"
        f"cat keys/token; umount {keys}; rm -rf {keys}; mv {keys} {keys}-2;"
        f"unshare -Urm sh -c 'umount {keys}; cat {keys}/token';"
        f"unshare -Urm sh -c 'mkdir {tmp_path}/m; mount --bind {tmp_path} /mnt;"
        " cat /mnt/keys/token'; nsenter -t 1 -m cat {keys}/token"
    )

    found = inside(user, tricks, hidden=(keys,))

    assert "the token" not in found["printed"]
    assert (keys / "token").read_text() == "the token"


@as_each
def test_its_first_process_cannot_be_made_to_miss_its_end(user: int) -> None:
    script = (
        "readlink /proc/1/fd/0; (exec 9>/proc/1/fd/0; sleep 600) &"
        " kill -STOP 1; kill -9 1; setsid sleep 600 & python3 -c 'import ctypes;"
        " print(ctypes.CDLL(None).ptrace(0x4206, 1, None, None))'"
    )

    found = inside(user, script)

    assert "-1\n" in found["printed"]
    assert "socket" not in found["printed"]
    assert (found["first_ended"], found["left"]) == (0, [])


@as_each
def test_with_a_network_of_its_own_it_reaches_itself_alone(user: int) -> None:
    script = "ls /sys/class/net >/dev/null; cat /proc/net/dev | grep -c :"

    assert inside(user, script, net="own")["printed"] == "1\n"
    assert inside(user, script, net="own")["net"] == "own"


@as_each
def test_no_device_shows_the_disk_or_the_memory(user: int, tmp_path: Path) -> None:
    del tmp_path
    found = inside(user, "find /dev -type b; ls /dev/mem /dev/kmsg; mknod /tmp/x b 8 0")

    assert "/dev/" not in found["printed"].replace("'/dev/", "")
    assert "mknod: " in found["printed"]


@as_each
def test_root_inside_cannot_change_the_machine(user: int) -> None:
    script = (
        "for file in /proc/sys/kernel/core_pattern /proc/sysrq-trigger"
        " /sys/kernel/uevent_helper /sys/fs/cgroup/*/cgroup.procs;"
        " do (echo x >$file) && echo WROTE $file; done; true"
    )

    assert "WROTE" not in inside(user, script)["printed"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root mounts")
@as_each
def test_a_mount_that_the_user_cannot_reach_is_no_obstacle(
    user: int, tmp_path: Path
) -> None:
    closed = tmp_path / "closed"
    (closed / "mount").mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "x", closed / "mount"], check=True)  # noqa: S607
    closed.chmod(0o700)
    try:
        assert inside(user, "echo on")["printed"] == "on\n"
    finally:
        subprocess.run(["umount", closed / "mount"], check=True)  # noqa: S607


@pytest.mark.skipif(os.getuid() != 0, reason="only root sets limits")
def test_where_there_are_no_namespaces_left_it_is_refused_with_the_reason() -> None:
    limit = 'echo 0 >/proc/sys/user/max_pid_namespaces && exec "$@"'
    before = ("unshare", "-Ur", "sh", "-c", limit, "sh")

    refused = inside(0, "echo on", before=before)["refused"]

    assert "no namespaces can be made: No space left on device" in refused


@as_each
def test_a_command_that_cannot_be_executed_is_said(user: int) -> None:
    found = inside(user, "exec /no/such/program")

    assert found["status"] == 127


@as_each
def test_no_folder_is_put_in_the_place_of_one_that_is_hidden(
    user: int, tmp_path: Path
) -> None:
    home = tmp_path / "of/home"
    home.mkdir(parents=True)
    keys = secret_of(user, home)
    for one in (home, home.parent, tmp_path):
        os.chown(one, user, user)
    inside(
        user,
        f"""
        for one in {keys} {home} {home.parent} {tmp_path}; do
            mv $one $one-2; unshare -Urm mv $one $one-3
            unshare -Urm sh -c "umount -l $one; mv $one $one-4"
        done
        mkdir -p {keys}; echo other >{keys}/token
        """,
        hidden=(keys,),
    )

    assert (keys / "token").read_text() == "the token"


@as_each
def test_what_is_fixed_is_read_and_not_changed(user: int, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    keys, program = secret_of(user, home), home / "program"
    (program / "keys").mkdir(parents=True)
    (program / "code").write_text("code\n")
    (program / "keys/token").write_text("the token")
    for one in (home, program, *program.rglob("*")):
        os.chown(one, user, user)
    found = inside(
        user,
        f"""
        cat {program}/code {program}/keys/token
        echo other >{program}/code; mv {program}/code {program}/other
        mv {program} {program}-2; mv {home} {home}-2; chmod 777 {program}/code
        umount {program}; mount -o remount,rw {program}
        unshare -Urm mount -o remount,rw,bind {program}; echo more >{program}/more
        """,
        hidden=(keys, program / "keys"),
        fixed=(program,),
    )

    assert "code" in found["printed"]
    assert "the token" not in found["printed"]
    assert (program / "code").read_text() == "code\n"
    assert {one.name for one in program.iterdir()} == {"code", "keys"}


@as_each
@pytest.mark.parametrize(("net", "says"), [("host", "denied"), ("own", "open")])
def test_what_others_say_on_the_network_is_not_read(
    user: int, net: str, says: str
) -> None:
    script = """
import socket
for kind in ((socket.AF_PACKET, socket.SOCK_RAW, 3), (2, socket.SOCK_RAW, 6)):
    try:
        socket.socket(*kind); print("open")
    except PermissionError: print("denied")
"""
    found = inside(user, f"python3 -c '{script}'", net=net)

    wanted = says if user == 0 else "denied"
    assert found["printed"] == f"{wanted}\n" * 2


@as_each
def test_nothing_is_left_of_a_capsule_whose_maker_is_killed(user: int) -> None:
    who: dict[str, Any] = {} if user == os.getuid() else {"user": user, "group": user}
    words = [sys.executable, str(DRIVER), "sleep 100", "[]", "host", "[]"]
    for step in range(25):
        maker = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/", **who
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            maker.wait(0.06 + step * 0.006)
        maker.kill()
        # What hangs in there has not executed anything yet, and so has this pipe.
        maker.communicate(timeout=30)
