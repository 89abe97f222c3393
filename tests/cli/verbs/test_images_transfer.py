import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.cli.support.past import Reviver, begin, images_left, put_to_disk, reviving
from tests.core.capsule.image_samples import WHOLE

from holdfast.cli.main import main
from holdfast.linux.criu.program import find
from holdfast.linux.exec_filter import is_privileged
from holdfast.linux.image_facts import this_machine
from holdfast.linux.stored import image_store
from holdfast.linux.stored.image_store import ImageName

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def reviver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Reviver]:
    with reviving(monkeypatch) as fake:
        yield fake


@pytest.fixture
def image() -> ImageName:
    return put_to_disk(begin())


@pytest.fixture
def key(capsys: Capture) -> str:
    """Return by what other hosts know this one."""
    assert main(["images", "key"]) == 0
    return capsys.readouterr().out.strip()


def test_an_exported_image_is_sealed_and_one_of_another_machine_is_not_taken(
    capsys: Capture, tmp_path: Path, image: ImageName, key: str
) -> None:
    path = tmp_path / "sealed"

    assert main(["images", "export", str(image), str(path), "--to", key]) == 0

    said = capsys.readouterr().out
    assert said == f"{path}: 0.0 MB, encrypted for that host only\n"
    assert b"window.bin" not in path.read_bytes()
    assert images_left() == [str(image)]
    # The sample was made on a machine that does not exist.
    assert main(["images", "import", str(path), "--from", key]) == 64
    assert main(["images"]) == 0
    assert "imported" not in capsys.readouterr().out


def test_a_taken_image_can_be_verified_and_not_restored(
    capsys: Capture, tmp_path: Path, key: str
) -> None:
    program = find().program
    version = () if program is None else program.version
    major, minor, patch = (*version, 0, 0, 0)[:3]
    machine = this_machine(major * 10000 + minor * 100 + patch)
    capsule = replace(WHOLE.capsule, rootless=not is_privileged())
    image = put_to_disk(begin(), machine=machine, capsule=capsule)
    path = str(tmp_path / "sealed")
    assert main(["images", "export", str(image), path, "--to", key]) == 0
    capsys.readouterr()

    assert main(["images", "import", path, "--from", key]) == 0

    name = capsys.readouterr().out.split()[0]
    assert name.endswith(str(image))
    assert main(["images", "verify", name, "--from", key]) == 0
    assert capsys.readouterr().out.startswith(
        f"{name} is unchanged, and was made by h_"
    )
    assert main(["restore", "-d", name]) == 64
    assert main(["images"]) == 0
    assert f"{name}: imported" in capsys.readouterr().out
    assert main(["images", "rm", name]) == 0
    assert main(["images", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["imported"], len(told["images"])) == ([], 1)


@pytest.mark.parametrize(
    "words",
    [
        ["export", "old.1", "file"],
        ["import", "file"],
        ["verify", "h_1"],
        ["key", "more"],
    ],
)
def test_a_transfer_that_names_no_host_is_refused(
    capsys: Capture, words: list[str]
) -> None:
    assert main(["images", *words]) == 64

    assert "--to HOST" in capsys.readouterr().err


def test_a_damaged_image_is_listed_with_what_is_wrong(
    capsys: Capture, image: ImageName
) -> None:
    folder = Path(image_store.images_folder(), image.session, str(image.number))
    (folder / "manifest").write_bytes(b"nonsense")

    assert main(["images"]) == 0
    row = capsys.readouterr().out.splitlines()[1]

    assert row.startswith(str(image))
    assert "MB" not in row
    assert main(["images", "--json"]) == 0
    [told] = json.loads(capsys.readouterr().out)["images"]
    assert told["problem"]
    assert "size" not in told
