"""What a command does is looked at if its operator said what it should do."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.holder.input_world import SESSION, World, world

from holdfast.core.book.logbook import EntryKind
from holdfast.holder.processes import effect_watch
from holdfast.holder.processes.effect_watch import EffectWatch
from holdfast.model.expectations import Expectation
from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation
from holdfast.model.inputs import Input, InputId, InputKind

BOT = ActorId("a_" + "b" * 32)
ANNA = ActorId("a_" + "a" * 32)
SERVER = (
    "import socket, sys; s = socket.create_server(('127.0.0.1', 0));"
    "print(s.getsockname()[1], flush=True); sys.stdin.read()"
)


def an_input(actor: ActorId) -> Input:
    known = InputId(ClientId("c_x"), 1)
    kind = InputKind.COMMAND
    return Input(known, actor, kind, Incarnation(1), Epoch(1), b"make")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    (made / "kept").write_text("as it was")
    (made / "notes").write_text("as they were")
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def here(own_folders: None, folder: Path) -> Iterator[World]:
    del own_folders, folder
    with world() as made:
        yield made


@pytest.fixture
def watch(here: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[EffectWatch]:
    # However busy the machine is: how long it takes is not what is tested.
    monkeypatch.setattr(effect_watch, "PATIENCE", 600.0)
    made = here.session.policy.effects
    yield made
    made.close()


def look(here: World) -> None:
    """Let the holder go on until nothing is looked at any more."""
    timers = here.context.timers
    while timers.first <= 0.0:
        timers.tick(0.0)


def begin(here: World, watch: EffectWatch, expected: Expectation) -> None:
    watch.intended(BOT, expected)
    look(here)
    watch.told(EntryKind.BEGAN, {"number": 4, "trigger": BOT})


def end(here: World, watch: EffectWatch) -> list[dict[str, object]]:
    watch.told(EntryKind.FINISHED, {"number": 4, "status": 0})
    look(here)
    here.session.book.sync()
    return observed(here)


def observed(here: World) -> list[dict[str, object]]:
    kind = EntryKind.OBSERVED
    return [dict(one.fields) for one in here.entries() if one.kind is kind]


def test_what_was_expected_is_on_record_as_matched(
    here: World, watch: EffectWatch, folder: Path
) -> None:
    begin(here, watch, Expectation(("build",)))
    (folder / "build").mkdir()
    (folder / "build" / "out").write_text("made")

    (found,) = end(here, watch)

    assert (found["as"], found["made"], found["number"]) == ("matched", 2, 4)
    assert found["actor"] == BOT


def test_every_file_that_was_not_expected_is_named(
    here: World, watch: EffectWatch, folder: Path
) -> None:
    begin(here, watch, Expectation(("build",)))
    (folder / "kept").write_text("something else")
    (folder / "notes").unlink()
    (folder / "strange").write_text("?")

    (found,) = end(here, watch)

    assert found["as"] == "unintended"
    assert {*str(found["files"]).split("\n")} == {"kept", "notes", "strange"}
    assert (found["made"], found["changed"], found["deleted"]) == (1, 1, 1)


def test_a_process_that_is_left_and_its_port_are_named(
    here: World, watch: EffectWatch
) -> None:
    begin(here, watch, Expectation())
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        env={**os.environ, "HOLDFAST_SESSION": SESSION},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())

        (found,) = end(here, watch)

        server.kill()
    assert (found["as"], found["left"], found["ports"]) == ("unintended", 1, str(port))
    assert "python" in str(found["processes"])


def test_an_input_waits_until_the_folder_was_listed(
    here: World, watch: EffectWatch
) -> None:
    gone: list[str] = []
    watch.intended(BOT, Expectation())

    assert watch.waits(an_input(BOT), lambda: gone.append("bot"))
    assert not watch.waits(an_input(ANNA), lambda: gone.append("anna"))
    assert gone == []
    look(here)

    assert gone == ["bot"]
    assert not watch.waits(an_input(BOT), lambda: gone.append("again"))


def test_an_input_that_waits_goes_on_when_nothing_is_watched_any_more(
    watch: EffectWatch,
) -> None:
    gone: list[str] = []
    watch.intended(BOT, Expectation())
    watch.waits(an_input(BOT), lambda: gone.append("bot"))

    watch.close()

    assert gone == ["bot"]


def test_a_listing_that_takes_too_long_leaves_it_undecided(
    here: World, watch: EffectWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effect_watch, "PATIENCE", -1.0)
    begin(here, watch, Expectation())

    (found,) = end(here, watch)

    assert (found["as"], found["why"]) == ("undecided", effect_watch.UNFINISHED)


def test_a_command_that_begins_before_the_listing_is_over_is_undecided(
    here: World, watch: EffectWatch
) -> None:
    watch.intended(BOT, Expectation())
    watch.told(EntryKind.BEGAN, {"number": 4, "trigger": BOT})

    (found,) = end(here, watch)

    assert (found["as"], found["why"]) == ("undecided", effect_watch.UNFINISHED)


def test_commands_of_others_are_not_looked_at(here: World, watch: EffectWatch) -> None:
    watch.intended(BOT, Expectation())
    look(here)
    watch.told(EntryKind.BEGAN, {"number": 4, "trigger": ANNA})
    watch.told(EntryKind.CHANGED, {"number": 4})

    assert end(here, watch) == []


def test_without_an_expectation_nothing_is_looked_at(
    here: World, watch: EffectWatch
) -> None:
    watch.intended(BOT, Expectation())
    watch.intended(BOT, None)
    watch.told(EntryKind.BEGAN, {"number": 4, "trigger": BOT})

    assert end(here, watch) == []
    assert not watch.waits(an_input(BOT), lambda: None)


def test_another_s_declaration_does_not_disturb_what_is_watched(
    here: World, watch: EffectWatch
) -> None:
    begin(here, watch, Expectation())
    watch.intended(ANNA, Expectation(("all",)))

    (found,) = end(here, watch)

    assert found["actor"] == BOT


def test_a_folder_that_cannot_be_opened_leaves_it_undecided(
    here: World, watch: EffectWatch
) -> None:
    here.leader.kill()
    here.leader.wait()
    begin(here, watch, Expectation())

    (found,) = end(here, watch)

    assert (found["as"], found["why"]) == ("undecided", effect_watch.NO_FOLDER)


def test_a_declaration_right_after_a_command_does_not_hide_what_it_did(
    here: World, watch: EffectWatch, folder: Path
) -> None:
    gone: list[str] = []
    begin(here, watch, Expectation())
    (folder / "strange").write_text("?")
    watch.told(EntryKind.FINISHED, {"number": 4, "status": 0})
    watch.intended(BOT, Expectation(("strange",)))
    assert watch.waits(an_input(BOT), lambda: gone.append("bot"))

    look(here)
    (folder / "strange").write_text("changed")
    watch.told(EntryKind.BEGAN, {"number": 5, "trigger": BOT})
    watch.told(EntryKind.FINISHED, {"number": 5, "status": 0})
    look(here)

    here.session.book.sync()
    assert gone == ["bot"]
    assert [one["as"] for one in observed(here)] == ["unintended", "matched"]


def test_the_next_command_waits_until_the_last_was_looked_at(
    here: World, watch: EffectWatch
) -> None:
    gone: list[str] = []
    begin(here, watch, Expectation())
    watch.told(EntryKind.FINISHED, {"number": 4, "status": 0})
    watch.intended(BOT, None)
    assert watch.waits(an_input(BOT), lambda: gone.append("bot"))
    assert gone == []

    look(here)

    assert gone == ["bot"]
    assert not watch.waits(an_input(BOT), lambda: None)


def test_what_is_declared_while_a_command_runs_changes_nothing_about_it(
    here: World, watch: EffectWatch, folder: Path
) -> None:
    begin(here, watch, Expectation())
    watch.intended(BOT, Expectation(("strange",)))
    (folder / "strange").write_text("?")

    (found,) = end(here, watch)

    assert found["as"] == "unintended"
