"""Mode 3: a connection to outside, which nobody here can keep."""

import socket

from holdfast.verify.account import Unavailable
from holdfast.verify.scene import Scene
from holdfast.verify.workloads import REPL

CLOSED = ("b''", "ConnectionResetError", "BrokenPipeError", "ConnectionAbortedError")
"""How a program learns that its peer is gone."""


def inject(scene: Scene) -> None:
    """Connect from a capsule, put it to disk, restore it, and read."""
    account = scene.account
    missing = account.ability("capsules") or account.ability("criu")
    if missing:
        raise Unavailable(missing)
    account.new("box", "--capsule", *REPL)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        port = server.getsockname()[1]
        for line in (
            "import socket; kept = 40 + 2",
            f"c = socket.create_connection(('127.0.0.1', {port}), 5)",
            "c.sendall(b'hello')",
        ):
            account.run("box", line)
        peer, _ = server.accept()
        peer.settimeout(10)
        scene.check("it is connected", holds=peer.recv(5) == b"hello", port=port)
        _cut(scene, peer, f"127.0.0.1:{port}")


def _cut(scene: Scene, peer: socket.socket, address: str) -> None:
    account = scene.account
    asked = account.facts("can-checkpoint", "box")
    image = account.facts("checkpoint", "--stop", "box")
    foretold = [one["peer"] for one in asked["cuts"]]
    listed = [one["peer"] for one in image["cuts"]]
    scene.check(
        "what will be cut is listed by its peer, beforehand and in the image",
        holds=foretold == listed == [address],
        foretold=", ".join(foretold),
        listed=", ".join(listed),
        image=image["image"],
    )
    try:
        ended = peer.recv(5) == b""
    except OSError as error:
        ended = isinstance(error, ConnectionError)
    scene.check("the server outside sees it closed", holds=ended)
    made = account.facts("restore", "box")
    line = "try: print(repr(c.recv(5)))\nexcept Exception as e: print(type(e).__name__)"
    account.run("box", f"exec({line!r})")
    said = str(account.run("box", f"exec({line!r})")["output"]).strip()
    scene.check(
        "the program reads that it is closed: nobody pretends to have healed it",
        holds=said in CLOSED,
        read=said,
        incarnation=made["incarnation"],
    )
    kept = str(account.run("box", "print(kept)")["output"]).strip()
    scene.check("the program's memory is there", holds=kept == "42", kept=kept)
