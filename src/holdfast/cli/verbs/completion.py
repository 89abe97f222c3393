"""`holdfast completion`: print a script that completes words in your shell."""

import argparse

from holdfast.cli.main import VERBS
from holdfast.cli.manual import describe

NAMING = (
    "attach",
    "end",
    "rename",
    "keep",
    "send",
    "keys",
    "answer",
    "run",
    "read",
    "screen",
    "log",
    "state",
    "graph",
    "blame",
    "wait",
    "resize",
    "who",
    "take",
    "ask",
    "give",
    "refuse",
    "drop",
    "seize",
    "freeze",
    "thaw",
    "approve",
    "deny",
    "grant",
    "revoke",
)
"""Verbs whose first argument is a session."""

GATE = ("pending", "approve", "deny", "test", "check", "apply", "example")
"""The actions of `gate`; a test compares them with the verb."""

OPTIONS: dict[str, tuple[str, ...]] = {
    "new": (
        "--detach",
        "--name",
        "--on",
        "--cwd",
        "--env",
        "--size",
        "--no-integration",
        "--exec-gate",
        "--timeout",
        "--json",
    ),
    "attach": ("--observe",),
    "ls": ("--all", "--json"),
    "end": ("--signal", "--leave-daemons"),
    "keep": ("--off",),
    "send": ("--enter", "--timeout", "--approval-timeout", "--json"),
    "keys": ("--timeout", "--approval-timeout", "--json"),
    "answer": ("--key-by-key", "--timeout", "--approval-timeout", "--json"),
    "run": (
        "--timeout",
        "--approval-timeout",
        "--key",
        "--expect",
        "--until-input",
        "--max",
        "--raw",
        "--json",
    ),
    "read": ("--from", "--max", "--json"),
    "screen": ("--cells", "--plain", "--json"),
    "log": (
        "--follow",
        "--json",
        "--since",
        "--actor",
        "--verify",
        "--export",
        "--force",
        "--strict",
        "--last",
        "--host",
        "--set-aside",
    ),
    "state": ("--json",),
    "graph": ("--all", "--port", "--open", "--json"),
    "blame": (
        "--var",
        "--alias",
        "--function",
        "--option",
        "--trap",
        "--path-entry",
        "--file",
        "--pid",
        "--port",
        "--line",
        "--json",
    ),
    "wait": ("--for", "--timeout", "--from", "--quiet-for", "--json"),
    "resize": ("--timeout", "--approval-timeout", "--json"),
    "who": ("--json",),
    "take": ("--json",),
    "ask": ("--timeout", "--wait", "--json"),
    "give": ("--json",),
    "refuse": ("--json",),
    "drop": ("--json",),
    "seize": ("--freeze", "--interrupt", "--json"),
    "freeze": ("--json",),
    "thaw": ("--json",),
    "gate": ("--as-operator", "--kind", "--yes", "--json", "--candidate"),
    "approve": ("--yes", "--json"),
    "deny": ("--yes", "--json"),
    "operators": ("--kind", "--force", "--json"),
    "grant": ("--for", "--json"),
    "revoke": ("--everywhere", "--json"),
    "invite": (
        "--as",
        "--kind",
        "--can",
        "--session",
        "--ttl",
        "--for",
        "--no-qr",
        "--list",
        "--withdraw",
        "--json",
    ),
    "join": ("--name", "--json"),
    "hosts": ("--no-check", "--json"),
    "status": ("--json",),
    "mcp": ("--http", "--token-file"),
    "watch": ("--json", "--everywhere", "--on", "--exec"),
    "up": ("--detach", "--install", "--relay", "--json"),
    "relay": (
        "--listen",
        "--cert",
        "--key",
        "--plain",
        "--behind-proxy",
        "--name",
        "--only-host",
        "--store",
        "--web",
        "--no-web",
        "--open-metrics",
        "--max-hosts",
        "--max-operators",
        "--max-per-key",
        "--max-per-host",
        "--max-hosts-per-address",
        "--max-unproven",
        "--max-unproven-per-address",
        "--heartbeat",
        "--slow-peer",
        "--drain",
        "--unit",
    ),
    "down": ("--end-sessions", "--json"),
    "upgrade": ("--json",),
    "doctor": ("--json",),
}
"""The options of each verb; a test compares them with the verbs."""

BASH = """\
# holdfast completion for bash: eval "$(holdfast completion bash)"
_holdfast() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} first=1 words=
    [[ ${{COMP_WORDS[1]}} == --as ]] && first=3
    local verb=${{COMP_WORDS[first]}}
    if ((COMP_CWORD == first)); then
        words="{verbs} --as --help --version"
    elif ((COMP_CWORD < first)); then
        words=$(holdfast operators --names 2>/dev/null)
    else
        case $verb in
{options}
            completion) words="bash zsh fish" ;;
        esac
        case $verb in
            gate) ((COMP_CWORD == first + 1)) && words="{gate}" ;;
            {naming})
                [[ $word == -* ]] || words=$(holdfast ls --names 2>/dev/null) ;;
        esac
        [[ $word == @* ]] &&
            words=$(holdfast operators --names 2>/dev/null | sed s/^/@/)
    fi
    # Not by `compgen -W`, which expands its words: $(…) in a name would be run.
    local one IFS=$' \t\n'
    COMPREPLY=()
    while read -r -d ' ' one; do
        [[ $one == "$word"* && $one != *[!A-Za-z0-9._@/=-]* ]] &&
            COMPREPLY+=("$one")
    done <<< "${{words//[[:space:]]/ }} "
    return 0
}}
complete -o default -F _holdfast holdfast
"""

ZSH = """\
#compdef holdfast
# holdfast completion for zsh: eval "$(holdfast completion zsh)"
_holdfast() {{
    local -a verbs sessions operators
    verbs=(
{verbs}
    )
    if [[ $words[2] == --as ]] && ((CURRENT == 3)); then
        operators=(${{(f)"$(holdfast operators --names 2>/dev/null)"}})
        compadd -a operators
        return
    fi
    if [[ $words[2] == --as ]]; then
        words=($words[1] $words[4,-1])
        ((CURRENT -= 2))
    fi
    if ((CURRENT == 2)); then
        _describe verb verbs
        return
    fi
    case $words[2] in
{options}
        completion) compadd bash zsh fish ;;
    esac
    case $words[2] in
        gate) ((CURRENT == 3)) && compadd {gate} ;;
        {naming})
            sessions=(${{(f)"$(holdfast ls --names 2>/dev/null)"}})
            compadd -a sessions ;;
    esac
    if [[ $words[CURRENT] == @* ]]; then
        operators=(@${{^${{(f)"$(holdfast operators --names 2>/dev/null)"}}}})
        compadd -a operators
    fi
}}
compdef _holdfast holdfast
"""

FISH = """\
# holdfast completion for fish: holdfast completion fish | source
complete -c holdfast -f
{verbs}
{options}
complete -c holdfast -n __fish_use_subcommand -l as -x \
-a '(holdfast operators --names 2>/dev/null)'
complete -c holdfast -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'
complete -c holdfast -n '__fish_seen_subcommand_from gate' -a '{gate}'
complete -c holdfast -n '__fish_seen_subcommand_from {naming}' \
-a '(holdfast ls --names 2>/dev/null)'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Print a script that completes verbs, options and session names in your"
        " shell. Names are looked up when you press Tab.",
        {
            'eval "$(holdfast completion bash)"': "in ~/.bashrc",
            'eval "$(holdfast completion zsh)"': "in ~/.zshrc, after compinit",
            "holdfast completion fish | source": "in config.fish",
        },
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell")


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell](), end="")
    return 0


def _bash() -> str:
    options = [
        f'            {verb}) words="{" ".join(found)} --help" ;;'
        for verb, found in OPTIONS.items()
    ]
    return BASH.format(
        verbs=" ".join(VERBS),
        options="\n".join(options),
        naming="|".join(NAMING),
        gate=" ".join(GATE),
    )


def _zsh() -> str:
    verbs = [f"        '{verb}:{_quoted(what)}'" for verb, what in VERBS.items()]
    options = [
        f"        {verb}) compadd -- {' '.join(found)} --help ;;"
        for verb, found in OPTIONS.items()
    ]
    return ZSH.format(
        verbs="\n".join(verbs),
        options="\n".join(options),
        naming="|".join(NAMING),
        gate=" ".join(GATE),
    )


def _fish() -> str:
    lead = "complete -c holdfast -n"
    verbs = [
        f"{lead} __fish_use_subcommand -a {verb} -d '{_quoted(what)}'"
        for verb, what in VERBS.items()
    ]
    options = [
        f"{lead} '__fish_seen_subcommand_from {verb}' -l {option.removeprefix('--')}"
        for verb, found in OPTIONS.items()
        for option in found
    ]
    return FISH.format(
        verbs="\n".join(verbs),
        options="\n".join(options),
        naming=" ".join(NAMING),
        gate=" ".join(GATE),
    )


def _quoted(text: str) -> str:
    return text.replace("'", "")
