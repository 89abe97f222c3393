"""System calls, without an event loop: terminals, descriptors, processes, paths."""
