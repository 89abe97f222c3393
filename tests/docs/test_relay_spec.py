import re
from pathlib import Path
from typing import get_args

from holdfast.core.relay.peer_joins import TICKET_TTL, Limits
from holdfast.core.relay.unproven_connections import PER_SOURCE, TOTAL
from holdfast.relay import http_front, leases, leg, peers, settings
from holdfast.wire import relay_messages
from holdfast.wire.relay_messages import MAX_HEIRS, MAX_PART

PAGE = (Path(__file__).parents[2] / "docs/spec/relay.md").read_text("utf-8")
ROWS = re.findall(
    r"^\| `([a-z-]+)` \| (relay|host|operator) \| (.*)\|$", PAGE, re.MULTILINE
)
SPEAKERS = {
    **dict.fromkeys(get_args(relay_messages.RelaySaid), "relay"),
    **dict.fromkeys(get_args(relay_messages.HostSaid), "host"),
    relay_messages.Register: "host",
    relay_messages.Meet: "host",
    relay_messages.Reach: "operator",
}


def test_the_page_has_every_message_with_its_fields_in_order() -> None:
    said = {name: (who, re.findall(r"`(\w+)`", fields)) for name, who, fields in ROWS}

    assert said == {
        kind.__struct_config__.tag: (who, list(kind.__struct_fields__))
        for kind, who in SPEAKERS.items()
    }


def test_the_page_has_every_path() -> None:
    for path in [*http_front.PATHS, "/healthz", "/metrics"]:
        assert f"| `{path}` |" in PAGE


def test_the_page_names_the_bounds_that_the_code_has() -> None:
    limits = Limits()

    for sentence in (
        f"more than {leg.UNPROVEN_BYTES:,} bytes",
        f"longer than {leg.UNPROVEN_SECONDS:g} s",
        f"sent to, for {TICKET_TTL:g} s",
        f"takes nothing for {settings.SLOW_PEER:g} s",
        f"not heard for {settings.HEARTBEAT:g} s",
        f"at most {MAX_PART} entries, `hosts` at most {MAX_HEIRS}",
        f"| {TOTAL:,}, of one source {PER_SOURCE} |",
        f"| {limits.hosts:,}, of one source {settings.HOSTS_PER_SOURCE} |",
        f"| {limits.operators:,}, of one key {limits.per_actor}, at one host",
        f"at one host {limits.per_host:,} |",
        f"| {limits.knocks_per_host} at one host, {limits.knocks_per_actor} of one",
        f"| {limits.admitted:,} actors and invitations |",
        f"| {limits.sessions_per_host:,} of one host, {limits.sessions:,} in all |",
        f"| {leg.HIGH_WATER // 1024} KiB and one read; never",
        f"never more than {leg.HARD_LIMIT // 1024} KiB |",
        f"| {peers.HOST_BYTES_A_SECOND // 1024} KiB a second,",
        f", {peers.HOST_BYTES_AT_ONCE // 1024**2} MiB at once |",
        f"| leases of one host | {leases.LEASES_PER_HOST:,} |",
        f"most {relay_messages.MAX_MESSAGE:,} bytes",
    ):
        assert sentence in PAGE, sentence


def test_the_page_has_the_words_of_the_statement() -> None:
    stated = relay_messages.statement(relay_messages.Role.HOST, "", b"")

    assert stated[2:24].decode() in PAGE
