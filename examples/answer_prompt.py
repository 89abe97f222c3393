"""Wait until a program asks for a password, and answer it; nothing keeps it."""

import asyncio

import holdfast

ASKING = "read -rsp 'Password: ' word; echo; echo ${#word} letters"


async def main() -> None:
    """Start a program that asks, and answer by the kernel's word, not by its text."""
    async with holdfast.connect() as host:
        session = await host.create(["bash", "-c", ASKING + "; read -r"])
        async with session:
            asked = await session.wait_secret(timeout=20)
            print(asked.evidence[0])
            await session.answer("correct horse")
            print((await session.wait_for(rb"\d+ letters", timeout=20)).text)
        await session.end()


if __name__ == "__main__":
    asyncio.run(main())
