"""Copies of other hosts' sessions, on the command line: listed, restored, removed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.linux.stored.test_kept_copies import SESSION, kept, manifest

from holdfast.cli.main import main
from holdfast.cli.restored_copy import lost_since
from holdfast.linux.stored import kept_copies
from holdfast.model.image_copy import ImageCopy

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("STATE", "RUNTIME", "CONFIG"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    kept(manifest(4, made_ms=1_700_000_000_000, log_index=5))
    yield
    main(["down"])  # Naming a session starts a keeper.


@pytest.mark.parametrize("words", [(), ("web",), (SESSION,)])
def test_copies_are_listed_with_where_they_come_from(
    words: tuple[str, ...], capsys: Capture
) -> None:
    assert main(["images", *words]) == 0

    head, row, hint = capsys.readouterr().out.splitlines()
    assert head.split() == ["COPY", "SESSION", "MADE", "SIZE", "FROM"]
    assert row.split()[:2] == [f"{SESSION}.4", "web"]
    assert row.split()[-1] == "alpha"
    assert "lease has run out" in hint


def test_programs_are_told_what_a_copy_has(capsys: Capture) -> None:
    main(["images", "--json"])

    [one] = json.loads(capsys.readouterr().out)["copies"]
    assert (one["image"], one["through"], one["known"]) == (f"{SESSION}.4", 5, 9)


def test_a_copy_is_removed_by_its_name() -> None:
    assert main(["images", "rm", f"{SESSION}.4"]) == 0

    assert kept_copies.listed() == []


def test_a_session_without_image_or_copy_is_not_there(capsys: Capture) -> None:
    assert main(["images", "other"]) == 64
    assert main(["restore", "-d", "other"]) == 64

    assert "no image 'other' here" in capsys.readouterr().err


def test_a_copy_makes_no_branch(capsys: Capture) -> None:
    assert main(["restore", "-d", "--as-new", "web"]) == 64
    assert main(["restore", "--as-new", "--on", "beta", "web"]) == 64

    assert "--as-new" in capsys.readouterr().err


def test_a_copy_goes_on_nowhere_without_a_host_that_asks_its_relay() -> None:
    assert main(["restore", "--detach", "web"]) == 75

    assert len(kept_copies.listed()) == 1


def test_a_copy_goes_on_at_no_host_that_is_not_known() -> None:
    assert main(["restore", "--on", "beta", "web"]) == 64


def test_what_was_lost_is_said() -> None:
    copy = ImageCopy("s_a.1", "s_a", "web", "h_a", "alpha", 0, 9, 1, 5, 9, 700)

    said = " ".join(lost_since(copy, 125.0))

    assert "an image that alpha made 2 min ago" in said
    assert "entries of the logbook after 5 (4 of them are known here)" in said
    assert "after byte 700" in said
    assert "known here" not in " ".join(lost_since(copy._replace(known=5), 1))
