# holdfast completion for bash: eval "$(holdfast completion bash)"
_holdfast() {
    local word=${COMP_WORDS[COMP_CWORD]} first=1 words=
    [[ ${COMP_WORDS[1]} == --as ]] && first=3
    local verb=${COMP_WORDS[first]}
    if ((COMP_CWORD == first)); then
        words="@VERBS@ --as --help --version"
    elif ((COMP_CWORD < first)); then
        words=$(holdfast operators --names 2>/dev/null)
    else
        case $verb in
@OPTIONS@
            completion) words="bash zsh fish" ;;
        esac
        case $verb in
            gate) ((COMP_CWORD == first + 1)) && words="@GATE@" ;;
            verify) [[ $word == -* ]] || words="@MODES@" ;;
            config) ((COMP_CWORD == first + 1)) && words="@CONFIG@" ;;
            @NAMING@)
                [[ $word == -* ]] || words=$(holdfast ls --names 2>/dev/null) ;;
        esac
        [[ $word == @* ]] &&
            words=$(holdfast operators --names 2>/dev/null | sed s/^/@/)
    fi
    # Not by `compgen -W`, which expands its words: $(…) in a name would be run.
    local one IFS=$' 	
'
    COMPREPLY=()
    while read -r -d ' ' one; do
        [[ $one == "$word"* && $one != *[!A-Za-z0-9._@/=-]* ]] &&
            COMPREPLY+=("$one")
    done <<< "${words//[[:space:]]/ } "
    return 0
}
complete -o default -F _holdfast holdfast
