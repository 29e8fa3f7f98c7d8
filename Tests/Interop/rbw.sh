#!/bin/bash
# rbw, a client that nobody here wrote, against the upstream at $UPSTREAM: rbw.sh CHROOT
#
# The account is made by the Python client, which also looks at what rbw has stored.
set -euo pipefail
root=${1:?which chroot}
here=$(dirname "$(readlink -f "$0")")
email=rbw-$RANDOM$RANDOM@example.com
home=/root/interop-$$
mkdir -p "$root$home"

python() { "${PYTHON:-python3}" "$here/rbw_account.py" "$@" "$UPSTREAM" "$email"; }

cat > "$root$home/pinentry" <<'PIN'
#!/bin/sh
echo "OK ready"
while read -r word rest; do
	[ "$word" = GETPIN ] && echo "D correct horse"
	echo OK
	[ "$word" = BYE ] && exit 0
done
PIN
chmod +x "$root$home/pinentry"

rbw() {
	chroot "$root" env -i HOME="$home" PATH=/usr/bin:/bin XDG_RUNTIME_DIR="$home" LANG=C.UTF-8 \
		timeout 30 rbw "$@"
}

trap 'rbw stop-agent > /dev/null 2>&1 || true; rm -rf "$root$home"' EXIT

expect() {
	[ "$2" = "$3" ] || { echo "rbw: $1: '$2' instead of '$3'" >&2; exit 1; }
	echo "  $1"
}

python register
rbw config set base_url "$UPSTREAM"
rbw config set email "$email"
rbw config set pinentry "$home/pinentry"
rbw login
rbw sync
expect "lists what the other client has stored" "$(rbw list)" "python item"
expect "opens it" "$(rbw get 'python item')" "python password"
printf 'rbw password\nits notes' | rbw add --folder "rbw folder" "rbw item" "rbw user"
expect "reads what it has added" "$(rbw get 'rbw item')" "rbw password"
expect "the other client opens it" "$(python read 'rbw item')" "rbw user/rbw password/its notes"
printf 'second password\nits notes' | rbw edit "rbw item" "rbw user"
rbw sync
expect "its edit is there" "$(python read 'rbw item')" "rbw user/second password/its notes"
expect "it lists both" "$(rbw list | sort | paste -sd,)" "python item,rbw item"
# Of an address without TLS it does not make one for WebSockets by itself. Only now, because rbw writes
# its file in place: told of its own writing at that moment, it would find half of it.
rbw stop-agent
rbw config set notifications_url "ws${UPSTREAM#http}/notifications"
rbw sync
python add "told item"
for _ in $(seq 100); do
	{ rbw list 2> /dev/null || true; } | grep -q "told item" && break
	sleep 0.1
done
expect "it is told by the hub what the other client adds" "$(rbw get 'told item')" "python password"
rbw stop-agent
rbw config unset notifications_url
rbw remove "told item" "python user"
rbw remove "rbw item" "rbw user"
rbw sync
expect "what it removes is gone" "$(rbw list)" "python item"
