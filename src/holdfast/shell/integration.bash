# Tells holdfast where commands begin and end, and how. Read by bash in the place
# of ~/.bashrc, which is read from here; nothing of the user's is changed.
#
# What the marks look like is in docs/spec/marks.md. The nonce comes through
# descriptor 3, is read before anything of the user's runs, and is not exported.

builtin unset -v __holdfast_nonce __holdfast_key __holdfast_pipe
{ IFS=' ' builtin read -r __holdfast_nonce __holdfast_key __holdfast_pipe <&3; } 2>/dev/null
exec 3<&- # behind `builtin` it would be open again
builtin declare +x __holdfast_nonce __holdfast_key __holdfast_pipe
__holdfast_last= __holdfast_told= __holdfast_known= __holdfast_number=0 __holdfast_options=
# In PS2: shows nothing, and leaves word that a line goes on.
__holdfast_more= __holdfast_goes_on='${__holdfast_number:__holdfast_more=1:0}'

# Everything below is defined before an alias of the user could change it. Locals
# have names of ours: what the user calls the same is told to holdfast too.

__holdfast_mark() {
    builtin printf '\e]7077;%s;%s\e\\' "$__holdfast_nonce" "$1" >/dev/tty
}

__holdfast_escape() { # text, as bytes, into __holdfast_text
    # With a read-only LC_ALL, letters are reported as they are.
    [[ ${LC_ALL@a} == *r* ]] || local LC_ALL=C
    local text="$1" code char hex
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

# Bound to a key that nobody but holdfast presses: says what stands on the line. Its
# argument is $_, which is thereby what it was; so is $?. Of a line that goes on from
# another one nothing is told but that.
__holdfast_buffer() (
    __holdfast_status=$?
    [[ $- == *e* ]] && __holdfast_status=0 # It would end the shell.
    builtin set +axveu
    builtin trap - DEBUG ERR RETURN
    builtin shopt -u nocasematch
    if [[ -z $__holdfast_more && $PS2 == *"$__holdfast_goes_on"* && -v READLINE_LINE ]] &&
        builtin shopt -q promptvars; then
        [[ ${LC_ALL@a} == *r* ]] || LC_ALL=C
        __holdfast_escape "${READLINE_LINE:0:1024}"
        __holdfast_mark "B;${#READLINE_LINE};$__holdfast_text"
    else
        __holdfast_mark 'L;0;'
    fi
    builtin exit "$__holdfast_status"
)

# `local -` gives the user's options back at the end; what is traced in between
# would show the nonce. PS0 runs this in a subshell, so that it can set nothing.
__holdfast_started() {
    { local -; builtin set +axveu; } 2>/dev/null
    [[ ${LC_ALL@a} == *r* ]] || local LC_ALL=C
    [[ ${HISTTIMEFORMAT@a} == *r* ]] || local HISTTIMEFORMAT=
    local entry size=0 __holdfast_text=
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
    { local - __holdfast_status=$? __holdfast_flags=$-; builtin set +axveu; } 2>/dev/null
    __holdfast_tell "$__holdfast_status"
    [[ $__holdfast_flags == *e* ]] || builtin return "$__holdfast_status"
}

__holdfast_tell() {
    local __holdfast_text=
    # In letters, of which there are never more than bytes.
    (( ${#PWD} > 1024 )) || __holdfast_escape "$PWD"
    __holdfast_mark "D;$1;$__holdfast_text"
    __holdfast_told=1
}

# Given the status, and what a subshell has printed where traps can be seen: in a
# function some cannot. It prints no more than those while it would be traced.
__holdfast_prompted() {
    { local - __holdfast_flags=$-; __holdfast_options=$SHELLOPTS:$BASHOPTS
        builtin set +axveu; } 2>/dev/null
    # Setting PROMPT_COMMAND at a prompt replaces the first hook, not this one.
    [[ $__holdfast_told ]] || __holdfast_tell "$1"
    __holdfast_more= __holdfast_told= __holdfast_last=$(( ${HISTCMD:-0} - 1 ))
    __holdfast_hook
    __holdfast_branch
    __holdfast_share "$2"
    __holdfast_mark "P${__holdfast_told:+;$__holdfast_told}"
    __holdfast_told=
    [[ $__holdfast_flags == *e* ]] || builtin return "$1"
}

# In a capsule: which branch this is, which may be another than at the last prompt.
__holdfast_branch() {
    [[ $__holdfast_pipe == /run/holdfast/state && ${HOLDFAST_BRANCH@a} != *r* ]] || builtin return 0
    { builtin read -r HOLDFAST_BRANCH </run/holdfast/branch; } 2>/dev/null &&
        builtin export HOLDFAST_BRANCH
    builtin return 0
}

# ── what is set in this shell ──────────────────────────────────────────────
# docs/spec/shell-state.md. One subshell prints everything; only where that differs
# from the last time, or is asked for by the pipe's mode, others hand it over.

__holdfast_share() { # leaves the number of the message in __holdfast_told
    [[ $__holdfast_key && -p $__holdfast_pipe ]] || builtin return 0
    local __holdfast_now=$1
    if [[ $__holdfast_flags == *x* ]]; then
        __holdfast_now+=$(__holdfast_print 2>/dev/null)
        # The number of the line that called us cannot be unset, and grows.
        __holdfast_now=${__holdfast_now/"]=\"${BASH_LINENO[1]}\")"/)}
    fi
    __holdfast_now+=$'\1'$__holdfast_key$__holdfast_options
    if [[ -x $__holdfast_pipe ]] || ! __holdfast_is_known; then
        __holdfast_number=$(( __holdfast_number + 1 ))
        __holdfast_known=$__holdfast_now
        # Nobody took it: next time it is new again.
        [[ $(__holdfast_hand_over 2>/dev/null) == taken ]] || __holdfast_known=
    fi
    __holdfast_told=$__holdfast_number
}

# Byte by byte, and never as a pattern: on a text of this size that takes several
# times as long, and every prompt waits for it.
__holdfast_is_known() {
    [[ ${LC_ALL@a} == *r* ]] || local LC_ALL=C
    (( ${#__holdfast_now} == ${#__holdfast_known} )) &&
        builtin test "$__holdfast_now" = "$__holdfast_known"
}

# What is different at every prompt is unset first, here where nobody misses it. Run
# at a subshell's exit, because only there no number of a line is part of the state.
__holdfast_print() {
    [[ $- == *x* || -z $__holdfast_key ]] && builtin return
    builtin set -- "$__holdfast_key"
    builtin trap - DEBUG ERR RETURN
    builtin unset -v "${!__holdfast_@}" BASHPID BASH_COMMAND BASH_REMATCH COLUMNS DIRSTACK \
        EPOCHREALTIME EPOCHSECONDS HISTCMD HOLDFAST_BRANCH LINENO LINES OLDPWD OPTARG PIPESTATUS PWD \
        RANDOM SECONDS SRANDOM
    builtin printf '\1%s' "$1"
    builtin declare -p
    builtin printf '\1%s' "$1"
    builtin declare -f
    builtin printf '\1%s' "$1"
    builtin alias -p
} 2>/dev/null

# Runs in a subshell. The reader of the pipe may have died or been stopped:
# then the writer is given up, and the prompt comes all the same.
__holdfast_hand_over() {
    local __holdfast_answer
    builtin read -r -t 1 __holdfast_answer < <(__holdfast_write)
    builtin printf '%s' "$__holdfast_answer"
    [[ $__holdfast_answer ]] || builtin kill -9 $!
}

__holdfast_write() {
    builtin trap - DEBUG ERR RETURN
    builtin set -f
    builtin shopt -u nocasematch
    [[ ${IFS@a}${LC_ALL@a} == *r* ]] && builtin return
    local one
    local -a fields=() lines=() parts=()
    for one in BASH_ENV CDPATH ENV GLOBIGNORE HOME IFS PATH PS0 PS1 PS4 PYTHONPATH SHELL "${!LD_@}"; do
        [[ -v $one ]] && fields+=("m$one=${!one}")
    done
    fields+=("mPROMPT_COMMAND=${PROMPT_COMMAND[*]}" "O$__holdfast_options")
    LC_ALL=C IFS=$'\1'
    # Cutting long texts by patterns takes bash seconds; splitting does not.
    for one in $__holdfast_now; do
        if [[ $one == "$__holdfast_key"* || ${#parts[@]} == 0 ]]; then
            parts+=("${one#"$__holdfast_key"}")
        else
            parts[-1]+=$'\1'$one # a text with such a byte in it
        fi
    done
    # Without a trap the first part is empty, and is not there.
    [[ $__holdfast_now == $'\1'* ]] && parts=('' "${parts[@]}")
    fields+=("T${parts[0]}" "F${parts[2]}") IFS=$'\n'
    lines=(${parts[1]})
    __holdfast_filter
    {
        builtin printf '%s\0' "holdfast-state 1 $__holdfast_key $__holdfast_number" "${fields[@]}"
        if (( ${#BASH_ALIASES[@]} )); then
            builtin printf 'k%s\0' "${!BASH_ALIASES[@]}"
            builtin printf 't%s\0' "${BASH_ALIASES[@]}"
        fi
        builtin printf 'end %s %s\0' "$__holdfast_key" $(( ${#fields[@]} + 2 * ${#BASH_ALIASES[@]} ))
    } 1<>"$__holdfast_pipe"
    builtin printf 'taken\n'
}

# Of what looks secret only the name and the length go into the fields; of what is
# very long as well. The words are in docs/spec/shell-state.md too.
__holdfast_filter() {
    local line called is_withheld=
    for line in "${lines[@]}"; do
        if [[ $line != 'declare -'* ]]; then
            # An older bash prints a value of several lines as it is.
            [[ $is_withheld ]] || fields[-1]+=$'\n'$line
            continue
        fi
        called=${line#declare -* } called=${called%%=*} is_withheld=
        case ${called^^} in
        *PASS* | *SECRET* | *TOKEN* | *KEY* | *CREDENTIAL* | *AUTH* | *COOKIE* | *PRIVATE* | \
            *BEARER* | *JWT* | *DSN* | *SALT* | *SIGNATURE*) is_withheld=1 ;;
        esac
        case $line in
        *://*:*@* | *-----BEGIN*) is_withheld=1 ;;
        esac
        if [[ $is_withheld ]] || (( ${#line} > 65536 )); then
            # Without its quotes.
            is_withheld=1 line=${line#*=} fields+=("w$called=$(( ${#line} - 2 ))")
        else
            fields+=("d$line")
        fi
    done
}

# If one of the two is read-only, it stays as it is.
__holdfast_hook() {
    local hook='${__holdfast_nonce:+$(__holdfast_started)}' one
    local last='__holdfast_prompted $? "$(builtin trap -p; builtin trap __holdfast_print EXIT)"'
    local -a kept
    for one in emacs vi-insert vi-command; do
        builtin bind -m "$one" -x '"\e[7077~": \__holdfast_buffer "$_"'
    done 2>/dev/null
    if [[ ${PS2@a} != *r* && ${PS2-} != *"$__holdfast_goes_on"* ]]; then
        PS2+=$__holdfast_goes_on
    fi
    if [[ ${PS0@a} != *r* ]]; then
        PS0=${PS0//"$hook"/}
        # Where prompts are not expanded, it would be shown as it stands.
        builtin shopt -q promptvars && PS0+=$hook
    fi
    [[ ${PROMPT_COMMAND@a} == *r* ]] && builtin return 0
    if (( BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501 )); then
        one=${PROMPT_COMMAND-}
        [[ $one == *__holdfast_prompted* ]] ||
            PROMPT_COMMAND="__holdfast_ended${one:+;$one};$last"
        builtin return 0
    fi
    for one in "${PROMPT_COMMAND[@]}"; do
        [[ -z $one || $one == __holdfast_* ]] || kept+=("$one")
    done
    PROMPT_COMMAND=(__holdfast_ended "${kept[@]}" "$last")
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
