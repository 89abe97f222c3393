import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from holdfast.core.book.entries import (
    MAX_ORIGINATORS,
    MAX_PROGRAM,
    MAX_RULE,
    Admission,
    answered_fields,
    binding,
    exec_fields,
    granted_envelope,
    granted_fields,
    input_fields,
    is_secret,
    refused_fields,
    turn_fields,
    who,
)
from holdfast.core.input.serializer import CutReport
from holdfast.core.input.turn import PassReason, PassTurn
from holdfast.core.policy.exec_gate import Wish
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import DeniedByPolicy, Frozen, PolicyUnavailable
from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation, SessionId
from holdfast.model.inputs import Input, InputId, InputKind
from holdfast.model.verdicts import Verdict
from holdfast.wire.lines import decode_line, encode_line

ANNA, BOT = ActorId("anna"), ActorId("bot")
HUMAN = ActorKind.HUMAN
ALL = Admission(Verdict.ALLOW, "all")
FIXED = {"index", "prev", "session", "incarnation", "epoch", "at", "kind"}


def an_input(kind: InputKind = InputKind.KEYS, payload: bytes = b"ls\r") -> Input:
    known = InputId(ClientId("c"), 7)
    return Input(known, ANNA, kind, Incarnation(1), Epoch(1), payload)


def test_an_input_is_written_with_its_bytes_its_rule_and_its_approver() -> None:
    given = structs.replace(an_input(), seen=41)

    assert input_fields(given, HUMAN, Admission(Verdict.ASK, "careful", BOT), None) == {
        "actor": "anna",
        "actor_kind": "human",
        "client": "c",
        "sequence": 7,
        "input": "keys",
        "size": 3,
        "seen": 41,
        "verdict": "ask",
        "rule": "careful",
        "policy": None,
        "approver": "bot",
        "data": "bHMN",
    }


def test_the_others_who_staged_what_an_input_runs_are_named() -> None:
    many = [ActorId(f"a{number}") for number in range(MAX_ORIGINATORS + 1)]
    fields = input_fields(
        an_input(), HUMAN, Admission(Verdict.ALLOW, "all", None, many), None
    )

    assert list(fields)[-2:] == ["originators", "data"]
    assert str(fields["originators"]).split(",") == many[:MAX_ORIGINATORS]


def test_the_kinds_of_action_of_an_input_are_named_unless_it_is_hidden() -> None:
    admitted = Admission(Verdict.ALLOW, "all", actions=("/usr/bin/ls", "/bin/true"))

    shown = input_fields(an_input(), HUMAN, admitted, None)
    hidden = input_fields(an_input(), HUMAN, admitted, b"key")
    refused = refused_fields(
        an_input(), HUMAN, Verdict.DENY, Frozen(), "", ("/usr/bin/ls",)
    )

    assert shown["action"] == "/usr/bin/ls\n/bin/true"
    assert "action" not in hidden
    assert refused["action"] == "/usr/bin/ls"


def test_a_secret_is_written_as_a_length_and_a_keyed_hash() -> None:
    fields = input_fields(an_input(payload=b"hunter2"), HUMAN, ALL, b"key")

    assert fields["size"] == 7
    assert fields["secret"] == hmac.digest(b"key", b"hunter2", "sha256").hex()
    assert "data" not in fields
    assert b"hunter2" not in encode_line(fields)


@given(st.binary(min_size=1, max_size=40))
def test_no_secret_can_be_read_from_the_line(payload: bytes) -> None:
    plain = input_fields(an_input(payload=payload), HUMAN, ALL, None)["data"]
    fields = input_fields(an_input(payload=payload), HUMAN, ALL, b"key")

    assert plain not in fields.values()


@pytest.mark.parametrize(
    ("kind", "echo_off", "secret"),
    [
        (InputKind.KEYS, False, False),
        (InputKind.KEYS, True, True),
        (InputKind.ANSWER, False, True),
        (InputKind.COMMAND, False, False),
    ],
)
def test_what_is_typed_unseen_and_what_answers_a_prompt_is_secret(
    kind: InputKind, *, echo_off: bool, secret: bool
) -> None:
    assert is_secret(an_input(kind), echo_off=echo_off) == secret


@given(st.binary(max_size=40))
def test_whoever_approves_an_answer_cannot_guess_it_from_what_it_is_bound_to(
    payload: bytes,
) -> None:
    answer = an_input(InputKind.ANSWER, payload)

    assert binding(answer, b"key") != answer.digest()
    assert binding(answer, b"key") != binding(answer, b"other")
    assert (
        binding(an_input(payload=payload), b"key") == an_input(payload=payload).digest()
    )


def test_a_refusal_says_whose_it_was_and_by_what_code() -> None:
    refused = refused_fields(an_input(), HUMAN, None, Frozen())

    assert refused == {
        **who(an_input(), HUMAN),
        "code": "frozen",
        "verdict": None,
        "rule": None,
        "policy": None,
    }


def test_a_policy_that_does_not_answer_has_said_no() -> None:
    refused = refused_fields(an_input(), HUMAN, None, PolicyUnavailable("is late"))

    assert refused["verdict"] == "deny"


def test_a_refusal_by_a_rule_names_the_rule_in_a_bounded_way() -> None:
    refused = refused_fields(
        an_input(), HUMAN, Verdict.DENY, DeniedByPolicy("r" * 999, "")
    )

    assert refused["rule"] == "r" * MAX_RULE
    assert refused["verdict"] == "deny"


def test_an_answer_says_who_gave_it_and_which() -> None:
    assert answered_fields(4, ANNA, yes=False) == {
        "ticket": 4,
        "by": "anna",
        "yes": False,
    }


def test_a_turn_says_between_whom_why_and_what_was_thrown_away() -> None:
    passed = PassTurn(ANNA, None, Epoch(2), PassReason.DROPPED)

    assert turn_fields(passed, CutReport(inputs=2, bytes=9)) == {
        "from": "anna",
        "to": None,
        "reason": "dropped",
        "dropped_inputs": 2,
        "dropped_bytes": 9,
    }


@given(
    st.frozensets(st.sampled_from(Right)),
    st.sampled_from([None, SessionId("s_one")]),
    st.none() | st.integers(0, 10**12),
)
def test_an_envelope_is_read_back_as_it_was_granted(
    rights: frozenset[Right], session: SessionId | None, expires_ms: int | None
) -> None:
    expires = None if expires_ms is None else expires_ms / 1000
    envelope = Envelope(rights, session, expires)

    fields = decode_line(encode_line(granted_fields(BOT, envelope, ANNA)))

    assert granted_envelope(fields) == envelope
    assert (fields["actor"], fields["by"]) == ("bot", "anna")


def test_no_field_hides_one_that_every_entry_has() -> None:
    passed = PassTurn(ANNA, None, Epoch(2), PassReason.DROPPED)
    written = [
        input_fields(an_input(), HUMAN, ALL, None),
        input_fields(an_input(), HUMAN, ALL, b"key"),
        refused_fields(an_input(), HUMAN, None, Frozen()),
        turn_fields(passed, CutReport()),
        granted_fields(BOT, Envelope(frozenset()), ANNA),
    ]

    assert not any(FIXED & fields.keys() for fields in written)


def test_a_refused_exec_is_written_with_its_words_its_rule_and_its_count() -> None:
    wish = Wish(BOT, (7, 1), b"", "/bin/rm", "x" * (MAX_PROGRAM + 1))

    assert exec_fields(wish, DeniedByPolicy("r" * (MAX_RULE + 1), ""), None, 3) == {
        "actor": "bot",
        "pid": 7,
        "program": "/bin/rm",
        "text": "x" * MAX_PROGRAM,
        "as": "refused",
        "code": "denied-by-policy",
        "rule": "r" * MAX_RULE,
        "by": None,
        "count": 3,
    }


def test_an_approved_exec_is_written_with_who_approved_it() -> None:
    fields = exec_fields(Wish(BOT, (7, 1), b"", "/bin/rm", "rm"), None, ANNA, 1)

    assert (fields["as"], fields["by"], fields["code"], fields["rule"]) == (
        "approved",
        "anna",
        None,
        None,
    )


def test_a_refused_exec_without_a_rule_has_none() -> None:
    wish = Wish(BOT, (7, 1), b"", "/bin/rm", "rm")

    assert exec_fields(wish, Frozen(), None, 1)["rule"] is None
