import json

import msgspec
import pytest
from tests.cli.support.fakes import OTHER, US, FakeKeeper, FakeSession
from tests.cli.support.operating import robo

from holdfast.cli.main import main
from holdfast.linux.stored import operators
from holdfast.model.actors import ActorKind
from holdfast.model.errors import NotAllowed
from holdfast.model.ids import ActorId, Epoch
from holdfast.wire.codec import Message
from holdfast.wire.graphs import Process
from holdfast.wire.messages import Answer, Drop, Freeze, Give, Halt, Seize, Take, Thaw
from holdfast.wire.presence import Inherited

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def bot(keeper: FakeKeeper) -> ActorId:
    assert keeper.sessions == []
    known = operators.enrol("bot", ActorKind.AGENT, b"bot", None, b"t" * 32)
    return known.actor.id


def test_take_takes_a_free_turn_and_says_so(web: FakeSession, capsys: Capture) -> None:
    assert main(["take", "web"]) == 0

    assert web.operating.requested == [Take()]
    assert web.holder == US
    assert capsys.readouterr().out == "web: you have the turn (epoch 1)\n"


def test_take_is_asked_while_attached_so_that_leaving_begins_the_grace(
    web: FakeSession,
) -> None:
    assert main(["take", "web"]) == 0
    assert len(web.attaches) == 1


def test_a_turn_that_somebody_has_is_not_taken(
    web: FakeSession, capsys: Capture
) -> None:
    web.company = (robo(),)
    web.passes_turn(OTHER)

    assert main(["take", "web"]) == 77
    assert "has the turn (epoch 1)" in capsys.readouterr().err
    assert web.holder == OTHER


def test_a_turn_taken_by_an_operator_is_that_operators(web: FakeSession) -> None:
    assert main(["--as", "bot", "take", "web"]) == 0

    known = operators.by_name("bot")
    assert known is not None
    assert web.holder == known.actor.id


def test_drop_lets_the_turn_go(web: FakeSession, capsys: Capture) -> None:
    web.passes_turn(US)

    assert main(["drop", "web"]) == 0
    assert web.operating.requested == [Drop()]
    assert "web: the turn is free (epoch 2)" in capsys.readouterr().out


def test_give_names_who_gets_it(
    bot: ActorId, web: FakeSession, capsys: Capture
) -> None:
    web.passes_turn(US)

    assert main(["give", "web", "@bot"]) == 0
    assert web.operating.requested == [Give(bot)]
    assert "bot (agent, " in capsys.readouterr().out


def test_give_and_refuse_know_nobody_by_that_name(
    web: FakeSession, capsys: Capture
) -> None:
    assert main(["give", "web", "@\x1b[2Jx"]) == 77
    assert main(["refuse", "web", "@nobody"]) == 77
    assert "\x1b" not in capsys.readouterr().err
    assert web.operating.requested == []


def test_refuse_says_no_to_whoever_asked(
    bot: ActorId, web: FakeSession, capsys: Capture
) -> None:
    web.passes_turn(US)
    web.operating.waiting = [bot]

    assert main(["refuse", "web", "bot"]) == 0
    assert web.operating.requested == [Answer(bot, granted=False)]
    assert main(["refuse", "web", "bot"]) == 64
    assert "has not asked" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "halt", "frozen"),
    [
        ([], Halt.NONE, False),
        (["--freeze"], Halt.FREEZE, True),
        (["--interrupt"], Halt.INTERRUPT, False),
    ],
)
def test_seize_takes_it_from_anybody(
    *, words: list[str], halt: Halt, frozen: bool, web: FakeSession, capsys: Capture
) -> None:
    web.passes_turn(OTHER)

    assert main(["seize", "web", *words, "--json"]) == 0

    assert web.operating.requested == [Seize(halt)]
    said = json.loads(capsys.readouterr().out)
    assert (said["holder"], said["frozen"], said["us"]) == (US, frozen, US)


def test_two_ways_to_stop_at_once_are_refused(web: FakeSession) -> None:
    with pytest.raises(SystemExit):
        main(["seize", "web", "--freeze", "--interrupt"])
    assert web.operating.requested == []


@pytest.mark.parametrize(("verb", "asked"), [("freeze", Freeze()), ("thaw", Thaw())])
def test_freeze_and_thaw_need_no_turn(
    verb: str, asked: Message, web: FakeSession, capsys: Capture
) -> None:
    web.passes_turn(OTHER)

    assert main([verb, "web"]) == 0
    assert web.operating.requested == [asked]
    told = {"freeze": "web, frozen: ", "thaw": "web was not frozen\n"}
    assert capsys.readouterr().out.startswith(told[verb])


@pytest.mark.usefixtures("web")
def test_what_was_frozen_is_said_to_go_on(capsys: Capture) -> None:
    main(["freeze", "web"])
    capsys.readouterr()

    assert main(["thaw", "web"]) == 0
    assert capsys.readouterr().out.startswith("web: ")


@pytest.mark.parametrize("verb", ["take", "drop", "seize", "freeze", "thaw", "ask"])
def test_what_is_not_allowed_is_said_with_its_right(
    verb: str, web: FakeSession, capsys: Capture
) -> None:
    web.operating.refusal = NotAllowed(US, "seize")

    assert main([verb, "web", "--json"]) == 77
    error = json.loads(capsys.readouterr().err)["error"]
    assert (error["code"], error["facts"]["right"]) == ("not-allowed", "seize")


def test_what_comes_with_the_turn_is_shown(web: FakeSession, capsys: Capture) -> None:
    web.company = (robo(),)
    web.passes_turn(OTHER)
    job = Process(
        pid=7,
        parent=1,
        started_ticks=0,
        command="make -j2",
        state="running",
        actor=ActorId(""),
        rss=0,
        cpu_ms=0,
        age_ms=0,
        unlisted=0,
    )
    web.operating.inherited = Inherited(Epoch(2), b"rm -\x1b", (OTHER,), (job,), ())

    assert main(["seize", "web"]) == 0
    said = capsys.readouterr().out
    assert '"rm -\\x1b" typed by robo (agent, ' in said
    assert "1 job runs: make -j2" in said
    assert main(["seize", "web", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["inherited"]["jobs"] == ["make -j2"]
    ending = msgspec.structs.replace(job, command="")
    for jobs, told in (
        ((ending,), "1 job runs\n"),
        ((ending, job), "2 jobs run: make -j2, …\n"),
    ):
        web.operating.inherited = Inherited(Epoch(2), b"", (), jobs, ())
        assert main(["seize", "web"]) == 0
        assert capsys.readouterr().out.endswith(f"with it comes: {told}")


def test_nothing_is_asked_of_a_session_that_has_ended(
    web: FakeSession, capsys: Capture
) -> None:
    web.exits(0)

    assert main(["take", "web"]) == 64
    assert main(["who", "web"]) == 64
    assert "exited" in capsys.readouterr().err
