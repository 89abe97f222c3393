"""Has metrics served while the host runs, if the settings say where."""

import sys

from holdfast.host.kept_process import KeptProcess
from holdfast.linux.stored import config


async def serve_metrics() -> None:
    """Keep a process that serves them; without a place to serve at, do nothing."""
    listen = config.settings().host.metrics_listen
    if listen:
        words = ["metrics", "--listen", listen]
        command = [sys.executable, "-P", "-m", "holdfast", *words]
        await KeptProcess("metrics", lambda: command).run()
