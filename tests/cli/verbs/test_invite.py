import pytest
from tests.cli.support.fakes import FakeKeeper

from holdfast.cli.main import main
from holdfast.cli.qr import qr_lines
from holdfast.linux.stored import invites
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right

Capture = pytest.CaptureFixture[str]
FAR_AWAY = 4e9


@pytest.mark.parametrize(
    "words",
    [
        ("--can", "fly"),
        ("--can", ","),
        ("--ttl", "soon"),
        ("--for", "ages"),
        ("--as", "../x"),
        ("--as", "a_" + "b" * 32),
        ("--withdraw", ""),
        ("--withdraw", "zz"),
    ],
)
def test_words_that_make_no_sense_invite_nobody_and_start_nothing(
    keeper: FakeKeeper, words: tuple[str, ...], capsys: Capture
) -> None:
    assert main(["invite", *words]) == 64
    assert invites.known() == []
    assert "Traceback" not in capsys.readouterr().err
    assert keeper.asked == []


def test_who_is_invited_is_listed_without_the_secret(
    keeper: FakeKeeper, capsys: Capture
) -> None:
    made = invites.make(
        "anna", ActorKind.HUMAN, Envelope(frozenset({Right.OBSERVE})), FAR_AWAY
    )
    invites.use(made.id, "a_somebody", 0.0)

    assert main(["invite", "--list"]) == 0
    listed = capsys.readouterr().out
    assert main(["invite", "--list", "--json"]) == 0
    facts = capsys.readouterr().out

    assert "anna (human)  used by a_somebody" in listed
    assert '"rights": [' in facts
    assert made.secret.hex() not in listed + facts
    assert keeper.asked == []


def test_an_invitation_is_withdrawn_by_how_its_id_begins(keeper: FakeKeeper) -> None:
    made = invites.make("anna", ActorKind.HUMAN, Envelope(frozenset()), FAR_AWAY)

    assert main(["invite", "--withdraw", made.id.hex()[:8]]) == 0
    assert invites.known() == []
    assert keeper.asked == []


@pytest.mark.parametrize("text", ["x", "https://relay.example/j#" + "A" * 300])
def test_a_qr_code_is_a_square_with_a_light_frame(text: str) -> None:
    lines = qr_lines(text)

    assert {len(line) for line in lines} == {len(lines[0])}
    assert len(lines) == (len(lines[0]) + 1) // 2
    assert set(lines[0]) == {"█"}
    assert {line[0] + line[-1] for line in lines} <= {"██", "▀▀"}


@pytest.mark.parametrize(
    "link", ["", "x", "https://relay.example/j", "https://relay.example/j#AAAA", "#"]
)
def test_what_is_no_link_joins_nothing_and_is_not_repeated(
    keeper: FakeKeeper, link: str, capsys: Capture
) -> None:
    assert main(["join", link]) == 64
    assert "not an invitation" in capsys.readouterr().err
    assert keeper.asked == []


@pytest.mark.parametrize(
    "words", [("remove",), ("rename", "a"), ("dance",), ("remove", "nobody")]
)
def test_a_host_that_is_not_known_cannot_be_changed(
    keeper: FakeKeeper, words: tuple[str, ...]
) -> None:
    assert main(["hosts", *words]) == 64
    assert keeper.asked == []


def test_without_hosts_it_is_said_how_to_join_one(
    keeper: FakeKeeper, capsys: Capture
) -> None:
    assert main(["hosts"]) == 0
    assert "holdfast join" in capsys.readouterr().err
    assert main(["ls", "--all", "--json"]) == 0
    assert '"unreachable": {}' in capsys.readouterr().out
    assert len(keeper.asked) == 1
