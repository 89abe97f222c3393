"""A program in a capsule, with every trick of a shell, reaches nothing of holdfast."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.capsules import MOUNTING, Account, account, as_each

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root mounts and makes")


def secrets_of(here: Account) -> list[str]:
    """Return words of this account's keys, tokens and policy that are nowhere else."""
    folders = (here.place / "config", here.place / "run")
    files = (one for folder in folders for one in folder.rglob("*") if one.is_file())
    ends = [raw[-16:] for one in files if len(raw := one.read_bytes()) >= 16]
    # What ends in zeros, or nearly so, is a file of counts, and no secret.
    found = [end.hex() for end in ends if len({*end}) >= 8]
    assert found
    return found


def printed(here: Account, script: str) -> str:
    """Run a script in a capsule of this account; return what it prints as hex too."""
    path = here.place / "home/tricks"
    path.write_text(script)
    path.chmod(0o755)
    here.run("box", "bash ./tricks >said 2>&1 </dev/null", status=None)
    said = (here.place / "home/said").read_bytes()
    return said.decode(errors="replace") + said.hex()


@contextlib.contextmanager
def capsule(user: int, *words: str) -> Iterator[Account]:
    """Make an account with a plain session, and a capsule beside it."""
    with account(user) as here:
        here.new("plain")
        policy = here.place / "config/policy.toml"
        policy.write_text('[default]\nhuman = "allow"\n')
        policy.chmod(0o600)
        os.chown(policy, user, user)
        here.new("box", "--capsule", *words)
        yield here


@as_each
def test_no_token_key_policy_or_logbook_is_read(user: int) -> None:
    with capsule(user) as here:
        folders = f"{here.place}/config {here.place}/run"
        said = printed(
            here,
            f"""
            cat $(find {folders} -type f)
            cd {here.place}; for one in config run; do cat -- $one/* $one/*/*; done
            for pid in 1 2 3 $$ $PPID; do
                cat /proc/$pid/root{here.place}/config/*/*/* /proc/$pid/cwd/../config/*
            done
            tar c {folders}; cp -r {folders} ~/stolen; ls -laR {folders}
            grep -r . {folders}; mv {here.place}/config {here.place}/moved
            umount {folders}; umount -l {folders}
            unshare -Urm bash -c 'umount {folders}; cat {here.place}/config/*/*/*'
            unshare -Urm bash -c 'mkdir -p /tmp/m; mount --bind {here.place} /mnt &&
                cat /mnt/config/*/*/*; mount --rbind {here.place} /mnt &&
                cat /mnt/config/*/*/*'
            unshare -Urpfm --mount-proc cat /proc/1/root{here.place}/config/*/*/*
            nsenter -t 1 -m cat {here.place}/config/*/*/*
            nsenter -t 1 -a cat {here.place}/config/*/*/*
            python3 -c 'import os
for number in range(3, 64):
    try: print(os.read(number, 99))
    except OSError: pass'
            """,
        )

        assert not [one for one in secrets_of(here) if one in said]
        assert (here.place / "config/policy.toml").exists()


@as_each
def test_no_policy_is_written_and_nobody_is_made_known(user: int) -> None:
    with capsule(user) as here:
        config = here.place / "config"
        before = sorted(config.rglob("*"))
        printed(
            here,
            f"""
            echo '[default]' >{config}/policy.toml; echo >>{config}/policy.toml
            mkdir {config}/operators/eve; rm -rf {config}; rmdir {config}
            mv {config} {config}-2; ln -sf /tmp {config}; chmod 777 {config}
            mount -t tmpfs none {config}; mount -o remount,rw {config}
            unshare -Urm mount -o remount,rw {config}
            mv {here.place} {here.place}-2; unshare -Urm mv {here.place} {here.place}-3
            mkdir -p {config}; echo 'default = "allow"' >{config}/policy.toml
            """,
        )

        assert sorted(config.rglob("*")) == before
        assert (config / "policy.toml").read_text() == '[default]\nhuman = "allow"\n'
        assert "plain" in here.ask("ls")


@as_each
def test_no_other_session_is_reached(user: int) -> None:
    with capsule(user) as here:
        plain = here.facts("plain")
        terminal = Path(f"/proc/{plain['pid']}/fd/0").readlink()
        here.run("plain", "stty -echo; word=whole")
        said = printed(
            here,
            f"""
            kill -9 {plain["pid"]}; kill -9 -{plain["pid"]}
            cat /proc/{plain["pid"]}/environ; strace -p {plain["pid"]}
            echo intruded >{terminal}; echo intruded >/proc/{plain["pid"]}/fd/0
            ls /proc | grep -c '^[0-9]'; find / -xdev -type s 2>/dev/null
            python3 -c 'import socket, glob
for path in glob.glob("{here.place}/run/**", recursive=True):
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as one:
            one.connect(path); print("CONNECTED", path)
    except OSError: pass'
            for one in /sys/fs/cgroup/*/ /sys/fs/cgroup/*/holdfast-*; do
                echo 1 >$one/cgroup.kill; echo 1 >$one/cgroup.freeze
                echo $$ >$one/cgroup.procs
            done
            holdfast ls; holdfast send plain --enter 'echo intruded'
            holdfast down --end-sessions
            """,
        )

        assert "CONNECTED" not in said
        assert "this is a capsule: holdfast cannot be reached from inside" in said
        assert here.run("plain", "echo $word") == "whole\n"
        assert "intruded" not in here.ask("screen", "plain")
        assert here.facts("plain")["pid"] == plain["pid"]


@as_each
def test_no_service_runs_a_command_outside(user: int) -> None:
    with capsule(user) as here:
        said = printed(
            here,
            """
            ls /run/user/*/bus /run/dbus/* /run/systemd/* /run/docker.sock /run/screen
            systemd-run --user touch ~/escaped; tmux -L default run-shell 'touch ~/x'
            ls -A /tmp/tmux-$(id -u)
            """,
        )

        assert "bus\n" not in said
        assert not (here.place / "home/escaped").exists()


@as_each
def test_holdfast_inside_says_plainly_where_it_is(user: int) -> None:
    with capsule(user) as here:
        said = here.run("box", "holdfast ls", status=64)

        assert said.startswith(
            "holdfast: this is a capsule: holdfast cannot be reached"
        )


@as_each
def test_a_capsule_does_not_see_what_another_does(user: int) -> None:
    with capsule(user) as here:
        here.new("other", "--capsule")
        here.run("other", "sleep 600 & echo hers >/dev/shm/hers; echo x >/run/lock/x")

        seen = here.run("box", "pgrep -c sleep; ls /dev/shm /run/lock; ipcs", None)

        assert "hers" not in seen
        assert seen.splitlines()[0] == "2"  # Its own two.


@needs_root
@as_each
def test_a_second_name_of_our_folders_is_covered_too(user: int) -> None:
    with account(user, MOUNTING) as here:
        here.new("plain")
        alias = here.place / "alias"
        alias.mkdir()
        subprocess.run(["mount", "--bind", here.place / "config", alias], check=True)  # noqa: S607
        try:
            here.new("box", "--capsule")
            assert (alias / "operators").exists()
            assert here.run("box", f"ls -A {alias}") == ""
        finally:
            subprocess.run(["umount", alias], check=True)  # noqa: S607


@needs_root
@as_each
def test_processes_that_another_procfs_shows_are_covered(user: int) -> None:
    with account(user, MOUNTING) as here:
        other = here.place / "proc"
        other.mkdir()
        subprocess.run(["mount", "-t", "proc", "proc", other], check=True)  # noqa: S607
        try:
            here.new("box", "--capsule")
            assert here.run("box", f"ls -A {other}") == ""
        finally:
            subprocess.run(["umount", other], check=True)  # noqa: S607


@as_each
def test_a_file_of_ours_with_a_second_name_lets_no_capsule_begin(user: int) -> None:
    with account(user) as here:
        here.new("plain")
        token = next(one for one in (here.place / "config").rglob("*") if one.is_file())
        Path(here.place / "home/mine").hardlink_to(token)

        said = here.ask("new", "-d", "--capsule", status=None)

        assert f"{token} has a second hard link" in said


@needs_root
def test_root_in_a_capsule_does_not_change_the_machine() -> None:
    with capsule(0) as here:
        said = printed(
            here,
            f"""
            for file in /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe \\
                /proc/sysrq-trigger /sys/kernel/uevent_helper /sys/power/state; do
                (echo x >$file) 2>/dev/null && echo WROTE $file
            done
            mknod /tmp/disk-$$ b 254 0 && echo MADE
            dd if=/dev/vda count=1; dd if=/dev/mem count=1; dd if=/proc/kcore count=1
            insmod /dev/null; modprobe loop && echo LOADED
            mount -t tmpfs x /mnt && echo MOUNTED; umount /proc && echo UNMOUNTED
            mount -o remount,rw /proc/sys && echo REMOUNTED
            chroot /proc/1/root ls {here.place}/config
            capsh --print; python3 - <<'E'
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
handle = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0) + bytes(128))
mount = ctypes.c_int()
place = b"{here.place}/home"
print(libc.name_to_handle_at(-100, place, handle, ctypes.byref(mount), 0))
root = os.open("/", os.O_RDONLY)
found = libc.open_by_handle_at(root, handle, os.O_RDONLY)
print("HANDLE", found, os.strerror(ctypes.get_errno()))
E
            """,
        )

        for word in ("WROTE", "MADE", "LOADED", "MOUNTED", "UNMOUNTED", "REMOUNTED"):
            assert word not in said
        assert "HANDLE -1 Operation not permitted" in said
