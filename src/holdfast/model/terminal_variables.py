"""Variables that speak of one terminal, and not of those a session is shown on later.

A session outlives the terminal it was started at, and others look at it too. A program
that finds these would talk to a tmux that is gone, or use what only one terminal can.
"""

OF_ONE_TERMINAL = frozenset(
    {
        *("TERM", "TERMCAP", "COLUMNS", "LINES", "WINDOWID"),
        *("TMUX", "TMUX_PANE", "STY", "WINDOW", "ZELLIJ", "ZELLIJ_PANE_ID"),
        *("TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERM_SESSION_ID", "VTE_VERSION"),
        *("KITTY_WINDOW_ID", "KITTY_PID", "KITTY_LISTEN_ON", "WEZTERM_PANE"),
    }
)

COLOURS = "COLORTERM"
TRUE_COLOURS = ("truecolor", "24bit")
"""What says that a terminal has all colours. The painter has them, the page too; so it
is passed on where the terminal at which a session is started says so."""
