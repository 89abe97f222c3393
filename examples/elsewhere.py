"""Run a command at a host elsewhere, which was joined by its invitation."""

import asyncio
import sys

import holdfast


async def main(address: str, command: str) -> None:
    """Start a shell there, run the command, and end the shell."""
    async with holdfast.connect(address) as host:
        session = await host.create("bash")
        async with session:
            done = await session.run(command)
            print(f"{session.host}: {done.output.strip()} (status {done.status})")
        await session.end()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], " ".join(sys.argv[2:])))
