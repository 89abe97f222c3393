import json

from holdfast.model.ids import actor_id
from holdfast.model.resolutions import (
    Link,
    Resolution,
    Resolved,
    Sort,
    Staging,
    Thing,
)

ANNA, BOT = actor_id(b"anna"), actor_id(b"bot")
ALIAS = Staging(Thing.ALIAS, "deploy", (BOT, ANNA), 3)
LINE = Staging(Thing.LINE, "rm", (ANNA,))
DEPLOY = Resolved(
    (
        Link(Sort.ALIAS, "deploy", b"\x01", "rm\x1b[2J x"),
        Link(Sort.PROGRAM, "/usr/bin/rm", b"\xab" * 16),
    ),
    (LINE, ALIAS),
)
OPEN = Resolved((Link(Sort.FUNCTION, "f"),), (LINE,), "what it does")


def test_everything_that_is_staged_stands_once() -> None:
    assert Resolution((DEPLOY, OPEN)).staged == (LINE, ALIAS)


def test_originators_are_named_once_in_order() -> None:
    assert Resolution((DEPLOY, OPEN)).originators() == (ANNA, BOT)


def test_only_programs_and_scripts_have_paths() -> None:
    assert DEPLOY.paths == ("/usr/bin/rm",)


def test_t28_what_is_shown_has_no_effect() -> None:
    shown = Resolution((DEPLOY, OPEN, Resolved())).shown()

    assert "\x1b" not in shown
    assert shown.startswith("alias deploy (rm")
    assert "/usr/bin/rm abababababab" in shown
    assert shown.endswith("; function f, and what cannot be told: what it does")


def test_a_file_without_a_digest_is_shown_by_its_path() -> None:
    script = Resolved((Link(Sort.SCRIPT, "./x"),))

    assert Resolution((script,)).shown() == "./x"


def test_a_resolution_is_plain_json() -> None:
    told = json.loads(json.dumps(Resolution((DEPLOY,), {"IFS": " "}).to_object()))

    assert told["environment"] == {"IFS": " "}
    (command,) = told["commands"]
    assert command["links"][1] == {
        "sort": "program",
        "name": "/usr/bin/rm",
        "digest": "ab" * 16,
        "text": None,
    }
    assert command["staged"][1] == {
        "what": "alias",
        "name": "deploy",
        "by": [BOT, ANNA],
        "command": 3,
        "known": True,
    }
    assert command["doubt"] is None
