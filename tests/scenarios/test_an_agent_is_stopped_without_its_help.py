"""Turns and budgets as policy.toml has them, kept by nobody's good will."""

import os
import time
from collections.abc import Iterator

import pytest
from tests.scenarios.support import Client, Machine, apply_policy, eventually, machine

from holdfast.core.book.logbook import Entry, EntryKind, recover
from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.model.verdicts import Verdict
from holdfast.wire import messages as wire
from holdfast.wire.trials import Tried, Try

FREE = '[default]\nagent = "allow"\n'


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def session(here: Machine) -> SessionId:
    write_policy()
    return here.new("sh", "-c", "stty raw -echo; echo ready; cat")


def write_policy(text: str = "") -> None:
    apply_policy(FREE + text)


def agent(here: Machine, session: SessionId) -> Client:
    return here.join(session, f"bot-{os.urandom(4).hex()}", ActorKind.AGENT)


def human(here: Machine, session: SessionId) -> Client:
    return here.join(session, f"carl-{os.urandom(4).hex()}", ActorKind.HUMAN)


def who_has_it(client: Client) -> str:
    return client.who().holder


def refused(client: Client) -> wire.Refuse:
    answer = client.settle()
    assert isinstance(answer, wire.Refuse)
    return answer


def entries(session: SessionId) -> tuple[Entry, ...]:
    return tuple(recover(places.session_log(session).read_bytes(), session).entries)


# ── budgets ───────────────────────────────────────────────────────────────────


def test_t31_a_looping_agent_is_stopped_by_its_budget(
    here: Machine, session: SessionId
) -> None:
    write_policy("[budget.agent]\ninputs_per_minute = 10\n")
    bot = agent(here, session)
    anna = here.join(session)
    anna.wait_output(b"ready")

    for _ in range(200):
        bot.post(b"y")
    answers = [bot.settle() for _ in range(200)]

    admitted = [one for one in answers if isinstance(one, wire.Acknowledge)]
    assert len(admitted) in (10, 11)  # A slow machine earns one more meanwhile.
    errors = {one.code for one in answers if isinstance(one, wire.Refuse)}
    assert errors == {"budget-spent"}
    anna.request(wire.Seize(wire.Halt.NONE))
    anna.enter(b"stop")
    shown = anna.wait_output(b"stop")
    assert shown.count(b"y") - b"ready".count(b"y") == len(admitted)


def test_t31_the_refusal_says_what_is_spent_and_when_to_come_back(
    here: Machine, session: SessionId
) -> None:
    write_policy("[budget.agent]\nbytes_per_minute = 600\n")
    bot = agent(here, session)
    bot.post(b"x" * 600)
    assert isinstance(bot.settle(), wire.Acknowledge)

    bot.post(b"xx")

    facts = refused(bot).facts
    assert (facts["what"], facts["limit"]) == ("bytes per minute", 600)
    assert 0 < int(facts["wait_ms"]) <= 200
    deadline = time.monotonic() + int(facts["wait_ms"]) / 1000
    eventually("it is time", lambda: time.monotonic() >= deadline)
    bot.post(b"xx")
    assert isinstance(bot.settle(), wire.Acknowledge)


def test_t31_a_flood_of_refusals_is_counted_in_the_book_and_does_not_fill_it(
    here: Machine, session: SessionId
) -> None:
    write_policy("[budget.agent]\ninputs_per_minute = 1\n")
    bot = agent(here, session)
    bot.post(b"x")
    bot.settle()

    for _ in range(300):
        bot.post(b"x")
        refused(bot)

    told = eventually("all are told", lambda: declined(session, 300))
    assert len(told) < 30
    assert {entry.fields["code"] for entry in told} == {"budget-spent"}


def declined(session: SessionId, count: int) -> list[Entry] | None:
    told = [one for one in entries(session) if one.kind is EntryKind.DECLINED]
    total = sum(int(entry.fields["count"] or 0) for entry in told)
    return told if total == count else None


def test_t31_a_budget_outlives_the_process_that_counts(
    here: Machine, session: SessionId
) -> None:
    write_policy("[budget.agent]\ninputs_per_minute = 3\n")
    bot = agent(here, session)
    for _ in range(3):
        assert isinstance(bot.enter(b"x"), wire.Acknowledge)

    here.replace_holder(session)
    bot.attach()

    answer = bot.enter(b"x")
    assert isinstance(answer, wire.Refuse)
    assert answer.code == "budget-spent"


def test_a_person_types_on_under_a_budget_for_agents(
    here: Machine, session: SessionId
) -> None:
    write_policy("[budget.agent]\ninputs_per_minute = 1\n")
    anna = here.join(session)

    for _ in range(50):
        anna.post(b"k")
    answers = [anna.settle() for _ in range(50)]

    assert {type(answer) for answer in answers} == {wire.Acknowledge}


def test_what_is_left_of_a_budget_can_be_asked_without_spending_it(
    here: Machine, session: SessionId
) -> None:
    write_policy("[budget.agent]\ninputs_per_minute = 1\n")
    bot = agent(here, session)
    trial = Try(bot.operator.actor.id, InputKind.KEYS, b"x", None)
    bot.send(trial)
    assert bot.wait(Tried).verdict is Verdict.ALLOW
    bot.post(b"x")
    bot.settle()

    bot.send(trial)

    tried = bot.wait(Tried)
    assert (tried.verdict, tried.rule) == (Verdict.DENY, "budget-spent")


def test_a_changed_budget_counts_from_the_next_input_on(
    here: Machine, session: SessionId
) -> None:
    bot = agent(here, session)
    for _ in range(5):
        bot.post(b"x")
        assert isinstance(bot.settle(), wire.Acknowledge)

    write_policy("[budget.agent]\nbytes_per_minute = 2\n")

    bot.post(b"xxx")
    assert refused(bot).code == "input-too-large"
    write_policy()
    bot.post(b"xxx")
    assert isinstance(bot.settle(), wire.Acknowledge)


# ── how long a turn lasts ─────────────────────────────────────────────────────


def test_a_turn_limit_passes_the_turn_on(here: Machine, session: SessionId) -> None:
    write_policy("[turn]\nlimit = 1\n")
    bot, carl = agent(here, session), human(here, session)
    assert bot.request(wire.Take()) is None

    carl.send(wire.Ask(15_000))

    eventually("carl has it", lambda: who_has_it(carl) == carl.operator.actor.id)
    reasons = [e.fields["reason"] for e in entries(session) if e.kind is EntryKind.TURN]
    assert reasons == ["taken", "expired"]


def test_an_agents_turn_ends_and_a_persons_does_not(
    here: Machine, session: SessionId
) -> None:
    write_policy("[budget.agent]\nturn_seconds = 1\n")
    anna = here.join(session)
    anna.request(wire.Take())

    an_agents_turn_ends(here)

    assert who_has_it(anna) == anna.operator.actor.id


def an_agents_turn_ends(here: Machine) -> None:
    bot = agent(here, here.new("cat"))
    assert bot.request(wire.Take()) is None
    eventually("it is free", lambda: who_has_it(bot) == "")


def test_what_the_terminal_took_is_not_called_cut_when_the_turn_ends(
    here: Machine, session: SessionId
) -> None:
    write_policy("[turn]\nlimit = 1\n")
    bots = [agent(here, one) for one in (session, here.new("cat"), here.new("cat"))]

    # The turn ends between two clocks' ticks: it has several chances to do so.
    while min(expiries(bot.session) for bot in bots) < 2:
        for bot in bots:
            bot.post(b"x")
        for bot in bots:
            assert not isinstance(bot.settle(), wire.Report)
            bot.who()  # After it we know the epoch of now.

    for bot in bots:
        settled = [e for e in entries(bot.session) if e.kind is EntryKind.SETTLED]
        assert {entry.fields["as"] for entry in settled} == {"applied"}


def expiries(session: SessionId) -> int:
    return places.session_log(session).read_bytes().count(b'"expired"')


def test_the_turn_outlasts_a_short_absence_and_not_a_long_one(
    here: Machine, session: SessionId
) -> None:
    write_policy("[turn]\ngrace = 1\n")
    bot, anna = agent(here, session), here.join(session)
    bot.request(wire.Take())
    bot.attach()
    eventually("one is back", lambda: len(anna.who().present) == 2)
    assert who_has_it(anna) == bot.operator.actor.id

    bot.close()

    eventually("it is free", lambda: who_has_it(anna) == "")
    last = [e for e in entries(session) if e.kind is EntryKind.TURN][-1]
    assert last.fields["reason"] == "abandoned"


# ── who is next, and what silence means ───────────────────────────────────────


@pytest.mark.parametrize(("rule", "place"), [("first", 0), ("human-first", 1)])
def test_the_next_is_chosen_as_configured(
    here: Machine, session: SessionId, rule: str, place: int
) -> None:
    write_policy(f'[turn]\nnext = "{rule}"\n')
    anna = here.join(session)
    anna.request(wire.Take())
    line = [agent(here, session), human(here, session)]
    for client in line:
        client.send(wire.Ask(15_000))
        client.who()

    anna.request(wire.Drop())

    assert who_has_it(anna) == line[place].operator.actor.id


@pytest.mark.parametrize(("ask", "place"), [("refuse", 0), ("grant", 1)])
def test_silence_means_what_is_configured(
    here: Machine, session: SessionId, ask: str, place: int
) -> None:
    write_policy(f'[turn]\nask = "{ask}"\n')
    clients = [agent(here, session), human(here, session)]
    clients[0].request(wire.Take())

    clients[1].send(wire.Ask(100))
    clients[1].who()

    eventually("it is settled", lambda: clients[0].who().waiting == ())
    assert who_has_it(clients[0]) == clients[place].operator.actor.id


def test_other_rules_hold_from_the_next_turn_on(
    here: Machine, session: SessionId
) -> None:
    bot, anna = agent(here, session), here.join(session)
    bot.request(wire.Take())
    write_policy("[turn]\nlimit = 1\n")
    bot.enter(b"x")

    an_agents_turn_ends(here)

    assert who_has_it(anna) == bot.operator.actor.id
    bot.request(wire.Give(anna.operator.actor.id))
    eventually("it is free", lambda: who_has_it(anna) == "")


def test_t19_a_seize_asks_no_rule_and_no_budget(
    here: Machine, session: SessionId
) -> None:
    write_policy(
        '[turn]\nlimit = 604800\ngrace = 604800\nask = "refuse"\nnext = "first"\n'
        "[budget.human]\ninputs_per_minute = 1\nbytes_per_minute = 1\n"
    )
    bot, anna = agent(here, session), here.join(session)
    anna.post(b"x")
    anna.settle()
    anna.post(b"x")
    assert refused(anna).code == "budget-spent"
    anna.request(wire.Give(bot.operator.actor.id))

    assert anna.request(wire.Seize(wire.Halt.NONE)) is None

    assert who_has_it(anna) == anna.operator.actor.id
