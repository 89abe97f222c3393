"""Starts the server, on standard input and output or over HTTP.

The protocol's library takes most of a second to import, so it is imported here, in the
one process that needs it, and without the parts that make importing slower.
"""

import asyncio
import gc
import os

from holdfast.mcp import packages

_PLUGINS = "PYDANTIC_DISABLE_PLUGINS"
"""Looking for plug-ins of a library that we do not use takes a tenth of the start."""


def serve_stdio(operator: str) -> None:
    """Serve one client on standard input and output, until it disconnects."""
    load()
    asyncio.run(_stdio(operator))


def serve_http(operator: str, address: tuple[str, int], token: str) -> None:
    """Serve clients over HTTP that have the token, until a signal ends it."""
    load()
    from holdfast.mcp.http import serve  # noqa: PLC0415  # only who needs it pays

    asyncio.run(serve(operator, address, token))


async def _stdio(operator: str) -> None:
    from mcp.server.stdio import stdio_server  # noqa: PLC0415  # loaded by now

    from holdfast.mcp.server import serving  # noqa: PLC0415  # ditto

    async with serving(operator) as server, stdio_server() as (read, write):
        protocol = server.protocol
        await protocol.run(read, write, protocol.create_initialization_options())


def load() -> None:
    """Import the library quickly: almost all that it allocates stays."""
    given = os.environ.get(_PLUGINS)
    os.environ[_PLUGINS] = "__all__"
    gc.disable()
    try:
        from pydantic import BaseModel, ConfigDict  # noqa: PLC0415  # slow to load

        # Its five hundred models are built when they are first used, which for most
        # of them is never.
        BaseModel.model_config = ConfigDict(defer_build=True)
        packages.enter("mcp")
        packages.enter("mcp.server")
        import holdfast.mcp.server  # noqa: F401, PLC0415  # this is the place

        BaseModel.model_config = ConfigDict()
    finally:
        gc.enable()
        gc.freeze()
        # Sessions that are created here must not inherit it.
        if given is None:
            del os.environ[_PLUGINS]
        else:
            os.environ[_PLUGINS] = given
