#compdef holdfast
# holdfast completion for zsh: eval "$(holdfast completion zsh)"
_holdfast() {
    local -a verbs sessions operators
    verbs=(
@VERBS@
    )
    if [[ $words[2] == --as ]] && ((CURRENT == 3)); then
        operators=(${(f)"$(holdfast operators --names 2>/dev/null)"})
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
@OPTIONS@
        completion) compadd bash zsh fish ;;
    esac
    case $words[2] in
        gate) ((CURRENT == 3)) && compadd @GATE@ ;;
        verify) compadd @MODES@ ;;
        config)
            if ((CURRENT == 3)); then compadd @CONFIG@; else _files; fi ;;
        @NAMING@)
            sessions=(${(f)"$(holdfast ls --names 2>/dev/null)"})
            compadd -a sessions ;;
    esac
    if [[ $words[CURRENT] == @* ]]; then
        operators=(@${^${(f)"$(holdfast operators --names 2>/dev/null)"}})
        compadd -a operators
    fi
}
compdef _holdfast holdfast
