# holdfast completion for fish: holdfast completion fish | source
complete -c holdfast -f
@VERBS@
@OPTIONS@
complete -c holdfast -n __fish_use_subcommand -l as -x -a '(holdfast operators --names 2>/dev/null)'
complete -c holdfast -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'
complete -c holdfast -n '__fish_seen_subcommand_from gate' -a '@GATE@'
complete -c holdfast -n '__fish_seen_subcommand_from verify' -a '@MODES@'
complete -c holdfast -n '__fish_seen_subcommand_from config' -F -a '@CONFIG@'
complete -c holdfast -n '__fish_seen_subcommand_from @NAMING@' -a '(holdfast ls --names 2>/dev/null)'
