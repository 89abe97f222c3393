"""The event loop: channels, links to holders and relays."""
