"""What processes need from the world, as Protocols."""
