"""The event loop: channels, links and meetings on asyncio."""
