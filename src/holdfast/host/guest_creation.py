"""A session that an operator elsewhere makes here, and what the host decides of it."""

import os
import pwd

from holdfast.crypto.proof import proven_creation
from holdfast.host.guests import Guest, wall
from holdfast.linux.creation_settings import with_settings
from holdfast.model.session_requests import Creation


def vouched_for(guest: Guest, asked: Creation) -> Creation:
    """Return the request as it goes to our own keeper.

    Shell, folder and settings are those of this host, where the guest says nothing.
    The channel has proven who asks; to our own holder we vouch for it.
    """
    us = pwd.getpwuid(os.getuid())
    command, env, window = with_settings(asked.command, asked.env or {}, asked.window)
    whole = Creation(
        name=asked.name,
        command=tuple(command) or (us.pw_shell or "/bin/sh",),
        cwd=folder_for(asked.cwd, us.pw_dir),
        env=env or asked.env,
        size=asked.size,
        integration=asked.integration,
        exec_gate=asked.exec_gate,
        window=window,
        runtime=asked.runtime,
        net=asked.net,
        client=asked.client,
        ground=True,
        creator=guest.id,
        asked_ms=round(wall() * 1000),
    )
    return proven_creation(whole, guest.enrolled.token())


def folder_for(asked: str, home: str) -> str:
    """Return where to start: a tilde means the home of the user whose host this is."""
    if asked in {"", "~"}:
        return home
    return f"{home}/{asked[2:]}" if asked.startswith("~/") else asked
