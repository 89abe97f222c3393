"""`holdfast completion`: print a script that completes words in your shell."""

import argparse

from holdfast.cli.main import VERBS
from holdfast.cli.manual import describe

NAMING = ("attach", "end", "rename", "keep", "send", "keys", "read", "wait", "resize")
"""Verbs whose first word is a session."""

OPTIONS: dict[str, tuple[str, ...]] = {
    "new": ("--detach", "--name", "--cwd", "--env", "--size", "--json"),
    "attach": ("--observe",),
    "ls": ("--json",),
    "end": ("--signal",),
    "keep": ("--off",),
    "send": ("--enter", "--timeout", "--json"),
    "keys": ("--timeout", "--json"),
    "read": ("--from", "--max", "--json"),
    "wait": ("--for", "--timeout", "--from", "--quiet-for", "--json"),
    "resize": ("--timeout", "--json"),
    "status": ("--json",),
    "tour": ("--json", "--seeds"),
}
"""What each verb takes; a test compares it with the verbs themselves."""

BASH = """\
# holdfast completion for bash: eval "$(holdfast completion bash)"
_holdfast() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} verb=${{COMP_WORDS[1]}} words=
    if ((COMP_CWORD == 1)); then
        words="{verbs} --help --version"
    else
        case $verb in
{options}
            completion) words="bash zsh fish" ;;
        esac
        case $verb in
            {naming})
                [[ $word == -* ]] || words=$(holdfast ls --names 2>/dev/null) ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _holdfast holdfast
"""

ZSH = """\
#compdef holdfast
# holdfast completion for zsh: eval "$(holdfast completion zsh)"
_holdfast() {{
    local -a verbs sessions
    verbs=(
{verbs}
    )
    if ((CURRENT == 2)); then
        _describe verb verbs
        return
    fi
    case $words[2] in
{options}
        completion) compadd bash zsh fish ;;
    esac
    case $words[2] in
        {naming})
            sessions=(${{(f)"$(holdfast ls --names 2>/dev/null)"}})
            compadd -a sessions ;;
    esac
}}
compdef _holdfast holdfast
"""

FISH = """\
# holdfast completion for fish: holdfast completion fish | source
complete -c holdfast -f
{verbs}
{options}
complete -c holdfast -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'
complete -c holdfast -n '__fish_seen_subcommand_from {naming}' \
-a '(holdfast ls --names 2>/dev/null)'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Print a script that completes verbs, options and the names of sessions in"
        " your shell. Names are asked for at the moment they are needed.",
        {
            'eval "$(holdfast completion bash)"': "in ~/.bashrc",
            'eval "$(holdfast completion zsh)"': "in ~/.zshrc, after compinit",
            "holdfast completion fish | source": "in config.fish",
        },
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell")


def run(options: argparse.Namespace) -> int:
    """Print it."""
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell](), end="")
    return 0


def _bash() -> str:
    options = [
        f'            {verb}) words="{" ".join(found)} --help" ;;'
        for verb, found in OPTIONS.items()
    ]
    return BASH.format(
        verbs=" ".join(VERBS), options="\n".join(options), naming="|".join(NAMING)
    )


def _zsh() -> str:
    verbs = [f"        '{verb}:{_quoted(what)}'" for verb, what in VERBS.items()]
    options = [
        f"        {verb}) compadd -- {' '.join(found)} --help ;;"
        for verb, found in OPTIONS.items()
    ]
    return ZSH.format(
        verbs="\n".join(verbs), options="\n".join(options), naming="|".join(NAMING)
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
        verbs="\n".join(verbs), options="\n".join(options), naming=" ".join(NAMING)
    )


def _quoted(text: str) -> str:
    return text.replace("'", "")
