"""The relay's process: listens, and shuts down cleanly when told to.

Connections are accepted here and not by the library's server, so that they are
counted before TLS is spoken with them: a handshake that never ends takes up a place
at the door like everything else (T41).
"""

import asyncio
import contextlib
import errno
import resource
import signal
import socket
import ssl

from holdfast.aio.log import log
from holdfast.model.errors import MalformedArgument
from holdfast.ports.lease_store import LeaseStore
from holdfast.relay.caller import Caller
from holdfast.relay.leg import UNPROVEN_SECONDS
from holdfast.relay.peers import RelayPeers
from holdfast.relay.settings import Settings
from holdfast.version import __version__

BACKLOG = 1024
"""Connections that the kernel keeps for us while we are busy."""

ACCEPT_PAUSE = 0.1
"""Seconds without accepting when there is no descriptor left."""

TICK = 1.0
"""Seconds between two looks at the clock; a lease is checked at every use too."""

SWEEPS = 8
"""Looks at every connection within one heartbeat."""

PARTING = 3.0
"""Seconds that all peers together have to close."""

_CROWDED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Relay:
    """The process."""

    def __init__(self, settings: Settings, store: LeaseStore | None) -> None:
        """Look at the settings.

        Raises:
            UsageError: They would send something unencrypted, or the certificate
                cannot be used.

        """
        settings.check()
        self._settings = settings
        self._store = store
        self._tls = _tls(settings)
        self._ended = asyncio.Event()
        self._stopping = asyncio.Event()
        self._has_failed = False

    async def run(self) -> bool:
        """Serve until a signal comes; False if the store failed before that.

        Raises:
            UsageError: The address cannot be listened at.

        """
        listener = _listener(self._settings)
        port = listener.getsockname()[1]
        peers = RelayPeers(self._settings, port, self._store, self._fail)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._told_to_end)
        log(
            "relay.started",
            address=self._settings.address,
            port=port,
            tls=self._tls is not None,
            version=__version__,
        )
        try:
            async with asyncio.TaskGroup() as tasks:
                accepting = tasks.create_task(self._accept(listener, peers, tasks))
                ticking = tasks.create_task(self._tick(peers))
                await self._stopping.wait()
                accepting.cancel()
                listener.close()
                await self._part(peers)
                ticking.cancel()
        finally:
            peers.close()
        log("relay.ended", failed=self._has_failed)
        return not self._has_failed

    def _told_to_end(self) -> None:
        if self._stopping.is_set():
            self._ended.set()  # Told twice: without further ado.
        self._stopping.set()

    def _fail(self, error: BaseException) -> None:
        log("store.failed", why=str(error))
        self._has_failed = True
        self._stopping.set()
        self._ended.set()

    async def _accept(
        self, listener: socket.socket, peers: RelayPeers, tasks: asyncio.TaskGroup
    ) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                link, address = await loop.sock_accept(listener)
            except OSError as error:
                if error.errno in _CROWDED:
                    log("relay.crowded", why=errno.errorcode[error.errno])
                    await asyncio.sleep(ACCEPT_PAUSE)
                continue
            tasks.create_task(self._take_in(link, address[0], peers))

    async def _take_in(
        self, link: socket.socket, address: str, peers: RelayPeers
    ) -> None:
        leg = peers.enter(Caller.of(link, address))
        if leg is None:
            link.close()
            return
        link.setblocking(False)  # noqa: FBT003  # as the socket has it
        with contextlib.suppress(OSError):
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: leg,
                link,
                ssl=self._tls,
                ssl_handshake_timeout=UNPROVEN_SECONDS if self._tls else None,
            )
        except (OSError, ssl.SSLError):
            leg.abort()
            link.close()

    async def _tick(self, peers: RelayPeers) -> None:
        pause = min(TICK, self._settings.heartbeat / SWEEPS)
        every = max(1, round(self._settings.heartbeat / SWEEPS / pause))
        count = 0
        while True:
            await asyncio.sleep(pause)
            peers.tick()
            count += 1
            if count % every == 0:
                peers.sweep()

    async def _part(self, peers: RelayPeers) -> None:
        """Tell all peers, let them continue for a moment, and close."""
        log("relay.draining", pairs=peers.pairs)
        peers.drain()
        if peers.pairs:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._settings.drain):
                    await self._ended.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PARTING):
                await peers.dismiss()


def serve(settings: Settings, store: LeaseStore | None) -> bool:
    """Be a relay until a signal comes; False if the store failed before that.

    Raises:
        UsageError: Something in the settings cannot be.

    """
    _raise_descriptors()

    async def run() -> bool:
        return await Relay(settings, store).run()

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(run())


def _loop_factory() -> "type[asyncio.AbstractEventLoop] | None":
    try:
        import uvloop  # noqa: PLC0415  # optional: the extra `fast`
    except ImportError:
        return None
    return uvloop.Loop


def _raise_descriptors() -> None:
    # Every operator is two connections; the usual 1,024 would be 500 of them.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _listener(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((settings.address, settings.port))
        listener.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        address = f"{settings.address}:{settings.port}"
        raise MalformedArgument(address, f"free to listen at: {error}") from error
    listener.setblocking(False)  # noqa: FBT003  # as the socket has it
    return listener


def _tls(settings: Settings) -> ssl.SSLContext | None:
    if settings.certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(settings.certificate, settings.key)
    except (OSError, ssl.SSLError) as error:
        told = getattr(error, "strerror", None) or str(error)
        raise MalformedArgument(
            str(settings.certificate), f"a certificate with its key: {told}"
        ) from error
    return context
