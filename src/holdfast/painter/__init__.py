"""The terminal emulator, in a process that may die without harm."""
