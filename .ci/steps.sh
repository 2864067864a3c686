# To be sourced: steps that are timed, and steps that run beside others.
#
#   step NAME COMMAND…    runs the command, a program or a function
#   beside FUNCTION       runs a function of steps in the background
#   join                  waits for it, and shows what it printed
#
# The first failure ends the run. However it ends, a table says what each step took: seconds by the clock, and of processor time.

table=$(mktemp -d)
beside=
name=

step() {
    end_step
    count_processor
    name=$1 start=$SECONDS before=$processor
    printf '\n== %s\n' "$name"
    "${@:2}"
    end_step
}

# Writes the row of the step that runs, if one does.
end_step() {
    if [ -n "$name" ]; then
        count_processor
        printf '%7d %9d  %s\n' $((SECONDS - start)) $((processor - before)) "$name${1:-}" >>"$table/rows"
    fi
    name=
}

# Seconds of processor time that this shell's children took until they ended.
count_processor() {
    local file=$table/times.$BASHPID
    times >"$file"
    processor=$(awk -F '[ms ]+' 'NR == 2 { printf "%d", $1 * 60 + $2 + $3 * 60 + $4 }' "$file")
}

beside() {
    # A group of its own, so that it can be stopped with all that it started.
    set -m
    (
        trap 'end_step ": FAILED"' EXIT
        "$1"
    ) >"$table/beside" 2>&1 </dev/null &
    beside=$!
    set +m
}

join() {
    local status=0
    wait "$beside" || status=$?
    beside=
    cat "$table/beside"
    return "$status"
}

finish() {
    local status=$?
    if [ "$status" -ne 0 ]; then end_step ": FAILED"; fi
    if [ -n "$beside" ]; then
        kill -- "-$beside" 2>/dev/null || true
        cat "$table/beside"
    fi
    if [ -e "$table/rows" ]; then
        printf '\nseconds processor  step\n'
        cat "$table/rows"
        printf '%7d %9s  in all\n' "$SECONDS" ""
    fi
    rm -r "$table"
}
trap finish EXIT
