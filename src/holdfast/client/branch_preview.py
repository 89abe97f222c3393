"""Runs a command in a branch of a session, and reports what it did.

The branch has the session's memory and files, and nothing that it changes is seen
outside: its files are layers of its own, and its network reaches only itself. It is
discarded when the command has ended or its time is up, whatever happens here.
"""

import contextlib
import time
from collections.abc import Iterator
from contextvars import copy_context
from functools import partial
from typing import NamedTuple

from holdfast.client import branches, command_run, trial_guard
from holdfast.client.branch_watch import BranchWatch
from holdfast.client.current_operator import ourselves
from holdfast.core.capsule.preview_findings import MAX_OUTPUT, Command, Seen, report_of
from holdfast.core.client.command_output import Ran, Stop
from holdfast.core.client.command_run import Wish
from holdfast.linux.capsule.glance import Place
from holdfast.linux.stored import layer_store, own_changes
from holdfast.model.errors import HoldfastError, NotPreviewable, SessionOver
from holdfast.model.ids import SessionId
from holdfast.model.preview_report import FileChange, PreviewReport
from holdfast.model.session_record import SessionRecord
from holdfast.model.session_requests import Created
from holdfast.term.plain_stream import last_states

RUNTIME = 60.0
"""Seconds for the command, if nobody says otherwise."""

MAX_DIFF = 64 * 1024
"""Characters of the diff."""

_OVER = Command(ended=True, exit=None, duration_ms=0, output="", output_left_out=0)
"""Of a command that ended the shell."""


class Wanted(NamedTuple):
    """What is to be tried out."""

    line: bytes
    timeout: float = RUNTIME
    keep: bool = False


def preview(parent: SessionRecord, wanted: Wanted) -> PreviewReport:
    """Run a line in a branch of a session; return what it did there.

    Raises:
        UsageError: The session cannot be forked, or its branch shares files.
        Forbidden: We may not fork it, or not run this.
        Unavailable: CRIU or the disk refused, or the shell is not at its prompt.

    """
    if wanted.keep:
        name = branches.free_name(parent.name)
        return _previewed(parent, name, wanted)._replace(branch=name)
    name = branches.trial_name(parent.name)
    with trial_guard.guarded(name):
        return _previewed(parent, name, wanted)


def _previewed(parent: SessionRecord, name: str, wanted: Wanted) -> PreviewReport:
    forked = branches.fork(parent, name, trial=not wanted.keep)
    with _discarding(forked.made, keep=wanted.keep):
        _demand_fit(parent, forked.made)
        return _tried(forked.made, wanted)


@contextlib.contextmanager
def _discarding(made: Created, *, keep: bool) -> Iterator[None]:
    try:
        yield
    except BaseException:
        trial_guard.discard(made)
        raise
    if not keep:
        trial_guard.discard(made)


def _demand_fit(parent: SessionRecord, made: Created) -> None:
    """Raise if what runs in the branch could change anything outside."""
    if made.state == "starting":
        raise NotPreviewable(parent.label, "its branch waits for approval itself")
    if not layer_store.has(SessionId(made.id)):
        raise NotPreviewable(parent.label, "its branch does not have its own files")


def _tried(made: Created, wanted: Wanted) -> PreviewReport:
    place = Place(made.pid)
    unseen: list[str] = []
    before = place.glance()
    discard = partial(
        copy_context().run, trial_guard.discard, made
    )  # In our name, in a thread.
    with BranchWatch(made, place, discard) as watch:
        try:
            command = _command(_ran(made, wanted), unseen)
        except SessionOver as error:
            if watch.stopped:
                raise NotPreviewable(made.name, watch.stopped) from error
            command = _OVER
            unseen.append(f"its status and output: {error}")
    if watch.why_not:
        unseen.append(f"what it tried to reach: {watch.why_not}")
    files, diff = _changes(made, unseen)
    after = place.settled()
    seen = Seen(
        command,
        before,
        after,
        files,
        diff,
        diff.endswith(own_changes.AND_MORE),
        watch.tried,
        watch.left_out,
        tuple(unseen),
    )
    made_ms = round(time.time() * 1000)  # noqa: TID251  # for display
    return report_of(seen, made_ms)


def _ran(made: Created, wanted: Wanted) -> Ran:
    client = command_run.client_of(made.id, ourselves().actor.id, None)
    wish = Wish(MAX_OUTPUT, until_input=True, approval=0.0)
    deadline = time.monotonic() + wanted.timeout
    return command_run.run(made.id, client, wanted.line, wish, deadline)


def _command(ran: Ran, unseen: list[str]) -> Command:
    if ran.stop is Stop.ASKED:
        unseen.append("what it does with the input that it waits for")
    return Command(
        ran.stop is Stop.ENDED,
        ran.command.status,
        ran.command.duration_ms or 0,
        last_states(ran.output),
        ran.left_out,
    )


def _changes(made: Created, unseen: list[str]) -> tuple[list[FileChange], str]:
    try:
        session = SessionId(made.id)
        found = own_changes.changes(session, since_fork=True)
        diff = own_changes.diff(session, since_fork=True, limit=MAX_DIFF)
    except HoldfastError as error:
        unseen.append(f"which files it changed: {error}")
        return [], ""
    files = [FileChange(one.kind.value, one.path, *one.sizes) for one in found]
    return files, diff
