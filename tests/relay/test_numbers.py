import re

from holdfast.core.relay.meeting import Stats
from holdfast.relay.numbers import COUNTERS, GAUGES, Numbers

LINE = re.compile(r'holdfast_relay_[a-z_]+(\{why="[a-z-]+"\})? \d+')


def test_every_number_is_told_even_if_nothing_happened() -> None:
    text = Numbers().text(Stats(1, 2, 3, 4), {"unproven": 5, "links": 6})

    for name in [*GAUGES, *COUNTERS]:
        assert f"# HELP holdfast_relay_{name} " in text
        assert f"\nholdfast_relay_{name} " in text
    assert "holdfast_relay_pairs 3\n" in text
    assert "holdfast_relay_links 6\n" in text


def test_what_was_counted_is_told_by_why() -> None:
    numbers = Numbers()
    numbers.add("cuts_total", "slow-peer")
    numbers.add("cuts_total", "slow-peer")
    numbers.add("bytes_total", amount=70_000)

    text = numbers.text(Stats(0, 0, 0, 0), {"unproven": 0, "links": 0})

    assert 'holdfast_relay_cuts_total{why="slow-peer"} 2\n' in text
    assert "holdfast_relay_bytes_total 70000\n" in text
    told = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(LINE.fullmatch(line) for line in told)
