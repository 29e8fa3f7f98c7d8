#!/bin/bash
# Makes a small Debian sid with rbw in it, once: chroot.sh DIRECTORY
set -euo pipefail
root=${1:?which directory}
[ -x "$root/usr/bin/rbw" ] && exit 0
command -v debootstrap > /dev/null || { echo "debootstrap is not installed" >&2; exit 75; }
[ "$(id -u)" = 0 ] || { echo "a chroot needs root" >&2; exit 75; }
echo "== Making a Debian sid in $root"
debootstrap --variant=minbase --include=rbw,ca-certificates sid "$root" > "$root.log" 2>&1 || {
	tail -3 "$root.log" >&2
	exit 75
}
