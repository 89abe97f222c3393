"""How programs talk to the keeper and to holders; nothing is imported here."""
