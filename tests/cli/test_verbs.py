import base64
import json
import os
import time
from pathlib import Path

import pytest
from tests.cli.support.fakes import FakeKeeper, FakeSession

from holdfast.cli.main import main
from holdfast.model.errors import NotYourTurn

Capture = pytest.CaptureFixture[str]

HOSTILE_NAMES = [
    "",
    "a b",
    "a\nb",
    "a;b",
    "$(id)",
    "'\"",
    "a\tb",
    "n" * 300,
    "👩\u200d👩\u200d👧",
    "caf\u00e9",
    "cafe\u0301",
    ".hidden",
    ".",
    "..",
    "/etc/passwd",
    "\x1b[2Jx",
    "\u202eback",
    "a\udcffb",
    "s_abcd",
]


def test_ls_shows_what_each_is_called_and_does(
    keeper: FakeKeeper, web: FakeSession, capsys: Capture
) -> None:
    (job,) = keeper.has("job")
    now_ms = time.time_ns() // 1_000_000
    web.facts |= {"doing": "at-prompt", "turn_of": "anna", "output_ms": now_ms}
    web.facts["attached"] = ["anna", "bot", "bot"]
    job.facts |= {"created_ms": 5, "exit": -9, "command": ["make", "-j2"]}

    assert main(["ls"]) == 0

    title, first, second = capsys.readouterr().out.splitlines()
    assert title.split() == [
        *("NAME", "ID", "STATE", "TURN", "ATTACHED", "OUTPUT", "AGE", "COMMAND")
    ]
    assert first.split()[:5] == ["web", web.id, "at-prompt", "anna", "anna,"]
    assert "anna, bot (2)  now " in first
    assert "killed SIGKILL" in second
    assert second.endswith("make -j2")


def test_ls_shows_nothing_that_a_terminal_would_obey(
    web: FakeSession, capsys: Capture
) -> None:
    web.facts |= {"name": "\x1b[2J\u202ex", "command": ["\x1b]0;x\a", "a\nb\x9b"]}

    assert main(["ls"]) == 0

    shown = capsys.readouterr().out
    assert not set(shown) & set("\x1b\a\x9b\u202e")
    assert len(shown.splitlines()) == 2


def test_ls_is_there_for_programs(web: FakeSession, capsys: Capture) -> None:
    assert main(["ls", "--json"]) == 0

    (listed,) = json.loads(capsys.readouterr().out)["sessions"]
    assert listed == web.facts


def test_an_empty_list_says_how_to_start(keeper: FakeKeeper, capsys: Capture) -> None:
    assert not keeper.sessions

    assert main(["ls"]) == 0
    assert "holdfast new" in capsys.readouterr().err


def test_only_names_that_need_no_quotes_are_completed(
    keeper: FakeKeeper, capsys: Capture
) -> None:
    good, bad = keeper.has("good", "$(reboot)")

    assert main(["ls", "--names"]) == 0
    assert capsys.readouterr().out.split() == [good.facts["name"], bad.id]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_no_session_is_given_a_hostile_name(
    name: str, keeper: FakeKeeper, web: FakeSession
) -> None:
    assert main(["new", "--detach", f"--name={name}"]) == 64
    assert main(["rename", "web", "--", name]) == 64
    assert {request["do"] for request in keeper.asked} <= {"list"}
    assert web.facts["name"] == "web"


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, "-rf", "--help", "s_"])
def test_a_hostile_name_finds_no_session_and_is_shown_harmless(
    name: str, web: FakeSession, capsys: Capture
) -> None:
    assert main(["end", "--", name]) == 64

    said = capsys.readouterr().err
    assert f"There is: web ({web.id})" in said
    assert all(line.isprintable() for line in said.splitlines())
    assert len(said.splitlines()) == 3
    assert web.ended_with is None


def test_options_in_the_place_of_a_name_are_no_names(
    web: FakeSession, capsys: Capture
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["end", "-rf\x1b[2J"])

    assert stopped.value.code == 64
    assert "\x1b" not in capsys.readouterr().err
    assert web.ended_with is None


def test_a_session_is_found_by_id_name_and_the_beginning_of_its_id(
    web: FakeSession, capsys: Capture
) -> None:
    for text in (web.id, "web", "WEB", web.id[:6]):
        assert main(["keep", text]) == 0
    assert main(["keep", web.id[:5]]) == 64
    assert "no session" in capsys.readouterr().err
    assert web.facts["keep"] is True


def test_what_fits_several_sessions_is_refused(
    keeper: FakeKeeper, capsys: Capture
) -> None:
    one, other = keeper.has("one", "other")
    one.facts["id"], other.facts["id"] = "s_aaaabbbb22222222", "s_aaaacccc22222222"

    assert main(["keep", "s_aaaa"]) == 64

    assert "matches 2 sessions" in capsys.readouterr().err


def test_keep_sets_a_mark_and_takes_it_away(web: FakeSession) -> None:
    assert main(["keep", "web"]) == 0
    assert web.facts["keep"] is True
    assert main(["keep", "web", "--off"]) == 0
    assert web.facts["keep"] is False


def test_rename_gives_another_name(web: FakeSession) -> None:
    assert main(["rename", "web", "shop"]) == 0
    assert web.facts["name"] == "shop"


def test_new_sends_what_was_asked_and_says_how_to_attach(
    keeper: FakeKeeper, capsys: Capture
) -> None:
    words = ["new", "--detach", "--name", "job", "--cwd", "/", "--env", "A=b=c"]

    words += ["--size", "120x40", "--window", "16M"]
    assert main([*words, "--", "sh", "-c", "exit 3"]) == 0

    (asked,) = (request for request in keeper.asked if request["do"] == "create")
    assert asked["command"] == ["sh", "-c", "exit 3"]
    assert (asked["name"], asked["cwd"], asked["size"]) == ("job", "/", [120, 40])
    assert asked["window"] == 16 << 20
    assert asked["env"]["A"] == "b=c"
    assert "HOLDFAST_RUNTIME_DIR" not in asked["env"]
    assert asked["env"]["PATH"] == os.environ["PATH"]
    assert "holdfast attach job" in capsys.readouterr().out


def test_new_prints_the_id_for_programs(keeper: FakeKeeper, capsys: Capture) -> None:
    assert main(["new", "--detach", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == keeper.sessions[0].id


@pytest.mark.parametrize(
    "words",
    [
        ["--size", "0x0"],
        ["--size", "65535x65535"],
        ["--size", "80"],
        ["--size", "٨x٨"],
        ["--window", "1K"],
        ["--env", "A"],
        ["--env", "=b"],
        ["--env", "A=" + "x" * (1 << 20)],
    ],
)
def test_new_refuses_what_makes_no_sense(words: list[str], keeper: FakeKeeper) -> None:
    assert main(["new", "--detach", *words]) == 64
    assert not keeper.sessions


def test_a_folder_that_is_gone_is_said(
    keeper: FakeKeeper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert main(["new", "--detach"]) == 64
    assert main(["new", "--detach", "--cwd", "/"]) == 0
    assert keeper.sessions[0].facts["command"]


def test_words_that_are_not_utf8_arrive_as_they_were_written(
    keeper: FakeKeeper, web: FakeSession
) -> None:
    assert main(["new", "--detach", "--", "echo", "a\udcff"]) == 0
    assert main(["send", "web", "a\udcff"]) == 0
    assert os.fsencode(keeper.asked[0]["command"][1]) == b"a\xff"
    assert web.typed() == b"a\xff"


def test_end_sends_the_signal_waits_and_drops_the_record(
    keeper: FakeKeeper, web: FakeSession, capsys: Capture
) -> None:
    assert main(["end", "web", "--signal", "sigterm"]) == 0
    assert web.ended_with == 15
    assert keeper.sessions == []
    assert "has ended" in capsys.readouterr().out


def test_ending_what_has_ended_sweeps_and_drops_the_record(
    keeper: FakeKeeper, web: FakeSession
) -> None:
    web.exits(0)

    assert main(["end", "web"]) == 0
    # It is told of all the same: daemons may have outlived its shell.
    assert (web.ended_with, keeper.sessions) == (1, [])


def test_an_unknown_signal_ends_nothing(web: FakeSession) -> None:
    assert main(["end", "web", "--signal", "WARP"]) == 64
    assert web.ended_with is None


def test_send_types_exactly_what_was_given(web: FakeSession) -> None:
    assert main(["send", "web", "--enter", "echo", "$HOME"]) == 0
    assert main(["send", "web", "--", "-n", "--enter"]) == 0
    assert web.typed() == b"echo $HOME\r-n --enter"


@pytest.mark.parametrize("words", [["--"], ["a", "--", "b"], ["--", "--"]])
def test_two_dashes_after_two_dashes_are_words_like_any_other(
    web: FakeSession, words: list[str]
) -> None:
    assert main(["send", "web", "--", *words]) == 0
    assert web.typed() == " ".join(words).encode()


def test_send_says_where_what_comes_of_it_begins(
    web: FakeSession, capsys: Capture
) -> None:
    web.prints(b"before")

    assert main(["send", "web", "--json", "x"]) == 0
    assert json.loads(capsys.readouterr().out)["offset"] == 6


def test_a_program_that_does_not_read_is_waited_for(web: FakeSession) -> None:
    web.busy_times = 2

    assert main(["send", "web", "x"]) == 0
    assert web.typed() == b"x"
    assert {given.sequence for given in web.submitted} == {1}


def test_what_has_no_answer_is_said_to_be_unsettled(
    web: FakeSession, capsys: Capture
) -> None:
    web.is_silent = True

    assert main(["send", "web", "--timeout", "0.1", "x"]) == 75
    assert "not known" in capsys.readouterr().err


def test_somebody_elses_turn_is_respected(web: FakeSession, capsys: Capture) -> None:
    web.refusal = NotYourTurn("robo", 4)

    assert main(["send", "web", "x"]) == 77
    assert "robo has the turn" in capsys.readouterr().err


def test_an_error_is_there_for_programs_too(web: FakeSession, capsys: Capture) -> None:
    web.refusal = NotYourTurn("robo", 4)

    assert main(["send", "web", "--json", "x"]) == 77
    error = json.loads(capsys.readouterr().err)["error"]
    assert (error["code"], error["facts"]) == (
        "not-your-turn",
        {"holder": "robo", "epoch": 4},
    )


def test_a_large_paste_goes_in_pieces(web: FakeSession) -> None:
    assert main(["send", "web", "x" * 100_000]) == 0
    assert [len(given.payload) for given in web.inputs] == [65_536, 34_464]
    assert [given.sequence for given in web.inputs] == [1, 2]


def test_nothing_is_typed_into_what_has_ended(web: FakeSession) -> None:
    web.exits(0)

    assert main(["send", "web", "x"]) == 64


def test_keys_are_pressed_all_or_none(web: FakeSession) -> None:
    assert main(["keys", "web", "C-c", "Up", "q"]) == 0
    assert main(["keys", "web", "x", "Warp"]) == 64
    assert web.typed() == b"\x03\x1b[Aq"


def test_resize_gives_another_size(web: FakeSession) -> None:
    assert main(["resize", "web", "120x40"]) == 0
    assert main(["resize", "web", "0x0"]) == 64
    assert web.sizes() == [b"120x40"]


def test_read_prints_the_bytes_as_they_are(
    web: FakeSession, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    web.prints(b"one\xff\x1b[2J" * 20_000)

    assert main(["read", "web"]) == 0
    assert capfdbinary.readouterr().out == web.stream


def test_read_goes_on_where_it_stopped(web: FakeSession, capsys: Capture) -> None:
    web.prints(b"0123456789")

    main(["read", "web", "--json", "--max", "4"])
    first = json.loads(capsys.readouterr().out)
    main(["read", "web", "--json", "--from", str(first["next"])])
    second = json.loads(capsys.readouterr().out)

    assert (first["text"], first["offset"], first["next"]) == ("0123", 0, 4)
    assert base64.b64decode(second["data"]) == b"456789"
    assert (second["offset"], second["gap"]) == (4, 0)


@pytest.mark.parametrize("incarnation", [1, 3])
def test_read_counts_what_is_gone(
    incarnation: int, web: FakeSession, capsys: Capture
) -> None:
    web.start, web.incarnation = 100, incarnation
    web.prints(b"kept")

    assert main(["read", "web", "--json", "--from", "90"]) == 0

    piece = json.loads(capsys.readouterr().out)
    assert (piece["offset"], piece["gap"], piece["text"]) == (100, 10, "kept")


def test_reading_nothing_is_no_error(web: FakeSession, capsys: Capture) -> None:
    assert main(["read", "web"]) == 0
    assert main(["read", "web", "--from", "-1"]) == 64
    assert main(["read", "web", "--max", "0"]) == 64
    assert capsys.readouterr().out == web.stream.decode()
