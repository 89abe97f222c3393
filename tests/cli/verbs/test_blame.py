import json
from pathlib import Path

import pytest
from tests.cli.support.fakes import FakeSession
from tests.cli.support.kernel import behind, blame, graph, process
from tests.cli.support.operating import OTHER, US

from holdfast.cli.main import main
from holdfast.model.ids import ActorId
from holdfast.wire.blame import BlameReport, Stretch
from holdfast.wire.graphs import Listener

Capture = pytest.CaptureFixture[str]
NOBODY = ActorId("")


def says(
    web: FakeSession, capsys: Capture, report: BlameReport, *words: str, what: str
) -> tuple[int, str]:
    web.operating.kernel.blames[what] = report
    status = main(["blame", "web", *words])
    return status, capsys.readouterr().out.replace("\n", " ").strip()


def test_who_made_an_alias_is_a_sentence(web: FakeSession, capsys: Capture) -> None:
    report = blame(
        "changed",
        behind(OTHER),
        how="added",
        digest=b"\x17" * 16,
        used=behind(US, first=0),
    )
    status, said = says(web, capsys, report, "--alias", "deploy", what="alias")

    assert status == 0
    assert said.startswith("alias deploy: set by unknown (")
    assert "(command 3, `alias deploy='rm'`, 2001-09-0" in said
    assert "; digest 1717171717171717; last typed by " in said


@pytest.mark.parametrize(
    ("report", "status", "text"),
    [
        (blame("initial"), 1, "variable X: unchanged since the shell started"),
        (
            blame("absent"),
            1,
            "variable X: not set, and not set when the shell started",
        ),
        (blame("unknown"), 1, "variable X: who set it is not known"),
    ],
)
def test_what_nobody_can_be_named_for_is_said(
    web: FakeSession, capsys: Capture, report: BlameReport, status: int, text: str
) -> None:
    assert says(web, capsys, report, "--var", "X", what="variable") == (status, text)


def test_one_of_several_commands_is_said_to_be(
    web: FakeSession, capsys: Capture
) -> None:
    report = blame("changed", behind(NOBODY, OTHER, US, first=1), how="changed")
    status, said = says(web, capsys, report, "--trap", "EXIT", what="trap")

    assert status == 0
    assert (
        "changed by an unknown operator (one of the commands 1 to 3, from 2001-" in said
    )
    assert "; typed by " in said


def test_a_command_that_may_be_it_is_said_to_be(
    web: FakeSession, capsys: Capture
) -> None:
    report = blame("changed", behind(OTHER, first=3))
    _, said = says(web, capsys, report, "--option", "errexit", what="option")

    assert "set or changed by unknown" in said
    assert "unless it was so before" in said


def test_a_secret_value_shows_its_length_only(
    web: FakeSession, capsys: Capture
) -> None:
    report = blame("changed", behind(OTHER), how="added", digest=b"length 7")
    _, said = says(web, capsys, report, "--var", "TOKEN", what="variable")

    assert said.endswith("; its value is secret, length 7")


def test_a_silent_shell_is_said_to_be(web: FakeSession, capsys: Capture) -> None:
    report = blame("initial", silent=True)
    _, said = says(web, capsys, report, "--function", "f", what="function")

    assert "changes since its last prompt are not known yet." in said


def test_programs_get_ids(web: FakeSession, capsys: Capture) -> None:
    report = blame("changed", behind(OTHER), how="added", digest=b"\x17")
    status, said = says(web, capsys, report, "--alias", "a", "--json", what="alias")

    found = json.loads(said)
    assert status == 0
    assert (found["session"], found["what"], found["name"]) == (web.id, "alias", "a")
    assert (found["standing"], found["digest"]) == ("changed", "17")
    assert found["origin"]["trigger"] == OTHER
    assert (found["origin"]["first"], found["origin"]["sure"]) == (3, True)
    assert found["last_typed"] is None


def test_a_trap_is_found_by_either_name(web: FakeSession, capsys: Capture) -> None:
    says(web, capsys, blame("absent"), "--trap", "USR1", what="trap")

    names = [getattr(one, "name", "") for one in web.operating.requested]
    assert names == ["USR1", "SIGUSR1"]


# ── files ─────────────────────────────────────────────────────────────────────


def test_a_file_and_the_links_to_it_are_told(
    web: FakeSession, capsys: Capture, tmp_path: Path
) -> None:
    (tmp_path / "real").write_text("x")
    (tmp_path / "link").symlink_to("real")
    report = blame("changed", behind(OTHER))
    path = str(tmp_path / "link")
    status, _ = says(web, capsys, report, "--file", path, what="moment")
    main(["blame", "web", "--file", path])

    first, second = capsys.readouterr().out.splitlines()
    assert status == 0
    assert first.startswith(f"link {tmp_path}/link → real: last changed at ")
    assert "while this ran: unknown" in second
    assert "; sha256 2d711642b726b044" in second


@pytest.mark.parametrize(
    ("standing", "text"),
    [("none", "while no command ran"), ("unknown", "is not known")],
)
def test_a_file_of_nobody_known_is_told_so(
    web: FakeSession, capsys: Capture, tmp_path: Path, standing: str, text: str
) -> None:
    path = str(tmp_path)
    status, said = says(web, capsys, blame(standing), "--file", path, what="moment")

    assert status == 1
    assert text in said


def test_a_file_that_is_too_large_has_a_reason_in_the_place_of_its_digest(
    web: FakeSession, capsys: Capture, tmp_path: Path
) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(65 << 20)

    report = blame("none")
    _, said = says(web, capsys, report, "--file", str(path), what="moment")
    assert "; no digest: it is larger" in said


def test_a_file_is_there_for_programs_too(
    web: FakeSession, capsys: Capture, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    report = blame("changed", behind(OTHER))
    words = ("--file", str(path), "--json")
    _, said = says(web, capsys, report, *words, what="moment")

    (step,) = json.loads(said)["steps"]
    assert (step["path"], step["kind"], step["by_time"]) == (str(path), "file", True)
    assert step["digest"].startswith("2d711642")


@pytest.mark.usefixtures("web")
@pytest.mark.parametrize("name", ["gone", "a\0b", "no/where"])
def test_a_file_that_is_not_there_is_an_error(
    capsys: Capture, tmp_path: Path, name: str
) -> None:
    path = str(tmp_path / name)

    assert main(["blame", "web", "--file", path]) == 64
    assert "is not a file that can be examined" in capsys.readouterr().err


# ── processes ─────────────────────────────────────────────────────────────────


@pytest.fixture
def tree(web: FakeSession) -> FakeSession:
    own = 7
    web.facts["pid"] = own
    listener = Listener(9, "::", 3000, "tcp6")
    web.operating.kernel.graphs = [
        [graph(process(own), process(8, own), process(9, 8), listeners=(listener,))]
    ]
    return web


def test_a_process_is_told_with_its_line_of_descent(
    tree: FakeSession, capsys: Capture
) -> None:
    report = blame("changed", behind(OTHER))
    status, said = says(tree, capsys, report, "--pid", "9", what="process")

    assert status == 0
    assert said.startswith("process 9, `it`: started by unknown")
    assert said.endswith(", below process 8")


def test_what_listens_on_a_port_is_told(tree: FakeSession, capsys: Capture) -> None:
    report = blame("changed", behind(OTHER))
    status, said = says(tree, capsys, report, "--port", "3000", what="process")

    assert status == 0
    assert said.startswith("process 9, ")


def test_a_port_that_nobody_listens_on_is_said_to_be(
    tree: FakeSession, capsys: Capture
) -> None:
    status, said = says(tree, capsys, blame("none"), "--port", "1", what="process")

    assert (status, said) == (1, "nothing of web listens on port 1")


@pytest.mark.parametrize(
    ("standing", "text"),
    [("none", "started while no command ran"), ("unknown", "is not known")],
)
def test_a_process_of_nobody_known_is_told_so(
    tree: FakeSession, capsys: Capture, standing: str, text: str
) -> None:
    status, said = says(tree, capsys, blame(standing), "--pid", "8", what="process")

    assert status == 1
    assert text in said


def test_an_orphan_is_known_by_time_only(tree: FakeSession, capsys: Capture) -> None:
    tree.operating.kernel.graphs = [[graph(process(7), process(8, 1))]]
    report = blame("changed", behind(OTHER))
    _, said = says(tree, capsys, report, "--pid", "8", what="process")

    assert said.endswith("known by time only, as its parents are gone")


def test_the_sessions_own_program_is_its_creators(
    tree: FakeSession, capsys: Capture
) -> None:
    _, said = says(tree, capsys, blame("none"), "--pid", "7", what="process")

    assert "the session's own program, started by nobody known" in said


def test_a_process_is_there_for_programs_too(
    tree: FakeSession, capsys: Capture
) -> None:
    report = blame("changed", behind(OTHER))
    words = ("--pid", "9", "--json")
    _, said = says(tree, capsys, report, *words, what="process")

    (found,) = json.loads(said)["found"]
    assert (found["pid"], found["root"], found["by_time"]) == (9, 8, False)


@pytest.mark.parametrize("words", [["--pid", "4711"], ["--port", "0"], ["--alias", ""]])
@pytest.mark.usefixtures("tree")
def test_what_cannot_be_asked_for_is_an_error(words: list[str]) -> None:
    assert main(["blame", "web", *words]) == 64


# ── lines ─────────────────────────────────────────────────────────────────────

LINE = blame(
    "changed",
    staged=b"rm -rf /\x1b",
    by=[Stretch(7, OTHER), Stretch(2, US)],
    others=[OTHER],
    edited=True,
    hidden=2,
)


def test_a_line_is_told_stretch_by_stretch(web: FakeSession, capsys: Capture) -> None:
    web.operating.kernel.blames["line"] = LINE
    status = main(["blame", "web", "--line"])

    said = capsys.readouterr().out.splitlines()
    assert status == 0
    assert said[0].startswith("`rm -rf ` typed by unknown")
    assert said[1].startswith("`/\\x1b` typed by ")
    assert said[2].startswith("2 bytes, not echoed, by unknown")
    assert said[3].startswith("It was edited, also by unknown")


def test_an_empty_line_is_said_to_be(web: FakeSession, capsys: Capture) -> None:
    status, said = says(web, capsys, blame("none"), "--line", what="line")

    assert (status, said) == (1, "no unsubmitted input")


def test_a_line_is_there_for_programs_too(web: FakeSession, capsys: Capture) -> None:
    _, said = says(web, capsys, LINE, "--line", "--json", what="line")

    found = json.loads(said)
    assert found["by"] == [{"size": 7, "actor": OTHER}, {"size": 2, "actor": US}]
    assert (found["staged"], found["hidden"]) == ("rm -rf /\x1b", 2)
