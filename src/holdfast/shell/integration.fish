# Tells holdfast where commands begin and end, and how. Read by fish after the
# user's files. What the marks look like is in docs/spec/marks.md.
#
# fish can neither close a descriptor of its own nor let its `read` have one, but by
# its path: what its children inherit of the pipe is empty by then.

set --erase __holdfast_nonce __holdfast_key __holdfast_pipe
read --global --unexport --delimiter ' ' __holdfast_nonce __holdfast_key __holdfast_pipe </dev/fd/3 2>/dev/null
set --global __holdfast_number 0
set --global __holdfast_known # what was handed over last
set --global __holdfast_fields
set --global __holdfast_line # what is executed, or was last
set --global __holdfast_theirs (functions --names --all) # functions that are not told
set --global __holdfast_told # functions that are
# By its path: what is first in PATH may be anything.
set --global __holdfast_dd
for __holdfast_one in /usr/bin/dd /bin/dd
    test -x $__holdfast_one; and set __holdfast_dd $__holdfast_one; and break
end
set --erase __holdfast_one

function __holdfast_mark
    builtin printf '\e]7077;%s;%s\e\\\\' $__holdfast_nonce $argv[1] >/dev/tty
end

# Prints the size in bytes and the text; one that is too long is not told.
function __holdfast_escape
    set --local text (string escape --style=url -- "$argv[1]" | string collect)
    set --local size (string replace --all --regex '%..' x -- "$text" | string length)
    if test "$size" -gt 1024
        set size 0
        set text ''
    end
    builtin printf '%s;%s' $size (string replace --all '%' '\\x' -- "$text")
end

function __holdfast_started --on-event fish_preexec
    set __holdfast_line $argv[1]
    __holdfast_mark 'C;'(__holdfast_escape "$argv[1]")
end

function __holdfast_ended --on-event fish_postexec
    set --local held $status
    __holdfast_mark "D;$held;"(__holdfast_escape "$PWD" | string replace --regex '^\d+;' '')
end

# A line that makes no sense is not executed, and stays where it is: no prompt comes.
function __holdfast_refused --on-event fish_posterror
    __holdfast_mark "D;2;"(__holdfast_escape "$PWD" | string replace --regex '^\d+;' '')
end

function __holdfast_prompted --on-event fish_prompt
    set --local held $status
    set --local told
    __holdfast_bind
    # In a capsule: which branch this is, which may be another than at the last prompt.
    if test "$__holdfast_pipe" = /run/holdfast/state
        read --global --export HOLDFAST_BRANCH </run/holdfast/branch 2>/dev/null
    end
    if test -n "$__holdfast_key" -a -n "$__holdfast_dd" -a -p "$__holdfast_pipe"
        __holdfast_share
        set told ";$__holdfast_number"
    end
    __holdfast_mark "P$told"
    # At a line that was just given up, it still stands there for a moment.
    set --local line (commandline | string collect)
    if test -n "$line" -a "$argv[1]" != given-up
        __holdfast_mark 'L;'(__holdfast_escape "$line")
    end
    return $held
end

# The line was given up; fish shows its prompt again, and says so in no other way.
function __holdfast_cancelled --on-event fish_cancel
    __holdfast_prompted given-up
end

# The answer to a key that no keyboard has: what stands on the line now.
function __holdfast_buffer
    set --local line (commandline | string collect)
    if test -n "$line"
        __holdfast_mark 'L;'(__holdfast_escape "$line")
    else
        __holdfast_mark 'B;0;'
    end
end

function __holdfast_bind
    for __holdfast_one in default insert
        builtin bind --mode $__holdfast_one \e\[7077~ __holdfast_buffer
    end 2>/dev/null
end

# ── what is set in this shell ──────────────────────────────────────────────
# docs/spec/shell-state.md. Only where it differs from the last time, or is asked
# for by the pipe's mode, a program hands it over, and that does not wait: fish
# itself can neither open a pipe that nobody reads, nor give up.

function __holdfast_share
    set __holdfast_fields l
    __holdfast_variables
    __holdfast_functions
    for __holdfast_one in (abbr --show 2>/dev/null)
        set --append __holdfast_fields a(string replace --regex '^abbr -a (-- )?(\S+).*' '$2' -- $__holdfast_one)=$__holdfast_one
    end
    test -x "$__holdfast_pipe" -o "$__holdfast_fields" != "$__holdfast_known"
    or return 0
    set __holdfast_number (math $__holdfast_number + 1)
    set __holdfast_known "$__holdfast_fields"
    builtin printf '%s\0' "holdfast-state 1 $__holdfast_key $__holdfast_number" $__holdfast_fields \
        "end $__holdfast_key "(builtin count $__holdfast_fields) |
        $__holdfast_dd of=$__holdfast_pipe oflag=nonblock conv=nocreat,notrunc bs=65536 iflag=fullblock status=none 2>/dev/null
    # Nobody took it: next time it is new again.
    or set __holdfast_known
end

# Of what looks secret only the name is told, and the length where only the name
# looks so; of what is very long the first part. The words are in
# docs/spec/shell-state.md too.
function __holdfast_variables
    set --local __holdfast_names (set --names | string match --invert --regex '^(__holdfast_.*|HOLDFAST_BRANCH|_?__fish_.*|fish_color_.*|fish_pager_color_.*|fish_prompt_hg_.*|__kill_signals|_|status|pipestatus|history|argv|PWD|OLDPWD|dirprev|dirnext|CMD_DURATION|COLUMNS|LINES|status_generation|fish_kill_signal|fish_killring|fish_pid|last_pid|hostname|version|FISH_VERSION)$')
    set --local __holdfast_secret (string match --entire --regex '(?i)PASS|SECRET|TOKEN|KEY|CREDENTIAL|AUTH|COOKIE|PRIVATE|BEARER|JWT|DSN|SALT|SIGNATURE' -- $__holdfast_names)
    set --local __holdfast_exported (set --names --export)
    set --local __holdfast_said
    for __holdfast_one in $__holdfast_names
        if contains -- $__holdfast_one $__holdfast_secret
            set --append __holdfast_said w$__holdfast_one=(string length -- "$$__holdfast_one" | string join '')
        else if contains -- $__holdfast_one $__holdfast_exported
            set --append __holdfast_said "v$__holdfast_one=x $$__holdfast_one"
        else
            set --append __holdfast_said "v$__holdfast_one= $$__holdfast_one"
        end
        switch $__holdfast_one
            case CDPATH ENV HOME IFS PATH PYTHONPATH SHELL 'LD_*'
                set --append __holdfast_said "m$__holdfast_one=$$__holdfast_one"
        end
    end
    for __holdfast_one in $__holdfast_said
        # Neither a password in an address nor a key of several lines.
        switch "$__holdfast_one"
            case 'v*://*:*@*' 'v*-----BEGIN*'
                set __holdfast_one w(string split --max 1 --fields 1 = -- $__holdfast_one[1] | string sub --start 2)=0
        end
        set --append __holdfast_fields "$__holdfast_one"
    end
end

# Functions are told that came after us, but for those that fish reads from files of
# its own. One that was there, but for `cd`, is looked at only after a line that may
# have made it anew: to look at all of them would read every file there is.
function __holdfast_functions
    set --local __holdfast_names (functions --names --all)
    set --local __holdfast_asked
    if string match --quiet --regex '\b(source|eval|funced)\b|(^|[;&|]\s*)\. ' -- "$__holdfast_line"
        set __holdfast_asked $__holdfast_names
    else if string match --quiet --regex '\b(function|functions|alias)\b' -- "$__holdfast_line"
        set __holdfast_asked (string match --all --regex '[^\s;&|\'"=]+' -- "$__holdfast_line")
    end
    set __holdfast_line
    # The judge of a line must know where this one leads.
    set --append __holdfast_asked cd
    for __holdfast_one in $__holdfast_names
        contains -- $__holdfast_one $__holdfast_told; and continue
        if contains -- $__holdfast_one $__holdfast_theirs
            contains -- $__holdfast_one $__holdfast_asked; or continue
        end
        if string match --quiet -- "$__fish_data_dir/*" (functions --details $__holdfast_one)
            contains -- $__holdfast_one $__holdfast_theirs; or set --append __holdfast_theirs $__holdfast_one
        else
            set --append __holdfast_told $__holdfast_one
        end
    end
    for __holdfast_one in $__holdfast_told
        contains -- $__holdfast_one $__holdfast_names; or continue
        set --append __holdfast_fields "f$__holdfast_one="(functions --no-details $__holdfast_one | string collect)
    end
end

if test -z "$__holdfast_nonce"
    functions --erase __holdfast_started __holdfast_ended __holdfast_prompted \
        __holdfast_refused __holdfast_cancelled
end
