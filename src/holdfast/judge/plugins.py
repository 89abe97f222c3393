"""Asks the plug-ins for their verdicts.

A plug-in is a callable behind an entry point of the group GROUP. It is given the
question's document, a copy of its own, and returns "allow", "deny" or "ask"; a
dict with "verdict" and perhaps "rule" and "why"; or None for no opinion.
Anything else, and anything it raises, is a failure, and a failure denies.

Only plug-ins that the policy names are asked: what was installed for
another purpose decides nothing. And nothing is loaded from the plug-ins' folder that
was changed since the policy was applied.
"""

import copy
import importlib
import sys
from collections.abc import Callable
from importlib.metadata import entry_points

from holdfast.core.policy.policy import Judgement
from holdfast.linux.stored import places
from holdfast.linux.stored.plugin_files import plugins_digest
from holdfast.model.errors import UsageError
from holdfast.model.text import printable
from holdfast.model.verdicts import verdict_from

GROUP = "holdfast.policy"
"""The group of entry points that plug-ins are declared in."""

Plugin = Callable[[dict[str, object]], object]


class Failed(Exception):
    """A plug-in or webhook gave no answer; the text completes "the policy …"."""


class Plugins:
    """The plug-ins of this process, each loaded when it is first asked."""

    def __init__(self) -> None:
        self._loaded: dict[str, Plugin] = {}
        self._vouched: str | None = None
        self._folder = f"{places.plugin_dir()}/"

    def demand_vouched(self, digest: str) -> None:
        """Do nothing if the plug-ins' folder is as when the policy was applied.

        What was loaded before another policy was applied is forgotten.

        Raises:
            Failed: It has changed since.

        """
        if digest == self._vouched:
            return
        try:
            is_same = plugins_digest() == digest
        except UsageError as error:
            raise Failed(f"has too much in its plug-ins' folder: {error}") from error
        if not is_same:
            raise Failed(
                "names plug-ins, whose folder was changed since it was applied:"
                " run `holdfast gate apply`"
            )
        self._loaded.clear()
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", "")).startswith(self._folder):
                del sys.modules[name]
        importlib.invalidate_caches()
        self._vouched = digest

    def ask(self, name: str, question: dict[str, object]) -> Judgement | None:
        """Return what a plug-in says, or None if it has no opinion.

        Raises:
            Failed: It is not there, cannot be loaded, raised something or
                returned what is no answer.

        """
        try:
            plugin = self._loaded.get(name) or self._load(name)
            said = plugin(copy.deepcopy(question))
        except Failed:
            raise
        # Not only Exception: a plug-in that exits must not end us silently.
        except BaseException as error:
            raise Failed(f"plug-in {name} raised {type(error).__name__}") from error
        return judgement_from(said, f"plugin-{name}")

    def _load(self, name: str) -> Plugin:
        found = list(entry_points(group=GROUP, name=name))
        if len(found) != 1:
            raise Failed(f"names plug-in {name}, of which there are {len(found)}")
        plugin = found[0].load()
        if not callable(plugin):
            raise Failed(f"names plug-in {name}, which cannot be called")
        self._loaded[name] = plugin
        return plugin  # type: ignore[no-any-return]  # what it returns is checked


def judgement_from(said: object, source: str) -> Judgement | None:
    """Read an answer; `source` is put before the rule it names.

    Raises:
        Failed: It is none.

    """
    if said is None:
        return None
    # Exactly these types: a subclass may answer differently each time.
    answer = said if type(said) is dict else {"verdict": said}
    verdict = verdict_from(answer.get("verdict"))
    rule, why = answer.get("rule", ""), answer.get("why", "")
    odd = answer.keys() - {"verdict", "rule", "why"}
    if verdict is None or type(rule) is not str or type(why) is not str or odd:
        raise Failed(f"got no verdict from {source}")
    named = f"{source}/{printable(rule, 64)}" if rule else source
    return Judgement(verdict, named, printable(why))
