"""Runs the injections one after the other, each in an account of its own."""

import importlib
import platform
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime

from holdfast.verify import controls
from holdfast.verify.account import BrokenOff, Unavailable, account
from holdfast.verify.finding import Control, Finding, Report
from holdfast.verify.mode import Mode
from holdfast.verify.scene import Scene

Progress = Callable[[str, Finding | None], None]
"""Told the title of what begins, and then what came of it."""


def verify(
    modes: list[Mode], version: str, progress: Progress, *, with_controls: bool
) -> Report:
    """Inject the failures, and return everything that was seen."""
    began, clock = datetime.now(UTC), time.monotonic()
    findings = []
    for mode in modes:
        progress(mode.title, None)
        findings.append(_inject(mode))
        progress(mode.title, findings[-1])
    found: tuple[Control, ...] = ()
    if with_controls:
        progress("Others, under the same injections", None)
        found = controls.observe()
    return Report(
        version=version,
        system=f"Linux {platform.release()}, {platform.machine()}",
        began=began.strftime("%Y-%m-%d %H:%M UTC"),
        seconds=time.monotonic() - clock,
        findings=tuple(findings),
        controls=found,
    )


def _inject(mode: Mode) -> Finding:
    began = time.monotonic()
    with account() as made:
        scene = Scene(made)
        try:
            _injection(mode)(scene)
        except Unavailable as error:
            scene.cannot("the rest", str(error))
        except BrokenOff as error:
            scene.broke_off(str(error))
        except Exception as error:  # noqa: BLE001  # nonsense from what is verified is a finding, too
            scene.broke_off(f"{type(error).__name__}: {error}")
        seconds = time.monotonic() - began
    return Finding(mode, tuple(scene.checks), seconds)


def _injection(mode: Mode) -> Callable[[Scene], None]:
    """Return what injects a mode, if this machine has what all of them need."""
    if shutil.which("bash") is None:
        raise Unavailable("there is no bash on this machine")
    name = mode.name.replace("-", "_")
    module = importlib.import_module(f"holdfast.verify.injections.{name}")
    inject: Callable[[Scene], None] = module.inject
    return inject
