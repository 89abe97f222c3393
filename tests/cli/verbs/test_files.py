import json
import os
from pathlib import Path

import pytest
from tests.cli.support.fakes import FakeSession
from tests.cli.support.past import Reviver

from holdfast.cli.main import main
from holdfast.linux.stored import layer_store, operators
from holdfast.linux.stored.layer_store import layered
from holdfast.linux.stored.own_changes import APPLYING
from holdfast.model.actors import ActorKind

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Have a folder of the machine's with one old file."""
    made = tmp_path / "tree"
    made.mkdir()
    (made / "kept").write_text("old\n")
    os.utime(made / "kept", (1, 1))
    return made


@pytest.fixture
def web(reviver: Reviver, tree: Path) -> FakeSession:
    """Have a session that has changed a file, and made a folder with another."""
    (session,) = reviver.has("web")
    (layer,) = layered(layer_store.make(session.id, (str(tree),)))
    upper = Path(layer.upper)
    (upper / "kept").write_text("new\n")
    (upper / "made").mkdir()
    (upper / "made/odd\x1b").write_text("more\x1b[2J\n")
    return session


@pytest.mark.usefixtures("web")
def test_what_a_session_has_changed_is_listed(capsys: Capture, tree: Path) -> None:
    assert main(["files", "web"]) == 0

    said = capsys.readouterr().out
    assert said.splitlines()[:2] == [f"~  {tree}/kept", f"+  {tree}/made/"]
    assert len(said.splitlines()) == 3
    assert "\x1b" not in said
    assert (tree / "kept").read_text() == "old\n"


def test_and_as_json_with_sizes(capsys: Capture, web: FakeSession, tree: Path) -> None:
    assert main(["files", "--json", "web"]) == 0

    told = json.loads(capsys.readouterr().out)
    assert (told["session"], told["applying"]) == (web.id, False)
    kept, made, odd = told["changes"]
    assert kept == {
        "path": f"{tree}/kept",
        "kind": "changed",
        "sort": "file",
        "size_before": 4,
        "size": 4,
        "conflict": False,
    }
    assert (made["kind"], made["sort"]) == ("made", "folder")
    assert odd["size"] == 9


@pytest.mark.usefixtures("web")
def test_what_was_changed_outside_too_is_marked(capsys: Capture, tree: Path) -> None:
    (tree / "kept").write_text("somebody else's\n")
    os.utime(tree / "kept", (4e9, 4e9))

    assert main(["files", "web"]) == 0

    assert capsys.readouterr().out.startswith(f"~! {tree}/kept\n")


@pytest.mark.usefixtures("web")
def test_how_files_differ_is_shown_and_nothing_in_them_is_obeyed(
    capsys: Capture,
) -> None:
    assert main(["files", "--diff", "web"]) == 0

    said = capsys.readouterr().out
    assert "-old\n+new\n" in said
    assert "+more" in said
    assert "\x1b" not in said


def test_every_session_with_files_is_listed(
    capsys: Capture, web: FakeSession, reviver: Reviver
) -> None:
    reviver.has("plain")

    assert main(["files"]) == 0
    title, row = map(str.split, capsys.readouterr().out.splitlines())

    assert title == ["NAME", "ID", "MADE", "CHANGED", "DELETED"]
    assert row == ["web", web.id, "2", "1", "0"]
    assert main(["files", "--json"]) == 0
    [told] = json.loads(capsys.readouterr().out)["sessions"]
    assert (told["session"], told["made"], told["changed"]) == (web.id, 2, 1)


@pytest.mark.usefixtures("reviver")
def test_where_no_session_has_files_nothing_is_listed(capsys: Capture) -> None:
    assert main(["files"]) == 0

    assert capsys.readouterr().out == ""


def test_a_session_that_runs_is_neither_applied_nor_discarded(
    web: FakeSession, tree: Path
) -> None:
    assert main(["files", "--apply", "web"]) == 64
    assert main(["files", "--discard", "web"]) == 64
    web.facts["state"] = "frozen"
    assert main(["files", "--discard", "web"]) == 64

    assert (tree / "kept").read_text() == "old\n"
    assert layer_store.has(web.id)


@pytest.mark.parametrize("state", ["frozen", "exited"])
def test_what_stands_still_is_applied(
    capsys: Capture, web: FakeSession, tree: Path, state: str
) -> None:
    web.facts["state"] = state

    assert main(["files", "--apply", "web"]) == 0

    assert capsys.readouterr().out == "applied: 2 made, 1 changed, 0 deleted\n"
    assert (tree / "kept").read_text() == "new\n"
    assert (tree / "made/odd\x1b").exists()
    assert main(["files", "--apply", "--json", "web"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"session": web.id, "applied": []}


def test_what_was_changed_outside_too_is_applied_by_force_alone(
    web: FakeSession, tree: Path
) -> None:
    web.facts["state"] = "exited"
    (tree / "kept").write_text("somebody else's\n")
    os.utime(tree / "kept", (4e9, 4e9))

    assert main(["files", "--apply", "web"]) == 64
    assert (tree / "kept").read_text() == "somebody else's\n"

    assert main(["files", "--apply", "--force", "web"]) == 0
    assert (tree / "kept").read_text() == "new\n"


def test_an_application_that_was_interrupted_is_told(
    capsys: Capture, web: FakeSession
) -> None:
    Path(layer_store.folder_of(web.id), APPLYING).touch()

    assert main(["files", "web"]) == 0

    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "Applying was interrupted; `--apply` finishes it."


def test_what_is_discarded_is_gone_and_the_machines_files_stay(
    web: FakeSession, tree: Path
) -> None:
    web.exits(0)

    assert main(["files", "--discard", "web"]) == 0

    assert not layer_store.has(web.id)
    assert (tree / "kept").read_text() == "old\n"
    assert main(["files", "web"]) == 64


def test_the_files_of_one_that_is_gone_are_found_by_its_last_name(
    capsys: Capture, reviver: Reviver, web: FakeSession
) -> None:
    reviver.sessions.remove(web)

    assert main(["files", "--json", "web"]) == 0

    assert json.loads(capsys.readouterr().out)["session"] == web.id
    web.die()


@pytest.mark.parametrize("choice", ["--apply", "--discard"])
def test_who_may_not_grant_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, web: FakeSession, tree: Path, choice: str
) -> None:
    web.exits(0)
    operators.enrol("robo", ActorKind.AGENT, b"robo", None, b"t" * 32)
    monkeypatch.setenv("HOLDFAST_AS", "robo")

    assert main(["files", choice, "web"]) == 77

    assert layer_store.has(web.id)
    assert (tree / "kept").read_text() == "old\n"


@pytest.mark.parametrize(
    "words",
    [
        ["--force", "web"],
        ["--diff"],
        ["--apply"],
        ["--discard"],
        ["far/web"],
        ["nobody"],
    ],
)
def test_what_makes_no_sense_is_refused(web: FakeSession, words: list[str]) -> None:
    web.exits(0)

    assert main(["files", *words]) == 64

    assert layer_store.has(web.id)
