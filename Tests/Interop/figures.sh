#!/bin/bash
# What the embedded upstream carries: calls per second with wrk, then the memory of many accounts.
#
# figures.sh HOLDFAST SCRATCH; the package `cryptography` is taken from SCRATCH/venv (see run.sh).
set -euo pipefail
holdfast=$(readlink -f "${1:?which program}")
scratch=${2:?where to put things}
accounts=${ACCOUNTS:-10000}
here=$(dirname "$(readlink -f "$0")")
python=$scratch/venv/bin/python
command -v wrk > /dev/null || { echo "SKIPPED: wrk is not installed" >&2; exit 0; }

rm -f "$scratch/ready"
"$holdfast" upstream --ready-file "$scratch/ready" > "$scratch/figures.log" &
server=$!
trap 'kill $server 2> /dev/null || true' EXIT
until [ -s "$scratch/ready" ]; do kill -0 $server; sleep 0.1; done
url=http://$("$python" -c "import json, sys; print(json.load(open(sys.argv[1]))['upstream'])" "$scratch/ready")

read -r token item < <("$python" "$here/figures.py" item "$url" "$scratch/put.lua")
drive() {
	echo "$1: $(wrk -t1 -c64 -d5 "${@:2}" | awk '/Requests\/sec/ {print $2 " calls/s"} /Non-2xx/ {print}')"
}
drive "configuration" "$url/api/config"
drive "revision date" -H "Authorization: Bearer $token" "$url/api/accounts/revision-date"
drive "reading an item" -H "Authorization: Bearer $token" "$url/api/ciphers/$item"
drive "writing an item" -s "$scratch/put.lua" "$url/api/ciphers/$item"
"$python" "$here/figures.py" accounts "$url" "$accounts"
echo "memory with $accounts accounts of 10 items: $(($(ps -o rss= -p $server) / 1024)) MiB"
