"""Images and branches of a session: what it was, and what it might become."""

import asyncio
import os
from functools import partial
from typing import TYPE_CHECKING

from holdfast.client import branches, pending_start, promotion
from holdfast.client.branch_preview import RUNTIME, Wanted, preview
from holdfast.core.client import questions
from holdfast.core.client.timeouts import APPROVAL
from holdfast.model.errors import OnlyHere
from holdfast.model.ids import ENTROPY, client_id
from holdfast.model.inputs import shell_line
from holdfast.model.preview_report import PreviewReport
from holdfast.model.session_record import SessionRecord
from holdfast.model.session_requests import Creation
from holdfast.model.text import checked_name
from holdfast.sdk.near_route import Near
from holdfast.sdk.session_base import SessionBase
from holdfast.wire.checkpoints import Checkpointed
from holdfast.wire.preflights import Preflight

if TYPE_CHECKING:
    from holdfast.sdk.session import Session


class SessionBranches(SessionBase):
    """What can be done with a session that is in a capsule."""

    async def checkpoint(self, *, stop: bool = False, label: str = "") -> Checkpointed:
        """Put the session to disk, and return what is told of its image.

        It stands still for `still_ms` and goes on; with `stop` it ends when the image
        is whole. `cuts` are the connections that a restore closes.

        Raises:
            Forbidden: We may not.
            UsageError: Something is in the way; `can_checkpoint` lists it.
            Unavailable: CRIU or the disk refused; the session goes on.

        """
        key = client_id(os.urandom(ENTROPY))
        return await self._ask(questions.checkpoint(stop=stop, label=label, key=key))

    async def can_checkpoint(self) -> Preflight:
        """Return what keeps the session from being dumped to disk and restored.

        Nothing does, if there are no `blockers`. `cuts` are the connections that a
        restore would close.
        """
        return await self._ask(questions.preflight())

    async def fork(self, *, name: str = "", timeout: float = APPROVAL) -> "Session":
        """Make a branch of the session and return it; enter it to be attached.

        It is a new session that goes on where this one stands, with the same memory;
        this one goes on too. It has files and a network of its own, and no connection
        that this one has. It is judged as a start is.

        Raises:
            Forbidden: We may make no branch of it, or not start one.
            UsageError: Something is in the way; `can_checkpoint` lists it. Or the
                session is elsewhere, or the name is taken.
            Unavailable: CRIU or the disk refused; the session goes on.

        """
        found, _ = await self._here("making a branch")
        own = checked_name(name) if name else ""
        wanted = own or await asyncio.to_thread(branches.free_name, found.name)
        key = client_id(os.urandom(ENTROPY))
        image = await self._ask(
            questions.checkpoint(stop=False, label="", key=key, branch=True)
        )
        try:
            asked = Creation(name=wanted, branches=image.image)
            return await self._host.made(asked, timeout)
        except BaseException:
            branches.remove_image(image.image)
            raise

    async def preview(
        self, command: str, *, timeout: float = RUNTIME, keep: bool = False
    ) -> PreviewReport:
        """Run a line in a branch of the session, and return what it did there.

        The session is as it was. The branch has its memory and its files, changes
        nothing outside and reaches no other machine; it is discarded, unless it is to
        be kept. What has not ended after `timeout` seconds is stopped.

        Raises:
            Forbidden: We may make no branch of it, or not run this.
            UsageError: Something is in the way; `can_checkpoint` lists it. Or the
                session is elsewhere.
            Unavailable: CRIU or the disk refused, or its shell is not at its prompt.

        """
        found, near = await self._here("a preview")
        wanted = Wanted(shell_line(command), timeout, keep)
        return await near.in_our_name(partial(preview, found, wanted))

    async def promote(
        self, *, force: bool = False, timeout: float = APPROVAL
    ) -> "Session":
        """Let the parent of this branch go on as the branch did, and return it.

        The parent has its id and its name, is in its next incarnation, and has the
        memory of the branch; what that changed in its files is changed in the
        parent's, with `force` also where others have changed the same ones.

        Raises:
            UsageError: It is no branch, something is in the way, or files were changed
                outside too.
            Forbidden: We may not, or nobody approved it within `timeout` seconds;
                both are on disk then.
            Unavailable: CRIU or the disk refused; `lost` shows what is on disk.

        """
        found, near = await self._here("what has to do with branches")
        branches.demand_branch(found)
        work = partial(_promoted, found.id, timeout, forced=force)
        done = await near.in_our_name(work)
        return self._host.attach(await self._host.find(done.made.id))

    async def _here(self, what: str) -> tuple[SessionRecord, Near]:
        """Return the session, if it is on this machine, and the way to it."""
        found, way = await self._found(fresh=True), self._host.way
        if found.host or not isinstance(way, Near):
            raise OnlyHere(what)
        return found, way


def _promoted(branch: str, timeout: float, *, forced: bool) -> promotion.Promoted:
    """Make a branch its parent, and wait for who has to approve that."""
    done = promotion.promote(branch, forced=forced)
    waits = pending_start.waiting_in(done.made)
    if waits is not None:
        pending_start.await_start(waits, "", timeout, _tell_nobody)
        promotion.clean(done.branch)
    return done


def _tell_nobody(_held: object) -> None:
    """Do nothing: who may approve it is shown it anyway."""
