#!/bin/bash
# The metrics page of a host that was just started: page.sh HOLDFAST FILE
set -euo pipefail
state=$(mktemp -d)
"$1" serve --state "$state" --listen 127.0.0.1:0 --ops-listen 127.0.0.1:0 --ready-file "$state/ready" \
	--log-level warning &
host=$!
trap 'kill $host; wait $host; rm -rf "$state"' EXIT
for _ in $(seq 100); do
	[ -s "$state/ready" ] && break
	kill -0 $host
	sleep 0.1
done
curl -sf "http://$(sed -nE 's/.*"ops": *"([^"]+)".*/\1/p' "$state/ready")/metrics" > "$2"
