"""Checks an exported logbook by itself, from its specification alone."""

import hashlib
import json


def chain(book: bytes) -> tuple[int, str]:
    """Return how many entries a book has, and the first thing wrong with it, or ''."""
    lines = book.split(b"\n")
    try:
        parsed = [json.loads(line) for line in lines if line]
        header, *entries, head = parsed
    except ValueError:
        return 0, "it is not made of lines of JSON"
    genesis = f"holdfast logbook 1\n{header.get('session')}"
    before = hashlib.sha256(genesis.encode()).hexdigest()
    for index, entry in enumerate(entries):
        if entry.get("index") != index:
            return len(entries), f"entry {index} is missing"
        if entry.get("prev") != before:
            return len(entries), f"entry {index} does not follow the one before it"
        before = hashlib.sha256(lines[index + 1]).hexdigest()
    if header.get("count") != len(entries) or head.get("head") != len(entries) - 1:
        return len(entries), "its end is missing"
    if head.get("hash") != before:
        return len(entries), "its head is of another book"
    return len(entries), ""
