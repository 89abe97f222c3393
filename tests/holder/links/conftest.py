"""A holder's link to its keeper, for the tests beside this."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.holder.keeper_world import PATIENCE, TAKEN, Keeper
from tests.holder.links.keeper_link_world import SESSION, World

from holdfast.holder.links.attached_clients import AttachedClients
from holdfast.holder.links.keeper_link import KeeperLink
from holdfast.holder.poll import Poll
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.holder.timers import Timers
from holdfast.linux import pty
from holdfast.linux.stored import folders
from holdfast.model.geometry import Size
from holdfast.model.session_record import HeldRecord, SessionRecord


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path / "runtime"))
    Path(folders.sessions_folder()).mkdir(parents=True, exist_ok=True)
    record = SessionRecord(SESSION, "build", os.getpid(), command=("true",), cwd="/")
    with socket.socket(socket.AF_UNIX) as listener:
        master, slave = pty.open_pty(Size(80, 24))
        memory, pidfd = os.memfd_create("memory"), os.pidfd_open(os.getpid())
        descriptors = SessionDescriptors(
            record, HeldRecord(), master, memory, listener, pidfd
        )
        made = World(descriptors, Poll(), Timers(), AttachedClients())
        yield made
        made.poll.close()
        for fd in (master, slave, memory, pidfd):
            os.close(fd)


@pytest.fixture
def keeper(here: World) -> Iterator[Keeper]:
    made = Keeper()
    yield made
    made.close()
    here.hang_up()


@pytest.fixture
def joined(here: World, keeper: Keeper) -> KeeperLink:
    """A link to a keeper that has taken everything."""
    link = here.link()
    brought = keeper.expect(TAKEN)
    link.begin("", None)
    brought.result(PATIENCE)
    return link
