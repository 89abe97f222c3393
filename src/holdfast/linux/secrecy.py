"""Whether what is being typed is meant to be secret.

A program that asks for a password switches the terminal's echo off. Most go on
reading whole lines: that is a secret for certain. Others read key by key, and so
does every program that itself shows what is typed: an editor, a pager. The
kernel cannot tell these apart, so all of them count as keeping a secret
(T67, ADR 0031), except for the line editors of shells, which are known:

- the session's own shell, while none of its commands is running, by its own marks;
- another interactive bash or zsh, by how their line editors set the terminal; but not
  the session's own bash while a command of it runs: `read -e` has the same editor, and
  with `-s` it shows nothing.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

from holdfast.core.provenance.line_discipline import LineDiscipline
from holdfast.linux import procfs, pty
from holdfast.linux.shells import BASH_SCRIPT
from holdfast.linux.wait_points import keeps_jobs

ASKERS = frozenset(
    {
        *("sudo", "su", "doas", "login", "passwd", "ssh", "ssh-add", "ssh-keygen"),
        *("scp", "sftp", "gpg", "gpg2", "gpg-agent", "pinentry", "pinentry-curses"),
        *("pinentry-tty", "cryptsetup", "kinit", "mysql", "psql", "pass", "age"),
        *("openssl", "vault", "bw", "op", "docker", "git", "runuser", "chsh"),
    }
)
"""Programs that read a password key by key, by the name the kernel has: what they
are given is a secret for certain."""

EDITORS = frozenset({"bash", "zsh"})
"""Shells whose line editor can be told, by the terminal, from their `read -s`."""

FRESH = 0.5
"""Seconds a program's name is taken for granted: typing is faster than that."""


class Secret(NamedTuple):
    """Whether what is typed may be a secret, and whether that is certain."""

    is_on: bool
    is_certain: bool


SHOWN = Secret(is_on=False, is_certain=False)
PERHAPS = Secret(is_on=True, is_certain=False)
CERTAIN = Secret(is_on=True, is_certain=True)

AtPrompt = Callable[[], bool]
"""Tells whether no command of the session's shell runs, by its own marks."""


class Secrecy:
    """What one terminal's program wants to keep to itself."""

    def __init__(self, master: int, leader: int, at_prompt: AtPrompt) -> None:
        self._master = master
        self._leader = leader
        self._at_prompt = at_prompt
        self._group = 0
        self._name = ""
        self._keeps_jobs = False
        self._until = 0.0

    def look(self, terminal: LineDiscipline) -> Secret:
        """Tell whether what is typed must not be written down, as things are set."""
        if terminal.echo:
            return SHOWN
        if terminal.canonical:
            return CERTAIN
        group = pty.foreground(self._master) or 0
        if group == self._leader and self._at_prompt():
            return SHOWN
        self._refresh(group)
        if self._name in ASKERS:
            return CERTAIN
        is_shell = self._name in EDITORS and self._keeps_jobs
        return SHOWN if is_shell and terminal.is_line_editor else PERHAPS

    def _refresh(self, group: int) -> None:
        now = time.monotonic()
        if group != self._group or now >= self._until:
            self._group, self._until = group, now + FRESH
            name = procfs.read(f"/proc/{group}/comm", procfs.STAT)
            self._name = name.decode("utf-8", "replace").rstrip("\n")
            self._keeps_jobs = self._name in EDITORS and keeps_jobs(group)
            if self._keeps_jobs and group == self._leader:
                # It says when it is at its prompt, or has executed another shell.
                self._keeps_jobs = BASH_SCRIPT not in procfs.command_of(group)
