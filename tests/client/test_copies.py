"""A copy is sent only of what another host could go on with."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.core.capsule.image_samples import WHOLE
from tests.linux.stored.test_kept_copies import SESSION, kept, manifest
from tests.linux.stored.test_recovery_files import FACTS

from holdfast.client import copies, hosts, restored_copies
from holdfast.client.hosts import KnownHost
from holdfast.crypto.identity import Identity
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import image_store, move_notes
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.image_store import ImageName
from holdfast.linux.stored.move_notes import MoveNote
from holdfast.model.errors import CopyRefused, HostNotKnown, StillAlive

BETA = Identity.from_seed(b"b" * 32)


@pytest.fixture(autouse=True)
def image(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ImageName:
    for name in ("STATE", "RUNTIME", "CONFIG"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    hosts.save(KnownHost("beta", BETA.public, BETA.static_public, ("http://x",)))
    with image_store.begin(SESSION) as draft:
        from dataclasses import replace as facts_with  # noqa: PLC0415  # two of a name

        draft.add("start.bin", facts_with(FACTS, session=SESSION).to_bytes())
        whole = replace(WHOLE, open_files=(), made_ms=50)
        draft.finish(whole, SigningKey.from_seed(host_seed()))
        return draft.name


def silent(_sent: int, _all: int) -> None:
    """Show nothing."""


def test_what_is_not_movable_is_not_copied(image: ImageName) -> None:
    with pytest.raises(CopyRefused, match="--movable"):
        copies.send(str(image), "beta", silent)


def test_what_moves_is_not_copied(image: ImageName) -> None:
    move_notes.write(MoveNote(session=SESSION, stage="stopped", name="web"))

    with pytest.raises(CopyRefused, match="its session moves"):
        copies.send(str(image), "@beta", silent)


def test_what_is_being_moved_is_not_copied(image: ImageName) -> None:
    lock = move_notes.lock(SESSION)

    with pytest.raises(StillAlive):
        copies.send(str(image), "beta", silent)

    del lock


def test_a_host_that_is_not_known_gets_nothing(image: ImageName) -> None:
    with pytest.raises(HostNotKnown):
        copies.send(str(image), "gamma", silent)


@pytest.mark.parametrize(("made_ms", "is_newer"), [(49, False), (51, True)])
def test_a_newer_copy_is_told_from_an_older_one(
    image: ImageName, made_ms: int, *, is_newer: bool
) -> None:
    kept(manifest(9, made_ms=made_ms))

    assert restored_copies.is_there_newer(image) is is_newer
