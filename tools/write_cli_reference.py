"""Write docs/reference/cli.md from what `holdfast VERB --help` says.

python -m tools.write_cli_reference            write it
python -m tools.write_cli_reference --check    exit 1 if it is not what would be written
"""

import os
from pathlib import Path

from tools.generated import write

from holdfast.cli.main import GROUPS, Parser, module_of
from holdfast.cli.manual import Manual
from holdfast.cli.manual_pages import every_status

TARGET = Path(__file__).parent.parent / "docs" / "reference" / "cli.md"

INTRODUCTION = """\
# The command line

For people who look up a verb or an option; `holdfast VERB --help` shows the same.

`holdfast` alone opens [an overview](../howto/see-all-sessions.md) of all sessions.
NAME is a session's name, its id, or the start of its id.
`HOST/NAME` is a session on another host.
`holdfast --as OPERATOR VERB …` acts as another operator on this machine.
`tools/write_cli_reference.py` writes this page from the code.
"""


def text() -> str:
    """Return the whole page."""
    os.environ["COLUMNS"] = "90"
    parts = [INTRODUCTION, _statuses()]
    for title, verbs in GROUPS.items():
        parts.append(f"## {title[0].upper()}{title[1:]}\n")
        parts += [_verb(name) for name in verbs]
    return "\n".join(parts)


def _statuses() -> str:
    rows = [f"| {status} | {why} |" for status, why in every_status().items()]
    title = "Every verb may exit with these; a meaning that is special to a verb"
    lead = f"{title} is listed with it.\n"
    return "\n".join([lead, "| status | means |", "| --- | --- |", *rows, ""])


def _verb(name: str) -> str:
    parser = Parser(prog=f"holdfast {name}", formatter_class=Manual)
    module_of(name).add_arguments(parser)
    help_text = parser.format_help().rstrip()
    shared = {f"  {status:<4} {why}" for status, why in every_status().items()}
    lines = [line for line in help_text.splitlines() if line not in shared]
    if lines[-1] == "exit status:":
        lines = lines[:-2]
    return "\n".join([f"### {name}\n", "```text", *lines, "```", ""])


if __name__ == "__main__":
    raise SystemExit(write(lambda target: {target: text()}, TARGET))
