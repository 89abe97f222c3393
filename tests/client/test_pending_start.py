"""A session whose command waits for an approval is told from one that runs."""

import pytest

from holdfast.client.pending_start import waiting_in
from holdfast.model.errors import HoldfastError, MalformedMessage
from holdfast.model.session_record import HeldStart
from holdfast.model.session_requests import Created

SESSION = "s_" + "a" * 16
CLIENT = "c_" + "b" * 16
HELD = HeldStart(client=CLIENT, text="rm -rf \N{GREEK SMALL LETTER BETA}")


def test_what_has_begun_does_not_wait() -> None:
    assert waiting_in(Created(id=SESSION, state="running")) is None
    assert waiting_in(Created(id=SESSION, state="running", start=HELD)) is None


def test_what_waits_is_known_by_its_client_and_its_text() -> None:
    waits = waiting_in(Created(id=SESSION, state="starting", start=HELD))

    assert waits == (SESSION, CLIENT, HELD.text.encode())


@pytest.mark.parametrize(
    "start", [HELD._replace(client="c"), HELD._replace(client=SESSION)]
)
def test_what_makes_no_sense_is_refused(start: HeldStart) -> None:
    with pytest.raises(MalformedMessage):
        waiting_in(Created(id=SESSION, state="starting"))
    with pytest.raises(HoldfastError):
        waiting_in(Created(id=SESSION, state="starting", start=start))
    with pytest.raises(HoldfastError):
        waiting_in(Created(id="web", state="starting", start=HELD))
