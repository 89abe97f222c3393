"""A shell and its files, as they might be."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.core.provenance.commands import Command as Ran
from holdfast.core.provenance.entered_lines import Instant
from holdfast.core.provenance.line_resolution import Found, Shell, Unseen, resolve
from holdfast.core.provenance.originators import Origins
from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.shell_grammar import grammar_of
from holdfast.core.shell.shell_state import Item, ItemKind, ShellState
from holdfast.model.ids import ActorId, actor_id
from holdfast.model.resolutions import Resolution, Resolved, Sort, Staging, Thing

ANNA = actor_id(b"anna")
BOT = actor_id(b"bot")

ELF = b"\x7fELF"
OLD_MS = 1_000
"""When everything was written that was there before the session."""

BOTS_MS = 100_500
"""In the command of the bot, the first one."""


def state(
    *,
    path: tuple[str, ...] | None = ("/bin", "/usr/bin"),
    aliases: Mapping[str, str] | None = None,
    functions: tuple[str, ...] = (),
    environment: Mapping[str, str] | None = None,
    is_whole: bool = True,
    without_text: tuple[str, ...] = (),
) -> ShellState:
    """Return a shell that has these things."""
    aliases, environment = aliases or {}, environment or {}
    names = [
        *((ItemKind.ALIAS, name) for name in (*aliases, *without_text)),
        *((ItemKind.FUNCTION, name) for name in functions),
        *((ItemKind.VARIABLE, name) for name in environment),
        *((ItemKind.PATH_ENTRY, name) for name in path or ()),
    ]
    items = {Item(*name): name[1].encode()[:16] for name in names}
    return ShellState(items, path, aliases, environment, is_whole)


@dataclass
class World:
    """A bot changed something in the first command, and now somebody enters a line."""

    before: ShellState = field(default_factory=state)
    now: ShellState | None = None
    files: dict[str, Found | Unseen] = field(default_factory=dict)
    shell: str = "bash"
    trigger: ActorId | None = BOT

    def file(
        self,
        path: str,
        head: bytes = ELF,
        *,
        changed: tuple[int, ...] = (OLD_MS,),
        runs: bool = True,
    ) -> None:
        """Put a file there."""
        digest = path.encode()[:16]
        self.files[path] = Found(path, runs, changed, head, digest)

    def origins(self) -> Origins:
        """Return what is known of who did what."""
        origins = Origins()
        origins.seen(self.before)
        ran = Ran(
            1,
            None,
            "set up",
            0,
            end=5,
            status=0,
            trigger=self.trigger,
            authors=(BOT,),
            since=Instant(100_000, 100_000),
            until=Instant(101_000, 101_000),
        )
        origins.began(ran)
        origins.ended(ran)
        if self.now is not None:
            origins.seen(self.now)
        return origins

    def resolve(self, line: str) -> Resolution:
        """Return what a line comes to."""
        shell = Shell(self.now or self.before, self.origins(), self.shell)
        commands = read_line(line.encode(), grammar_of(self.shell), ended=True)
        return resolve(commands, shell, self.files.get)

    def one(self, line: str) -> Resolved:
        """Return what a line of one command comes to."""
        (only,) = self.resolve(line).commands
        return only

    def steps(self, line: str) -> list[tuple[Sort, str]]:
        """Return the links of a line of one command."""
        return [(link.sort, link.name) for link in self.one(line).links]


def by_bot(what: Thing, name: str) -> Staging:
    """Return what the bot's command staged."""
    return Staging(what, name, (BOT,), 1)


def furnished() -> World:
    """Return a world with the usual programs."""
    made = World()
    for name in ("rm", "ls", "sudo", "env", "sh", "python3", "time", "xargs", "make"):
        made.file(f"/usr/bin/{name}")
    return made
