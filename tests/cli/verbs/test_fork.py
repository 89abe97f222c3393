import json
from pathlib import Path
from signal import SIGKILL

import pytest
from tests.cli.support.past import (
    CUT,
    Reviver,
    at_terminal,
    begin,
    images_left,
    note,
    put_to_disk,
)

from holdfast.cli.main import main
from holdfast.client import branches
from holdfast.linux.stored import layer_store, recovery_places
from holdfast.linux.stored.layer_store import layered
from holdfast.model.errors import NameTaken, NoBranch, OnlyHere
from holdfast.model.ids import SessionId
from holdfast.model.session_record import ParentRecord, SessionRecord
from holdfast.model.text import MAX_NAME

Capture = pytest.CaptureFixture[str]

FAR = SessionRecord(SessionId("s_" + "f" * 16), "web", host="far")


def make_branch(reviver: Reviver, tree: Path) -> SessionId:
    """Have a branch that has files of its own."""
    parent, made = reviver.has("web", "try")
    told = ParentRecord(parent.id, 1, 1, 3)
    made.facts["parent"] = told._asdict()
    layer_store.make(made.id, (str(tree),))
    return made.id


def test_a_branch_goes_on_from_an_image_made_for_it_alone(
    reviver: Reviver, capsys: Capture
) -> None:
    web = reviver.has_forkable()

    assert main(["fork", "-d", "web"]) == 0

    [wanted] = web.asked_for
    assert (wanted.branch, wanted.stop) == (True, False)
    [asked] = reviver.wanted("create")
    assert (asked["name"], asked["branches"]) == ("web-2", f"{web.id}.1")
    assert asked["proof"]
    first, cut = capsys.readouterr().out.splitlines()
    assert first == "web-2 is a branch of web. `holdfast attach web-2` shows it."
    assert cut.endswith("(9): its connection to 192.0.2.1:443 is closed in the branch")
    assert "\x1b" not in cut


def test_what_is_made_is_told_in_json(reviver: Reviver, capsys: Capture) -> None:
    web = reviver.has_forkable()

    assert main(["fork", "--json", "-n", "try", "web"]) == 0

    told = json.loads(capsys.readouterr().out)
    assert (told["name"], told["parent"], told["still_ms"]) == ("try", web.id, 90)
    [cut] = told["cuts"]
    assert (cut["pid"], cut["peer"]) == (CUT.pid, CUT.peer)


def test_a_person_is_shown_the_branch_until_it_ends(
    reviver: Reviver, capsys: Capture
) -> None:
    reviver.has_forkable()
    reviver.ends_with = 4

    with at_terminal():
        assert main(["fork", "web"]) == 4

    said = capsys.readouterr().out
    assert said.startswith("web-2 is a branch of web.\n")
    assert said.endswith("web-2 ended (status 4)\n")


def test_without_a_terminal_to_show_it_on_nothing_is_made(reviver: Reviver) -> None:
    web = reviver.has_forkable()

    assert main(["fork", "web"]) == 64

    assert web.asked_for == []


def test_a_branch_that_needs_an_approval_is_waited_for(
    reviver: Reviver, capsys: Capture
) -> None:
    reviver.has_forkable()
    reviver.begins = False

    assert main(["fork", "-d", "web"]) == 0

    assert "waiting for approval of sh" in capsys.readouterr().err


def test_of_a_branch_that_is_not_made_no_image_is_left(
    reviver: Reviver, capsys: Capture
) -> None:
    web = reviver.has_forkable()
    reviver.refuses = "try"

    assert main(["fork", "-d", "-n", "try", "web"]) == 64

    assert len(web.asked_for) == 1
    assert images_left() == []
    assert "'try' already exists" in capsys.readouterr().err


def test_no_branch_is_made_of_what_has_ended(reviver: Reviver) -> None:
    web = reviver.has_forkable()
    web.exits(0)

    assert main(["fork", "-d", "web"]) != 0

    assert web.asked_for == []


def test_what_is_elsewhere_is_left_to_its_own_machine() -> None:
    with pytest.raises(OnlyHere):
        branches.fork(FAR, "try")
    with pytest.raises(OnlyHere):
        branches.demand_branch(FAR)
    with pytest.raises(OnlyHere):
        branches.token_of(FAR)
    with pytest.raises(NoBranch):
        branches.demand_branch(FAR._replace(host=""))


def test_a_free_name_is_no_longer_than_a_name_may_be(reviver: Reviver) -> None:
    long = "n" * MAX_NAME
    first = branches.free_name(long)
    reviver.has(first, "web", "WEB-2")

    assert len(first) <= MAX_NAME
    assert branches.free_name(long) not in (first, long)
    assert branches.free_name("web") == "web-3"


def test_there_are_only_so_many_names(
    reviver: Reviver, monkeypatch: pytest.MonkeyPatch
) -> None:
    reviver.has("web-2", "web-3")
    monkeypatch.setattr(branches, "_MOST", 4)

    with pytest.raises(NameTaken):
        branches.free_name("web")


def test_a_discarded_branch_is_gone_with_what_it_had_changed(
    reviver: Reviver, capsys: Capture, tmp_path: Path
) -> None:
    branch = make_branch(reviver, tmp_path)
    [made] = [one for one in reviver.sessions if one.id == branch]

    assert main(["fork", "--discard", "try"]) == 0

    assert made.ended_with == SIGKILL
    assert made not in reviver.sessions
    assert not layer_store.has(branch)
    said = capsys.readouterr().out
    assert said == "try has ended, and its changes were dropped\n"


def test_a_branch_is_not_discarded_unless_somebody_says_yes(
    reviver: Reviver, capsys: Capture, tmp_path: Path
) -> None:
    branch = make_branch(reviver, tmp_path)

    with at_terminal(b"n\n"):
        assert main(["fork", "--discard", "try"]) == 1

    assert layer_store.has(branch)
    assert "not confirmed; try is as it was" in capsys.readouterr().out
    with at_terminal():
        assert main(["fork", "--discard", "--force", "try"]) == 0
    assert not layer_store.has(branch)


def test_what_is_no_branch_is_not_discarded(reviver: Reviver) -> None:
    (web,) = reviver.has("web")

    assert main(["fork", "--discard", "--force", "web"]) == 64

    assert web.ended_with is None


def test_a_branch_is_not_promoted_unless_somebody_says_yes(
    reviver: Reviver, capsys: Capture
) -> None:
    with at_terminal(b"\n"):
        assert main(["fork", "--promote", "try"]) == 1

    assert "both are as they were" in capsys.readouterr().out
    assert reviver.asked == []


def put_both_to_disk(tree: Path) -> tuple[SessionId, SessionId]:
    """Have a session on disk, and a branch of it that has made a file."""
    parent = begin("web")
    branch = begin("try", parent=ParentRecord(parent, 1, 1, 3))
    for one in (parent, branch):
        note(one, "stopped", image=put_to_disk(one).number)
    (layer,) = layered(layer_store.make(branch, (str(tree),)))
    Path(layer.upper, "made").write_text("by the branch")
    return parent, branch


def test_a_promoted_branch_goes_on_as_its_parent_with_its_files(
    reviver: Reviver, capsys: Capture, tmp_path: Path
) -> None:
    parent, branch = put_both_to_disk(tmp_path)

    assert main(["fork", "--promote", "try"]) == 0

    [asked] = reviver.wanted("recover")
    assert (asked["recovers"], asked["takes"]) == (parent, f"{branch}.1")
    assert (tmp_path / "made").read_text() == "by the branch"
    assert not layer_store.has(branch)
    assert recovery_places.recorded() == [parent]
    said = capsys.readouterr().out
    assert said.endswith(" was replaced with its branch (incarnation 2).\n")


def test_a_promotion_that_needs_an_approval_is_waited_for(
    reviver: Reviver, capsys: Capture, tmp_path: Path
) -> None:
    parent, branch = put_both_to_disk(tmp_path)
    reviver.begins = False

    assert main(["fork", "--promote", "--json", "try"]) == 0

    said = capsys.readouterr()
    assert "waiting for approval of sh" in said.err
    told = json.loads(said.out)
    assert (told["id"], told["incarnation"], told["before"]) == (parent, 2, "")
    assert not layer_store.has(branch)
    assert f"{branch}.1" not in images_left()


def test_what_is_elsewhere_or_not_there_is_not_promoted(reviver: Reviver) -> None:
    assert main(["fork", "--promote", "far/try"]) == 64
    assert main(["fork", "--promote", "try"]) == 64

    assert reviver.wanted("recover") == []
    assert recovery_places.recorded() == []


def test_a_token_says_which_branch_a_session_is(
    reviver: Reviver, capsys: Capture, tmp_path: Path
) -> None:
    branch = make_branch(reviver, tmp_path)
    parent = reviver.sessions[0].id

    assert main(["token", "try"]) == 0
    token = capsys.readouterr().out.strip()

    assert main(["token", "--check", token]) == 0
    assert capsys.readouterr().out == (
        f"genuine: session {branch}, incarnation 1, a branch of {parent}\n"
    )
    assert main(["token", "--json", "try"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["session"], told["parent"]) == (branch, parent)
    assert main(["token", "web"]) == 0
    assert main(["token", "--check", capsys.readouterr().out.strip()]) == 0
    assert capsys.readouterr().out == f"genuine: session {parent}, incarnation 1\n"


@pytest.mark.usefixtures("reviver")
def test_a_token_that_this_host_has_not_signed_is_refused(capsys: Capture) -> None:
    assert main(["token", "--check", "nonsense"]) != 0

    assert "genuine:" not in capsys.readouterr().out
