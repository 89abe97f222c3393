"""How agents' acts came out, as a table, a plot and JSON."""

import json
from pathlib import Path

import pytest
from tests.core.autonomy.written_book import MAKE, acts, write_book

from holdfast.cli.main import main
from holdfast.cli.verbs import score
from holdfast.client import current_operator
from holdfast.core.autonomy.figures import Proportion
from holdfast.core.book.logbook import EntryKind
from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ActorId, SessionId
from holdfast.wire.lines import Value  # noqa: TC001  # an annotation people read

SESSION = SessionId("s_" + "a" * 16)


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ActorId:
    for name in ("CONFIG", "STATE", "RUNTIME"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name))
    return current_operator.enrol("bot", ActorKind.AGENT).actor.id


def test_a_table_and_a_plot_are_shown_for_each_agent(
    bot: ActorId, capsys: pytest.CaptureFixture[str]
) -> None:
    seized: dict[str, Value] = {"from": bot, "to": "a_b", "reason": "seized"}
    away: dict[str, Value] = {
        "actor": bot,
        "request": "intend",
        "code": "x",
        "count": 2,
    }
    story = [
        *acts(bot, 20),
        (EntryKind.TURN, seized),
        (EntryKind.DECLINED, away),
    ]
    write_book(places.log_dir(), SESSION, iter(story))

    assert main(["score"]) == 0

    first, titles, total, make = capsys.readouterr().out.splitlines()
    assert "bot" in first
    assert "20 acts, 2 requests turned away, 1 turns seized from it" in first
    assert "KIND OF ACTION" in titles
    assert total.split()[:2] == ["all", "20"]
    assert make.strip().startswith(MAKE)
    assert "1.00 (0.84 to 1.00, 20)" in make
    assert "●" in make
    assert "30 ms" in make


def test_only_the_most_frequent_kinds_are_listed_unless_all_are_wanted(
    bot: ActorId, capsys: pytest.CaptureFixture[str]
) -> None:
    story = [
        told
        for n in range(25)
        for told in acts(bot, 1, action=f"/usr/bin/make t{n:02}")
    ]
    write_book(places.log_dir(), SESSION, iter(story))

    main(["score", "bot"])
    short = capsys.readouterr().out
    main(["score", "bot", "--all"])
    whole = capsys.readouterr().out

    assert "and 5 more kinds" in short
    assert "make t24" in whole
    assert "make t24" not in short


def test_the_same_is_told_as_json(
    bot: ActorId, capsys: pytest.CaptureFixture[str]
) -> None:
    write_book(places.log_dir(), SESSION, acts(bot, 3, status=1))

    main(["score", "--json"])

    found = json.loads(capsys.readouterr().out)
    (one,) = found["operators"]
    assert (found["entries"], one["actor"], one["failed"]) == (19, bot, 3)
    assert one["kinds"][0]["kind"] == MAKE
    assert one["kinds"][0]["success"]["rate"] == 0.0
    assert 0.5 < one["kinds"][0]["success"]["high"] < 0.6


def test_acts_from_before_a_time_are_left_out(
    bot: ActorId, capsys: pytest.CaptureFixture[str]
) -> None:
    write_book(places.log_dir(), SESSION, acts(bot, 3))

    assert main(["score", "--since", "1h"]) == 0
    assert score.NONE in capsys.readouterr().err
    assert main(["score", "--since", "12"]) != 0


def test_a_book_that_does_not_hold_together_is_named(
    bot: ActorId, capsys: pytest.CaptureFixture[str]
) -> None:
    write_book(places.log_dir(), SESSION, acts(bot, 3))
    with (places.log_dir() / f"{SESSION}.log").open("ab") as file:
        file.write(b'{"no":"entry"}\n')

    main(["score"])

    assert SESSION in capsys.readouterr().err


def test_a_plot_shows_the_rate_and_its_interval() -> None:
    assert score.plot(Proportion(0, 0)) == "·" * score.WIDTH
    assert score.plot(Proportion(5, 10)) == "·····─────●─────·····"
    assert score.told(Proportion(0, 0)) == "-"
