"""Set up CRIU in a private root, where the system has none that is new enough.

    python -m tools.set_up_criu [--into FOLDER] [--lock]

The packages are those of Debian's next release, fetched by the system's own apt from
the mirror that the system itself uses; they are unpacked and not installed, so nothing
of the system changes. requirements/criu-amd64.txt pins them by hash. When the mirror
has moved on from a pinned package, or on another processor, apt's signed index of that
release says what to fetch, and vouches for it: the same trust that every `apt install`
of this machine rests on. `--lock` pins what that index has now.

Exit status 69 and one line say why it cannot be had: another distribution, no network.
"""

import argparse
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from holdfast.linux.criu import program

ROOT = Path(__file__).resolve().parent.parent
RELEASE = "forky"
"""The release of Debian that has a CRIU new enough for every kernel."""

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
HELPER = "/usr/lib/apt/apt-helper"
QUICK = ("-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20")
"""Without a network a test run should not stand still."""

UNAVAILABLE = 69
"""Exit status when something cannot be had here, as sysexits.h has it."""


class CannotHave(Exception):
    """CRIU cannot be set up here; the text says why."""


class Package(NamedTuple):
    """One package of the mirror."""

    sha256: str
    path: str
    """Below the mirror's root."""


def main(words: list[str]) -> int:
    """Set it up if need be, and say what there is."""
    parser = argparse.ArgumentParser(prog="tools.set_up_criu")
    parser.add_argument("--into", type=Path, default=program.private_root())
    parser.add_argument("--lock", action="store_true", help="pin what there is now")
    options = parser.parse_args(words)
    try:
        if options.lock:
            return _lock()
        found = program.find(root=options.into)
        if found.program is None:
            _set_up(options.into)
            found = program.find(root=options.into)
    except CannotHave as error:
        print(f"CRIU cannot be set up: {error}", file=sys.stderr)
        return UNAVAILABLE
    if found.program is None:
        print(f"what was set up does not run: {found.why_not}", file=sys.stderr)
        return UNAVAILABLE
    print(found.program)
    return 0


def _set_up(root: Path) -> None:
    mirror = _mirror()
    print("setting up CRIU in a private root (once, 9 MB to fetch)", flush=True)
    root.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root.parent) as scratch:
        folder = Path(scratch)
        try:
            packages = _fetch(mirror, _pinned(), folder)
        except CannotHave as error:
            print(f"by the signed index instead: {error}", flush=True)
            packages = _fetch(mirror, _indexed(mirror, folder), folder)
        made = folder / "root"
        made.mkdir(mode=0o755)
        for package in packages:
            _run("dpkg-deb", "-x", str(package), str(made))
        # Whole or not at all: a half one would be taken for a broken one.
        shutil.rmtree(root, ignore_errors=True)
        made.rename(root)


def _mirror() -> str:
    """Return the mirror of Debian that this system uses."""
    if not shutil.which("apt-get") or not Path(HELPER).exists():
        raise CannotHave("this system has no apt")
    asked = "$(CREATED_BY) $(ORIGIN) $(LABEL) $(SITE)"
    lines = _run("apt-get", "indextargets", "--format", asked).splitlines()
    sites = [line.split()[3] for line in lines if line.startswith("Packages Debian ")]
    # Security updates come from a place of their own, which has no other packages.
    for site in sites:
        if "security" not in site.rpartition("/")[2]:
            return site.rstrip("/")
    raise CannotHave("apt knows no mirror of Debian here; `apt-get update` may help")


def _lock_file() -> Path:
    architecture = ARCHITECTURES.get(platform.machine(), "unknown")
    return ROOT / "requirements" / f"criu-{architecture}.txt"


def _pinned() -> list[Package]:
    try:
        lines = _lock_file().read_text().splitlines()
    except FileNotFoundError:
        raise CannotHave("no pins for this processor") from None
    return [Package(*line.split()) for line in lines if not line.startswith("#")]


def _indexed(mirror: str, folder: Path) -> list[Package]:
    """Ask apt, in a state of its own, what CRIU needs in that release."""
    if not Path(KEYRING).exists():
        raise CannotHave("the keys of Debian's archive are not installed")
    (folder / "lists" / "partial").mkdir(parents=True)
    (folder / "archives" / "partial").mkdir(parents=True)
    sources = folder / "sources.list"
    sources.write_text(f"deb [signed-by={KEYRING}] {mirror} {RELEASE} main\n")
    settings = {
        "Dir::Etc::sourcelist": str(sources),
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State": str(folder),
        "Dir::State::status": "/dev/null",
        "Dir::Cache": str(folder),
        "Acquire::Languages": "none",
        "Acquire::ForceHash": "SHA256",
        "APT::Sandbox::User": "root",
        "APT::Install-Recommends": "false",
        "APT::Update::Error-Mode": "any",
    }
    own = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
    _run("apt-get", *own, *QUICK, "-qq", "update")
    planned = _run("apt-get", *own, "install", "-y", "--print-uris", "criu")
    found = re.findall(r"^'(\S+)' (\S+) \d+ SHA256:(\w{64})$", planned, re.MULTILINE)
    if not found:
        raise CannotHave(f"{RELEASE} has no CRIU for this processor")
    return [Package(digest, uri.removeprefix(f"{mirror}/")) for uri, _, digest in found]


def _fetch(mirror: str, packages: Iterable[Package], folder: Path) -> list[Path]:
    """Fetch packages with apt's own client, and check what came."""
    wanted = {folder / f"{one.sha256}.deb": one for one in packages}
    words = [
        word
        for target, one in wanted.items()
        for word in (f"{mirror}/{one.path}", str(target), f"SHA256:{one.sha256}")
    ]
    sandbox = ("-o", "APT::Sandbox::User=root")
    _run(HELPER, *sandbox, *QUICK, "download-file", *words)
    for target, one in wanted.items():
        if hashlib.sha256(target.read_bytes()).hexdigest() != one.sha256:
            raise CannotHave(f"{one.path} is not what was pinned")
    return list(wanted)


def _lock() -> int:
    mirror = _mirror()
    with tempfile.TemporaryDirectory() as scratch:
        packages = _indexed(mirror, Path(scratch))
    target = _lock_file()
    head = f"# CRIU and what it needs, of Debian {RELEASE}; tools/set_up_criu.py --lock"
    lines = [f"{one.sha256} {one.path}" for one in packages]
    target.write_text("\n".join([head, *lines, ""]))
    print(f"wrote {target.relative_to(ROOT)}")
    return 0


def _run(*words: str) -> str:
    done = subprocess.run(
        words,
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, "LC_ALL": "C"},
    )
    if done.returncode:
        told = [line for line in done.stderr.splitlines() if line.startswith("E: ")]
        raise CannotHave(told[0][3:] if told else f"{words[0]} failed")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
