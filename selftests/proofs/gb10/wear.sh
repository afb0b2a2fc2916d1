# Lays a tree of files over what a node shows, in the node's own mount namespace and nowhere else.
# Argument: TREE, a folder that stands for /. Folders of the node that lack something are covered by an overlay of the
# tree and themselves; files of /proc, which takes no overlay, are covered one by one.
set -eu
tree=$1
kept=$(mktemp -d)

# mount -n: /run/mount/utab belongs to the machine.
cover() { # the folder $1, and give back what was mounted inside it
    mount -n --rbind "$1" "$kept"
    mount -n -t overlay -o "lowerdir=$tree$1:$1" overlay "$1"
    last=//
    awk -v top="$1/" 'index($5, top) == 1 { print $5 }' /proc/self/mountinfo | sort -u | while read -r inner; do
        case $inner in "$last"/*) continue ;; esac
        last=$inner
        mount -n --rbind "$kept${inner#"$1"}" "$inner"
    done
    umount -n -l "$kept"
}

for top in sys dev etc boot usr/local/sbin usr/lib/modules; do
    [ ! -d "$tree/$top" ] || { mkdir -p "/$top"; cover "/$top"; }
done
if [ -d "$tree/proc" ]; then
    [ ! -d "$tree/proc/driver" ] || mount -n --bind "$tree/proc/driver" /proc/driver
    find "$tree/proc" -type f ! -path "$tree/proc/driver/*" | while read -r file; do
        mount -n --bind "$file" "${file#"$tree"}"
    done
fi
rmdir "$kept"
