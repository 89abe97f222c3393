import json
from hashlib import sha256
from pathlib import Path

import pytest
from tests.cli.support.past import (
    Reviver,
    at_terminal,
    begin,
    images_left,
    put_to_disk,
)

from holdfast.cli.main import main
from holdfast.client.images import meant, whole_image
from holdfast.linux.stored import operators, session_names
from holdfast.linux.stored.image_store import ImageName
from holdfast.model.actors import ActorKind
from holdfast.model.errors import ImageNotFound, ImageOnlyKept, OnlyHere
from holdfast.model.ids import ENTROPY, session_id
from holdfast.wire.image_manifest import OpenFile

Capture = pytest.CaptureFixture[str]


def copied(path: Path, copy: str) -> OpenFile:
    """Return a file of which an image has a copy."""
    return OpenFile(str(path), 4, sha256(b"then").digest(), copy, "copied", 0o600, 5)


def test_a_session_goes_on_from_the_image_that_was_named(
    reviver: Reviver, capsys: Capture
) -> None:
    one = begin()
    put_to_disk(one)
    put_to_disk(one)

    assert main(["restore", "-d", f"{one}.1"]) == 0

    [asked] = reviver.wanted("recover")
    assert (asked["recovers"], asked["image"]) == (one, 1)
    assert asked["proof"]
    assert "(incarnation 2). `holdfast attach" in capsys.readouterr().out


def test_a_name_means_the_newest_of_its_images(
    reviver: Reviver, capsys: Capture
) -> None:
    one = begin()
    put_to_disk(one)
    put_to_disk(one)

    assert main(["restore", "--json", "-n", "again", "old"]) == 0

    [asked] = reviver.wanted("recover")
    assert (asked["image"], asked["name"]) == (2, "again")
    told = json.loads(capsys.readouterr().out)
    assert told == {"id": one, "name": "again", "pid": 12, "incarnation": 2}


def test_a_person_is_shown_it_until_it_ends(reviver: Reviver, capsys: Capture) -> None:
    one = begin()
    put_to_disk(one)
    reviver.ends_with = 5

    with at_terminal():
        assert main(["restore", "old", "-n", "old"]) == 5

    said = capsys.readouterr().out
    assert said.startswith(f"old was restored from {one}.1 (incarnation 2).\n")
    assert said.endswith("old ended (status 5)\n")


def test_without_a_terminal_to_show_it_on_nothing_is_started(reviver: Reviver) -> None:
    one = begin()
    put_to_disk(one)

    assert main(["restore", "old"]) == 64

    assert reviver.asked == []


def test_as_a_new_one_it_gets_a_name_that_is_free(
    reviver: Reviver, capsys: Capture
) -> None:
    (web, _) = reviver.has("web", "web-2")
    image = put_to_disk(web.id)

    assert main(["restore", "-d", "--as-new", "web"]) == 0

    [asked] = reviver.wanted("create")
    assert asked["branches"] == str(image)
    assert asked["name"] == "web-3"
    assert reviver.wanted("recover") == []
    assert f"was restored from {image}" in capsys.readouterr().out


def test_a_restore_that_needs_an_approval_is_waited_for(
    reviver: Reviver, capsys: Capture
) -> None:
    one = begin()
    put_to_disk(one)
    reviver.begins = False

    assert main(["restore", "-d", "old"]) == 0

    assert "waiting for approval of sh" in capsys.readouterr().err


def test_of_files_that_are_put_back_it_is_told_what_became_of_those_there(
    reviver: Reviver, capsys: Capture, tmp_path: Path
) -> None:
    one = begin()
    (tmp_path / "there").write_text("now")
    (tmp_path / "there.before-2").write_text("what was kept")
    there, gone = tmp_path / "there", tmp_path / "gone"
    put_to_disk(one, files=(copied(gone, "files/0"), copied(there, "files/1")))

    assert main(["restore", "-d", "--files", "put-back", "old"]) == 0

    assert reviver.wanted("recover")[0]["open_files"] == "put-back"
    _, first, second = capsys.readouterr().out.splitlines()
    assert first == f"{there} was put back; the newer one is {there}.before-2"
    assert second == f"{gone} was put back; it had been deleted"


@pytest.mark.usefixtures("reviver")
def test_an_image_is_found_by_what_its_session_was_called_last() -> None:
    two = session_id(b"t" * ENTROPY)
    put_to_disk(two)
    session_names.keep(two, "ended")

    assert whole_image(f"{two}.1") == ImageName(two, 1)
    assert meant(two) == two
    assert meant("ended") == two
    with pytest.raises(ImageNotFound):
        meant("nobody")


def test_what_has_no_image_here_cannot_be_restored(reviver: Reviver) -> None:
    reviver.has("web")

    with pytest.raises(ImageNotFound):
        whole_image("web")
    with pytest.raises(ImageOnlyKept):
        whole_image("h_1")
    with pytest.raises(OnlyHere):
        whole_image("far/web")


@pytest.mark.usefixtures("reviver")
def test_only_a_person_removes_images(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    one = begin()
    put_to_disk(one)
    operators.enrol("robo", ActorKind.AGENT, b"robo", None, b"t" * 32)
    monkeypatch.setenv("HOLDFAST_AS", "robo")

    assert main(["images", "rm", f"{one}.1"]) != 0
    assert main(["images", "rm", "--all"]) != 0

    assert images_left() == [f"{one}.1"]
    assert "checkpoint" in capsys.readouterr().err


def test_the_images_of_one_session_are_listed(
    reviver: Reviver, capsys: Capture
) -> None:
    one = begin()
    put_to_disk(one)
    put_to_disk(begin("other"))

    assert main(["images", "old", "--json"]) == 0

    [told] = json.loads(capsys.readouterr().out)["images"]
    assert (told["image"], told["problem"]) == (f"{one}.1", "")
    assert reviver.wanted("recover") == []
