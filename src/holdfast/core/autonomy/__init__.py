"""What operators declare, what comes of it, and how much they may do unasked."""
