#!/bin/bash
# Clients that share no code with us, and our own beside them, against `holdfast upstream`:
# run.sh HOLDFAST INTEROP-CLIENT SCRATCH
#
# What cannot run on this machine says why, loudly, and is skipped; what fails, fails.
set -euo pipefail
holdfast=$(readlink -f "${1:?which program}")
client=$(readlink -f "${2:?which client}")
scratch=${3:?where to put things}
here=$(dirname "$(readlink -f "$0")")
mkdir -p "$scratch"
skipped=()

if [ -x "$scratch/venv/bin/python" ] || {
	python3 -m venv "$scratch/venv" && "$scratch/venv/bin/pip" -q install cryptography
} > "$scratch/venv.log" 2>&1 && "$scratch/venv/bin/python" -c 'import cryptography'; then
	export PYTHON=$scratch/venv/bin/python
else
	echo "SKIPPED: the Python package 'cryptography' cannot be installed here:" >&2
	tail -2 "$scratch/venv.log" >&2
	exit 0
fi

"$here/chroot.sh" "$scratch/sid" || skipped+=("rbw: no Debian sid can be made here")

for profile in vaultwarden bitwarden; do
	rm -f "$scratch/ready"
	"$holdfast" upstream --profile $profile --ready-file "$scratch/ready" &
	server=$!
	trap 'kill $server 2> /dev/null || true' EXIT
	for _ in $(seq 100); do
		[ -s "$scratch/ready" ] && break
		kill -0 $server
		sleep 0.1
	done
	UPSTREAM=http://$("$PYTHON" -c "import json, sys; print(json.load(open(sys.argv[1]))['upstream'])" "$scratch/ready")
	export UPSTREAM
	echo "== Python, with its own crypto, as $profile"
	PROFILE=$profile "$PYTHON" "$here/test_upstream.py"
	echo "== Our own client and Python's, as $profile"
	CLIENT=$client "$PYTHON" "$here/test_client.py"
	if [ -x "$scratch/sid/usr/bin/rbw" ]; then
		echo "== rbw as $profile"
		"$here/rbw.sh" "$scratch/sid"
	fi
	kill $server
	wait $server
done
for reason in "${skipped[@]}"; do echo "SKIPPED: $reason" >&2; done
echo "Interop: all that could run has passed."
