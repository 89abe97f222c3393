"""How does a verb describe itself?

Every `--help` has the same parts in the same order: what the verb does, its
options, examples, exit statuses. argparse writes the options; the rest is here.
"""

import argparse

STATUSES = {
    0: "it was done",
    64: "the request is wrong: no such session, no such option, not a terminal",
    70: "an error this version does not know",
    74: "the output could not be written",
    75: "not now: nothing answers, or the time ran out; trying later may help",
    76: "the other side broke the protocol",
    77: "not allowed, or not your turn",
    130: "interrupted from the keyboard",
    141: "whoever read the output stopped reading",
}
"""What every verb may exit with; the numbers under 128 are sysexits(3)'s."""


def describe(
    parser: argparse.ArgumentParser,
    what: str,
    examples: dict[str, str],
    statuses: dict[int | str, str] | None = None,
) -> None:
    """Give `parser` the text around its options."""
    width = max(map(len, examples))
    lines = [f"  {example:<{width}}  {why}" for example, why in examples.items()]
    parser.description = what
    parser.epilog = "\n".join(
        [
            "examples:",
            *lines,
            "",
            "exit status:",
            *(f"  {status:<4} {why}" for status, why in (statuses or {}).items()),
            *(
                f"  {status:<4} {why}"
                for status, why in STATUSES.items()
                if status not in (statuses or {})
            ),
        ]
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
