# Tells holdfast where commands begin and end, and how. Read by fish after the
# user's files. What the marks look like is in docs/spec/marks.md.
#
# fish cannot close a descriptor of its own: what its children inherit of the
# pipe is empty by then.

set --erase __holdfast_nonce
read --global --unexport __holdfast_nonce <&3 2>/dev/null

function __holdfast_mark
    printf '\e]7077;%s;%s\e\\\\' $__holdfast_nonce $argv[1] >/dev/tty
end

# Prints the size in bytes and the text; one that is too long is not told.
function __holdfast_escape
    set --local text (string escape --style=url -- "$argv[1]" | string collect)
    set --local size (string replace --all --regex '%..' x -- "$text" | string length)
    if test "$size" -gt 1024
        set size 0
        set text ''
    end
    printf '%s;%s' $size (string replace --all '%' '\\x' -- "$text")
end

function __holdfast_started --on-event fish_preexec
    __holdfast_mark 'C;'(__holdfast_escape "$argv[1]")
end

function __holdfast_ended --on-event fish_postexec
    set --local held $status
    __holdfast_mark "D;$held;"(__holdfast_escape "$PWD" | string replace --regex '^\d+;' '')
end

function __holdfast_prompted --on-event fish_prompt
    __holdfast_mark P
end

if test -z "$__holdfast_nonce"
    functions --erase __holdfast_started __holdfast_ended __holdfast_prompted
end
