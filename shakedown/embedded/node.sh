# Turns a fresh set of namespaces into a node: own /run, /tmp, /var/tmp, /var/log, /dev/shm, /sys, /etc/hosts, and the
# engine, the model and the plugin under neutral paths. Everything is private to this mount namespace and goes with it.
# Arguments: STAGE ENGINE PLUGIN MODEL ETC INIT NAME; STAGE is an empty folder, ETC holds hosts and resolv.conf.
set -eu
stage=$1 engine=$2 plugin=$3 model=$4 etc=$5 init=$6 name=$7

# mount -n throughout: /run/mount/utab goes away with the old /run.
bind_read_only() { mount -n --rbind "$1" "$2"; mount -n -o remount,bind,ro "$2"; }

mount -n -t tmpfs -o mode=755 tmpfs "$stage"
own=$stage/shakedown
mkdir -p "$own/engine" "$own/plugin" "$own/model" "$own/home" "$stage/cgroup" "$stage/lock"
bind_read_only "$engine" "$own/engine"
bind_read_only "$plugin" "$own/plugin"
bind_read_only "$model" "$own/model"
cp "$init" "$own/init.py"
[ ! -d "$engine/shakedown-cache" ] || cp -r "$engine/shakedown-cache" "$own/home/.cache"
mount -n --bind "$etc/hosts" /etc/hosts
# A resolver that answers nobody would let every look-up wait for its time-out; without one it fails at once.
case $(readlink -f /etc/resolv.conf) in
    /run/*) ;; # gone with the old /run
    *) mount -n --bind "$etc/resolv.conf" /etc/resolv.conf ;;
esac

# A sysfs of this network namespace, or /sys/class/net shows the NICs of the machine.
mount -n --rbind /sys/fs/cgroup "$stage/cgroup"
mount -n -t sysfs sysfs /sys
mount -n --move "$stage/cgroup" /sys/fs/cgroup
rmdir "$stage/cgroup"

mount -n --move "$stage" /run
for folder in /tmp /var/tmp /dev/shm; do mount -n -t tmpfs -o mode=1777 tmpfs "$folder"; done
mount -n -t tmpfs -o mode=755 tmpfs /var/log
mkdir /var/log/shakedown
cd /
exec env -i PATH="/run/shakedown/engine/bin:$PATH" LANG=C.UTF-8 \
    /run/shakedown/engine/bin/python -I -S /run/shakedown/init.py "$name"
