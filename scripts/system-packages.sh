#!/bin/sh
# The few system tools that a bare machine may lack: said first, then installed where that is possible.
set -eu

missing=""
need() { # need COMMAND PACKAGE WHAT-FOR
    command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || {
        missing="$missing $2"
        echo "shakedown needs $1 (package $2): $3"
    }
}
need ip iproute2 "makes the networks of the embedded nodes, and reads NICs and routes on them"
need unshare util-linux "makes the embedded nodes"
need ping iputils-ping "fabric reachability and MTU between nodes"
need ssh openssh-client "reaches nodes of a real deployment"
need sshd openssh-server "the suite's own tests attach to nodes over real ssh"
need pgrep procps "finds the raylet"
# vLLM's CPU build compiles small kernels at run time.
need g++ g++ "the embedded engine compiles a kernel when it starts"

[ -n "$missing" ] || exit 0
command -v apt-get >/dev/null 2>&1 || {
    echo "Install the packages above with this system's package manager, then run the command again." >&2
    exit 1
}
if [ "$(id -u)" -eq 0 ]; then sudo=""; else sudo="sudo"; fi
echo "Installing:$missing"
$sudo env DEBIAN_FRONTEND=noninteractive apt-get update -qq
# A server that only tests start must not be started by its installation.
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends $missing
