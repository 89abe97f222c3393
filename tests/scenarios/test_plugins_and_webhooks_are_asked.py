import os
import signal
from collections.abc import Iterator

import pytest
from tests.scenarios.judges import (
    Engine,
    ask_at,
    command,
    install_plugins,
    judge_pid,
    refused,
    running_engine,
    shell,
    use,
    write_policy,
)
from tests.scenarios.support import Client, Machine, eventually, machine
from tests.scenarios.typed import is_typed

from holdfast.core.book.logbook import recover
from holdfast.linux.stored import places
from holdfast.model.inputs import InputKind
from holdfast.model.verdicts import Verdict
from holdfast.wire import messages as wire
from holdfast.wire.trials import Tried, Try


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        install_plugins()
        yield made


@pytest.fixture
def engine() -> Iterator[Engine]:
    with running_engine() as made:
        yield made


# ── plug-ins ──────────────────────────────────────────────────────────────────


def test_a_plug_in_allows_what_the_default_would_deny(here: Machine) -> None:
    session, bot, anna = shell(here)
    use("abstains", "allows")

    assert isinstance(command(bot, b"echo fine\r"), wire.Acknowledge)

    anna.wait_output(b"\rfine\r\n")
    entries = recover(places.session_log(session).read_bytes(), session).entries
    [rule] = [one.fields["rule"] for one in entries if is_typed(one)]
    assert rule == "plugin-allows"


def test_a_plug_in_denies_and_says_why(here: Machine) -> None:
    _, bot, anna = shell(here)
    use("allows", "denies")

    found = refused(bot, b"echo precious\r")

    assert found.code == "denied-by-policy"
    assert found.facts["rule"] == "plugin-denies/no-bots"
    assert found.facts["why"] == "not in this house"
    bot.request(wire.Drop())
    anna.who()
    assert refused(anna).facts["rule"] == "plugin-denies/no-bots"
    assert b"precious" not in anna.output


def test_what_a_plug_in_wants_asked_waits_for_a_human(here: Machine) -> None:
    _, bot, anna = shell(here)
    use("allows", "asks")
    bot.post(b"echo fine\r", InputKind.COMMAND)

    pending = anna.wait(wire.Pending)

    assert (pending.rule, pending.excerpt) == ("plugin-asks/careful", b"echo fine\r")
    approve = wire.Approve(pending.ticket, pending.epoch, pending.digest)
    assert anna.request(approve) is None
    assert isinstance(bot.settle(), wire.Acknowledge)


def test_what_a_rule_denies_is_put_to_nobody(here: Machine) -> None:
    _, bot, _ = shell(here)
    write_policy(
        '[plugins]\nuse = ["notes"]\n[[rule]]\nname = "no-rm"\n'
        'verdict = "deny"\nfirst = "rm"\nwhy = "nothing is removed"\n'
    )

    found = refused(bot, b"rm x\r")

    assert (found.facts["rule"], found.facts["why"]) == ("no-rm", "nothing is removed")
    assert judge_pid(here) == 0
    assert isinstance(command(bot, b"true\r"), wire.Acknowledge)
    assert (places.config_dir() / "asked").exists()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("raises", "plug-in raises raised ValueError"),
        ("exits", "plug-in exits raised SystemExit"),
        ("truthy", "no verdict from plugin-truthy"),
        ("dies", "(plug-in allows, plug-in dies)"),
        ("unheard-of", "names plug-in unheard-of"),
        (
            "kills",
            "lost its judge while that was asked (plug-in allows, plug-in kills)",
        ),
        ("sleeps", "in time (plug-in allows, plug-in sleeps)"),
    ],
)
def test_t20_a_plug_in_that_fails_denies_and_the_next_question_works(
    here: Machine, name: str, why: str
) -> None:
    _, bot, anna = shell(here)
    use("allows", name)

    found = refused(bot, b"echo precious\r")

    assert (found.code, found.retryable) == ("policy-unavailable", True)
    assert why in str(found.facts["why"])
    use("allows")
    assert isinstance(command(bot, b"echo fine\r"), wire.Acknowledge)
    anna.wait_output(b"\rfine\r\n")
    assert b"precious" not in anna.output


def test_a_plug_in_that_changes_its_argument_changes_nothing(here: Machine) -> None:
    _, bot, anna = shell(here)
    use("changes", "reads", "changes")

    assert isinstance(command(bot, b"echo fine\r"), wire.Acknowledge)

    assert b"rm -rf" not in anna.wait_output(b"\rfine\r\n")


# ── the webhook ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize("path", ["/allow", "/opa-allow"])
def test_a_webhook_allows_and_is_told_everything(
    here: Machine, engine: Engine, path: str
) -> None:
    session, bot, _ = shell(here)
    ask_at(f"{engine.url}{path}")

    assert isinstance(command(bot, b"echo fine\r"), wire.Acknowledge)

    [(asked_at, document)] = engine.heard
    assert asked_at == path
    assert document["text"] == "echo fine"
    assert document["commands"] == [["echo", "fine"]]
    assert document["session"] == {"id": session, "name": str(_name(here, session))}
    actor = document["actor"]
    assert isinstance(actor, dict)
    assert (actor["id"], actor["kind"]) == (bot.operator.actor.id, "agent")


def test_a_webhook_denies_and_says_why(here: Machine, engine: Engine) -> None:
    _, bot, _ = shell(here)
    ask_at(f"{engine.url}/deny")

    found = refused(bot)

    assert (found.code, found.facts["rule"], found.facts["why"]) == (
        "denied-by-policy",
        "webhook/night",
        "it is late",
    )


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/error", "status 500"),
        ("/redirect", "status 302"),
        ("/garbage", "no JSON"),
        ("/huge", "too long"),
        ("/opa-undefined", "no verdict from webhook"),
        ("/slow", "its webhook: timed out"),
    ],
)
def test_a_webhook_that_fails_denies(
    here: Machine, engine: Engine, path: str, why: str
) -> None:
    _, bot, anna = shell(here)
    # Long before the holder gives up on the judge, which would be another reason.
    ask_at(f"{engine.url}{path}", timeout=0.5 if path == "/slow" else 1)

    found = refused(bot, b"echo precious\r")

    assert found.code == "policy-unavailable"
    assert why in str(found.facts["why"])
    assert [asked_at for asked_at, _ in engine.heard] == [path]
    ask_at(f"{engine.url}/allow")
    assert isinstance(command(bot, b"echo fine\r"), wire.Acknowledge)
    assert b"precious" not in anna.wait_output(b"\rfine\r\n")


def test_t20_every_write_is_asked_about_before_it_is_made(
    here: Machine, engine: Engine
) -> None:
    session, bot, anna = shell(here)
    ask_at(f"{engine.url}/allow")
    inputs = [(b"echo %d\r" % n, InputKind.COMMAND) for n in range(5)]
    inputs += [(b"x", InputKind.KEYS), (b"81x25", InputKind.RESIZE)]
    inputs += [(b"28", InputKind.SIGNAL)]
    for payload, kind in inputs:
        bot.post(payload, kind)
    answers = [bot.settle() for _ in inputs]

    assert anna.request(wire.Seize(wire.Halt.NONE)) is None

    assert all(isinstance(one, wire.Acknowledge) for one in answers), answers
    entries = recover(places.session_log(session).read_bytes(), session).entries
    written = [one.fields for one in entries if is_typed(one)]
    assert [one["input"] for one in written] == [kind for _, kind in inputs]
    assert {one["rule"] for one in written} == {"webhook"}
    asked = [(document["input"], document["payload"]) for _, document in engine.heard]
    assert asked == [(one["input"], one["data"]) for one in written]


def test_t67_what_is_typed_without_echo_leaves_for_nobody(
    here: Machine, engine: Engine
) -> None:
    _, _, anna = shell(here)
    ask_at(f"{engine.url}/allow")
    anna.enter(b"read -rsp 'secret? ' x\r")
    anna.wait_output(b"\rsecret? ")

    anna.enter(b"hunter2\r")

    _, document = engine.heard[-1]
    assert (document["secret"], document["payload"], document["text"]) == (
        True,
        None,
        None,
    )


# ── asking without doing ──────────────────────────────────────────────────────


def test_what_would_happen_is_asked_of_plug_ins_too(here: Machine) -> None:
    _, bot, anna = shell(here)
    use("denies")
    asked = Try(bot.operator.actor.id, InputKind.COMMAND, b"echo x\r", None)

    anna.send(asked)

    tried = anna.wait(Tried)
    assert (tried.verdict, tried.rule) == (Verdict.DENY, "plugin-denies/no-bots")
    use("raises")
    anna.send(asked)
    tried = anna.wait(Tried)
    assert (tried.verdict, tried.rule) == (Verdict.DENY, "policy-unavailable")
    assert "raised ValueError" in tried.why


def _name(here: Machine, session: str) -> object:
    sessions = here.ask(do="list")["sessions"]
    assert isinstance(sessions, list)
    return next(one["name"] for one in sessions if one["id"] == session)


def test_a_plug_in_that_was_changed_is_not_asked_until_it_is_applied(
    here: Machine,
) -> None:
    _, bot, _ = shell(here)
    use("denies")
    assert refused(bot, b"true\r").facts["rule"] == "plugin-denies/no-bots"

    # Whoever was asked before has it loaded; another worker would load it anew.
    here_is = places.plugin_dir() / "some_plugins.py"
    here_is.write_text(here_is.read_text().replace('"deny"', '"allow"'))
    os.kill(judge_pid(here), signal.SIGKILL)
    eventually("another judge", lambda: _unvouched(bot))

    use("denies")
    assert isinstance(command(bot, b"true\r"), wire.Acknowledge)


def _unvouched(bot: Client) -> bool:
    return "changed since it was applied" in refused(bot, b"true\r").text
