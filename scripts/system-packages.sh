#!/bin/sh
# The few system tools that a bare machine may lack: said first, then installed where that is possible.
# With `test` also what only the suite's own tests need.
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
need ssh openssh-client "reaches the nodes of a real deployment"
# vLLM's CPU build compiles small kernels at run time.
need g++ g++ "the embedded engine compiles a kernel when it starts"
if [ "${1:-}" = test ]; then
    need sshd openssh-server "the suite's own tests attach to nodes over real ssh"
    need sudo sudo "they read nodes as a user whom sudo trusts, and as one whom it does not"
    need nft nftables "they drop packets as a firewall would"
    need dockerd docker.io "they look into containers of a real Docker Engine"
fi

[ -n "$missing" ] || exit 0
if [ "$(id -u)" -eq 0 ]; then as_root=""; else as_root="sudo"; fi
if ! command -v apt-get >/dev/null 2>&1 || { [ -n "$as_root" ] && ! command -v sudo >/dev/null 2>&1; }; then
    echo "Install the packages named above with this system's package manager, then run the command again." >&2
    exit 1
fi

# A server that only tests start must not be started, or listen, because it was installed.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap '$as_root rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
    $as_root chmod 755 "$policy"
fi
echo "Installing:$missing"
$as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
# Some releases have docker's client in a package of its own.
case $missing in *docker.io*) ! apt-cache show docker-cli >/dev/null 2>&1 || missing="$missing docker-cli" ;; esac
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
