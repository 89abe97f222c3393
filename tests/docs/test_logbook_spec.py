import re
from pathlib import Path
from types import ModuleType

import pytest
from tests.core.driven_intake import ANNA, AT, BOT, DrivenIntake

from holdfast.core.autonomy.effects import (
    Comparison,
    Effects,
    Seen,
    observed_fields,
)
from holdfast.core.book import (
    checkpoint,
    entries,
    host_book,
    inheritance,
    log_writer,
    logbook,
)
from holdfast.core.book.logbook import Entry, EntryKind, genesis, verify
from holdfast.core.input import gate, settlements, statements, turn
from holdfast.core.input.input_chain import Statement
from holdfast.core.input.refusal_counter import Tell
from holdfast.core.input.turn import PassReason
from holdfast.core.policy.exec_gate import Wish
from holdfast.core.provenance import changed_entries, commands
from holdfast.model.ids import (
    FIRST_INCARNATION,
    ClientId,
    Incarnation,
    SessionId,
)
from holdfast.model.inputs import InputKind
from holdfast.model.verdicts import Verdict
from holdfast.wire.intents import Intend
from holdfast.wire.lines import Value  # read by people too

PAGE = (Path(__file__).parents[2] / "docs/spec/logbook.md").read_text("utf-8")
KIND_ROW = re.compile(r"^\| `([a-z]+)` \|([^|]*)\| [^|]+ \|$", re.MULTILINE)
LIMIT_ROW = re.compile(r"^\| `([A-Z_]+)` \| (\d+)(?: s)? \|", re.MULTILINE)
KINDS_SECTION = PAGE.split("\n## 4. Kinds")[1].split("\n## 5.")[0]
KINDS = {
    kind: re.findall(r"`(\w+)`", fields)
    for kind, fields in KIND_ROW.findall(KINDS_SECTION)
}
LIMITS = {name: float(value) for name, value in LIMIT_ROW.findall(PAGE)}
EXAMPLE = PAGE.split("```json\n")[1].split("\n```")[0].encode().split(b"\n")
SESSION = SessionId("s_aaaaaaaaaaaaaaaa")


def limits(module: ModuleType) -> dict[str, float]:
    return {
        name: value
        for name, value in vars(module).items()
        if re.fullmatch("[A-Z][A-Z_]+", name)
        and type(value) in (int, float)
        and value > 0
    }


def approved_story() -> DrivenIntake:
    here = DrivenIntake()
    here.do(here.intake.attach(BOT, "c", AT))
    given = here.send()
    here.judge(Verdict.ASK)
    yes = gate.Approved(1, ANNA, given.digest(), here.intake.turn.epoch)
    here.do(here.intake.approve(yes, AT))
    here.write()
    here.send(2)
    here.judge(Verdict.DENY, ticket=2)
    here.send(3)
    here.judge(Verdict.ALLOW, ticket=3)
    here.write(1)
    here.do(here.intake.seize(ANNA, AT))
    here.do(here.intake.fenced(AT))
    here.do(here.intake.record(EntryKind.UNFENCED, {}, AT))
    here.do(here.intake.freeze(ANNA, AT))
    here.do(here.intake.thaw(ANNA, AT))
    here.do(here.intake.revoke(BOT, ANNA, AT))
    here.do(here.intake.detach(BOT, "c", last=True, at=AT, by=ANNA))
    return here


def secret_entry() -> Entry:
    here = DrivenIntake()
    here.send()
    here.judge(Verdict.ALLOW, echo_off=True)
    return here.entries[-1]


INTENT = Intend(
    act="run",
    intent="see",
    effect="",
    parameters="{}",
    prompt="",
    expects="",
    idempotent=False,
    attempt=1,
)
MATCHED = Comparison(Effects.MATCHED)
WISH = Wish(BOT, (7, 1), b"", "/bin/ls", "ls")


def written() -> list[Entry]:
    here = approved_story()
    heir = here.successor().successor(life=2)
    heir.do(heir.intake.request(turn.Took(ANNA), AT))
    ending: dict[str, Value] = {"by": ANNA, "signal": 15}
    heir.do(heir.intake.record(EntryKind.ENDING, ending, AT))
    declined = entries.declined_fields(Tell(BOT, "seize", "not-allowed", 1))
    heir.do(heir.intake.record(EntryKind.DECLINED, declined, AT))
    command = commands.Command(1, None, "ls", 0, 9, 0, 4, "/")
    interrupted: dict[str, Value] = {"by": ANNA, "group": 7}
    swept: dict[str, Value] = {"by": ANNA, "count": 1, "names": "x (7)", "left": 0}
    unbound: dict[str, Value] = {
        "protocol": "tcp",
        "address": "::",
        "port": 80,
        "pid": 7,
        "command": "x",
    }
    parts = ((), bytes(32), b"", bytes(64))
    signed = Statement(BOT, ClientId("c"), 1, *parts).to_fields()
    for kind, fields in (
        (EntryKind.SIGNED, signed),
        (EntryKind.INTERRUPTED, interrupted),
        (EntryKind.SWEPT, SWEPT),
        (EntryKind.UNBOUND, UNBOUND),
        (EntryKind.INTENDED, entries.intended_fields(BOT, INTENT)),
        (EntryKind.BEGAN, commands.began_fields(command)),
        (EntryKind.FINISHED, commands.finished_fields(command)),
        (EntryKind.OBSERVED, observed_fields(BOT, 1, MATCHED, Seen())),
        (EntryKind.EXEC, entries.exec_fields(WISH, None, ANNA, 1)),
        (EntryKind.CHANGED, changed_entries.changed_fields(1, 1, ())),
        (EntryKind.SWEPT, swept),
        (EntryKind.UNBOUND, unbound),
        (EntryKind.LIMITED, LIMITED),
        (EntryKind.IMAGED, IMAGED),
        (EntryKind.STOPPED, IMAGED),
        (EntryKind.FORKED, FORKED),
        (EntryKind.CHECKPOINT, checkpoint.checkpoint_fields(b"")),
    ):
        heir.do(heir.intake.record(kind, fields, AT))
    heir.do(heir.intake.exited("code 0", AT))
    return heir.entries


SWEPT: dict[str, Value] = {"by": ANNA, "count": 1, "names": "web", "left": 0}
UNBOUND: dict[str, Value] = {
    "protocol": "tcp",
    "address": "127.0.0.1",
    "port": 3000,
    "pid": 7,
    "command": "web",
}
LIMITED: dict[str, Value] = {
    "limit": "memory",
    "most": 1 << 30,
    "count": 1,
    "program": "web",
    "pid": 7,
}
IMAGED: dict[str, Value] = {"by": ANNA, "image": 1, "label": "", "key": ""}
FORKED: dict[str, Value] = {"by": ANNA, "image": 1, "key": ""}
WRITTEN = written()


def test_the_page_lists_the_kinds_of_the_code_in_their_order() -> None:
    assert [*KINDS, *host_book.KINDS] == [kind.value for kind in EntryKind]


@pytest.mark.parametrize("entry", WRITTEN, ids=lambda entry: f"{entry.kind}")
def test_entries_have_the_members_that_the_page_lists_in_its_order(
    entry: Entry,
) -> None:
    listed = KINDS[entry.kind]
    optional = {"written"} if entry.fields.get("as") != "cut" else set()

    assert list(entry.fields) == [name for name in listed if name not in optional]


def test_the_story_and_its_beginning_write_every_kind_there_is() -> None:
    first = inheritance.inherit([], None, FIRST_INCARNATION).beginning

    written = {first, *(entry.kind for entry in WRITTEN)}

    assert written == set(EntryKind) - {*host_book.KINDS}


def test_a_secret_stands_in_the_place_of_the_data() -> None:
    listed = ["secret" if name == "data" else name for name in KINDS["input"]]

    assert list(secret_entry().fields) == listed


@pytest.mark.parametrize(
    "word",
    [
        *PassReason,
        *InputKind,
        *("applied", "cut", "dropped", "unknown"),
        *("secret", "denied-by-operator"),
    ],
)
def test_every_word_that_stands_in_an_entry_is_on_the_page(word: str) -> None:
    assert f"`{word}`" in KINDS_SECTION


def test_the_page_has_every_limit_and_no_other() -> None:
    in_code = {
        **limits(logbook),
        **limits(log_writer),
        **limits(inheritance),
        **limits(entries),
        **limits(statements),
        **limits(settlements),
    }

    assert in_code == LIMITS


def test_the_members_of_every_entry_are_listed_in_their_order() -> None:
    section = PAGE.split("\n## 2.")[1].split("\n## 3.")[0]

    assert tuple(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == tuple(
        re.findall(r'"(\w+)":', EXAMPLE[0].decode())
    )


def test_the_example_verifies_and_ends_as_the_page_says() -> None:
    head = verify(EXAMPLE, SESSION).head

    assert head.index == 1
    assert f"The hash of the second is `{head.hash.hex()}`." in PAGE


def test_the_signed_bytes_of_a_head_are_as_the_page_says() -> None:
    head = genesis(SESSION)
    first, *parts, digest = re.findall(r"^ {4}(\S.*)$", PAGE, re.MULTILINE)

    assert parts == ["<session>", "<incarnation>", "<index>"]
    assert digest.startswith("<hash")
    assert head.signed_bytes(Incarnation(7)).decode() == (
        f"{first}\n{head.session}\n7\n{head.index}\n{head.hash.hex()}\n"
    )
