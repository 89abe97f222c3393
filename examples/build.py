"""Run a command in a shell of its own; end with its status."""

import asyncio
import sys

import holdfast


async def main(command: str) -> int:
    """Start a shell, run the command, show what it printed."""
    async with holdfast.connect() as host:
        session = await host.create("bash")
        try:
            # Whoever repeats the key after a crash is told of this run.
            built = await session.run(command, key="build-1", timeout=600)
        finally:
            await session.end()
    print(built.output, end="")
    print(f"status {built.status} after {built.duration:.1f} s in {built.cwd}")
    return built.status or 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(" ".join(sys.argv[1:]) or "make")))
