"""A session that a remote operator starts here, and what the host decides about it."""

from holdfast.crypto.proof import proven_creation
from holdfast.host.guests import Guest, wall
from holdfast.linux import login
from holdfast.linux.creation_settings import with_settings
from holdfast.linux.default_shell import default_shell
from holdfast.linux.stored.image_store import ImageName
from holdfast.model.envelopes import Right
from holdfast.model.session_requests import Creation


def vouched_for(guest: Guest, asked: Creation) -> Creation:
    """Return the request as it goes to our own keeper.

    Shell, folder and settings are those of this host, where the guest says nothing.
    The channel has proven who asks; to our own holder we vouch for it. A branch takes
    the right to fork its parent, by the promise; the parent's logbook is asked by who
    makes it.

    Raises:
        Forbidden: The guest may make no branch of that session.
        UsageError: It names no image.

    """
    if asked.branches:
        guest.demand(Right.FORK, ImageName.parse(asked.branches).session)
    command, env, window = with_settings(asked.command, asked.env or {}, asked.window)
    whole = Creation(
        name=asked.name,
        command=tuple(command) or (default_shell(),),
        cwd=folder_for(asked.cwd, login.home()),
        env=env or asked.env,
        size=asked.size,
        integration=asked.integration,
        exec_gate=asked.exec_gate,
        window=window,
        runtime=asked.runtime,
        movable=asked.movable,
        net=asked.net,
        files=asked.files,
        memory=asked.memory,
        millicpus=asked.millicpus,
        pids=asked.pids,
        branches=asked.branches,
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
