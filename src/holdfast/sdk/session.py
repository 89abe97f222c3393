"""A live session, from Python: type, look, wait, hand over.

Each method is one sentence about the session, and returns what came of it. What is
refused, or cannot be known, is raised as one of `holdfast.errors`, which says by its
branch what a caller can do about it.

A program that enters a session is attached until the block is left: seen by others, and
keeping the turn. One that does not is attached for the moment of each act. A holder
that dies, or a link that breaks, is not noticed here: everything is asked again of
its successor under the ids it had, so that nothing is done twice.
"""

import asyncio
import signal as signals

from holdfast.client import branches
from holdfast.client.driver import attachment_to
from holdfast.client.key_names import bytes_of
from holdfast.client.secret_input import checked, demand_secrecy
from holdfast.core.client import questions
from holdfast.core.client.exchange import AttachedInquiry
from holdfast.core.client.timeouts import APPROVAL, TYPING
from holdfast.model.expectations import Expectation
from holdfast.model.geometry import Size
from holdfast.model.inputs import InputKind
from holdfast.model.session_requests import Forget
from holdfast.sdk import command_run
from holdfast.sdk.retry import check_retries, with_retries
from holdfast.sdk.session_branches import SessionBranches
from holdfast.sdk.session_views import Pattern, SessionViews
from holdfast.sdk.turns import Turns
from holdfast.sdk.values import CommandResult
from holdfast.wire import intents
from holdfast.wire.messages import MAX_TEXT, fitting

MAX_OUTPUT = 64 * 1024
"""Bytes of a command's output that are kept unless asked otherwise."""


class Session(SessionViews, Turns, SessionBranches):
    """One session, here or at a host elsewhere."""

    _meant: intents.Intend | None = None
    """What was declared of the next command."""

    # ── commands ──────────────────────────────────────────────────────────

    async def run(  # noqa: PLR0913  # all but the first by name
        self,
        command: str,
        *,
        timeout: float | None = None,
        key: str | None = None,
        max_output: int = MAX_OUTPUT,
        expect: Pattern | None = None,
        until_input: bool = False,
        approval_timeout: float = APPROVAL,
        idempotent: bool = False,
        retries: int = 0,
    ) -> CommandResult:
        """Run a line in the session's shell, and return what came of it.

        The same `key` never runs twice: a repeat is told what came of the
        first, or waits for it. With `expect` the waiting ends as soon as that was
        printed, with `until_input` as soon as the command waits for input.
        The last `max_output` bytes of its output are returned. What nobody approves
        within `approval_timeout` seconds, or within `timeout`, is taken back.

        What is declared `idempotent` is repeated up to `retries` times if it fails, or
        if it is not known what came of it; each attempt at most once for a key.

        Cancelling stops the waiting, and not the command; without a key what came of
        it can then only be seen in the stream.

        Raises:
            Unavailable: The shell is not at its prompt, or nobody approved it in
                time; nothing was typed.
            Unsettled: It goes on after `timeout`, or how it ended is not known.
            Forbidden: It is not our turn, or not allowed.
            UsageError: It is no line for a shell, or the session has ended.

        """
        wish = command_run.wish_from(
            max_output, expect, until_input=until_input, approval=approval_timeout
        )
        check_retries(retries, idempotent=idempotent)
        meant, self._meant = self._meant, None

        async def once(key: str | None, attempt: int) -> CommandResult:
            if attempt > 1:
                said = meant or intents.again(command)
                await self._request(intents.attempted(said, attempt))
            asked = command_run.Asked(command, timeout, key, wish)
            live = await self._live()
            return await command_run.run(self._host, live, asked, self._line)

        return await with_retries(once, key, retries)

    async def intend(  # noqa: PLR0913  # what is declared, each by its name
        self,
        act: str,
        intent: str,
        *,
        effect: str = "",
        parameters: str = "",
        prompt: str = "",
        expects: Expectation | None = None,
        idempotent: bool = False,
        attempt: int = 1,
    ) -> None:
        """Put on record what we do next, why, and what should come of it.

        It decides nothing; what is done then stands in the logbook after it. With
        `expects` what the next command does is observed and compared with it. `prompt`
        is a reference to what led to the act, such as the id of a message.

        Raises:
            Forbidden: We may type nothing here.
            Unavailable: It is said too often.

        """
        said = intents.Intend(
            act=act,
            intent=fitting(intent, intents.MAX_INTENT),
            effect=fitting(effect, intents.MAX_EFFECT),
            parameters=fitting(parameters, intents.MAX_PARAMETERS),
            prompt=fitting(prompt, intents.MAX_PROMPT),
            expects="" if expects is None else expects.to_text(),
            idempotent=idempotent,
            attempt=min(attempt, intents.MAX_ATTEMPT),
        )
        await self._request(said)
        self._meant = said

    async def notify(self, text: str) -> None:
        """Report that the session needs input: `text` says what for.

        All watchers are told, and its record has it until someone types.

        Raises:
            Forbidden: We may type nothing here, and run nothing.

        """
        await self._request(intents.Notify(fitting(text, MAX_TEXT)))

    # ── typing ────────────────────────────────────────────────────────────

    async def send(
        self,
        text: str | bytes,
        *,
        enter: bool = False,
        timeout: float = TYPING,
        approval_timeout: float = APPROVAL,
    ) -> int:
        """Type text, and return once the terminal has taken every byte.

        What is returned is where the stream stood before: what comes of it is printed
        from there on. Cancelling does not take back what was sent. What nobody approves
        within `approval_timeout` seconds is taken back.

        Raises:
            Forbidden: It is not our turn, or not allowed.
            Unavailable: Nobody approved it in time; nothing was typed.
            Unsettled: What became of it is not known.

        """
        raw = _raw(text) + b"\r" * enter
        return await self._type(InputKind.KEYS, raw, timeout, approval_timeout)

    async def keys(
        self,
        *names: str,
        timeout: float = TYPING,
        approval_timeout: float = APPROVAL,
    ) -> int:
        """Press keys by their names, such as "C-c", "Up" or "Enter"; as `send`.

        Raises:
            UsageError: There is no such key.
            HoldfastError: As for `send`.

        """
        raw = b"".join(map(bytes_of, names))
        return await self._type(InputKind.KEYS, raw, timeout, approval_timeout)

    async def signal(
        self,
        signal: int = signals.SIGINT,
        *,
        timeout: float = TYPING,
        approval_timeout: float = APPROVAL,
    ) -> None:
        """Send a signal to what runs in the foreground: interrupt it, or end it.

        Raises:
            UsageError: There is no such signal.
            HoldfastError: As for `send`.

        """
        raw = str(int(signal)).encode()
        await self._type(InputKind.SIGNAL, raw, timeout, approval_timeout)

    async def answer(
        self,
        secret: str | bytes,
        *,
        key_by_key: bool = False,
        timeout: float = TYPING,
        approval_timeout: float = APPROVAL,
    ) -> int:
        """Type a secret and Enter for a program that asks for one; nothing keeps it.

        With `key_by_key` also for a program that reads single keys.

        Raises:
            Unavailable: Nobody waits for a secret now, or it would be shown.
            HoldfastError: As for `send`.

        """
        raw = checked(_raw(secret))
        async with self._attached() as line:
            demand_secrecy(await line.ask(questions.state()), key_by_key=key_by_key)
            return await self._type(
                InputKind.ANSWER, raw + b"\r", timeout, approval_timeout
            )

    async def resize(self, columns: int, rows: int) -> None:
        """Give the session's terminal another size.

        Raises:
            UsageError: No terminal can be that large.
            Forbidden: It is not our turn, or not allowed.

        """
        size = Size(columns, rows)
        payload = f"{size.columns}x{size.rows}".encode()
        await self._type(InputKind.RESIZE, payload, TYPING)

    # ── the end ───────────────────────────────────────────────────────────

    async def end(
        self, signal: int = signals.SIGHUP, *, leave_daemons: bool = False
    ) -> int | None:
        """End the session, remove its record and return its status, if known.

        What has left its shell is ended too, unless it is to be left.

        Raises:
            Forbidden: We may not end it.
            Unavailable: It does not end.

        """
        found = await self._found(fresh=True)
        status = found.exit_status
        if status is None:
            question = questions.end(signal, leave=leave_daemons)
            attachment = attachment_to(found.id, self._mode)
            ended = AttachedInquiry(attachment, question, self._now())
            status = (await self._converse(ended)).status
        await self._host.way_to(found.id).ask(Forget(found.id))
        return status

    async def discard(self) -> None:
        """End a branch, and remove what it has changed.

        Raises:
            UsageError: It is none.
            Forbidden: We may not end it.
            Unavailable: It does not end.

        """
        found = await self._found(fresh=True)
        branches.demand_branch(found)
        await self.end(signals.SIGKILL)
        await asyncio.to_thread(branches.remove_files, found)

    # ── inside ────────────────────────────────────────────────────────────

    async def _type(
        self,
        kind: InputKind,
        payload: bytes,
        timeout: float,
        approval: float = APPROVAL,
    ) -> int:
        async with self._attached() as line:
            offset = await line.submit(kind, payload, timeout, approval)
        self._typed_at = offset
        return offset


def _raw(text: str | bytes) -> bytes:
    """Return text as it is typed; what no encoding has comes from a file name."""
    return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
