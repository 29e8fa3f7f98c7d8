#!/bin/bash
# Holds boards, rules and documents against the metrics page of a running host: check.sh PAGE SCRATCH
#
# With WRITE=1 the files that are made from others are written anew instead of compared; RUNBOOK=URL says
# where alerts are to send people. Says what is wrong on standard error.
set -euo pipefail
export LC_ALL=C
page=$(readlink -f "${1:?which page}")
mkdir -p "${2:?where to put things}"
scratch=$(readlink -f "$2")
here=$(dirname "$(readlink -f "$0")")
root=$(dirname "$here")
failed=0
wrong() {
	echo "$*" >&2
	failed=1
}

# Written as it would be written today?
current() { # FILE NEW
	if [ "${WRITE:-}" = 1 ]; then
		mkdir -p "$(dirname "$1")"
		cp "$2" "$1"
	elif ! diff -u "$1" "$2" >&2; then
		wrong "$1 is not what its source makes: run 'make dashboards' and look at the difference."
	fi
}

cd "$here"

# What takes long is made beside the rest: every alert's proof, and every panel's query.
jsonnet -m "$scratch" proof.jsonnet > "$scratch/proofs" 2>&1 &
proofs=$!

# The sources: their form, and what the library refuses.
for file in *.jsonnet *.libsonnet Boards/*.libsonnet; do
	jsonnetfmt --max-blank-lines 1 --test "$file" || wrong "$file: run jsonnetfmt -i --max-blank-lines 1"
done
rm -rf "$scratch/ready"
mkdir -p "$scratch"/ready/{grafana/{boards,provisioning/{dashboards,datasources}},prometheus}
{
	jsonnet -m "$scratch/ready" ready.jsonnet
	jsonnet -S -m "$scratch/ready" ${RUNBOOK:+--tla-str "runbook=$RUNBOOK"} settings.jsonnet
} > "$scratch/files"
while read -r file; do
	# Of a text that ends with a newline of its own, jsonnet makes two.
	sed -i -e '${/^$/d}' "$file"
	current "Ready/${file#"$scratch/ready/"}" "$file"
done < "$scratch/files"
(cd Ready && find . -type f | sort) > "$scratch/there"
(cd "$scratch/ready" && find . -type f | sort) > "$scratch/made"
diff "$scratch/there" "$scratch/made" >&2 || wrong "Ready holds other files than its sources make."

# The list of metrics is the page's.
awk -f metrics.awk "$page" > "$scratch/METRICS.md"
current "$root/Docs/METRICS.md" "$scratch/METRICS.md"

# Names: whatever is named is exposed, and whatever is exposed is shown.
awk '/^# TYPE / { print $3 }' "$page" | sort > "$scratch/exposed"
names() { grep -ohE '\b(holdfast|process)_[a-z_]+[a-z]\b' "$@" | sed -E 's/_(bucket|sum|count)$//' | sort -u; }
names -r Ready > "$scratch/shown"
names "$root"/README.md "$root"/Docs/*.md > "$scratch/told"
for list in shown told; do
	while read -r name; do
		wrong "$name is named ($list) and no host exposes it: $(grep -rlw "$name" Ready "$root"/README.md "$root"/Docs | head -3 | tr '\n' ' ')"
	done < <(comm -13 "$scratch/exposed" "$scratch/$list")
done
while read -r name; do
	wrong "$name is exposed, and no board or rule shows it."
done < <(comm -23 "$scratch/exposed" "$scratch/shown")

# Every alert has its page in the runbook, and the runbook has no other.
sed -nE 's/^ *-? *"?alert"?: "?([A-Za-z]+)"?$/\1/p' Ready/prometheus/holdfast.rules.yml | sort > "$scratch/alerts"
sed -nE 's/^### (Holdfast[A-Za-z]+)$/\1/p' "$root/Docs/RUNBOOK.md" | sort > "$scratch/pages"
[ -s "$scratch/alerts" ] || wrong "No alerts were found in the rules."
diff "$scratch/alerts" "$scratch/pages" >&2 || wrong "The alerts (<) and the pages of the runbook (>) differ."

# What Prometheus says of the page, the rules and the configuration.
promtool check metrics < "$page" >&2 || wrong "promtool does not like the page."
promtool check config Ready/prometheus/prometheus.yml > "$scratch/config" || wrong "$(cat "$scratch/config")"

# Every alert fires and is quiet when it should; every panel's query has an answer.
wait "$proofs" || wrong "$(cat "$scratch/proofs")"
{
	echo 'rule_files: [rules.json]'
	echo 'evaluation_interval: 10m'
	echo 'tests:'
	echo '- interval: 1m'
	echo '  input_series:'
	awk -f series.awk "$page"
	echo '  promql_expr_test:'
	sed -e 's/^/    /' -e 's/\$__rate_interval/5m/g' -e 's/\$job/.*/g' -e 's/\$instance/.*/g' "$scratch/queries.json"
} > "$scratch/panels.yml"
rm -f "$scratch"/*.verdict
if ! (cd "$scratch" && ls -S panels.yml alerts-*.json \
	| xargs -n 1 -P 2 sh -c 'promtool test rules "$0" > "$0.verdict" 2>&1'); then
	wrong "$(head -60 "$scratch"/*.verdict)"
fi
exit $failed
