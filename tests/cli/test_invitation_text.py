import pytest

from holdfast.cli.invitation_text import ROOM_BELOW, Room, invitation_lines
from holdfast.cli.qr import qr_lines

KEY = b"k" * 32
HERE = "http://127.0.0.1:7447"
AWAY = "https://relay.example"
LINK = f"{AWAY}/j#" + "A" * 100
CODE = qr_lines(LINK)
TALL, WIDE = len(CODE) + ROOM_BELOW + len(LINK) // 80, len(CODE[0])


def told(*relays: str, room: Room | None = None) -> list[str]:
    return invitation_lines(LINK, relays, KEY, "1h", room)


@pytest.mark.parametrize("relay", [HERE, "http://localhost:1", "http://[::1]:7447"])
def test_a_link_for_this_machine_says_what_a_phone_needs_and_has_no_code(
    relay: str,
) -> None:
    lines = told(relay, room=Room(500, 200))

    assert f"  {LINK}" in lines
    assert "  holdfast up --relay https://…" in lines
    assert not any("█" in line for line in lines)
    assert not any("holdfast join" in line for line in lines)


@pytest.mark.parametrize("relays", [(AWAY,), (HERE, AWAY)])
def test_a_link_that_others_can_reach_is_a_code_too_where_that_fits(
    relays: tuple[str, ...],
) -> None:
    lines = told(*relays, room=Room(80, TALL))

    assert lines[: len(CODE)] == CODE
    assert f"  {LINK}" in lines
    assert len(lines) + len(LINK) // 80 < TALL
    assert not any("up --relay" in line for line in lines)
    assert any("holdfast join -" in line for line in lines)


@pytest.mark.parametrize(
    "room", [None, Room(80, TALL - 1), Room(WIDE - 1, 200), Room(20, 5)]
)
def test_a_code_that_does_not_fit_is_left_out(room: Room | None) -> None:
    lines = told(AWAY, room=room)

    assert not any("█" in line for line in lines)
    assert f"  {LINK}" in lines
