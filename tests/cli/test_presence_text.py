import json

import msgspec
import pytest
from tests.cli.support.operating import OTHER, waiting

from holdfast.cli import notices, presence_text
from holdfast.cli.operator_names import Names
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ActorId, ClientId, Epoch, actor_id
from holdfast.model.settings import Settings
from holdfast.wire.messages import Operator, Pending, Preview, Staged
from holdfast.wire.presence import Inherited

US = actor_id(b"us")
ALIAS = Staged("alias", "deploy\x1b[2J", (OTHER,), 3, sure=True)
FOLDER = Staged("path-entry", "/evil", (OTHER,), 4, sure=True)
VARIABLE = Staged("variable", "IFS", (OTHER, US), 5, sure=False)
NOBODYS = Staged("function", "f", (), 0, sure=False)


@pytest.fixture
def names() -> Names:
    known = Names(US)
    client = ClientId("c_" + "a" * 16)
    known.meet([Operator(OTHER, ActorKind.AGENT, "robo", client)])
    return known


def held(*uses: Staged, runs: str = "", actor: ActorId = US) -> Pending:
    found = waiting(actor=actor)
    fields = {name: getattr(found, name) for name in found.__struct_fields__}
    return Pending(**{**fields, "runs": runs, "uses": uses})


def test_what_others_changed_is_told_with_the_turn(names: Names) -> None:
    given = Inherited(Epoch(3), b"", (), (), (ALIAS, FOLDER, VARIABLE, NOBODYS))

    told = presence_text.inherited_told(given, names)

    robo = names.shown(OTHER)
    assert told.split("; ") == [
        f"{robo} changed: alias deploy\\x1b[2J, /evil on the PATH",
        f"perhaps {robo}, you changed: IFS",
        "unknown changed: function f",
    ]


def test_of_many_changes_some_are_named(names: Names) -> None:
    many = tuple(
        Staged("alias", f"a{number}", (OTHER,), 1, sure=True)
        for number in range(presence_text.MAX_THINGS + 1)
    )

    told = presence_text.inherited_told(Inherited(Epoch(3), b"", (), (), many), names)

    assert told.endswith("alias a7, …")


def test_whoever_decides_sees_what_runs_and_who_staged_it(names: Names) -> None:
    told = presence_text.pending_told(
        held(ALIAS, NOBODYS, runs="alias deploy (rm)"), names
    )

    assert told[-3:] == [
        "      runs  alias deploy (rm)",
        f"      uses  alias deploy\\x1b[2J, by {names.shown(OTHER)}, command 3",
        "      uses  function f, by unknown",
    ]


def test_programs_are_told_the_same(names: Names) -> None:
    held_back = held(FOLDER, runs="/evil/ls")

    facts = json.loads(json.dumps(presence_text.pending_facts(held_back, names)))

    assert facts["runs"] == "/evil/ls"
    assert facts["uses"] == [
        {
            "what": "path-entry",
            "name": "/evil",
            "by": [OTHER],
            "command": 4,
            "sure": True,
        }
    ]


def test_t28_a_notice_names_what_others_staged_without_effect(names: Names) -> None:
    mine = Staged("alias", "mine", (US,), 1, sure=True)

    told = notices.waits_told(
        held(ALIAS, mine, runs="alias \x1b]0;x\x07"), names, Settings()
    )

    assert told.isprintable()
    assert f"staged: alias deploy\\x1b[2J by {names.shown(OTHER)}" in told
    assert "mine" not in told


def previewed(text: str, *, ran: bool = True) -> Pending:
    shown = Preview(
        ran=ran,
        ended=True,
        exit=0,
        duration_ms=5,
        files=1,
        processes=0,
        ports=0,
        tried=0,
        text=text,
        digest=bytes(32),
    )
    return msgspec.structs.replace(held(actor=OTHER), preview=shown)


def test_whoever_decides_sees_what_a_preview_showed(names: Names) -> None:
    pending = previewed("exit 0 after 0.1 s\nfiles:\n  made \x1b[2J")

    told = presence_text.pending_told(pending, names)

    assert told[-3:] == [
        "      preview  exit 0 after 0.1 s",
        "        files:",
        "          made \\x1b[2J",
    ]
    facts = presence_text.pending_facts(pending, names)["preview"]
    assert isinstance(facts, dict)
    assert (facts["files"], facts["digest"]) == (1, "00" * 32)


def test_what_came_of_a_preview_is_said_in_one_line() -> None:
    told = presence_text.previewed_told

    assert told(None) == ""
    assert told(previewed("exit 0\nfiles:").preview) == "; previewed: exit 0"
    assert (
        told(previewed("not previewed: x", ran=False).preview) == "; not previewed: x"
    )
