"""Follow several sessions at once, until each of them has ended."""

import asyncio
import sys

import holdfast
from holdfast import events


async def follow(host: holdfast.Host, name: str) -> None:
    """Say what happens in one session."""
    async for event in host.attach(name, observe=True).events(after=0):
        match event:
            case events.Output():
                print(f"{name}: {event.text.strip()!r}")
            case events.Gap(start, end):
                print(f"{name}: {end - start} bytes are gone")
            case events.TurnPassed(holder=holder):
                print(f"{name}: the turn is {'free' if not holder else 'taken'}")
            case events.Exited(status):
                print(f"{name}: ended with {status}")
            case _:
                pass


async def main(names: list[str]) -> None:
    """Follow them all, each at its own pace."""
    async with holdfast.connect() as host, asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(follow(host, name))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
