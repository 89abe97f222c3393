"""Mode 2: everything dies at once; and a movable session is cut off from its relay."""

import signal
import socket
import time

from holdfast.verify import processes
from holdfast.verify.account import Account, BrokenOff, Facts
from holdfast.verify.scene import Scene
from holdfast.verify.workloads import REPL, ticking, ticks

SIZES = {"small": 0, "large": 32}
"""Sessions with a memory, and megabytes of it."""

TTL = 5
"""Seconds of a lease: the least that a relay grants."""

MARGIN = 0.5
"""Seconds that a host gives away: its lease ends so much before the relay's."""

STANDS = 1.0
"""Seconds in which a fenced session must not tick."""


def inject(scene: Scene) -> None:
    """Kill everything and bring it back; then cut a session off."""
    _killed(scene)
    _cut_off(scene)


def _killed(scene: Scene) -> None:
    account = scene.account
    account.new("plain")
    account.run("plain", "kept=1")
    missing = account.ability("capsules") or account.ability("criu")
    images = {} if missing else {name: _image(scene, name) for name in SIZES}
    count = account.kill_everything()
    lost = {one["name"] for one in account.facts("ls")["lost"]}
    scene.check(
        "with every process killed, each session is listed as lost",
        holds=lost == {"plain", *images},
        killed_processes=count,
        lost=", ".join(sorted(lost)),
    )
    if missing:
        scene.cannot("a session is restored with its memory", missing)
    for name, image in images.items():
        _restored(scene, name, image)
    _reconstructed(scene)


def _image(scene: Scene, name: str) -> Facts:
    """Start a REPL with data in its memory, and put it to disk."""
    account = scene.account
    account.new(name, "--capsule", *REPL)
    account.run(name, f"x = list(range(1000)); y = bytes(range(256)) * {_blocks(name)}")
    return account.facts("checkpoint", name)


def _blocks(name: str) -> int:
    return SIZES[name] * 1024 * 1024 // 256


def _restored(scene: Scene, name: str, image: Facts) -> None:
    account = scene.account
    began = time.monotonic()
    made = account.facts("restore", name)
    took = time.monotonic() - began
    said = str(account.run(name, "print(sum(x), len(y))")["output"]).strip()
    facts = account.session(name) or {}
    scene.check(
        f"the {name} one is restored with its memory, as the next incarnation",
        holds=said == f"499500 {_blocks(name) * 256}"
        and made["incarnation"] == facts.get("incarnation") == 2  # noqa: PLR2004  # the one after the first
        and made["id"] == image["session"],
        session=made["id"],
        incarnation=made["incarnation"],
        in_memory=said,
        image_bytes=image["size"],
        stood_still=f"{image['still_ms']} ms",
        restored_in=f"{took:.2f} s",
    )


def _reconstructed(scene: Scene) -> None:
    account = scene.account
    made = account.facts("recover", "plain")
    memory = str(account.run("plain", "echo [$kept]")["output"]).strip()
    shown = account.do("read", "plain").out
    scene.check(
        "without an image it is begun again, and says that its memory is gone",
        holds=made["incarnation"] == 2 and memory == "[]" and "Gone:" in shown,  # noqa: PLR2004  # ditto
        session=made["id"],
        incarnation=made["incarnation"],
        variable=memory,
        says=next((one for one in shown.splitlines() if "Gone:" in one), "").strip(),
    )


def _cut_off(scene: Scene) -> None:
    account = scene.account
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{trial.getsockname()[1]}"
    words = ["--lease-ttl", str(TTL), "--store", str(account.place / "leases")]
    relay = account.start("relay", "--plain", "--listen", address, *words)
    account.wait("the relay listens", lambda: _listens(address))
    account.do("up", "--detach", "--relay", f"http://{address}")
    file = account.home / "ticks"
    account.wait("the host is linked", lambda: _linked(account))
    said = account.say("new", "-d", "-n", "mover", "--movable", *ticking(file))
    if said.status != 0:
        scene.cannot("a session that is cut off stops by itself", said.trouble)
        return
    account.wait("it ticks", lambda: ticks(file)[0] > 2)  # noqa: PLR2004  # any
    if not processes.send(relay.pid, signal.SIGSTOP, account.mark):
        raise BrokenOff("the relay is gone")
    try:
        expiry, why = _expiry(account)
        last, moment = ticks(file)
        time.sleep(STANDS)
        refused = account.say("send", "--json", "mover", "x")
        scene.check(
            "cut off from its relay, it stops when its lease runs out",
            holds=ticks(file)[0] == last and 0 < moment < expiry + MARGIN,
            last_tick=last,
            last_tick_before_expiry=f"{(expiry - moment) * 1000:.0f} ms",
            ticks_in_the_next_second=ticks(file)[0] - last,
        )
        scene.check(
            "it is shown as fenced, and takes no input",
            holds=bool(why) and refused.error.get("code") == "lease-lost",
            says=why,
            refused=refused.error.get("code"),
        )
    finally:
        processes.send(relay.pid, signal.SIGCONT, account.mark)
    account.wait("it goes on", lambda: ticks(file)[0] > last)
    kinds = [one["kind"] for one in account.entries("mover")]
    scene.check(
        "with its relay back it goes on, and the logbook has both",
        holds="fenced" in kinds and "unfenced" in kinds,
        tick=ticks(file)[0],
        incarnation=(account.session("mover") or {}).get("incarnation"),
    )


def _listens(address: str) -> bool:
    host, _, port = address.partition(":")
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
    except OSError:
        return False
    return True


def _linked(account: Account) -> bool:
    links = (account.facts("status")["host"] or {}).get("links") or []
    return bool(links) and all(one["up"] for one in links)


def _expiry(account: Account) -> tuple[float, str]:
    """Return when the lease has run out, by the boot clock, and what is said then."""
    expiry = 0.0
    deadline = time.monotonic() + 4 * TTL
    while time.monotonic() < deadline:
        lease = account.say("leases", "--json").facts["leases"][0]
        if lease["state"] == "fenced":
            return expiry, str(lease["why"])
        now = time.clock_gettime(time.CLOCK_BOOTTIME)
        expiry = max(expiry, now + float(lease["expires_in"]))
    raise BrokenOff("its lease never ran out")
