"""A line that is tried out in a branch: its files are real, its shell is played."""

import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.support.fakes import FakeKeeper
from tests.cli.support.operating import be_known

from holdfast.client import branch_watch, branches, command_run
from holdfast.client.branch_preview import Wanted, preview
from holdfast.client.branch_watch import BranchWatch
from holdfast.core.capsule.outward_packets import IPV4, OutwardPackets
from holdfast.core.client.command_output import Ran, Stop
from holdfast.core.client.command_run import Wish
from holdfast.linux.capsule import outward
from holdfast.linux.capsule.glance import Place
from holdfast.linux.stored import layer_store
from holdfast.linux.stored.layer_store import STACK
from holdfast.model.errors import NotPreviewable, SessionOver
from holdfast.model.ids import ClientId, SessionId
from holdfast.model.preview_report import FileChange, Tried
from holdfast.model.session_record import CapsuleRecord, SessionRecord
from holdfast.model.session_requests import Created
from holdfast.wire.checkpoints import Checkpointed
from holdfast.wire.commands import ShellCommand

PATIENCE = 20.0
SLEEP = ["sleep", "600"]
MAKE = Wanted(b"make\r", 7.0)
OPENING = (
    bytes([0x45, *[0] * 8, 6, *[0] * 6, 1, 2, 3, 4])
    + (4000).to_bytes(2, "big")
    + (443).to_bytes(2, "big")
    + bytes([*[0] * 8, 0x50, 0x02, *[0] * 6])
)
"""The packet that opens a connection to 1.2.3.4, port 443."""


class Keeper(FakeKeeper):
    """One that may be asked twice to forget a session."""

    def _answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        known = [one.id for one in self.sessions]
        if asked["do"] == "forget" and asked["id"] not in known:
            return {"ok": True}
        return super()._answer(asked)


class Outward:
    """In place of a socket in a network of its own: one connection is tried."""

    def __init__(self) -> None:
        self.was_read = threading.Event()

    def read(self) -> bool:
        """Take what has come."""
        self.was_read.set()
        return False

    def close(self) -> OutwardPackets:
        """Return what was seen."""
        seen = OutwardPackets()
        seen.take(IPV4, OPENING)
        seen.left_out = 2
        return seen


class Fork:
    """A session, a branch of it that is made when it is wanted, and what runs there."""

    def __init__(self, keeper: Keeper, folder: Path, member: int) -> None:
        self.keeper = keeper
        self.tree = folder / "tree"
        self.tree.mkdir()
        self.member = member
        (box,) = keeper.has("box")
        self.parent = SessionRecord.from_facts(box.facts)
        self.state = "running"
        self.has_files = True
        self.trials: list[bool] = []
        self.ran: list[tuple[bytes, Wish, float]] = []
        self.outcome = ran()
        self.does: Callable[[], None] = lambda: None
        self.outward: Outward | OSError = Outward()
        self.networks: list[CapsuleRecord] = []

    def fork(self, parent: SessionRecord, name: str, *, trial: bool) -> branches.Forked:
        """Make the branch, as CRIU does."""
        assert parent == self.parent
        self.trials.append(trial)
        (self.twig,) = self.keeper.has(name)
        self.branch = SessionId(self.twig.id)
        if self.has_files:
            layer_store.make(self.branch, (str(self.tree),))
        made = Created(self.branch, name, self.member, self.state)
        image = Checkpointed(
            image=f"{parent.id}.1", number=1, size=1, still_ms=1, stopped=False, cuts=()
        )
        return branches.Forked(made, image)

    def run(
        self, session: str, _client: ClientId, line: bytes, wish: Wish, until: float
    ) -> Ran:
        """Run the line, as its shell does."""
        assert session == self.branch
        self.ran.append((line, wish, until - time.monotonic()))
        self.does()
        return self.outcome

    def watch(self, capsule: CapsuleRecord, _first: int) -> Outward:
        """Look at a network; never at the machine's own."""
        self.networks.append(capsule)
        if isinstance(self.outward, OSError):
            raise self.outward
        return self.outward

    def writes(self, name: str, text: str) -> None:
        """Write a file in the branch."""
        (layered,) = layer_store.layered(layer_store.load(self.branch))
        Path(layered.upper, name).write_text(text)

    def is_discarded(self) -> bool:
        """Tell whether nothing is left of the branch."""
        left = self.branch in [one.id for one in self.keeper.sessions]
        return not left and not layer_store.has(self.branch)


def ran(status: int | None = 0, output: bytes = b"", stop: Stop = Stop.ENDED) -> Ran:
    client = ClientId("c_" + "a" * 32)
    command = ShellCommand(
        number=1,
        client=client,
        line="make",
        start=0,
        end=len(output),
        status=status,
        duration_ms=1500,
        cwd="/",
    )
    return Ran(command, output, 3, stop)


@pytest.fixture
def member() -> Iterator[int]:
    with subprocess.Popen(SLEEP) as started:
        yield started.pid
        started.kill()


@pytest.fixture
def fork(member: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fork]:
    # Not tmp_path: a socket's path may be 107 bytes long and no longer.
    with tempfile.TemporaryDirectory(prefix="hf") as folder:
        home = Path(folder, "run")
        home.mkdir(0o700)
        be_known(home, monkeypatch)
        monkeypatch.setenv("HOLDFAST_STATE_DIR", f"{folder}/state")
        keeper = Keeper(home)
        made = Fork(keeper, Path(folder), member)
        monkeypatch.setattr(branches, "fork", made.fork)
        monkeypatch.setattr(command_run, "run", made.run)
        monkeypatch.setattr(outward, "watch", made.watch)
        yield made
        keeper.close()


def test_what_the_line_did_is_told_and_the_branch_is_discarded(fork: Fork) -> None:
    fork.outcome = ran(3, b"one\r\n50%\r100%\r\n")
    fork.does = lambda: fork.writes("out", "made\n")

    report = preview(fork.parent, MAKE)

    assert (report.problem, report.ended, report.exit) == ("", True, 3)
    assert (report.duration_ms, report.output_left_out) == (1500, 3)
    assert report.output == "one\n100%\n"
    assert report.files == (FileChange("made", f"{fork.tree}/out", 0, 5),)
    assert "+made" in report.diff
    assert (report.tried, report.tried_left_out) == ((Tried("tcp", "1.2.3.4:443"),), 2)
    assert (report.unseen, report.branch) == ((), "")
    assert report.made_ms > 0
    assert fork.trials == [True]
    assert fork.is_discarded()
    assert fork.twig.ended_with == signal.SIGKILL
    assert not (fork.tree / "out").exists()


def test_the_line_has_its_time_and_nobody_is_asked_for_approval(fork: Fork) -> None:
    preview(fork.parent, MAKE)

    ((line, wish, left),) = fork.ran
    assert line == b"make\r"
    assert wish.until_input
    assert wish.approval == 0.0
    assert 6 < left <= 7


def test_a_port_that_is_listened_to_since_is_told(fork: Fork) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        fork.does = lambda: listener.listen(1)

        report = preview(fork.parent, MAKE)

    assert f"tcp 127.0.0.1:{port}" in report.ports


def test_a_branch_that_is_to_be_kept_is_named_and_no_trial(fork: Fork) -> None:
    report = preview(fork.parent, MAKE._replace(keep=True))

    assert report.branch == "box-2"
    assert fork.trials == [False]
    assert not fork.is_discarded()
    assert fork.twig.ended_with is None


def test_a_line_that_waits_for_input_says_that_the_rest_is_not_known(
    fork: Fork,
) -> None:
    fork.outcome = ran(None, b"sure? ", Stop.ASKED)

    report = preview(fork.parent, MAKE)

    assert (report.ended, report.exit) == (False, None)
    (unseen,) = report.unseen
    assert "the input that it waits for" in unseen


def over() -> None:
    raise SessionOver("exited")


def test_a_line_that_ends_the_shell_is_told_with_the_files_it_changed(
    fork: Fork,
) -> None:
    def does() -> None:
        fork.writes("out", "made\n")
        over()

    fork.does = does

    report = preview(fork.parent, MAKE)

    assert (report.ended, report.exit, len(report.files)) == (True, None, 1)
    (unseen,) = report.unseen
    assert unseen.startswith("its status and output: ")


def test_without_a_look_at_its_network_that_is_said(fork: Fork) -> None:
    fork.outward = OSError(1, "Operation not permitted")

    report = preview(fork.parent, MAKE)

    assert report.unseen == ("what it tried to reach: Operation not permitted",)
    assert report.tried == ()


def test_files_that_cannot_be_read_are_said_not_to_be_known(fork: Fork) -> None:
    fork.does = lambda: Path(layer_store.folder_of(fork.branch), STACK).unlink()

    report = preview(fork.parent, MAKE)

    (unseen,) = report.unseen
    assert unseen.startswith("which files it changed: ")
    assert (report.files, report.diff) == ((), "")


def test_nothing_runs_in_a_branch_without_files_of_its_own(fork: Fork) -> None:
    fork.has_files = False

    with pytest.raises(NotPreviewable, match="its own files"):
        preview(fork.parent, MAKE._replace(keep=True))

    assert fork.ran == []
    assert fork.is_discarded()


def test_nothing_runs_in_a_branch_that_waits_for_approval(fork: Fork) -> None:
    fork.state = "starting"

    with pytest.raises(NotPreviewable, match="waits for approval"):
        preview(fork.parent, MAKE)

    assert fork.ran == []
    assert fork.is_discarded()


def test_who_is_interrupted_discards_even_a_branch_that_was_to_be_kept(
    fork: Fork,
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    fork.does = interrupted

    with pytest.raises(KeyboardInterrupt):
        preview(fork.parent, MAKE._replace(keep=True))

    assert fork.is_discarded()


def test_a_line_that_fills_the_disk_is_stopped_and_there_is_no_report(
    fork: Fork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branch_watch, "LEAST_FREE", 1 << 80)

    def does() -> None:
        give_up_at = time.monotonic() + PATIENCE
        while not fork.is_discarded():
            assert time.monotonic() < give_up_at
        over()

    fork.does = does

    with pytest.raises(NotPreviewable, match="the disk filled by"):
        preview(fork.parent, MAKE)


def test_a_diff_that_is_cut_says_so(fork: Fork) -> None:
    fork.does = lambda: fork.writes("out", "x" * 98 + "\n")
    assert not preview(fork.parent, MAKE).diff_is_cut

    fork.does = lambda: fork.writes("out", ("x" * 98 + "\n") * 2000)
    assert preview(fork.parent, MAKE).diff_is_cut


def test_a_branch_whose_files_are_gone_is_stopped(fork: Fork, member: int) -> None:
    fork.fork(fork.parent, "twig", trial=True)
    made, was_discarded = Created(fork.branch, "twig", member), threading.Event()

    with BranchWatch(made, Place(member), was_discarded.set) as watch:
        layer_store.remove(SessionId(fork.branch))
        assert was_discarded.wait(PATIENCE)

    assert "its files could not be watched" in watch.stopped


def test_packets_are_read_while_the_line_runs_and_nothing_is_stopped(
    fork: Fork, member: int
) -> None:
    fork.fork(fork.parent, "twig", trial=True)
    discarded: list[None] = []
    made = Created(fork.branch, "twig", member)
    seen = fork.outward
    assert isinstance(seen, Outward)

    def discard() -> None:
        discarded.append(None)

    with BranchWatch(made, Place(member), discard) as watch:
        assert seen.was_read.wait(PATIENCE)
        assert not watch.tried

    assert watch.tried == (Tried("tcp", "1.2.3.4:443"),)
    assert (watch.stopped, watch.why_not, discarded) == ("", "", [])
    assert fork.networks == [CapsuleRecord(net="own", rootless=False)]


def test_a_name_that_is_taken_is_not_given_to_the_branch(fork: Fork) -> None:
    fork.keeper.has("box-2", "Box-3")

    assert preview(fork.parent, MAKE._replace(keep=True)).branch == "box-4"
