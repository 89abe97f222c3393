"""`holdfast relay`: run a relay, where hosts and operators meet."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.cli.arguments import program_from
from holdfast.model.errors import MalformedArgument
from holdfast.model.ids import parse_host_id

if TYPE_CHECKING:
    from holdfast.relay.settings import Settings

LISTEN = "127.0.0.1:7447"
MAX_PORT = 65_535

OWN_PAGE = Path("the page that came with holdfast")
"""The web page that came with holdfast."""

EXIT_STORE = 75

COUNTS = (
    *("--max-hosts", "--max-operators", "--max-per-key", "--max-per-host"),
    *("--max-hosts-per-address", "--max-unproven", "--max-unproven-per-address"),
)
SECONDS = ("--heartbeat", "--slow-peer", "--drain", "--lease-ttl")

TTLS = (5.0, 3600.0)
"""Seconds of a lease: less leaves no time to renew it, and more none to move on."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--listen", metavar="ADDR:PORT", default=LISTEN)
    parser.add_argument("--cert", metavar="F", type=Path)
    parser.add_argument("--key", metavar="F", type=Path)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--behind-proxy", action="store_true")
    parser.add_argument("--name", metavar="HOST[:PORT]", action="append", default=[])
    parser.add_argument("--only-host", metavar="ID", action="append", default=[])
    parser.add_argument("--store", metavar="F", type=Path)
    web = parser.add_mutually_exclusive_group()
    web.add_argument("--web", metavar="DIR", type=Path, nargs="?", const=OWN_PAGE)
    web.add_argument("--no-web", action="store_true")
    parser.add_argument("--open-metrics", action="store_true")
    for option in COUNTS:
        parser.add_argument(option, metavar="N", type=int)
    for option in SECONDS:
        parser.add_argument(option, metavar="S", type=float)
    parser.add_argument("--unit", action="store_true")
    parser.add_argument("--exec", metavar="PATH")


def run(options: argparse.Namespace) -> int:
    """Run a relay until a signal arrives."""
    if options.unit:
        from holdfast.linux.systemd import relay_unit_text  # noqa: PLC0415  # only here

        print(relay_unit_text(program_from(options.exec)), end="")
        return 0
    from holdfast.relay.service import serve  # noqa: PLC0415  # only who becomes one
    from holdfast.relay.sqlite_store import SqliteLeaseStore  # noqa: PLC0415  # ditto

    settings = _settings(options)
    settings.check()
    store = SqliteLeaseStore(settings.store or _own_store())
    return 0 if serve(settings, store) else EXIT_STORE


def _settings(options: argparse.Namespace) -> "Settings":
    from holdfast.core.relay.peer_joins import Limits  # noqa: PLC0415  # slow to load
    from holdfast.relay.settings import Settings  # noqa: PLC0415  # ditto

    if (options.cert is None) != (options.key is None):
        raise MalformedArgument("--cert and --key", "one without the other")
    address, port = _endpoint(options.listen)
    _check_amounts(options)
    return Settings(
        address=address,
        port=port,
        names=tuple(_name(name) for name in options.name),
        certificate=options.cert,
        key=options.key,
        is_plain=options.plain,
        is_behind_proxy=options.behind_proxy,
        store=options.store,
        web=_page(options.web),
        has_open_metrics=options.open_metrics,
        only_hosts=frozenset(map(parse_host_id, options.only_host)),
        limits=Limits(
            **_given(
                hosts=options.max_hosts,
                operators=options.max_operators,
                per_actor=options.max_per_key,
                per_host=options.max_per_host,
            )
        ),
        **_given(
            unproven=options.max_unproven,
            unproven_per_source=options.max_unproven_per_address,
            hosts_per_source=options.max_hosts_per_address,
        ),
        **{
            name: value
            for name in ("heartbeat", "slow_peer", "drain", "lease_ttl")
            if (value := getattr(options, name)) is not None
        },
    )


def _given(**counts: int | None) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count is not None}


def _check_amounts(options: argparse.Namespace) -> None:
    for option in (*COUNTS, *SECONDS):
        amount = getattr(options, option.removeprefix("--").replace("-", "_"))
        if amount is None:
            continue
        if not 0 < amount < 1_000_000 and not (option == "--drain" and amount == 0):  # noqa: PLR2004  # more than anybody needs
            raise MalformedArgument(f"{option} {amount}", "an amount it can have")
    ttl = options.lease_ttl
    if ttl is not None and not TTLS[0] <= ttl <= TTLS[1]:
        raise MalformedArgument(f"--lease-ttl {ttl:g}", "between 5 and 3600 seconds")


def _endpoint(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    number = int(port) if port.isascii() and port.isdecimal() else -1
    if not colon or not host or not 0 <= number <= MAX_PORT:
        raise MalformedArgument(text, "an address and a port (127.0.0.1:7447)")
    return host.strip("[]"), number


def _name(text: str) -> str:
    bare = text.lower()
    if not bare.isascii() or not bare or set(bare) & set("/@?# \t\\") or bare != text:
        raise MalformedArgument(
            text, "a name in lower case, with its port if that is unusual"
        )
    return bare


def _page(asked: Path | None) -> Path | None:
    if asked != OWN_PAGE:
        return asked
    from holdfast.linux.stored.webpage import built_page  # noqa: PLC0415  # only with --web

    found = built_page()
    if found is None:
        raise MalformedArgument(
            "--web", "given without a folder: this build has no page"
        )
    return found


def _own_store() -> Path:
    from holdfast.linux.stored import folders  # noqa: PLC0415  # only without --store

    return Path(folders.owned(folders.state_path())) / "relay.sqlite3"
