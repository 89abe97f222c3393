# Tells holdfast where commands begin and end, and how. Read by bash in the place
# of ~/.bashrc, which is read from here; nothing of the user's is changed.
#
# What the marks look like is in docs/spec/marks.md. The nonce comes through
# descriptor 3, is read before anything of the user's runs, and is not exported.

builtin unset -v __holdfast_nonce
{ IFS= builtin read -r __holdfast_nonce <&3; } 2>/dev/null
exec 3<&- # behind `builtin` it would be open again
builtin declare +x __holdfast_nonce
__holdfast_last= __holdfast_told=

# Everything below is defined before an alias of the user could change it.

__holdfast_mark() {
    builtin printf '\e]7077;%s;%s\e\\' "$__holdfast_nonce" "$1" >/dev/tty
}

__holdfast_escape() { # text, as bytes, into __holdfast_text
    local LC_ALL=C text="$1" code char hex
    hex='\x5c' text=${text//\\/"$hex"}
    if [[ $text == *[$'\x01'-$'\x1f'$'\x7f'$'\xc2;']* ]]; then
        for code in {1..31} 59 127 194; do
            builtin printf -v hex '%02x' "$code"
            builtin printf -v char "\\x$hex"
            hex="\\x$hex" text=${text//"$char"/"$hex"}
        done
    fi
    __holdfast_text=$text
}

# `local -` gives the user's options back at the end; what is traced in between
# would show the nonce. PS0 runs this in a subshell, so that it can set nothing.
__holdfast_started() {
    { local -; builtin set +xveu; } 2>/dev/null
    local LC_ALL=C HISTTIMEFORMAT= entry size=0 __holdfast_text=
    entry=$(builtin history 1)
    # The last line of the history is this one only if it was added just now.
    if [[ $entry =~ ^\ *([0-9]+)[\ *]\ (.*)$ && ${BASH_REMATCH[1]} == $(( __holdfast_last + 1 )) ]]; then
        entry=${BASH_REMATCH[2]} size=${#entry}
        __holdfast_escape "${entry:0:1024}"
    fi
    __holdfast_mark "C;$size;$__holdfast_text"
}

# Neither hook may fail: under `set -e` that would end the shell.
__holdfast_ended() {
    { local - status=$? options=$-; builtin set +xveu; } 2>/dev/null
    __holdfast_tell "$status"
    [[ $options == *e* ]] || builtin return "$status"
}

__holdfast_tell() {
    local __holdfast_text=
    local LC_ALL=C
    (( ${#PWD} > 1024 )) || __holdfast_escape "$PWD"
    __holdfast_mark "D;$1;$__holdfast_text"
    __holdfast_told=1
}

__holdfast_prompted() {
    { local - status=$? options=$-; builtin set +xveu; } 2>/dev/null
    # Whoever sets PROMPT_COMMAND at a prompt replaces the first hook, not this one.
    [[ $__holdfast_told ]] || __holdfast_tell "$status"
    # Until the first command, bash counts the line that comes, not the last one.
    local number='\!' is_first=$(( ! ${#__holdfast_last} ))
    __holdfast_told= __holdfast_last=$(( ${number@P} - is_first ))
    __holdfast_hook
    __holdfast_mark P
    [[ $options == *e* ]] || builtin return "$status"
}

__holdfast_hook() {
    local hook='${__holdfast_nonce:+$(__holdfast_started)}' one
    local -a kept
    PS0=${PS0//"$hook"/}
    # Where prompts are not expanded, it would be shown as it stands.
    builtin shopt -q promptvars && PS0+=$hook
    if (( BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501 )); then
        one=${PROMPT_COMMAND-}
        [[ $one == *__holdfast_prompted* ]] ||
            PROMPT_COMMAND="__holdfast_ended${one:+;$one};__holdfast_prompted"
        builtin return 0
    fi
    for one in "${PROMPT_COMMAND[@]}"; do
        [[ -z $one || $one == __holdfast_* ]] || kept+=("$one")
    done
    PROMPT_COMMAND=(__holdfast_ended "${kept[@]}" __holdfast_prompted)
}

if [[ -n ${HOLDFAST_LOGIN-} ]]; then
    builtin unset -v HOLDFAST_LOGIN
    if [[ -r /etc/profile ]]; then . /etc/profile; fi
    if [[ -r ~/.bash_profile ]]; then . ~/.bash_profile
    elif [[ -r ~/.bash_login ]]; then . ~/.bash_login
    elif [[ -r ~/.profile ]]; then . ~/.profile
    fi
elif [[ -r ~/.bashrc ]]; then
    . ~/.bashrc
fi

if [[ -n $__holdfast_nonce ]] && (( BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404 )); then
    __holdfast_hook
fi
