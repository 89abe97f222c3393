# Tells holdfast where commands begin and end, and how. Read by zsh in the place
# of ~/.zshenv, which is read from here; zsh finds the other files by itself,
# because ZDOTDIR is given back first. What the marks look like: docs/spec/marks.md.

if [[ -n ${HOLDFAST_ZDOTDIR+set} ]]; then
    ZDOTDIR=$HOLDFAST_ZDOTDIR
    builtin unset HOLDFAST_ZDOTDIR
else
    builtin unset ZDOTDIR
fi
builtin unset __holdfast_nonce __holdfast_key __holdfast_pipe
{ IFS=' ' builtin read -r -u 3 __holdfast_nonce __holdfast_key __holdfast_pipe } 2>/dev/null
exec 3<&-
builtin typeset -g +x __holdfast_nonce __holdfast_key __holdfast_pipe
builtin typeset -g __holdfast_known= __holdfast_told=
builtin typeset -gi __holdfast_number=0

# Everything below is defined before an alias of the user could change it. What is
# traced would show the nonce, so tracing stops before it is named.

__holdfast_mark() {
    builtin printf '\e]7077;%s;%s\e\\' "$__holdfast_nonce" "$1" >/dev/tty
}

__holdfast_escape() { # text, as bytes, into REPLY
    local text=$1 code hex char
    hex='\x5c' char='\' text=${text//$char/$hex}
    if [[ $text == *[$'\x01'-$'\x1f'$'\x7f'$'\xc2;']* ]]; then
        for code in {1..31} 59 127 194; do
            builtin printf -v hex '%02x' $code
            builtin printf -v char "\\x$hex"
            hex="\\x$hex" text=${text//$char/$hex}
        done
    fi
    REPLY=$text
}

__holdfast_started() {
    { builtin emulate -L zsh; builtin setopt noxtrace noverbose noerrexit nomultibyte } 2>/dev/null
    local REPLY= size=${#1}
    __holdfast_hook
    __holdfast_escape "${1[1,1024]}"
    __holdfast_mark "C;$size;$REPLY"
}

# Neither hook may fail, nor change what the others see as the status.
__holdfast_ended() {
    { local held=$?; builtin emulate -L zsh
        builtin setopt noxtrace noverbose noerrexit nomultibyte } 2>/dev/null
    local REPLY=
    (( ${#PWD} > 1024 )) || __holdfast_escape "$PWD"
    __holdfast_mark "D;$held;$REPLY"
    builtin return 0
}

__holdfast_prompted() {
    # The options as they are, before ours take their place.
    { local __holdfast_options=${(kj.:.)options[(R)on]}; builtin emulate -L zsh
        builtin setopt noxtrace noverbose noerrexit nomultibyte } 2>/dev/null
    __holdfast_hook
    __holdfast_branch 2>/dev/null
    __holdfast_share 2>/dev/null
    __holdfast_mark "P${__holdfast_told:+;$__holdfast_told}"
    builtin return 0
}

# What stands on a line that nobody has typed on: `print -z` and `push-line` do that.
__holdfast_standing() {
    { builtin emulate -L zsh; builtin setopt noxtrace noverbose noerrexit nomultibyte } 2>/dev/null
    local REPLY=
    if [[ $CONTEXT == start && -n $BUFFER ]]; then
        __holdfast_escape "${BUFFER[1,1024]}"
        __holdfast_mark "L;${#BUFFER};$REPLY"
    fi
}

# The user's own widget runs with the user's own options.
__holdfast_lined() {
    __holdfast_standing
    (( ! ${+widgets[__holdfast_their_line_init]} )) ||
        builtin zle __holdfast_their_line_init -- "$@"
}

# The answer to a key that no keyboard has: what stands on the line now. What is typed
# at a line that goes on (PS2) is no whole line: that something stands there is all.
__holdfast_buffer() {
    { builtin emulate -L zsh; builtin setopt noxtrace noverbose noerrexit nomultibyte } 2>/dev/null
    local REPLY=
    if [[ $CONTEXT == start ]]; then
        __holdfast_escape "${BUFFER[1,1024]}"
        __holdfast_mark "B;${#BUFFER};$REPLY"
    else
        __holdfast_mark 'L;0;'
    fi
}

# If one of the lists is replaced, we are added again after the next command.
__holdfast_hook() {
    typeset -ga precmd_functions preexec_functions
    local -a kept=(${precmd_functions:#__holdfast_*})
    kept=(__holdfast_ended $kept __holdfast_prompted)
    [[ "$kept" == "$precmd_functions" ]] || precmd_functions=($kept)
    kept=(__holdfast_started ${preexec_functions:#__holdfast_*})
    [[ "$kept" == "$preexec_functions" ]] || preexec_functions=($kept)
    builtin zle -N __holdfast_buffer
    local one
    for one in main emacs viins vicmd; do
        builtin bindkey -M $one '\e[7077~' __holdfast_buffer
    done 2>/dev/null
    [[ ${widgets[zle-line-init]-} == user:__holdfast_lined ]] && builtin return 0
    (( ! ${+widgets[zle-line-init]} )) || builtin zle -A zle-line-init __holdfast_their_line_init
    builtin zle -N zle-line-init __holdfast_lined
}

# In a capsule: which branch this is, which may be another than at the last prompt.
__holdfast_branch() {
    [[ $__holdfast_pipe == /run/holdfast/state && ${(t)HOLDFAST_BRANCH} != *readonly* ]] ||
        builtin return 0
    builtin read -r HOLDFAST_BRANCH </run/holdfast/branch && builtin typeset -gx HOLDFAST_BRANCH
    builtin return 0
}

# ── what is set in this shell ──────────────────────────────────────────────
# docs/spec/shell-state.md. All of it is read without a subshell; only where it
# differs from the last time, or is asked for by the pipe's mode, one hands it over.

__holdfast_share() { # leaves the number of the message in __holdfast_told
    __holdfast_told=
    [[ -n $__holdfast_key && -p $__holdfast_pipe ]] || builtin return 0
    local __holdfast_now __holdfast_answer= __holdfast_fd=
    local -a __holdfast_fields=()
    __holdfast_collect
    # No text has a NUL: fields end with one.
    __holdfast_fields=("${(@)__holdfast_fields//$'\0'/\\0}")
    __holdfast_now=${(pj:\0:)__holdfast_fields}
    if [[ -x $__holdfast_pipe || $__holdfast_now != "$__holdfast_known" ]]; then
        __holdfast_number+=1
        # The reader of the pipe may have died or been stopped: then the
        # writer is given up, and the prompt comes all the same.
        exec {__holdfast_fd}< <(__holdfast_write)
        if builtin read -r -t 1 -u $__holdfast_fd __holdfast_answer; then
            __holdfast_known=$__holdfast_now
        else
            __holdfast_known=
            builtin kill -9 ${sysparams[procsubstpid]}
        fi
        exec {__holdfast_fd}<&-
    fi
    __holdfast_told=$__holdfast_number
}

__holdfast_write() {
    builtin printf '%s\0' "holdfast-state 1 $__holdfast_key $__holdfast_number" \
        "${__holdfast_fields[@]}" \
        "end $__holdfast_key ${#__holdfast_fields}" 1<>$__holdfast_pipe
    builtin printf 'taken\n'
}

# Of what looks secret only the name and the length go into the fields; of what is
# very long as well. The words are in docs/spec/shell-state.md too. The user's own
# variables may have any name, so ours are out of their way.
__holdfast_collect() {
    local __holdfast_one __holdfast_type __holdfast_text
    for __holdfast_one __holdfast_type in "${(@kv)parameters}"; do
        case $__holdfast_one in
        __holdfast_* | HOLDFAST_BRANCH | [^A-Za-z_]* | _ | RANDOM | *SECONDS | EPOCHREALTIME | HISTCMD | LINENO | \
            TTYIDLE | PWD | OLDPWD | COLUMNS | LINES | epochtime | status | pipestatus | argv | ARGC | \
            options | ZSH_SUBSHELL | ERRNO | TRY_BLOCK_* | MATCH | MBEGIN | MEND | match | mbegin | \
            mend | REPLY | reply | sysparams | errnos | path | fpath | cdpath | manpath) builtin continue ;;
        esac
        case $__holdfast_type in
        *hideval* | *local* | undefined) builtin continue ;;
        association*) __holdfast_text=${(@kvqqP)__holdfast_one} ;;
        array*) __holdfast_text=${(@qqP)__holdfast_one} ;;
        *) __holdfast_text=${(P)__holdfast_one} ;;
        esac
        if [[ ${(U)__holdfast_one} == *(PASS|SECRET|TOKEN|KEY|CREDENTIAL|AUTH|COOKIE|PRIVATE|BEARER|JWT|DSN|SALT|SIGNATURE)* ||
            $__holdfast_text == *(://*:*@|-----BEGIN)* || ${#__holdfast_text} -gt 65536 ]]; then
            __holdfast_fields+=("w$__holdfast_one=${#__holdfast_text}")
            builtin continue
        fi
        __holdfast_fields+=("v$__holdfast_one=$__holdfast_type $__holdfast_text")
        case $__holdfast_one in
        CDPATH | ENV | FPATH | HOME | IFS | PATH | PROMPT_COMMAND | PS0 | PS1 | PS4 | \
            PYTHONPATH | SHELL | ZDOTDIR | LD_*)
            __holdfast_fields+=("m$__holdfast_one=$__holdfast_text") ;;
        esac
    done
    for __holdfast_one __holdfast_text in "${(@kv)aliases}" "${(@kv)galiases}" "${(@kv)saliases}"; do
        __holdfast_fields+=("a$__holdfast_one=$__holdfast_text")
    done
    for __holdfast_one __holdfast_text in "${(@kv)functions}"; do
        __holdfast_fields+=("f$__holdfast_one=$__holdfast_text")
    done
    __holdfast_fields+=("O$__holdfast_options")
}

if [[ -o interactive && -n $__holdfast_nonce ]]; then
    builtin zmodload zsh/parameter zsh/system 2>/dev/null || __holdfast_key=
    builtin zmodload zsh/zleparameter zsh/zle 2>/dev/null
    __holdfast_hook
fi

if [[ -r ${ZDOTDIR:-$HOME}/.zshenv ]]; then
    builtin source ${ZDOTDIR:-$HOME}/.zshenv
fi
