"""How a session is made: what its command is given, and what is told if it fails."""

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.client import current_operator
from holdfast.client.proven_requests import proven
from holdfast.core.session.stream import StreamWindow
from holdfast.holder import birth, leader_environment, new_session
from holdfast.holder.policy.session_start import STARTING
from holdfast.holder.record.note_memory import AREA
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux import packets, processes, pty, shared_memory
from holdfast.linux.stored import places
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.actors import ActorKind
from holdfast.model.errors import (
    DeniedByPolicy,
    HoldfastError,
    NotAllowed,
)
from holdfast.model.geometry import DEFAULT_SIZE, Size
from holdfast.model.ids import SessionId, parse_client_id, parse_session_id
from holdfast.model.session_record import record_of
from holdfast.model.session_requests import Creation, packet_of

SESSION = SessionId("s_" + "a" * 16)
SLEEP = ["sleep", "600"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    return tmp_path


@pytest.fixture
def anna() -> Enrolled:
    return current_operator.ourselves()


@pytest.fixture
def bot() -> Enrolled:
    return current_operator.enrol("bot", ActorKind.AGENT)


@contextlib.contextmanager
def made(packet: packets.Packet, creator: Enrolled) -> Iterator[SessionDescriptors]:
    """Yield a session whose command waits to begin."""
    descriptors = new_session.make_session(
        record_of(Creation, packet), SESSION, creator
    )  # what a create does
    pid = descriptors.record.pid
    try:
        yield descriptors
    finally:
        processes.kill_session(pid)
        os.waitpid(pid, 0)
        descriptors.listener.close()
        for fd in (
            descriptors.master,
            descriptors.memory,
            descriptors.pidfd,
            *descriptors.start,
        ):
            os.close(fd)


def failed(packet: packets.Packet) -> packets.Packet:
    """Have a process try to hold a session; return what the keeper is told."""
    with packets.listen(places.keeper_socket()) as listener:
        pid = os.fork()
        if pid == 0:
            try:
                birth.hold({**packet, "do": "create", "token": "t", "id": SESSION}, [])
            finally:
                os._exit(0)
        listener.settimeout(20)
        link, _ = listener.accept()
        with link:
            found = packets.receive(link)
            packets.send(link, {"ok": True})
        os.waitpid(pid, 0)
    assert found is not None
    assert (found[0]["do"], found[0]["token"]) == ("failed", "t")
    return found[0]


# ── what is asked for ─────────────────────────────────────────────────────────


def test_a_session_is_what_was_asked_for(anna: Enrolled, here: Path) -> None:
    asked: packets.Packet = {
        "name": "build",
        "command": SLEEP,
        "cwd": str(here),
        "size": [100, 30],
    }
    with made(asked, anna) as descriptors:
        record, held = descriptors.record, descriptors.held

        assert (record.name, descriptors.first_name) == ("build", "build")
        assert (record.command, record.cwd) == (tuple(SLEEP), str(here))
        assert (held.creator, record.state) == (anna.actor.id, STARTING)
        assert (held.integration, held.exec_gate) == ("", False)
        assert (record.keep, held.no_new_privs) == (False, False)
        assert record.size == (100, 30)
        assert pty.size_of(descriptors.master) == Size(100, 30)
        assert descriptors.gate == ()
        assert held.start is not None
        assert "sleep" in held.start.text
        assert parse_client_id(held.start.client)
        socket = places.session_socket(SESSION)
        assert stat.S_IMODE(socket.stat().st_mode) == 0o600


def test_a_session_without_a_name_is_called_by_its_id(anna: Enrolled) -> None:
    with made({"command": SLEEP}, anna) as descriptors:
        assert descriptors.record.name == SESSION[2:8]
        assert descriptors.record.cwd == "/"
        assert descriptors.record.size == (DEFAULT_SIZE.columns, DEFAULT_SIZE.rows)


def test_a_name_that_is_none_is_refused(anna: Enrolled) -> None:
    with pytest.raises(HoldfastError):
        new_session.make_session(
            Creation("a\x1b[2J", tuple(SLEEP)), SESSION, anna
        )  # as above


def test_people_bring_their_variables_and_others_get_the_host_s(
    anna: Enrolled, bot: Enrolled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OF_THE_HOST", "1")
    monkeypatch.setenv("HOLDFAST_AS", "somebody")
    monkeypatch.setenv("OLDPWD", "/elsewhere")
    asked: packets.Packet = {"env": {"MINE": "2", "HOLDFAST_SESSION": "s_x"}}

    def given(packet: packets.Packet, creator: Enrolled) -> dict[str, str]:
        asked = record_of(Creation, packet)
        return leader_environment.environment_of(asked, SESSION, creator)

    for name in ("TERM", "TMUX", "STY", "WINDOW"):
        monkeypatch.setenv(name, "of-the-host")

    places = {name: os.environ[name] for name in leader_environment.PLACES}
    own = {"TERM": "xterm-256color", "MINE": "2", "HOLDFAST_SESSION": SESSION, **places}
    assert given(asked, anna) == own
    for found in (given(asked, bot), given({**asked, "ground": True}, anna)):
        assert found.items() >= {**own, "OF_THE_HOST": "1"}.items()
        left_out = {"HOLDFAST_AS", "OLDPWD", "PYTHONPATH", "TMUX", "STY", "WINDOW"}
        assert not left_out & {*found}
    assert given({}, anna).keys() == {"TERM", "HOLDFAST_SESSION", *places}
    assert given({"env": {"TERM": "vt100"}}, bot)["TERM"] == "vt100"
    bare: packets.Packet = {"env": {"TERMINFO": "/nowhere", "HOME": "/nowhere"}}
    assert given(bare, anna)["TERM"] == "xterm-256color"


def test_nobody_chooses_where_our_files_are_for_a_session(
    anna: Enrolled, bot: Enrolled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOLDFAST_STATE_DIR")
    asked = Creation(env=dict.fromkeys(leader_environment.PLACES, "/theirs"))

    for creator in (anna, bot):
        found = leader_environment.environment_of(asked, SESSION, creator)

        assert "HOLDFAST_STATE_DIR" not in found
        assert found["HOLDFAST_CONFIG_DIR"] == os.environ["HOLDFAST_CONFIG_DIR"]
        assert "/theirs" not in found.values()


def test_holdfast_is_found_in_a_session_that_has_it_nowhere() -> None:
    found = leader_environment.with_holdfast({"PATH": "/usr/bin", "X": "1"})

    folder = found["PATH"].removeprefix("/usr/bin:")
    assert [one.name for one in Path(folder).iterdir()] == ["holdfast"]
    assert os.access(f"{folder}/holdfast", os.X_OK)
    assert leader_environment.with_holdfast(found) == found


@pytest.mark.parametrize(("asked", "kept"), [(0, 1 << 20), (16 << 20, 16 << 20)])
def test_as_much_output_is_kept_as_was_asked_for(
    asked: int, kept: int, anna: Enrolled
) -> None:
    with made({"command": SLEEP, "window": asked}, anna) as descriptors:
        memory = shared_memory.view(descriptors.memory)[AREA:]

        assert StreamWindow.open(memory).capacity == kept
        # What was never written takes no memory.
        assert os.fstat(descriptors.memory).st_blocks * 512 <= 64 * 1024


@pytest.mark.parametrize("asked", [1, -1, (1 << 20) - 1, (256 << 20) + 1])
def test_a_window_that_is_too_small_or_too_large_is_refused(
    asked: int, anna: Enrolled
) -> None:
    said = failed(
        packet_of(
            proven(
                Creation("x", tuple(SLEEP), "/", window=asked),
                anna.actor.id,
                anna.token(),
            )
        )
    )

    assert said["code"] == "malformed-argument"
    assert "a window of 1M to 256M" in str(said["text"])


def test_an_id_is_the_keeper_s_or_a_new_one() -> None:
    assert birth._id(Creation(id=SESSION)) == SESSION  # noqa: SLF001  # as above
    assert parse_session_id(birth._id(Creation())) != birth._id(Creation())  # noqa: SLF001  # as above
    with pytest.raises(HoldfastError):
        birth._id(Creation(id="../x"))  # noqa: SLF001  # as above
    with pytest.raises(HoldfastError):
        new_session._client(Creation(client="x"))  # noqa: SLF001  # as above


def test_what_another_version_deposited_is_deposited_again(anna: Enrolled) -> None:
    with made({"command": SLEEP}, anna) as descriptors:
        descriptors.more = {"mood": "calm", "name": "another"}

        facts = descriptors.facts()

    assert (facts["mood"], facts["name"]) == ("calm", SESSION[2:8])


# ── what fails ────────────────────────────────────────────────────────────────


def test_who_does_not_prove_who_it_is_starts_nothing(anna: Enrolled) -> None:
    said = failed({"creator": anna.actor.id, "command": SLEEP})

    assert (said["code"], said["kept"]) == ("not-proven", False)
    assert not places.session_socket(SESSION).exists()
    assert not places.session_log(SESSION).exists()


def test_what_cannot_be_started_leaves_nothing_behind(anna: Enrolled) -> None:
    asked = Creation("x", ("no-such-program-anywhere",), "/")
    said = failed(packet_of(proven(asked, anna.actor.id, anna.token())))

    assert said["kept"] is False
    assert said["code"] != "not-proven"
    assert "no-such-program-anywhere" in str(said["text"])
    assert not places.session_socket(SESSION).exists()
    assert not places.session_log(SESSION).exists()


def test_a_denial_says_where_the_record_is() -> None:
    recorded = birth._recorded  # noqa: SLF001  # what a failed create says

    with_why = recorded(DeniedByPolicy("rule", "because"), SESSION)
    without = recorded(DeniedByPolicy("rule", ""), SESSION)
    other = NotAllowed("a_x", "create")

    assert re.search(f"because; .*holdfast log {SESSION}", str(with_why))
    assert f"holdfast log {SESSION}" in str(without)
    assert ";" not in str(without.facts["why"])  # type: ignore[union-attr]
    assert recorded(other, SESSION) is other
