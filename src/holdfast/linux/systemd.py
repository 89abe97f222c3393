"""Whether systemd manages this user's processes, and how to configure it.

Sessions need no systemd: `setsid` protects them from the end of a terminal. Where
logind runs it may kill all processes of a user at log-out, and it removes the folder
with our sockets unless the user *lingers*.
"""

import getpass
import os
import subprocess
import sys
from pathlib import Path

from holdfast.linux.stored import places

UNIT = "holdfast.service"

BOOTED = Path("/run/systemd/system")
"""There exactly if systemd is what started this machine (sd_booted(3))."""

LINGERING = Path("/var/lib/systemd/linger")
"""Where logind notes who lingers, one file for each user."""

PATIENCE = 5.0
"""Seconds for a command of systemd's."""

_UNIT = """\
[Unit]
Description=holdfast: sessions that keep running when clients leave
Documentation=man:holdfast(1)

[Service]
Type=exec
ExecStart={command}
{environment}# Sessions live in this unit's group: stopping it ends just the host.
KillMode=process
Restart=on-failure
RestartSec=1
# It may have sessions to put to disk first: [drain] in config.toml.
TimeoutStopSec=120
OOMPolicy=continue
TasksMax=infinity

[Install]
WantedBy=default.target
"""

_RELAY_UNIT = """\
[Unit]
Description=holdfast relay: where hosts and operators meet
Documentation=man:holdfast(1)
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
# For TLS without a proxy: LoadCredential= the certificate and its key here, and
# put --cert and --key (under %d) in the place of --behind-proxy.
ExecStart={command} --behind-proxy --name relay.example --store %S/holdfast-relay/store
StateDirectory=holdfast-relay
DynamicUser=yes
LimitNOFILE=65536
Restart=always
RestartSec=1
TimeoutStopSec=10
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
MemoryDenyWriteExecute=yes
RestrictAddressFamilies=AF_INET AF_INET6
SystemCallFilter=@system-service

[Install]
WantedBy=multi-user.target
"""

PASSED_ON = (
    "HOLDFAST_RUNTIME_DIR",
    "HOLDFAST_CONFIG_DIR",
    "HOLDFAST_STATE_DIR",
    "PYTHONPATH",
)
"""Variables without which the unit would use other code, or another folder."""


def is_running() -> bool:
    """Tell whether systemd started this machine and answers for this user."""
    return BOOTED.is_dir() and _succeeds("systemctl", "--user", "show-environment")


def lingers() -> bool:
    """Tell whether what this user runs is kept after the last log-out."""
    return (LINGERING / getpass.getuser()).exists()


def kills_at_log_out() -> bool:
    """Tell whether logind kills a user's processes at log-out."""
    done = _done("loginctl", "show", "--property=KillUserProcesses")
    return done is not None and done.stdout.strip() == "KillUserProcesses=yes"


def removes_runtime_dir() -> bool:
    """Tell whether our sockets lie where logind removes them."""
    path = str(places.runtime_path())
    return BOOTED.is_dir() and path.startswith(f"/run/user/{os.getuid()}/")


def unit_text(program: str | None = None) -> str:
    """Return the unit that runs the host: by `program`, else by the running code."""
    passed_on = [
        f"Environment={_quoted(f'{name}={os.environ[name]}')}\n"
        for name in PASSED_ON
        if os.environ.get(name)
    ]
    command = _command(program, "up")
    return _UNIT.format(command=command, environment="".join(passed_on))


def relay_unit_text(program: str | None = None) -> str:
    """Return a unit for a relay, to be put among the system's."""
    return _RELAY_UNIT.format(command=_command(program, "relay"))


def unit_path() -> Path:
    """Return where the unit belongs."""
    chosen = os.environ.get("XDG_CONFIG_HOME")
    folder = Path(chosen) if chosen else Path.home() / ".config"
    return folder / "systemd" / "user" / UNIT


def install(program: str | None = None) -> list[str]:
    """Write the unit, let the user linger, and start it; return what failed."""
    path = unit_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(unit_text(program))
    steps = (
        ("loginctl", "enable-linger"),
        ("systemctl", "--user", "daemon-reload"),
        ("systemctl", "--user", "enable", UNIT),
        ("systemctl", "--user", "restart", UNIT),
    )
    return [" ".join(step) for step in steps if not _succeeds(*step)]


def _command(program: str | None, verb: str) -> str:
    interpreter = [sys.executable, "-P", "-m", "holdfast"]
    words = [*(interpreter if program is None else [program]), verb]
    return " ".join(_quoted(word) for word in words)


def _quoted(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("%", "%%").replace("$", "$$") + '"'


def _succeeds(*command: str) -> bool:
    done = _done(*command)
    return done is not None and done.returncode == 0


def _done(*command: str) -> "subprocess.CompletedProcess[str] | None":
    """Run a command; return None if it cannot be run, or takes too long."""
    try:
        return subprocess.run(  # noqa: S603  # a fixed command
            command, capture_output=True, timeout=PATIENCE, check=False, text=True
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
