"""An agent joins a session it did not start, and writes only in its own turn."""

import asyncio
import sys

import holdfast
from holdfast import errors

STEPS = ("pwd", "ls | wc -l", "date +%Y")


async def main(name: str) -> None:
    """Ask for the turn, run some commands, and give the turn back."""
    async with (
        holdfast.connect(operator="example-agent") as host,
        host.attach(name) as session,
    ):
        for step in STEPS:
            # A person at the session sees the question, and decides.
            async with session.turn(timeout=60):
                try:
                    done = await session.run(step, timeout=60)
                except errors.Forbidden as refused:
                    print(f"{step}: {refused}. {refused.next_step}")
                    return
            print(f"{step}: {done.output.strip()}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
