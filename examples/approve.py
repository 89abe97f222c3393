"""Decide about what waits for approval in a session, as it comes."""

import asyncio
import sys

import holdfast
from holdfast import events

HARMLESS = (b"ls", b"pwd", b"echo ")


async def main(name: str) -> None:
    """Let harmless lines through and refuse the others, until the session ends."""
    async with holdfast.connect() as host, host.attach(name) as session:
        async for event in session.events():
            match event:
                case holdfast.Pending(ticket=ticket, excerpt=excerpt):
                    line = excerpt.decode(errors="replace").strip()
                    # The answer is for exactly the bytes that were shown.
                    if excerpt.startswith(HARMLESS):
                        await session.approve(event)
                        print(f"{ticket}: approved {line!r}", flush=True)
                    else:
                        await session.deny(event)
                        print(f"{ticket}: denied {line!r}", flush=True)
                case events.Exited():
                    print("the session has ended")
                case _:
                    pass


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
