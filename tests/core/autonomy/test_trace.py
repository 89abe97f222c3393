"""Each act, with everything that the book says came of it."""

from tests.core.autonomy.book import ANNA, BOT, SESSION, entry

from holdfast.core.autonomy.effects import Effects
from holdfast.core.autonomy.trace import Act, Trace
from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.wire.lines import Value

CLIENT = "c_bbbbbbbbbbbbbbbb"


def traced(*entries: Entry) -> Trace:
    trace = Trace(SESSION)
    for one in entries:
        trace.feed(one)
    return trace


def intended(**more: Value) -> Entry:
    said: dict[str, Value] = {"act": "run", "intent": "to build", "effect": "built"}
    return entry(EntryKind.INTENDED, 1, 100, actor=BOT, **{**said, **more})


def admitted(index: int = 3, **more: Value) -> Entry:
    told: dict[str, Value] = {
        "actor": BOT,
        "actor_kind": "agent",
        "client": CLIENT,
        "input": "command",
        "verdict": "allow",
        "rule": "default-agent",
        "policy": "5f",
        "action": "/usr/bin/make",
    }
    return entry(EntryKind.INPUT, index, 350, **{**told, **more})


def refused(**more: Value) -> Entry:
    told: dict[str, Value] = {"actor": BOT, "actor_kind": "agent", "code": "denied"}
    return entry(EntryKind.REFUSED, 3, 350, **{**told, **more})


BEGAN = entry(EntryKind.BEGAN, 4, 360, number=9, client=CLIENT, trigger=BOT)
FINISHED = entry(EntryKind.FINISHED, 5, 400, number=9, status=0, duration=40)


def observed(**more: Value) -> Entry:
    told: dict[str, Value] = {"actor": BOT, "number": 9, "as": "unintended"}
    names: dict[str, Value] = {"files": "a\nb", "processes": "", "ports": "80"}
    return entry(EntryKind.OBSERVED, 6, 410, **{**told, **names, **more})


def test_an_act_is_told_from_its_declaration_to_its_effects() -> None:
    declared = intended(prompt="m-1", expects="{}", idempotent=True, attempt=2)
    asked = entry(EntryKind.ASKED, 2, 110, ticket=1, actor=BOT, rule="x")
    answered = entry(EntryKind.ANSWERED, 2, 300, ticket=1, by=ANNA, yes=True)

    trace = traced(declared, asked, answered, admitted(), BEGAN, FINISHED, observed())

    (act,) = trace.acts
    assert act == Act(
        actor=BOT,
        session=SESSION,
        index=1,
        at_wall_ms=100,
        act="run",
        intent="to build",
        effect="built",
        prompt="m-1",
        expects="{}",
        idempotent=True,
        attempt=2,
        input="command",
        actions=("/usr/bin/make",),
        verdict="allow",
        rule="default-agent",
        policy="5f",
        approver=ANNA,
        command=9,
        status=0,
        has_ended=True,
        duration_ms=40,
        latency_ms=250,
        effects=Effects.UNINTENDED,
        unintended=("a", "b", "80"),
    )
    assert act.is_valid
    assert act.has_succeeded is True
    assert act.is_clean is False


def test_an_entry_from_before_there_were_expectations_is_read() -> None:
    (act,) = traced(intended(), admitted(action=None, policy=None)).acts

    assert (act.prompt, act.expects, act.idempotent, act.attempt) == ("", "", False, 1)
    assert act.actions == ()


def test_what_is_not_declared_is_an_act_too() -> None:
    trace = traced(admitted(3), admitted(4, client="c_x"))

    assert [act.act for act in trace.acts] == ["", ""]


def test_what_people_type_is_not_traced() -> None:
    human = admitted(actor_kind="human")

    assert traced(human, admitted(input="resize")).acts == []
    assert traced(refused(actor_kind="human")).acts == []


def test_a_refusal_by_the_policy_is_well_formed_and_one_before_it_is_not() -> None:
    (denied,) = traced(intended(), refused(verdict="deny")).acts
    (stale,) = traced(intended(), refused(code="stale-epoch", verdict=None)).acts
    (nameless,) = traced(refused(code=None)).acts

    assert (denied.is_valid, stale.is_valid) == (True, False)
    assert not denied.has_run
    assert nameless.code == "refused"


def test_who_does_not_approve_is_named_unless_it_withdrew_its_own() -> None:
    asked = entry(EntryKind.ASKED, 1, 0, ticket=1, actor=BOT)
    no = entry(EntryKind.ANSWERED, 2, 0, ticket=1, by=ANNA, yes=False)
    withdrawn = entry(EntryKind.ANSWERED, 2, 0, ticket=1, by=BOT, yes=False)

    (denied,) = traced(asked, no, refused(verdict="ask")).acts
    (own,) = traced(asked, withdrawn, refused(verdict="ask")).acts

    assert (denied.denied_by, denied.is_clean) == (ANNA, False)
    assert (own.denied_by, own.is_clean) == ("", None)
    assert traced(no).acts == []


def test_bytes_that_were_not_all_typed_are_no_run() -> None:
    cut = entry(EntryKind.SETTLED, 4, 0, of=3, as_="cut")
    applied = entry(EntryKind.SETTLED, 4, 0, of=3, as_="applied")
    unheard = entry(EntryKind.SETTLED, 4, 0, of=99, as_="cut")

    assert not traced(admitted(), cut).acts[0].has_run
    assert traced(admitted(), applied, unheard).acts[0].has_run


def test_a_line_that_was_typed_as_keys_is_known_by_who_pressed_return() -> None:
    keys = admitted(input="keys")
    began = entry(EntryKind.BEGAN, 4, 0, number=9, client=None, trigger=BOT)
    second = entry(EntryKind.BEGAN, 5, 0, number=10, client=None, trigger=BOT)

    (act,) = traced(keys, began, second, FINISHED).acts

    assert (act.command, act.has_ended) == (9, True)


def test_a_command_of_a_client_that_nobody_knows_belongs_to_no_act() -> None:
    foreign = entry(EntryKind.BEGAN, 4, 0, number=9, client="c_other", trigger=BOT)

    (act,) = traced(admitted(input="keys"), foreign, FINISHED).acts

    assert (act.command, act.has_succeeded) == (0, None)


def test_a_status_that_is_not_known_is_neither_success_nor_failure() -> None:
    unknown = entry(EntryKind.FINISHED, 5, 0, number=9, status=None, duration=1)

    (act,) = traced(admitted(), BEGAN, unknown).acts

    assert act.has_succeeded is None


def test_success_is_the_status_that_was_expected() -> None:
    failed = entry(EntryKind.FINISHED, 5, 0, number=9, status=1, duration=1)

    def ended(expects: str) -> bool | None:
        story = (intended(expects=expects), admitted(), BEGAN, failed)
        return traced(*story).acts[0].has_succeeded

    assert ended("") is False
    assert ended('{"status":1}') is True
    assert ended('{"status":null}') is True
    assert ended("of another version") is False


def test_a_failure_is_not_clean_and_a_match_without_one_is() -> None:
    failed = entry(EntryKind.FINISHED, 5, 0, number=9, status=1, duration=1)
    matched = observed(**{"as": "matched", "files": "", "ports": ""})

    bad = traced(intended(), admitted(), BEGAN, failed, matched).acts[0]
    good = traced(intended(), admitted(), BEGAN, FINISHED, matched).acts[0]
    silent = traced(intended(), admitted(), BEGAN, FINISHED).acts[0]

    assert (bad.is_clean, good.is_clean, silent.is_clean) == (False, True, None)


def test_effects_of_another_command_or_operator_or_word_are_not_its_own() -> None:
    other, foreign = observed(number=10), observed(actor=ANNA)
    odd = observed(**{"as": "wonderful"})

    (act,) = traced(admitted(), BEGAN, FINISHED, other, foreign, odd).acts

    assert act.effects is Effects.UNDECIDED


def test_a_seizure_counts_against_what_runs() -> None:
    seized = entry(EntryKind.TURN, 5, 0, from_=BOT, to=ANNA, reason="seized")
    given = entry(EntryKind.TURN, 5, 0, from_=BOT, to=ANNA, reason="given")
    free = entry(EntryKind.TURN, 5, 0, from_=None, to=ANNA, reason="seized")

    during = traced(admitted(), BEGAN, given, free, seized)
    after = traced(admitted(), BEGAN, FINISHED, seized)

    assert (during.acts[0].was_seized, during.seized) == (True, {BOT: 1})
    assert (after.acts[0].was_seized, after.seized) == (False, {BOT: 1})


def test_requests_that_were_turned_away_are_counted() -> None:
    away = entry(EntryKind.DECLINED, 1, 0, actor=BOT, request="intend", count=3)

    assert traced(away, away).declined == {BOT: 6}


def test_entries_of_no_interest_are_passed_over() -> None:
    assert traced(entry(EntryKind.OPENED)).acts == []
