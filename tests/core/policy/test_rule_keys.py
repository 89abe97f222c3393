import pytest
from tests.core.policy_world import ANN, SESSION, question

from holdfast.core.policy.command_words import Match
from holdfast.core.policy.conditions import OneOf
from holdfast.core.policy.rule_keys import (
    CONDITIONS,
    FILES,
    MAX_ALTERNATIVES,
    MAX_PATH,
    MAX_SEQUENCE,
    WORDS,
    read_files,
    read_words,
    with_folders,
)
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import LocalTime, TurnHold

NO_TEXTS: list[object] = [1, None, [], [1], {}, True, ["x"] * (MAX_ALTERNATIVES + 1)]


def read(key: str, value: object) -> list[str]:
    complaints: list[str] = []

    def complain(about: str, what: str) -> None:
        assert about == key
        complaints.append(what)

    if key in WORDS:
        read_words({key: value}, complain)
    elif key in FILES:
        read_files(with_folders({key: value}, {}, complain), complain)
    else:
        CONDITIONS[key](value, complain)
    return complaints


def fits(key: str, value: object, **members: object) -> bool:
    condition = CONDITIONS[key](value, lambda _, what: pytest.fail(what))
    return condition.match(question(**members)) is Match.YES  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kind", ["human", "agent", "service", "device"]),
        ("input", "keys"),
        ("actor", ["bot-*", "!bot-1", "a_*", "!a_x"]),
        ("session", "s_*"),
        ("turn", ["held", "none"]),
        ("signal", 2),
        ("signal", [1, 64]),
        ("hours", ["09:00-17:30", "22:00-06:00", "00:00-24:00", "23:00-00:00"]),
        ("days", ["mon", "sun"]),
        ("cwd", ["/", "/a/", "!/a/b"]),
        ("cwd", ["/" + "x" * 1000]),
        ("cwd", ["~", "~/*", "!~/.*", "!*/.git"]),
        ("paths", ["~", "/x?"]),
        ("writes", "/srv"),
        ("without", ["-o", "--output*"]),
        ("sequence", " ".join("x" * MAX_SEQUENCE)),
        ("sets", ["DEBUG", "CI*"]),
        ("foreground", ["self", "other"]),
        ("first", "ls"),
        ("any", ["a*", r"\*"]),
        ("sequence", "git push"),
        ("exact", ["make", "make test"]),
    ],
)
def test_what_makes_sense_is_taken(key: str, value: object) -> None:
    assert read(key, value) == []


@pytest.mark.parametrize("key", sorted({*CONDITIONS, *WORDS, *FILES} - {"signal"}))
@pytest.mark.parametrize("value", NO_TEXTS, ids=lambda value: str(value)[:12])
def test_a_key_wants_texts_and_at_least_one(key: str, value: object) -> None:
    assert len(read(key, value)) == 1


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("kind", "root", "agent, device, human, service, not 'root'"),
        ("input", "Keys", "not 'Keys'"),
        ("turn", "mine", "held"),
        ("days", "monday", "mon"),
        ("actor", "", "empty"),
        ("actor", "!", "empty"),
        ("actor", "x\\", "backslash"),
        ("session", "x" * 200, "long"),
        ("signal", 0, "1 to 64"),
        ("signal", 65, "1 to 64"),
        ("signal", [], "1 to 64"),
        ("signal", [2, "KILL"], "1 to 64"),
        ("signal", True, "1 to 64"),
        ("signal", 2.0, "1 to 64"),
        ("hours", "9-17", "22:00-06:00"),
        ("hours", "24:00-06:00", "22:00-06:00"),
        ("hours", "10:00-24:30", "22:00-06:00"),
        ("hours", "10:00-10:00", "22:00-06:00"),
        ("hours", "10:60-11:00", "22:00-06:00"),
        ("cwd", "src", "absolute"),
        ("cwd", "~x", "absolute"),
        ("cwd", "*/x", "absolute"),
        ("cwd", "!*", "absolute"),
        ("paths", "~/../x", "absolute"),
        ("writes", ["~/" + "*" * 200], "pattern"),
        ("paths", "@nobody", "[folders] has no"),
        ("paths", [3], "texts"),
        ("without", "a b", "blank"),
        ("sets", [], "texts"),
        ("foreground", "mine", "one of"),
        ("cwd", "/a/../b", "absolute"),
        ("cwd", "", "absolute"),
        ("cwd", "/" + "x" * 5000, "absolute"),
        ("first", "rm -rf", "blank"),
        ("any", "", "empty"),
        ("any", "\x1b", "\\x1b"),
        ("sequence", "git  push", "empty"),
        ("exact", " make", "empty"),
        ("sequence", " ".join("x" * (MAX_SEQUENCE + 1)), "words"),
    ],
)
def test_what_makes_no_sense_is_told_what_is_expected(
    key: str, value: object, why: str
) -> None:
    (complaint,) = read(key, value)

    assert why in complaint
    assert complaint.isprintable()


@pytest.mark.parametrize(("more", "complaints"), [(0, 0), (1, 1)])
def test_a_folder_is_as_long_as_a_path_may_be(more: int, complaints: int) -> None:
    assert len(read("cwd", "/" + "x" * (MAX_PATH - 1 + more))) == complaints


def test_a_name_stands_for_its_folders() -> None:
    given = {"paths": ["@work", "/srv"], "writes": "@work", "first": "@work"}
    named: dict[str, list[object]] = {"work": ["~", "!~/.*"]}

    found = with_folders(given, named, lambda _, what: pytest.fail(what))

    assert found["paths"] == ["~", "!~/.*", "/srv"]
    assert found["writes"] == ["~", "!~/.*"]
    assert found["first"] == "@work"


def test_every_problem_of_a_list_is_named() -> None:
    assert len(read("kind", ["root", "human", "boss"])) == 2


def test_a_rule_without_words_wants_none() -> None:
    assert read_words({"kind": "human"}, lambda _, what: pytest.fail(what)) is None


def test_texts_mean_what_they_say() -> None:
    assert fits("actor", "ANN", actor=ANN)
    assert fits("actor", ANN.id, actor=ANN)
    assert not fits("actor", ["*", "!ann"], actor=ANN)
    assert fits("actor", "!bob", actor=ANN)
    assert fits("session", SESSION)
    assert not fits("session", "!build")
    assert fits("cwd", "/src/", cwd="/src/x")
    assert not fits("cwd", ["/src", "!/src/x"], cwd="/src/x/y")
    assert fits("hours", "23:00-00:00", clock=LocalTime(1439, 0))
    assert fits("days", ["sun"], clock=LocalTime(0, 6))
    assert fits("signal", [2, 15], kind=InputKind.SIGNAL, payload=b"15")
    assert fits("input", "resize", kind=InputKind.RESIZE)


def test_a_turn_is_held_in_whichever_way_it_was_come_by() -> None:
    condition = CONDITIONS["turn"]("held", lambda _, what: pytest.fail(what))

    assert condition == OneOf("turn", frozenset(TurnHold) - {TurnHold.NONE})
