import re

from holdfast.core.relay.peer_joins import Stats
from holdfast.model.metrics import RELAY_METRICS
from holdfast.relay.numbers import Numbers

LINE = re.compile(r'holdfast_relay_[a-z_]+(\{why="[a-z-]+"\})? \d+')

NOBODY = {"unproven": 0, "links": 0, "leases": 0}


def test_every_number_is_told_even_if_nothing_happened() -> None:
    others = {"unproven": 5, "links": 6, "leases": 7}
    text = Numbers().text(Stats(1, 2, 3, 4), others)

    for metric in RELAY_METRICS:
        assert f"# HELP {metric.name} " in text
        # What is told by why has no number before there is a first why.
        assert (f"\n{metric.name} " in text) == (not metric.labels)
    assert "holdfast_relay_pairs 3\n" in text
    assert "holdfast_relay_links 6\n" in text
    assert "holdfast_relay_leases 7\n" in text


def test_what_was_counted_is_told_by_why() -> None:
    numbers = Numbers()
    numbers.add("cuts_total", "slow-peer")
    numbers.add("cuts_total", "slow-peer")
    numbers.add("bytes_total", amount=70_000)

    text = numbers.text(Stats(0, 0, 0, 0), NOBODY)

    assert 'holdfast_relay_cuts_total{why="slow-peer"} 2\n' in text
    assert "holdfast_relay_bytes_total 70000\n" in text
    told = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(LINE.fullmatch(line) for line in told)
