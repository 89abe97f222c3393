from pathlib import Path

import pytest
from tests.core.capsule.image_samples import MACHINE, WHOLE

from holdfast.client import image_transfer
from holdfast.client.images import whole_image
from holdfast.model.errors import (
    HostNotKnown,
    ImageMisfit,
    ImageOnlyKept,
    MalformedArgument,
)


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("STATE", "RUNTIME", "CONFIG"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))


def test_a_host_is_named_by_what_it_prints() -> None:
    key = image_transfer.our_key()

    public, static = image_transfer.keys_of(key, "--to")

    assert f"{public.hex()}.{static.hex()}" == key


def test_something_else_names_no_host() -> None:
    for wrong in ("ab.cd", "ab" * 32, "ab" * 32 + ".", "zz" * 32 + "." + "ab" * 32):
        with pytest.raises(MalformedArgument):
            image_transfer.keys_of(wrong, "--to")
    for unknown in ("atlas", "@atlas"):
        with pytest.raises(HostNotKnown):
            image_transfer.keys_of(unknown, "--from")


def test_what_does_not_fit_here_is_refused() -> None:
    assert MACHINE is WHOLE.machine
    with pytest.raises(ImageMisfit):
        image_transfer.check_fits(WHOLE)


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("mine")

    with (
        pytest.raises(MalformedArgument),
        image_transfer._made(str(tmp_path / "x")),  # noqa: SLF001  # as export does
    ):
        pass

    assert (tmp_path / "x").read_text() == "mine"


def broken(path: str) -> None:
    """Write half of a file, and fail."""
    with image_transfer._made(path) as file:  # noqa: SLF001  # as export does
        file.write(b"half")
        raise ZeroDivisionError


def test_a_file_that_came_to_nothing_is_removed(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        broken(str(tmp_path / "x"))

    assert not (tmp_path / "x").exists()


def test_an_imported_image_is_never_restored() -> None:
    with pytest.raises(ImageOnlyKept):
        whole_image("h_" + "a" * 32 + ".s_" + "a" * 16 + ".1")
