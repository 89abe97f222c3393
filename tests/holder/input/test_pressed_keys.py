"""Keys admitted by a verdict that stands, at a real handler with a real terminal."""

import termios

import pytest
from tests.holder.input_world import Client, World
from tests.scenarios.support import apply_policy

from holdfast.core.book.logbook import EntryKind
from holdfast.core.input.intake import Intake
from holdfast.holder.moment import now
from holdfast.linux import pty
from holdfast.model.actors import ActorKind
from holdfast.wire import messages as wire

DENIED = '[default]\nhuman = "deny"\n'
RULED = '[[rule]]\nverdict = "deny"\nkind = "human"\n'
BUDGET = "[budget.human]\ninputs_per_minute = 1\n"


@pytest.fixture
def anna(here: World) -> Client:
    """Somebody for whose next key a verdict stands."""
    made = here.join()
    for _ in range(2):
        made.submit(b"a")
        here.session.settle()
    made.told()
    return made


def types(here: World, client: Client, payload: bytes = b"b") -> bool:
    """Type, and tell whether the full decision was needed."""
    before = tickets(here.intake)
    client.submit(payload)
    here.session.settle()
    return tickets(here.intake) > before + 1


def tickets(intake: Intake) -> int:
    """Return how many tickets were issued, this one among them."""
    return intake.issue_ticket()


def last_input(here: World) -> dict[str, object]:
    inputs = [one for one in here.entries() if one.kind is EntryKind.INPUT]
    return dict(inputs[-1].fields)


def refusals(client: Client) -> list[str]:
    return [one.code for one in client.told() if isinstance(one, wire.Refuse)]


def test_the_next_key_is_pressed_and_recorded_as_any_other(
    here: World, anna: Client
) -> None:
    before = last_input(here)

    assert not types(here, anna)

    after = last_input(here)
    changing = {"index", "prev", "at", "sequence", "data"}
    assert (after["sequence"], after["data"]) == (3, "Yg==")
    assert list(after) == list(before)
    assert {name: after[name] for name in {*after} - changing} == {
        name: before[name] for name in {*before} - changing
    }


def test_an_enter_is_decided_in_full(here: World, anna: Client) -> None:
    assert types(here, anna, b"\r")


@pytest.mark.parametrize("text", [DENIED, RULED])
def test_a_policy_holds_from_the_very_next_key(
    here: World, anna: Client, text: str
) -> None:
    apply_policy(text)

    types(here, anna)

    assert refusals(anna) == ["denied-by-policy"]
    assert last_input(here)["sequence"] == 2


def test_so_does_a_budget(here: World, anna: Client) -> None:
    apply_policy(BUDGET)

    for _ in range(2):
        types(here, anna)

    assert refusals(anna) == ["budget-spent"]


def test_a_key_typed_without_echo_is_never_written_down(
    here: World, anna: Client
) -> None:
    settings = termios.tcgetattr(here.slave)
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(here.slave, termios.TCSANOW, settings)
    assert not pty.echoes(here.descriptors.master)

    assert types(here, anna)

    assert "data" not in last_input(here)
    assert "secret" in last_input(here)


def test_a_seize_ends_it_in_the_same_moment(here: World, anna: Client) -> None:
    eve = here.join("eve")
    here.do(here.intake.seize(eve.id, now()))

    anna.submit(b"b")
    here.session.settle()

    assert refusals(anna) == ["not-your-turn"]
    assert last_input(here)["sequence"] == 2


def test_a_revoked_operator_types_no_more(here: World, anna: Client) -> None:
    eve = here.join("eve")
    here.do(here.intake.revoke(anna.id, eve.id, now()))

    anna.submit(b"b")
    here.session.settle()

    assert refusals(anna) == ["not-allowed"]


def test_an_observer_s_link_presses_nothing(here: World, anna: Client) -> None:
    anna.connection.mode = wire.Mode.OBSERVE

    types(here, anna)

    assert refusals(anna) == ["not-allowed"]


def test_what_was_typed_is_known_before_somebody_asks(
    here: World, anna: Client
) -> None:
    anna.submit(b"c")  # It is not booked yet.

    stands = here.context.shell.line.stands()

    assert stands.data == b"aac"
    assert stands.by == (anna.id,)


def test_a_control_key_is_taken_note_of_at_once(here: World, anna: Client) -> None:
    anna.submit(b"\x15")

    assert here.context.shell.put_off is None
    assert here.context.shell.line.stands().is_empty


def test_so_is_a_letter_that_may_end_a_line(here: World, anna: Client) -> None:
    settings = termios.tcgetattr(here.slave)
    settings[6][termios.VEOL] = b"x"
    termios.tcsetattr(here.slave, termios.TCSANOW, settings)

    anna.submit(b"c")

    assert here.context.shell.put_off is None


def test_an_answer_that_nobody_waits_for_lets_the_echo_go_first(
    here: World, anna: Client
) -> None:
    anna.submit(b"c", waits=False)
    here.session.writer.echoed()

    assert here.session.writer.taken is not None
    here.turn(later=1.0)
    assert here.session.writer.taken is None


def test_an_agent_of_another_kind_is_judged_anew(here: World) -> None:
    bot = here.join("bot", ActorKind.AGENT)
    apply_policy('[default]\nagent = "allow"\n')
    for _ in range(2):
        bot.submit(b"a")
        here.session.settle()
    bot.told()
    apply_policy('[default]\nagent = "deny"\n')

    bot.submit(b"b")

    assert refusals(bot) == ["denied-by-policy"]
