"""What the line being entered would run, and who staged it.

Only whole lines are resolved: a key in the middle of one causes no lookup. A line that
is not read by an integrated shell at its prompt has nothing to be resolved against;
that another operator typed its beginning is still known.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import replace

from holdfast.core.policy.policy import typed_commands
from holdfast.core.provenance.commands import Command as Ran
from holdfast.core.provenance.line_resolution import Shell, changes_plainly, resolve
from holdfast.core.provenance.staged import Staged
from holdfast.core.shell.known_values import known_values
from holdfast.core.shell.simple_command import Command
from holdfast.holder.links.attached_clients import AttachedClients
from holdfast.holder.provenance.reading_shell import shell_reads
from holdfast.holder.provenance.shell_commands import ShellCommands
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux import procfs, pty
from holdfast.linux.lookups import Digests
from holdfast.linux.stored import operators
from holdfast.model.actors import Actor
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import ActorId
from holdfast.model.policy_questions import Question
from holdfast.model.resolutions import (
    Resolution,
    Resolved,
    Staging,
    Thing,
    distinct,
)
from holdfast.model.text import printable

MAX_COMM = 64
"""Bytes of a program's name, of which the kernel keeps 15."""

MAX_NAMED = 80
"""Characters of a staged line that are shown as its name."""


class LineResolver:
    """Resolves the lines of one session."""

    def __init__(
        self,
        descriptors: SessionDescriptors,
        shell: ShellCommands,
        clients: AttachedClients,
    ) -> None:
        self._descriptors = descriptors
        self._shell = shell
        self._clients = clients
        self._digests = Digests()

    def completed(self, question: Question, staged: Staged) -> Question:
        """Return the question of a line with what it runs, and who staged that."""
        values = known_values(self._at_prompt().state)
        question = replace(question, shell=self._shell_name(), values=values)
        commands = typed_commands(question)
        found = self._resolution(commands, staged)
        people = found.originators()
        return replace(
            question,
            resolution=found,
            originators=tuple(map(self._actor, people)),
            foreground=self._foreground(),
            shell_reads=shell_reads(self._descriptors, self._shell),
            folders=self._folders(commands),
        )

    def started_by(self) -> tuple[ActorId, ...] | None:
        """Return who has a hand in the command in the foreground; None if unknown."""
        shell = self._shell
        if shell.is_marked and shell.at_prompt:
            return ()
        running, group = shell.running, pty.foreground(self._descriptors.master)
        if running is None or running.trigger is None or group is None:
            return None
        if group != self._descriptors.record.pid:
            begun = procfs.read_stat(group)
            # What is older was brought to the foreground, and is another command's.
            if begun is None or _up_ms(begun) < running.since.up_ms:
                return None
        return distinct([running.trigger, *running.authors, *running.hands])

    def _shell_name(self) -> str:
        """Return which shell reads the line, by its file: `sh` may be any."""
        group = pty.foreground(self._descriptors.master)
        path = "" if group is None else procfs.link(f"/proc/{group}/exe")
        return (path or "").rpartition("/")[2]

    def _at_prompt(self) -> Shell:
        """Return the session's shell, with what is set in it if it is at its prompt."""
        shell = self._shell
        state = shell.shell_state if shell.at_prompt else None
        name = self._descriptors.held.integration
        return Shell(state, shell.origins, name)

    def _folders(self, commands: Sequence[Command]) -> dict[str, str]:
        """Return where the folders lead that the line changes to by itself."""
        wanted = {folder for one in commands for folder in one.folders if folder}
        if not wanted or not changes_plainly(self._at_prompt()):
            return {}
        found = self._digests.folders(self._cwd(), sorted(wanted))
        return {folder: path for folder, path in found.items() if path is not None}

    def _resolution(self, commands: Sequence[Command], staged: Staged) -> Resolution:
        shell = self._at_prompt()
        # Where no shell is asked no file is: a program may be fed line after line.
        look = _nothing if shell.state is None else self._digests.lookup(self._cwd())
        found = resolve(commands, shell, look)
        begun = self._descriptors.record.cwd
        more = [*_line(staged), *_folder(self._shell.ran(), begun)]
        return replace(
            found, commands=tuple(_with(one, more) for one in found.commands)
        )

    def _actor(self, wanted: ActorId) -> Actor:
        """Return an operator's record, also if it left before this holder began."""
        if not self._clients.knows(wanted):
            with contextlib.suppress(OSError, HoldfastError):
                found = operators.by_actor(wanted)
                if found is not None:
                    self._clients.meet(found.actor)
        return self._clients.actor(wanted)

    def _foreground(self) -> str | None:
        group = pty.foreground(self._descriptors.master)
        raw = b"" if group is None else procfs.read(f"/proc/{group}/comm", MAX_COMM)
        return raw.decode("utf-8", "replace").strip() or None

    def _cwd(self) -> str | None:
        pid = self._descriptors.record.pid
        return procfs.link(f"/proc/{pid}/cwd") or None


def _up_ms(process: procfs.Stat) -> int:
    """Return when a process began, at the latest: the kernel dates it by ticks."""
    return (process.started + 1) * 1000 // procfs.TICKS


def _nothing(path: str) -> None:
    del path


def _with(resolved: Resolved, more: list[Staging]) -> Resolved:
    return replace(resolved, staged=(*more, *resolved.staged))


def _line(staged: Staged) -> list[Staging]:
    if staged.is_empty:
        return []
    text = printable(staged.data.decode("utf-8", "replace"), MAX_NAMED)
    return [Staging(Thing.LINE, text, staged.by, is_known=bool(staged.by))]


def _folder(ran: tuple[Ran, ...], begun: str) -> list[Staging]:
    """Return who brought the shell to the folder in which it is."""
    cwd = begun if ran and ran[0].number == 1 else ""
    mover = None
    for one in ran:
        if cwd and one.cwd and one.cwd != cwd:
            mover = one
        cwd = one.cwd or cwd
    if mover is None:
        return []
    by = distinct([*filter(None, [mover.trigger]), *mover.authors, *mover.hands])
    is_known = bool(mover.trigger)
    return [Staging(Thing.FOLDER, mover.cwd, by, mover.number, is_known)]
