"""Is what is typed now meant to be seen by nobody?

A program that asks for a password switches the terminal's echo off and goes on
reading whole lines. A program that edits its line itself, as every shell does at
its prompt, switches echo off too, but reads key by key and shows what is typed.
So no echo means a secret while whole lines are read; and while single keys are
read, if the program is known to ask for passwords that way (T67, ADR 0016).
"""

import os
import time

from holdfast.linux import pty

ASKERS = frozenset(
    {
        *("sudo", "su", "doas", "login", "passwd", "ssh", "ssh-add", "ssh-keygen"),
        *("scp", "sftp", "gpg", "gpg2", "gpg-agent", "pinentry", "pinentry-curses"),
        *("pinentry-tty", "cryptsetup", "kinit", "mysql", "psql", "pass", "age"),
        *("openssl", "vault", "bw", "op", "docker", "git", "runuser", "chsh"),
    }
)
"""Programs that may read a password key by key, by the name the kernel has."""

FRESH = 0.5
"""Seconds a program's name is taken for granted: typing is faster than that."""


class Secrecy:
    """What one terminal's program wants to keep to itself."""

    def __init__(self, master: int) -> None:
        self._master = master
        self._group = 0
        self._asks = False
        self._until = 0.0

    def is_on(self) -> bool:
        """Tell whether what is typed now must not be written down."""
        if pty.echoes(self._master):
            return False
        return pty.is_canonical(self._master) or self._asker_reads()

    def _asker_reads(self) -> bool:
        group, now = pty.foreground(self._master) or 0, time.monotonic()
        if group != self._group or now >= self._until:
            self._group, self._until = group, now + FRESH
            self._asks = _name(group) in ASKERS
        return self._asks


def _name(pid: int) -> str:
    try:
        fd = os.open(f"/proc/{pid}/comm", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(fd, 64).decode("utf-8", "replace").rstrip("\n")
    finally:
        os.close(fd)
