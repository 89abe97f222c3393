"""What a capsule is made of, decided without touching anything."""
