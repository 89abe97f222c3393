"""System calls, and no event loop: terminals, descriptors, processes, places."""
