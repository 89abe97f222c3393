import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.core.capsule.image_samples import WHOLE

from holdfast.cli import image_progress
from holdfast.cli.main import main
from holdfast.cli.verbs.images import age_from
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import image_store
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.image_store import ImageName
from holdfast.model.errors import ImageUnwritten, MalformedArgument
from holdfast.model.ids import SessionId

Capture = pytest.CaptureFixture[str]

ONE = SessionId("s_" + "a" * 16)
DAY = 86_400_000


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("STATE", "RUNTIME", "CONFIG"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    yield
    main(["down"])  # Naming a session starts a keeper.


def make(days: int, *, once: bool = False) -> ImageName:
    """Make an image that is so old."""
    made_ms = time.time_ns() // 1_000_000 - days * DAY
    with image_store.begin(ONE) as draft:
        draft.add("window.bin", b"x" * 1_000_000)
        manifest = replace(WHOLE, open_files=(), made_ms=made_ms, once=once)
        draft.finish(manifest, SigningKey.from_seed(host_seed()))
        return draft.name


def left() -> list[int]:
    host = SigningKey.from_seed(host_seed()).public
    return [one.name.number for one in image_store.listed(host)]


def test_the_list_ends_with_what_there_is_and_what_is_kept(capsys: Capture) -> None:
    make(3)
    make(0)

    assert main(["images"]) == 0

    last = capsys.readouterr().out.splitlines()[-1]
    assert last == (
        "2 images, 2.0 MB; kept: all with a label, 10 others of a session, 20G in all"
    )
    main(["images", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert (told["size"], len(told["images"])) == (2_000_000, 2)
    assert told["bounds"] == {"keep": 10, "size": 20 * 1024**3}


def test_old_ones_are_removed_together(capsys: Capture) -> None:
    for days in (9, 8, 1):
        make(days)

    assert main(["images", "rm", "--older", "7d"]) == 0

    assert left() == [3]
    assert capsys.readouterr().out == f"removed {ONE}.1\nremoved {ONE}.2\n"


def test_all_of_them_go_but_what_a_session_consists_of(capsys: Capture) -> None:
    make(1)
    make(1, once=True)
    make(0)

    assert main(["images", "rm", "--all", "--json"]) == 0

    assert left() == [2]
    told = json.loads(capsys.readouterr().out)
    assert told == {"removed": [f"{ONE}.1", f"{ONE}.3"], "kept": 1}
    assert main(["images", "rm", "--all"]) == 0
    assert "1 kept" in capsys.readouterr().out
    assert main(["images", "rm", f"{ONE}.2"]) == 0
    assert left() == []


def test_several_are_removed_by_name() -> None:
    names = [str(make(0)) for _ in range(3)]

    assert main(["images", "rm", *names[:2]]) == 0

    assert left() == [3]


@pytest.mark.parametrize(
    "words",
    [
        ["rm"],
        ["--all"],
        ["--older", "7d"],
        ["rm", "--all", "--older", "7d"],
        ["rm", "--older", "soon"],
        ["rm", "--older", ""],
        ["rm", "--all", "one", "two"],
    ],
)
def test_what_makes_no_sense_removes_nothing(words: list[str]) -> None:
    make(30)

    assert main(["images", *words]) == 64

    assert left() == [1]


def test_an_age_has_a_unit() -> None:
    assert [age_from(one) for one in ("30m", "12h", "1w")] == [1800, 43200, 604800]
    for wrong in ("7", "d", "-1d", "1y", "9999999d", "²d"):
        with pytest.raises(MalformedArgument):
            age_from(wrong)


def test_progress_is_what_was_written_of_the_draft() -> None:
    assert image_store.draft_size(ONE) is None
    make(0)
    assert image_store.draft_size(ONE) is None
    with image_store.begin(ONE) as draft:
        draft.add("criu/pages-1.img", b"x" * 2_500_000)

        size = image_store.draft_size(ONE)

    assert size == 2_500_000
    assert "2.5 MB written" in image_progress.line(lambda: size)


def test_progress_that_cannot_be_read_is_none() -> None:
    def broken() -> int:
        raise ImageUnwritten("it is gone")

    assert image_progress.line(broken) == "saving the session to disk"
