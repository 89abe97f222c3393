import json
from pathlib import Path

import pytest
from tests.scenarios.support import apply_policy
from tools.verify_logbook import check_export

from holdfast.cli.main import main
from holdfast.client.current_operator import enrol
from holdfast.linux.stored import host_book
from holdfast.model.actors import ActorKind

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config"))
    apply_policy("")
    enrol("bot", ActorKind.AGENT)
    return Path(host_book.book_path())


def verified(capsys: Capture) -> dict[str, object]:
    code = main(["log", "--host", "--verify", "--json"])
    facts: dict[str, object] = json.loads(capsys.readouterr().out)
    assert code == (0 if facts["holds"] else 65)
    return facts


def test_the_book_is_told_and_holds_together(capsys: Capture) -> None:
    assert main(["log", "--host"]) == 0
    said = capsys.readouterr().out

    assert "put policy e3b0c44298fc1c149afbf4c8996fb924 in force" in said
    assert "bot was added as bot (agent)" in said
    assert verified(capsys)["holds"] is True


def test_an_export_is_checked_without_the_host(tmp_path: Path) -> None:
    place = tmp_path / "export"

    assert main(["log", "--host", "--export", str(place)]) == 0

    assert "4 entries verified" in check_export(place.read_bytes())


def cut(book: Path) -> None:
    book.write_bytes(b"".join(book.read_bytes().splitlines(keepends=True)[:-1]))


def edit(book: Path) -> None:
    book.write_bytes(book.read_bytes().replace(b'"agent"', b'"human"'))


def behead(_: Path) -> None:
    Path(host_book.head_path()).unlink()


def swap(book: Path) -> None:
    (book.parent / "policy").write_bytes(b"x")


@pytest.mark.parametrize("how", ["cut", "edit", "behead", "swap"])
def test_what_was_changed_is_found_and_can_be_set_aside(
    how: str, book: Path, capsys: Capture
) -> None:
    {"cut": cut, "edit": edit, "behead": behead, "swap": swap}[how](book)

    assert verified(capsys)["holds"] is False

    assert main(["log", "--host", "--set-aside"]) == 0
    capsys.readouterr()
    assert verified(capsys)["holds"] is True


@pytest.mark.parametrize("words", [[], ["web", "--host"], ["web", "--set-aside"]])
def test_it_is_a_session_or_the_host(words: list[str]) -> None:
    assert main(["log", *words]) == 64
