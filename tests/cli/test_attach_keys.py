import pytest
from tests.cli.support.operating import OTHER, US, robo, waiting

from holdfast.cli.attach_keys import AttachKeys, Do, Effect, Say
from holdfast.cli.prefix import Act
from holdfast.core.client.attachment import Attachment
from holdfast.model.actors import ActorKind
from holdfast.model.errors import NotAllowed, NotAsked
from holdfast.model.ids import (
    ActorId,
    Epoch,
    Incarnation,
    actor_id,
    client_id,
    session_id,
)
from holdfast.model.verdicts import Verdict
from holdfast.wire.codec import Message, refusal
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import (
    Answer,
    Approve,
    Ask,
    Attached,
    Cells,
    Deny,
    Drop,
    Freeze,
    Give,
    Halt,
    Mode,
    Operator,
    Seize,
    Settled,
    State,
    Take,
    Thaw,
    TurnAsked,
    TurnPassed,
)
from holdfast.wire.presence import Presence, Who

NOBODY = ActorId("")
THIRD = actor_id(b"third")
CLIENT = client_id(b"0123456789")
SESSION = session_id(b"0123456789")


def attached(holder: ActorId, *others: Operator, state: str = "running") -> Attached:
    return Attached(
        session=SESSION,
        name="web",
        incarnation=Incarnation(1),
        epoch=Epoch(1),
        holder=holder,
        start=0,
        end=0,
        state=state,
        size=Cells(80, 24),
        operators=(Operator(US, ActorKind.HUMAN, "anna", CLIENT), *others),
    )


def moved(former: ActorId, holder: ActorId) -> TurnPassed:
    return TurnPassed(
        former=former,
        holder=holder,
        epoch=Epoch(2),
        reason="given",
        dropped_inputs=0,
        dropped_bytes=0,
    )


class Seat:
    """The attach keys with its attachment, as `attached` drives the two."""

    def __init__(
        self, holder: ActorId = NOBODY, *others: Operator, mode: Mode = Mode.OPERATE
    ) -> None:
        self.attachment = Attachment(SESSION, CLIENT, bytes(32), mode)
        self.room = 120
        self.keys = AttachKeys("web", self.attachment, lambda: self.room)
        self.hears(attached(holder, *others))

    def hears(self, message: Message) -> list[Effect]:
        self.attachment.heard(message)
        return self.keys.heard(message)

    def presses(self, act: Act) -> list[Effect]:
        return self.keys.pressed(act)


def texts(effects: list[Effect]) -> str:
    return "\n".join(one.text for one in effects if isinstance(one, Say))


@pytest.mark.parametrize(
    ("holder", "title"),
    [
        (NOBODY, "web · turn: free"),
        (US, "web · turn: you"),
        (OTHER, f"web · turn: robo (agent, {OTHER[2:10]})"),
    ],
)
def test_the_title_says_who_has_the_turn(holder: ActorId, title: str) -> None:
    seat = Seat(holder, robo())

    assert seat.keys.title == title
    seat.hears(State("frozen", Incarnation(1)))
    assert seat.keys.title == title + " · frozen"
    seat.hears(moved(holder, US))
    assert seat.keys.title == "web · turn: you · frozen"


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (Act.TAKE, Take()),
        (Act.DROP, Drop()),
        (Act.SEIZE, Seize(Halt.NONE)),
        (Act.SEIZE_AND_FREEZE, Seize(Halt.FREEZE)),
        (Act.FREEZE_OR_THAW, Freeze()),
        (Act.WHO, Who()),
    ],
)
def test_a_key_makes_a_request(act: Act, message: Message) -> None:
    assert Seat().presses(act) == [Do(message)]


def test_taking_what_somebody_has_is_asking_for_it() -> None:
    said, asked = Seat(OTHER, robo()).presses(Act.TAKE)

    assert "robo (agent, " in texts([said])
    assert isinstance(asked, Do)
    assert isinstance(asked.message, Ask)
    assert texts(Seat(US).presses(Act.TAKE)) == "you have the turn"
    assert "watching" in texts(Seat(mode=Mode.OBSERVE).presses(Act.TAKE))


def test_the_key_that_freezes_thaws_what_is_frozen() -> None:
    seat = Seat()

    assert "frozen" in texts(seat.hears(State("frozen", Incarnation(1))))
    assert seat.presses(Act.FREEZE_OR_THAW) == [Do(Thaw())]
    assert "thawed" in texts(seat.hears(State("running", Incarnation(1))))
    assert seat.hears(State("at-prompt", Incarnation(1))) == []


def test_the_turn_is_given_to_the_only_other() -> None:
    assert Seat(US, robo(), robo()).presses(Act.GIVE) == [Do(Give(OTHER))]
    assert "no one else" in texts(Seat(US).presses(Act.GIVE))


def test_of_several_one_is_chosen_with_one_key() -> None:
    seat = Seat(US, robo(), robo("zoe", THIRD))

    (question,) = seat.presses(Act.GIVE)
    assert "1 robo (agent, " in texts([question])
    assert "2 zoe (agent, " in texts([question])
    assert seat.keys.is_asking
    assert seat.keys.answered(b"2") == ([Do(Give(THIRD))], b"")
    assert not seat.keys.is_asking


def test_whoever_asks_is_given_it_first() -> None:
    seat = Seat(US, robo(), robo("zoe", THIRD))

    assert "asks for the turn" in texts(seat.hears(TurnAsked(THIRD, 9000)))
    assert seat.presses(Act.GIVE) == [Do(Answer(THIRD, granted=True))]
    assert seat.presses(Act.DENY) == [Do(Answer(THIRD, granted=False))]
    seat.hears(moved(US, THIRD))
    assert texts(seat.presses(Act.DENY)) == "nothing waits for approval"


def test_whoever_has_stopped_waiting_is_forgotten() -> None:
    seat = Seat(US, robo())
    seat.hears(TurnAsked(THIRD, 9000))

    seat.hears(refusal(NotAsked(THIRD), FrameKind.ANSWER))

    assert seat.presses(Act.GIVE) == [Do(Give(OTHER))]


def test_too_many_to_choose_from_are_not_offered() -> None:
    crowd = [robo(f"n{n}", actor_id(b"%d" % n)) for n in range(10)]

    assert "holdfast give web @WHO" in texts(Seat(US, *crowd).presses(Act.GIVE))


def test_an_approval_is_asked_back_and_bound_to_what_was_shown() -> None:
    seat = Seat(OTHER, robo())
    pending = waiting()

    assert "Ctrl-] a approves" in texts(seat.hears(pending))
    (question,) = seat.presses(Act.APPROVE)
    assert '"rm -rf build\\x0d"' in texts([question])
    effects, rest = seat.keys.answered(b"y")
    assert effects == [Do(Approve(3, Epoch(0), pending.digest))]
    assert rest == b""


@pytest.mark.parametrize("key", [b"n", b"\r", b" ", b"\x1b[A", b"\x03"])
def test_anything_but_yes_approves_nothing(key: bytes) -> None:
    seat = Seat(OTHER, robo())
    seat.hears(waiting())
    seat.presses(Act.APPROVE)

    effects, rest = seat.keys.answered(key)

    assert texts(effects) == "cancelled"
    assert rest == b""


@pytest.mark.parametrize(("size", "room"), [(5000, 10_000), (200, 80)])
def test_i1_what_cannot_be_shown_whole_is_not_approved(size: int, room: int) -> None:
    seat = Seat(OTHER, robo())
    seat.room = room
    seat.hears(waiting(b"x" * size))

    (said,) = seat.presses(Act.APPROVE)

    assert "`holdfast approve web 3`" in texts([said])
    assert not seat.keys.is_asking


def test_i2_the_key_that_answers_is_not_typed_even_if_it_comes_too_late() -> None:
    seat = Seat(OTHER, robo())
    seat.hears(waiting())
    seat.presses(Act.APPROVE)
    seat.hears(Settled(3, Verdict.DENY, NOBODY))

    assert seat.keys.is_asking
    assert seat.keys.answered(b"yls\r")[1] == b"ls\r"


def test_i3_what_arrives_during_a_question_is_shown_after_it() -> None:
    seat = Seat(OTHER, robo())
    seat.hears(waiting())
    seat.presses(Act.APPROVE)

    assert seat.hears(waiting(b"other", 4)) == []
    assert seat.hears(State("frozen", Incarnation(1))) == []
    effects, _ = seat.keys.answered(b"n")
    assert "other" in texts(effects)
    assert "frozen" in texts(effects)


def test_another_key_after_the_prefix_gives_the_question_up() -> None:
    seat = Seat(OTHER, robo())
    seat.hears(waiting())
    seat.presses(Act.APPROVE)
    seat.hears(State("frozen", Incarnation(1)))

    effects = seat.presses(Act.DENY)

    assert effects[0] == Do(Deny(3, waiting().digest))
    assert "frozen" in texts(effects)
    assert not seat.keys.is_asking


def test_ones_own_input_is_for_others_to_approve() -> None:
    seat = Seat(US, robo())

    (said,) = seat.hears(waiting(actor=US))
    assert isinstance(said, Say)
    assert not said.loud
    assert texts(seat.presses(Act.APPROVE)) == "nothing waits for approval"


def test_what_is_settled_waits_no_longer() -> None:
    seat = Seat(OTHER, robo())
    seat.hears(waiting())

    assert "approved" in texts(seat.hears(Settled(3, Verdict.ALLOW, US)))
    assert seat.hears(Settled(3, Verdict.ALLOW, US)) == []
    assert texts(seat.presses(Act.APPROVE)) == "nothing waits for approval"


def test_a_refused_request_is_said_loudly() -> None:
    (said,) = Seat().hears(refusal(NotAllowed("a_x", "seize"), FrameKind.SEIZE))

    assert said == Say("a_x may not seize here", loud=True)


def test_a_new_link_tells_everything_anew() -> None:
    seat = Seat(US, robo())
    seat.hears(TurnAsked(OTHER, 9000))
    seat.hears(waiting())

    seat.hears(attached(US, state="frozen"))

    assert texts(seat.presses(Act.APPROVE)) == "nothing waits for approval"
    assert "no one else" in texts(seat.presses(Act.GIVE))
    assert seat.presses(Act.FREEZE_OR_THAW) == [Do(Thaw())]


def test_the_company_is_shown_to_whoever_asked() -> None:
    seat = Seat(US)
    presence = Presence(
        present=(),
        holder=US,
        epoch=Epoch(1),
        waiting=(OTHER,),
        frozen=False,
        pending=(),
        rights=(),
    )

    assert seat.hears(presence) == []
    seat.presses(Act.WHO)
    assert "you have the turn" in texts(seat.hears(presence))
    assert seat.presses(Act.GIVE) == [Do(Answer(OTHER, granted=True))]
