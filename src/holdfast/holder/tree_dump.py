"""Dumps the tree of a session at a moment from which it can be restored."""

import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from holdfast.core.capsule.preflight import Judgement, judge
from holdfast.holder.image_parts import CRIU_FILES
from holdfast.linux.capsule import stopped_processes
from holdfast.linux.criu import engine
from holdfast.linux.criu.gated_image import take_gate_out
from holdfast.linux.criu.program import Program, find
from holdfast.linux.criu.survey import survey
from holdfast.linux.freezer import Mark
from holdfast.linux.stored import places
from holdfast.linux.stored.checkpoint_note import LockedNote
from holdfast.linux.stored.image_store import ImageDraft
from holdfast.model.errors import CriuFailed, NotCheckpointable

ATTEMPTS = 10
"""Dumps until one finds a foreground group: a shell takes the terminal back within
a millisecond, and has to be met in that one."""

STEP = 0.005
"""Seconds between the first two; then longer ones, so that no rhythm is met twice."""


class TreeDump(NamedTuple):
    """What is dumped, and by which CRIU."""

    program: Program
    site: engine.Site
    master: int
    name: str
    """What people call the session."""

    is_gated: bool
    is_awaited: bool
    """Whether somebody waits for the image: then its memory is hashed meanwhile. A
    session that only goes on afterwards does so sooner without."""

    def look(self) -> Judgement:
        """Find out what is in the way, before anything is touched.

        Raises:
            UsageError: Something is.

        """
        facts = next(
            found
            for found in survey(self.site, is_gated=self.is_gated)
            if found is not None
        )
        seen = judge(facts)
        for one in seen.blockers:
            whose = f"{one.program} ({one.pid}): " if one.pid else ""
            more = len(seen.blockers) - 1
            rest = f"; and {more} more" if more else ""
            why = f"{whose}{one.what}{rest}"
            raise NotCheckpointable(self.name, why)
        return seen

    def settled(
        self, draft: ImageDraft, note: LockedNote, spared: frozenset[Mark]
    ) -> float:
        """Dump the tree at a moment when its terminal belongs to a living group.

        Between the end of a job and its shell's next step it belongs to nobody, and
        CRIU could not give it to that group again. Return when the tree stood still.

        Raises:
            UsageError: There was no such moment.

        """
        first = self.site.record.first
        for attempt in range(ATTEMPTS):
            began = time.monotonic()
            self._dump(draft, note)
            group = os.tcgetpgrp(self.master)
            members = stopped_processes.members(first).values()
            # No group at all needs no correction.
            if not group or any(one.group == group for one in members):
                return began
            stopped_processes.let_go(first, spared)
            draft.forget_hashes()
            shutil.rmtree(Path(draft.folder, CRIU_FILES))
            time.sleep(STEP * (attempt + 1))
        why = "no job of it keeps the terminal long enough"
        raise NotCheckpointable(self.name, why)

    def _dump(self, draft: ImageDraft, note: LockedNote) -> None:
        images = Path(draft.folder, CRIU_FILES)
        images.mkdir(mode=0o700)
        with tempfile.TemporaryDirectory(dir=places.criu_dir()) as work:
            folders = engine.Folders(images, Path(work), places.criu_dir())
            locks = (note.fd, draft.fd)
            if self.is_awaited:
                draft.hash_memory(CRIU_FILES)
            engine.dump(self.program, self.site, folders, locks=locks)
        if self.is_gated:
            take_gate_out(images)


def usable_criu() -> Program:
    """Return the CRIU to work with.

    Raises:
        Unavailable: There is none here that would do.

    """
    found = find()
    if found.program is None:
        raise CriuFailed(found.why_not)
    return found.program
