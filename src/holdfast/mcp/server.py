"""The server: the SDK of the protocol on one side, our tools on the other.

Every call runs in a task of its own. A client that cancels one cancels that task, which
then cleans up undisturbed: the protocol's own cancellation would be raised again at
each await, and leave a turn taken that nobody wants.
"""

import asyncio
import contextlib
import sys
import traceback
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import anyio
import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourceUpdated,
)
from mcp.shared.exceptions import MCPError

from holdfast.mcp import contracts, names, refusal_text, screens, tool_output
from holdfast.mcp.reach import Reach
from holdfast.mcp.screens import Watched
from holdfast.mcp.tool_calls import Call
from holdfast.mcp.tool_output import Facts
from holdfast.mcp.tools import INSTRUCTIONS, TOOLS, Tool
from holdfast.model.errors import AskedTooOften, HoldfastError
from holdfast.model.ids import SessionId  # noqa: TC001  # read by people
from holdfast.version import __version__

PROMPT = "holdfast/prompt"
"""The member of a call's `_meta` that names the prompt behind it."""

MAX_CALLS = 16
"""Calls running at a time: a flood is refused, not queued."""

Context = ServerRequestContext[Any, Any]
Doing = Coroutine[Any, Any, Facts]

_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, MCPError)
"""What sending to a client that has left raises."""


class AgentServer:
    """The server for one agent's client."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._left: dict[SessionId, list[str]] = {}
        self._under_way = 0
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus, max_subscriptions=MAX_CALLS)
        self._watched = Watched(reach, self._publish)
        self._subscribers: dict[str, dict[int, Context]] = {}
        self.protocol: Server[Any] = Server(
            "holdfast",
            version=__version__,
            title="holdfast: live terminal sessions",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._subscriptions,
        )

    def close(self) -> None:
        """Report no more changes."""
        self._watched.close()
        self._listen.close()

    # ── tools ─────────────────────────────────────────────────────────────

    async def _list_tools(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(one) for one in TOOLS.values()])

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        facts = await self._apart(self._called(context, params))
        return types.CallToolResult(
            content=[types.TextContent(text=tool_output.written(facts))],
            structured_content=facts,
            is_error="error" in facts,
        )

    async def _called(
        self, context: Context, params: types.CallToolRequestParams
    ) -> Facts:
        tool = TOOLS.get(params.name)
        if tool is None:
            return refusal_text.unknown_facts(params.name)
        try:
            given = msgspec.convert(params.arguments or {}, tool.takes)
        except msgspec.ValidationError as error:
            return refusal_text.malformed_facts(tool.name, str(error))
        call = self._call(tool.name, context, _prompt_of(params))
        try:
            facts: Facts = await tool.do(call, given)
            noted = [note for one in call.used for note in self._reach.noted(one)]
        except HoldfastError as error:
            return await self._refused(error, given)
        finally:
            call.end()
        if noted:
            facts = {
                **facts,
                "happened": [tool_output.noted_facts(one) for one in noted],
            }
        if isinstance(given, contracts.OnSession):
            facts = await self._with_leftovers(facts, given.session)
        return facts

    async def _refused(self, error: HoldfastError, given: contracts.Contract) -> Facts:
        """Return a refusal with names in place of ids."""
        told = f"{error} {error.facts}"
        if isinstance(given, contracts.OnSession) and names.mentions(told):
            with contextlib.suppress(HoldfastError):
                session = await self._reach.session(given.session)
                name = await names.names_in(session, with_kind=True)
                return refusal_text.refusal_facts(
                    error, lambda text: names.named(text, name)
                )
        return refusal_text.refusal_facts(error)

    async def _with_leftovers(self, facts: Facts, name: str) -> Facts:
        if not self._left:
            return facts
        _, found = await self._reach.find(name)
        left = self._left.pop(found.id, None)
        return facts if left is None else {**facts, "notes": left}

    def _call(self, name: str, context: Context, prompt: str = "") -> Call:
        async def report(seconds: float, word: str) -> None:
            with contextlib.suppress(*_GONE):
                told = f"{word}, after {seconds:.0f} s"
                await context.session.report_progress(seconds, None, told)

        return Call(name, self._reach, report, self._left, prompt)

    async def _apart(self, what: Doing) -> Facts:
        """Run in a task of its own, and return its result."""
        if self._under_way >= MAX_CALLS:
            what.close()
            error = AskedTooOften("calls at a time", MAX_CALLS)
            return refusal_text.refusal_facts(error)
        # Counted at once: many may arrive before the first of them starts.
        self._under_way += 1
        doing = self._reach.tasks.create_task(self._settled(what))
        doing.add_done_callback(self._done)
        try:
            return await asyncio.shield(doing)
        except asyncio.CancelledError:
            doing.cancel()
            raise

    def _done(self, _: "asyncio.Task[Facts]") -> None:
        self._under_way -= 1

    async def _settled(self, what: Doing) -> Facts:
        try:
            return await what
        except HoldfastError as error:
            return refusal_text.refusal_facts(error)
        except Exception:  # noqa: BLE001  # the outermost place: a bug ends one call
            traceback.print_exc(file=sys.stderr)
            return refusal_text.internal_facts()

    # ── screens ───────────────────────────────────────────────────────────

    async def _list_resources(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        found = [(screens.LIST, "sessions", "Every session of this machine")]
        with contextlib.suppress(HoldfastError):
            found += [
                (uri, f"screen of {name}", f"The screen of {name}")
                for uri, name in await screens.listed(self._reach)
            ]
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=uri, name=name, description=what, mime_type="application/json"
                )
                for uri, name, what in found
            ]
        )

    async def _list_templates(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            uri_template=screens.TEMPLATE,
            name="screen",
            description="The screen of a session, by its name or id",
            mime_type="application/json",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        call = self._call("screen", context)
        facts = await self._apart(screens.content(call, uri))
        if "error" in facts:
            raise MCPError(types.INVALID_PARAMS, facts["error"]["text"], facts)
        text = tool_output.written(facts)
        return types.ReadResourceResult(
            contents=[
                types.TextResourceContents(
                    uri=uri, mime_type="application/json", text=text
                )
            ]
        )

    async def _subscribe(
        self, context: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        uri = str(params.uri)
        listeners = self._subscribers.setdefault(uri, {})
        whom = _connection(context)
        if whom not in listeners:
            self._watch(uri)
            listeners[whom] = context
        return types.EmptyResult()

    async def _unsubscribe(
        self, context: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        self._drop(str(params.uri), _connection(context))
        return types.EmptyResult()

    async def _subscriptions(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve clients of the newer protocol, for which one call is a subscription."""
        wanted = [str(one) for one in params.notifications.resource_subscriptions or ()]
        watched: list[str] = []
        try:
            for uri in wanted:
                self._watch(uri)
                watched.append(uri)
            return await self._listen(context, params)
        finally:
            for uri in watched:
                self._watched.forget(uri)

    def _watch(self, uri: str) -> None:
        try:
            self._watched.watch(uri)
        except HoldfastError as error:
            facts = refusal_text.refusal_facts(error)
            raise MCPError(types.INVALID_PARAMS, str(error), facts) from None

    async def _publish(self, uri: str) -> None:
        await self._bus.publish(ResourceUpdated(uri=uri))
        for whom, context in list(self._subscribers.get(uri, {}).items()):
            try:
                await context.session.send_resource_updated(uri)
            except _GONE:
                self._drop(uri, whom)

    def _drop(self, uri: str, whom: int) -> None:
        listeners = self._subscribers.get(uri, {})
        if listeners.pop(whom, None) is not None:
            self._watched.forget(uri)
        if not listeners:
            self._subscribers.pop(uri, None)


@contextlib.asynccontextmanager
async def serving(operator: str) -> AsyncIterator[AgentServer]:
    """Yield a server that acts as an operator; detach from every session afterwards."""
    async with Reach(operator) as reach:
        await reach.host()  # Our operator is enrolled before anything is asked.
        server = AgentServer(reach)
        try:
            yield server
        finally:
            server.close()


def _described(tool: Tool[Any]) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=contracts.schema_of(tool.takes),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.only_looks,
            destructive_hint=tool.is_risky,
            idempotent_hint=tool.only_looks,
            open_world_hint=tool.is_risky,
        ),
    )


def _prompt_of(params: types.CallToolRequestParams) -> str:
    """Return what the client calls the prompt behind a call, if it says so."""
    meta = params.meta or {}
    said = meta.get(PROMPT)
    return said if isinstance(said, str) else ""


def _connection(context: Context) -> int:
    """Return what tells one client's connection from another's."""
    return id(context.session._connection)  # noqa: SLF001  # there is no public word
