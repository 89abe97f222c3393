import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.scenarios.elsewhere import Place, places, relay
from tests.scenarios.support import eventually

from holdfast.aio.relay_client import reach
from holdfast.client import hosts
from holdfast.crypto.identity import Identity
from holdfast.model.errors import Unavailable


@pytest.fixture(scope="module")
def joined() -> Iterator[tuple[Place, Place]]:
    with relay() as between, places() as (home, away):
        home.up(between.url)
        away.do(
            "join",
            "-",
            "--name",
            "box",
            said=home.invite("--as", "anna", "--can", "+create"),
        )
        yield home, away


@pytest.fixture
def web(joined: tuple[Place, Place]) -> Iterator[str]:
    home, _ = joined
    yield home.new("bash", "--norc", name="web")
    home.run("end", "web")
    home.run("end", "shop")


def test_an_invitation_and_a_link_are_all_it_takes(
    joined: tuple[Place, Place], web: str
) -> None:
    home, away = joined

    (known,) = away.facts("hosts")["hosts"]
    (listed,) = away.facts("ls", "box/")["sessions"]

    assert (known["name"], known["now"]) == ("box", "reachable")
    assert (listed["id"], listed["host"]) == (web, "box")
    (anna,) = [
        one for one in home.facts("operators")["operators"] if one["name"] == "anna"
    ]
    assert (anna["from"], known["operator"]) == ("invite", "anna")


def test_a_whole_id_means_the_same_session_everywhere(
    joined: tuple[Place, Place], web: str
) -> None:
    _, away = joined

    away.do("send", web, "by-its-id")
    eventually("it came", lambda: "by-its-id" in away.do("read", web))
    assert away.run("read", "s_aaaaaaaaaaaaaaaa").returncode == 64


async def host_of(session: str, relay_url: str, seed: bytes) -> str:
    try:
        carrier = await reach(relay_url, Identity.from_seed(seed), session)
    except Unavailable:
        return ""
    await carrier.close()
    return carrier.host


def test_a_relay_leads_to_the_host_of_a_session(
    joined: tuple[Place, Place], web: str
) -> None:
    home, away = joined
    (link,) = home.status()["links"]
    (key,) = Path(away.folder, "config/operators").glob("*/key")
    asked = web, link["relay"], key.read_bytes()

    found = eventually("it is published", lambda: asyncio.run(host_of(*asked)))

    assert found == home.status()["host"]


def shows(place: Place, address: str, text: str) -> bool:
    return text in place.run("screen", address).stdout


@pytest.mark.usefixtures("web")
def test_what_is_typed_there_runs_here_and_is_on_record(
    joined: tuple[Place, Place],
) -> None:
    home, away = joined

    away.do("send", "box/web", "--enter", "echo it-is-$((6*7))")
    away.do("wait", "box/web", "--for", "it-is-42", "--timeout", "20")

    assert "it-is-42" in away.do("read", "box/web")
    eventually("the painter shows it", lambda: shows(away, "box/web", "it-is-42"))
    (entry,) = [
        line
        for line in map(json.loads, away.do("log", "box/web", "--json").splitlines())
        if line["kind"] == "input" and line["input"] != "start"
    ]
    (us,) = [one for one in away.facts("operators")["operators"] if one["us"]]
    assert entry["actor"] == us["actor"]
    assert "entries verified" in away.do("log", "box/web", "--verify")
    assert home.do("log", "web", "--json") == away.do("log", "box/web", "--json")


@pytest.mark.usefixtures("web")
def test_the_turn_is_taken_given_back_and_seized_from_there(
    joined: tuple[Place, Place],
) -> None:
    _, away = joined

    assert "you have the turn" in away.do("take", "box/web")
    assert "the turn is free" in away.do("drop", "box/web")
    assert "you have the turn" in away.do("seize", "box/web", "--freeze")
    assert away.facts("who", "box/web")["frozen"]
    away.do("thaw", "box/web")
    away.do("drop", "box/web")


@pytest.mark.usefixtures("web")
def test_operators_have_their_names_from_there_too(joined: tuple[Place, Place]) -> None:
    home, away = joined
    home.do("--as", "robo", "operators")
    home.do("send", "web", "by-whoever-is-at-home")
    login = next(one for one in home.facts("operators")["operators"] if one["us"])

    assert login["name"] in away.do("log", "box/web")
    assert login["name"] in away.do("log", "box/web", "--actor", f"@{login['name']}")
    assert f"{login['name']} (" in away.do("who", "box/web")
    assert "robo" in away.do("grant", "box/web", "@robo", "command") + away.do(
        "log", "box/web"
    )
    done = away.run("grant", "box/web", "@nobody", "command")
    assert (done.returncode, "nobody" in done.stderr) == (77, True)


def test_a_command_is_run_there_and_its_status_comes_back(
    joined: tuple[Place, Place],
) -> None:
    _, away = joined
    away.do("new", "--on", "box", "--detach", "--name", "made", "--", "bash")

    done = away.run(
        "run", "box/made", "--", "echo $((20+3)); exit_with() { return 7; }; exit_with"
    )

    assert (done.returncode, done.stdout.strip()) == (7, "23"), done.stderr
    # The command is over before its shell has drawn the next prompt.
    eventually(
        "the shell is at its prompt",
        lambda: away.do("state", "box/made").startswith("at-prompt\n"),
    )
    assert "bash" in away.do("graph", "box/made")
    away.do("end", "box/made")
    assert away.facts("ls", "box/")["sessions"] == []


@pytest.mark.usefixtures("web")
def test_a_session_is_renamed_kept_resized_and_ended_from_there(
    joined: tuple[Place, Place],
) -> None:
    home, away = joined

    away.do("rename", "box/web", "shop")
    away.do("keep", "box/shop")
    away.do("resize", "box/shop", "100x30")

    (listed,) = home.facts("ls")["sessions"]
    assert (listed["name"], listed["keep"]) == ("shop", True)
    away.do("end", "box/shop")
    assert home.facts("ls")["sessions"] == []


def test_all_hosts_are_listed_and_one_that_is_away_hides_no_other(
    joined: tuple[Place, Place], web: str
) -> None:
    _, away = joined
    with away.inhabited():
        hosts.save(replace(hosts.by_name("box"), name="gone", public_key=b"k" * 32))
    own = away.new("sleep", "60", name="own")

    done = away.run("ls", "--all", "--json")

    listed = json.loads(done.stdout)
    assert {one["id"] for one in listed["sessions"]} == {own, web}
    assert (done.returncode, [*listed["unreachable"]]) == (75, ["gone"])
    away.do("hosts", "remove", "gone")
    away.do("end", "own")


@pytest.mark.parametrize("gate", [(), ("--exec-gate",)])
def test_a_session_elsewhere_has_the_exec_gate_that_was_asked_for(
    joined: tuple[Place, Place], gate: tuple[str, ...]
) -> None:
    _, away = joined

    made = away.facts("new", "-d", "--on", "box", *gate, "-n", "gated", "cat")

    filters = Path(f"/proc/{made['pid']}/status").read_text("utf-8")
    assert ("Seccomp:\t2" in filters) == bool(gate)  # The gate is such a filter.
    away.do("end", "box/gated")


@pytest.mark.usefixtures("web")
def test_a_state_says_what_kind_of_session_it_is(joined: tuple[Place, Place]) -> None:
    _, away = joined

    assert away.facts("state", "box/web")["runtime"] == "plain"


@pytest.mark.parametrize(
    "address", ["nobody/web", "box/nothing", "box/", "/web", "box/web/x", "//"]
)
@pytest.mark.usefixtures("web")
def test_an_address_that_leads_nowhere_is_refused(
    joined: tuple[Place, Place], address: str
) -> None:
    _, away = joined

    done = away.run("read", address)

    assert done.returncode == 64
    assert "Traceback" not in done.stderr


def test_both_sides_are_shown_the_same_keys(joined: tuple[Place, Place]) -> None:
    home, away = joined
    with places(1) as (third,):
        invited = home.facts("invite", "--as", "carl")

        told = third.do("join", "-", "--name", "box", said=str(invited["link"]))

        assert str(invited["fingerprint"]) in told
        shown = home.do("status")
        assert str(invited["fingerprint"]) in shown
        assert str(invited["host"]) in shown
        words = told.splitlines()[2].strip()
        assert words in shown
        assert words in home.do("invite", "--no-qr")
        own = told.splitlines()[3].split()[-1]
        assert own in home.do("operators")
        assert str(invited["fingerprint"]) in away.do("hosts", "--no-check")


@pytest.mark.usefixtures("web")
def test_status_says_who_is_here_and_how_much_has_passed(
    joined: tuple[Place, Place],
) -> None:
    home, away = joined
    away.do("read", "box/web")

    facts = home.status()

    assert [link["up"] for link in facts["links"]] == [True]
    assert facts["traffic"]["came"] >= 1
    assert facts["traffic"]["bytes_out"] > 0
    assert "relay" in home.do("status")
