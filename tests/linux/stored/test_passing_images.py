"""An image for one branch goes with that, and is swept if nobody comes for it."""

import os
import time
from pathlib import Path

import pytest
from tests.core.capsule.image_samples import CONTENT, KEY, SESSION, WHOLE

from holdfast.core.capsule.manifest import PASSING
from holdfast.linux.stored import image_store as store
from holdfast.linux.stored.image_store import FORGOTTEN_AFTER, ImageName


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("HOLDFAST_STATE_DIR", str(tmp_path))
    return tmp_path / "images" / SESSION


def made(*, is_passing: bool) -> ImageName:
    with store.begin(SESSION, is_durable=not is_passing) as draft:
        for name, data in CONTENT.items():
            draft.add(name, data)
        if is_passing:
            draft.add(PASSING, b"")
        draft.finish(WHOLE, KEY)
        return draft.name


def grow_old(home: Path, name: ImageName) -> None:
    past = time.time() - FORGOTTEN_AFTER - 1  # noqa: TID251  # of a file
    os.utime(home / str(name.number) / PASSING, (past, past))


def test_it_is_whole_like_any_other() -> None:
    name = made(is_passing=True)

    with store.claim(name, KEY.public) as image:
        image.verify()
    assert store.has_file(name, PASSING)
    assert not store.has_file(made(is_passing=False), PASSING)


def test_it_is_swept_once_nobody_comes_for_it(home: Path) -> None:
    made(is_passing=False)
    name = made(is_passing=True)
    assert store.sweep() == []

    grow_old(home, name)

    assert store.sweep() == [name]
    assert [one.name.number for one in store.listed(KEY.public)] == [1]


def test_it_is_not_swept_while_a_branch_is_made_of_it(home: Path) -> None:
    name = made(is_passing=True)
    grow_old(home, name)

    with store.claim(name, KEY.public):
        assert store.sweep() == []

    assert store.sweep() == [name]


def test_who_lets_go_of_a_claim_has_let_go_for_its_children_too() -> None:
    name = made(is_passing=True)
    reader, writer = os.pipe()
    with store.claim(name, KEY.public):
        child = os.fork()
        if child == 0:
            os.close(writer)
            os.read(reader, 1)  # With the claim open, until we are done.
            os._exit(0)

    store.remove(name)

    os.close(writer)
    os.close(reader)
    os.waitpid(child, 0)
