#!/bin/sh
# Drives `tgm browse` in tmux by keys, and looks at the screen.
#
# Usage: browse.sh TGM DATA    (DATA: the folder with the corpus)
# Exit code 0: all is as it should be; 1: a screen lacks something, which is printed; 77: there is no tmux.
set -eu
tgm=$1 data=$2
command -v tmux >/dev/null || { echo "skipped: there is no tmux"; exit 77; }
folder=$(mktemp -d)
socket=$folder/socket
tmux() { command tmux -f /dev/null -S "$socket" "$@"; }
trap 'tmux kill-server 2>/dev/null || true; rm -rf "$folder"' EXIT
cp "$data/multi/three.tgm" "$folder/three.tgm"
cp "$data/realistic/surface-181x360.tgm" "$folder/field.tgm"
# A byte of a payload changes, so the digest is wrong.
cp "$folder/field.tgm" "$folder/damaged.tgm"
printf '\377\377\377' | dd of="$folder/damaged.tgm" bs=1 seek=20000 conv=notrunc 2>/dev/null
{ cat "$folder/three.tgm"; printf junk; } > "$folder/lost.tgm"
cd "$folder"

screen() { tmux capture-pane -p -t browse; }
# Waits for a text on the screen.
sees() {
    for _ in $(seq 400); do
        screen | grep -qF -- "$1" && return
        sleep 0.05
    done
    echo "the screen lacks: $1"
    screen
    exit 1
}
lacks() {
    for _ in $(seq 400); do
        screen | grep -qF -- "$1" || return 0
        sleep 0.05
    done
    echo "the screen still has: $1"
    screen
    exit 1
}
keys() { tmux send-keys -t browse "$@"; }
# A shell whose terminal the tool uses, so that the terminal is seen after its end.
tmux new-session -d -s browse -x 100 -y 30 "env TERM=screen-256color PS1='shell> ' sh"
sees 'shell>'
keys "$tgm browse three.tgm field.tgm; echo ended \$?" Enter
sees 'three.tgm (1 of 2): 3 messages'
sees 'objects of message 0'
sees 'min '
keys Down
sees 'objects of message 1'
keys Home
sees 'objects of message 0'
keys End
sees 'objects of message 2'
keys g
sees 'go to message:'
keys 1 Enter
sees 'objects of message 1'
keys / ; keys -l 'step=2' ; keys Enter
sees 'objects of message 2'
keys / ; keys -l 'step=9' ; keys Enter
sees 'no message matches'
keys Tab Tab
sees 'metadata of message 2, object 0'
keys Tab
sees 'frames of message 2'
sees 'NTensorFrame'
keys '?'
sees 'next pane, pane before'
keys Escape
lacks 'next pane, pane before'
keys '>'
sees 'field.tgm (2 of 2): 1 messages'
sees '2t: 2 metre temperature'
keys Right
sees 'picture of object 1'
sees 'tp: Total precipitation'
tmux resize-window -t browse -x 60 -y 20
sees 'field.tgm (2 of 2)'
tmux resize-window -t browse -x 100 -y 30
keys q
sees 'ended 0'
# The screen before is back.
sees 'shell>'
lacks 'field.tgm (2 of 2)'
keys "clear; $tgm browse damaged.tgm; echo ended \$?" Enter
sees 'hash mismatch'
keys C-c
sees 'ended 0'
keys "clear; $tgm browse lost.tgm; echo ended \$?" Enter
sees 'lost.tgm: 3 messages, 4 bytes belong to no message'
keys q
sees 'ended 0'
# A signal leaves a terminal that echoes what is typed.
keys "clear; $tgm browse field.tgm & pid=\$!; (sleep 2; kill \$pid) & fg %1" Enter
sees 'picture of object 0'
sees 'shell>'
keys 'stty -a' Enter
sees ' icanon'
keys "clear; NO_COLOR=1 $tgm browse field.tgm" Enter
sees 'min '
if tmux capture-pane -e -p -t browse | grep -q '\[[0-9;]*[34]8;'; then
    echo "there are colours despite NO_COLOR"
    exit 1
fi
keys q
# What is typed before its end would be keys of the tool.
sees 'shell>'
keys "clear; TERM=dumb $tgm browse field.tgm; echo ended \$?" Enter
sees 'ended 1'
sees 'TERM is dumb'
echo "all screens are right"
