"""`holdfast metrics`: print this machine's metrics, or serve them to Prometheus."""

import argparse
import json

from holdfast.model.errors import MalformedArgument
from holdfast.model.settings import loopback_from


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--listen", metavar="ADDR:PORT")


def run(options: argparse.Namespace) -> int:
    """Print everything once; or serve it until a signal comes."""
    if options.listen is not None:
        from holdfast.host.metrics_server import serve  # noqa: PLC0415  # only who serves

        where = loopback_from(options.listen)
        if where is None:
            wanted = "an address of this machine alone (127.0.0.1:9464)"
            raise MalformedArgument(options.listen, wanted)
        serve(*where)
        return 0
    from holdfast.host.metrics import collect  # noqa: PLC0415  # slow to load

    found = collect()
    if options.json:
        print(json.dumps(found.facts(), indent=2))
    else:
        print(found.text(), end="")
    return 0
