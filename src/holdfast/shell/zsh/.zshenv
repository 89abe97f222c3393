# Tells holdfast where commands begin and end, and how. Read by zsh in the place
# of ~/.zshenv, which is read from here; zsh finds the other files by itself,
# because ZDOTDIR is given back first. What the marks look like: docs/spec/marks.md.

if [[ -n ${HOLDFAST_ZDOTDIR+set} ]]; then
    ZDOTDIR=$HOLDFAST_ZDOTDIR
    builtin unset HOLDFAST_ZDOTDIR
else
    builtin unset ZDOTDIR
fi
builtin unset __holdfast_nonce
{ IFS= builtin read -r -u 3 __holdfast_nonce } 2>/dev/null
exec 3<&-
builtin typeset -g +x __holdfast_nonce

__holdfast_mark() {
    builtin printf '\e]7077;%s;%s\e\\' "$__holdfast_nonce" "$1" >/dev/tty
}

__holdfast_escape() { # text, as bytes, into REPLY
    builtin emulate -L zsh
    builtin setopt nomultibyte
    builtin local text=$1 code hex char
    hex='\x5c' char='\' text=${text//$char/$hex}
    for code in {1..31} 59 127 194; do
        builtin printf -v hex '%02x' $code
        builtin printf -v char "\\x$hex"
        hex="\\x$hex" text=${text//$char/$hex}
    done
    REPLY=$text
}

__holdfast_started() {
    builtin emulate -L zsh
    builtin setopt nomultibyte
    builtin local REPLY= size=${#1}
    __holdfast_escape "${1[1,1024]}"
    __holdfast_mark "C;$size;$REPLY"
}

__holdfast_ended() {
    builtin local held=$?
    builtin emulate -L zsh
    builtin setopt nomultibyte
    builtin local REPLY=
    (( ${#PWD} > 1024 )) || __holdfast_escape "$PWD"
    __holdfast_mark "D;$held;$REPLY"
    __holdfast_mark P
}

if [[ -o interactive && -n $__holdfast_nonce ]]; then
    builtin typeset -ga precmd_functions preexec_functions
    precmd_functions=(__holdfast_ended $precmd_functions)
    preexec_functions=(__holdfast_started $preexec_functions)
fi

if [[ -r ${ZDOTDIR:-$HOME}/.zshenv ]]; then
    builtin source ${ZDOTDIR:-$HOME}/.zshenv
fi
