"""A branch that becomes its parent: the stores are real, CRIU and keeper are played."""

import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cli.support.fakes import FakeKeeper, FakeSession
from tests.cli.support.operating import be_known
from tests.core.capsule.image_samples import CONTENT, WHOLE
from tests.linux.stored.test_recovery_files import FACTS

from holdfast.client import promotion
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import (
    image_store,
    layer_store,
    places,
    recovery_files,
    recovery_places,
    session_names,
)
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.image_store import ImageName
from holdfast.model.errors import (
    FilesConflict,
    HoldfastError,
    NoBranch,
    NotCheckpointable,
    OnlyATrial,
    OnlyHere,
    SessionNotFound,
    StillAlive,
)
from holdfast.model.ids import FIRST_INCARNATION, Incarnation, SessionId
from holdfast.model.session_record import ParentRecord
from holdfast.wire.checkpoints import Checkpointed
from holdfast.wire.preflights import Blocker, Preflight


class Keeper(FakeKeeper):
    """One that begins the next life of a session, as often as it refuses first."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.refusals: list[HoldfastError] = []
        self.recovered: list[dict[str, Any]] = []
        self.state = "running"

    def _answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked["do"] != "recover":
            return super()._answer(asked)
        if self.refusals:
            error = self.refusals.pop(0)
            facts = {"code": error.code, "text": str(error), "facts": error.facts}
            return {"ok": False, **facts}
        self.recovered.append(asked)
        return {
            "ok": True,
            "id": asked["recovers"],
            "name": asked["name"],
            "pid": 7,
            "state": self.state,
            "incarnation": 2,
        }


class Family:
    """A session and a branch of it, over one folder of the machine."""

    def __init__(self, keeper: Keeper, tree: Path) -> None:
        self.keeper = keeper
        self.tree = tree
        tree.mkdir()
        self.box, self.twig = keeper.has("box", "twig")
        self.parent, self.branch = (SessionId(one.id) for one in (self.box, self.twig))
        self.blockers: dict[str, tuple[Blocker, ...]] = {}
        self.stopped: list[tuple[str, str]] = []
        self.note(self.box)
        self.note(self.twig, ParentRecord(self.parent, 1))
        self.stack = layer_store.make(self.branch, (str(tree),))
        time.sleep(0.01)  # The clock of files ticks every few milliseconds.

    def note(
        self,
        one: FakeSession,
        parent: ParentRecord | None = None,
        files: str = "shared",
    ) -> None:
        """Have it on record how a session was started."""
        name = one.facts["name"]
        recovery_files.write_facts(
            replace(
                FACTS,
                session=SessionId(one.id),
                name=name,
                first_name=name,
                parent=parent,
                files=files,
            )
        )
        places.session_log(one.id).write_text('{"kind":"opened","incarnation":1}\n')

    def changes(self, name: str, text: str) -> None:
        """Have the branch write a file."""
        (layered,) = layer_store.layered(self.stack)
        Path(layered.upper, name).write_text(text)

    def preflight(self, session: str) -> Preflight:
        """Say what is in the way."""
        return Preflight(blockers=self.blockers.get(session, ()), cuts=(), unlisted=0)

    def checkpoint(self, session: str, *, stop: bool, label: str) -> Checkpointed:
        """Put a session to disk, as its holder does with CRIU."""
        assert stop
        self.stopped.append((session, label))
        name = self.image(SessionId(session))
        (one,) = [each for each in self.keeper.sessions if each.id == session]
        self.keeper.sessions.remove(one)
        one.die()
        return Checkpointed(
            image=str(name),
            number=name.number,
            size=1,
            still_ms=1,
            stopped=True,
            cuts=(),
        )

    def image(self, session: SessionId) -> ImageName:
        """Make the image that a session has stopped in."""
        with image_store.begin(session, is_durable=False) as draft:
            for name, content in CONTENT.items():
                draft.add(name, content)
            number = draft.name.number
            manifest = msgspec.structs.replace(WHOLE, session=session, number=number)
            draft.finish(manifest, SigningKey.from_seed(host_seed()))
        with places.session_log(session).open("a") as book:
            book.write(f'{{"kind":"stopped","incarnation":1,"image":{number}}}\n')
        return draft.name

    def promote(self, *, forced: bool = False) -> promotion.Promoted:
        """Ask for it."""
        return promotion.promote("twig", forced=forced)

    def is_cleaned(self) -> bool:
        """Tell whether nothing is left of the branch."""
        host = SigningKey.from_seed(host_seed()).public
        left = (
            image_store.listed(host, self.branch),
            layer_store.has(self.branch),
            self.branch in recovery_places.recorded(),
        )
        return not any(left)


@pytest.fixture
def family(monkeypatch: pytest.MonkeyPatch) -> Iterator[Family]:
    # Not tmp_path: a socket's path may be 107 bytes long and no longer.
    with tempfile.TemporaryDirectory(prefix="hf") as folder:
        home = Path(folder, "run")
        home.mkdir(0o700)
        be_known(home, monkeypatch)
        monkeypatch.setenv("HOLDFAST_STATE_DIR", f"{folder}/state")
        keeper = Keeper(home)
        made = Family(keeper, Path(folder, "tree"))
        monkeypatch.setattr(promotion, "checkpoint", made.checkpoint)
        monkeypatch.setattr(promotion, "preflight", made.preflight)
        yield made
        keeper.close()


def test_the_parent_goes_on_from_the_branch_and_its_files_are_the_machines(
    family: Family,
) -> None:
    family.changes("note", "two\n")

    done = family.promote()

    before = "before a branch was promoted"
    assert family.stopped == [(family.branch, ""), (family.parent, before)]
    assert done.before == f"{family.parent}.1"
    assert (done.made.id, done.made.name) == (family.parent, "box")
    assert (done.made.incarnation, done.branch) == (2, family.branch)
    (asked,) = family.keeper.recovered
    assert (asked["recovers"], asked["takes"]) == (family.parent, f"{family.branch}.1")
    assert asked["proof"]
    assert (family.tree / "note").read_text() == "two\n"
    assert family.is_cleaned()


def test_files_that_are_the_parents_own_stay_its_own(family: Family) -> None:
    family.note(family.box, files="own")
    family.changes("note", "two\n")

    family.promote()

    assert not (family.tree / "note").exists()


def test_what_waits_for_approval_leaves_the_branch_to_be_removed_later(
    family: Family,
) -> None:
    family.keeper.state = "starting"

    done = family.promote()

    assert done.made.state == "starting"
    assert not family.is_cleaned()
    promotion.clean(done.branch)
    assert family.is_cleaned()


def test_files_that_were_changed_outside_too_stop_it_before_anything(
    family: Family,
) -> None:
    family.changes("note", "two\n")
    (family.tree / "note").write_text("three\n")

    with pytest.raises(FilesConflict):
        family.promote()

    assert family.stopped == []
    assert (family.tree / "note").read_text() == "three\n"
    family.promote(forced=True)
    assert (family.tree / "note").read_text() == "two\n"


def test_what_was_applied_already_is_not_taken_for_a_conflict(family: Family) -> None:
    family.changes("note", "two\n")
    Path(layer_store.folder_of(family.branch), "promoting").touch()
    (family.tree / "note").write_text("tw")

    family.promote()

    assert (family.tree / "note").read_text() == "two\n"


@pytest.mark.parametrize("which", ["box", "twig"])
def test_what_keeps_either_from_going_to_disk_stops_it(
    family: Family, which: str
) -> None:
    session = family.parent if which == "box" else family.branch
    traced = Blocker(
        kind="traced",
        what="a debugger",
        why="",
        remedy="",
        pid=7,
        program="gdb",
        descriptor=None,
    )
    family.blockers[session] = (traced,)

    with pytest.raises(NotCheckpointable, match="a debugger"):
        family.promote()

    assert family.stopped == []


def test_it_goes_on_where_somebody_was_killed_with_both_on_disk(
    family: Family,
) -> None:
    for session in (family.branch, family.parent):
        family.checkpoint(session, stop=True, label="")
    family.stopped.clear()
    session_names.keep(family.parent, "box")

    done = family.promote()

    assert (family.stopped, done.before) == ([], "")
    assert done.made.name == "box"
    assert family.is_cleaned()


def test_what_was_done_but_for_the_cleaning_is_cleaned_alone(family: Family) -> None:
    family.checkpoint(family.branch, stop=True, label="")
    name = ImageName(family.branch, 1)
    host = SigningKey.from_seed(host_seed()).public
    with image_store.claim(name, host) as image:
        image.try_as(Incarnation(2))
    with places.session_log(family.parent).open("a") as book:
        book.write('{"kind":"recovered","incarnation":2}\n')
    family.box.facts["incarnation"] = 2

    done = family.promote()

    assert (done.made.id, done.made.incarnation) == (family.parent, 2)
    assert family.keeper.recovered == []
    assert family.is_cleaned()


def test_a_restore_that_came_to_nothing_is_tried_again(family: Family) -> None:
    family.checkpoint(family.branch, stop=True, label="")
    host = SigningKey.from_seed(host_seed()).public
    with image_store.claim(ImageName(family.branch, 1), host) as image:
        image.try_as(Incarnation(FIRST_INCARNATION + 1))

    family.promote()

    assert len(family.keeper.recovered) == 1


def test_a_keeper_that_has_not_heard_of_the_stop_yet_is_asked_again(
    family: Family,
) -> None:
    family.keeper.refusals = [StillAlive(1, "running")] * 2

    assert family.promote().made.id == family.parent
    assert len(family.keeper.recovered) == 1


def test_one_that_never_hears_of_it_is_not_asked_for_ever(
    family: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promotion, "_PATIENCE", 0.05)
    family.keeper.refusals = [StillAlive(1, "running")] * 1000

    with pytest.raises(StillAlive):
        family.promote()

    assert not family.is_cleaned()


def test_only_a_branch_that_is_here_and_no_trial_is_promoted(family: Family) -> None:
    with pytest.raises(NoBranch):
        promotion.promote("box")
    with pytest.raises(OnlyHere):
        promotion.promote("far/twig")
    with pytest.raises(SessionNotFound):
        promotion.promote("nobody")
    family.note(family.twig, ParentRecord(family.parent, 1, trial=True))
    with pytest.raises(OnlyATrial):
        family.promote()
    assert family.stopped == []
