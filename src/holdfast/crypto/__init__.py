"""Keys, handshake, sealing: bytes in, bytes out, entropy handed in."""
