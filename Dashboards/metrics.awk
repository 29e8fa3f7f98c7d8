# The list of metrics, from the metrics page of a running host.
BEGIN {
	print "# What is measured"
	print ""
	print "Printed from the page of a running host by `make dashboards`; a test holds it against the page. No label"
	print "names a person, an account or an item, and every value that a label can have is there from the start, at 0."
	print "Times are in seconds, sizes in bytes; moments are seconds since 1970, never ages."
	print ""
	print "| metric | type | labels | what it says |"
	print "| --- | --- | --- | --- |"
}
/^# HELP / {
	help = $0
	sub(/^# HELP [^ ]+ /, "", help)
	next
}
/^# TYPE / {
	flush_row()
	(name = $3) (type = $4)
	text = help
	delete values
	delete order
	count = 0
	next
}
match($0, /{.*}/) {
	rest = substr($0, RSTART + 1, RLENGTH - 2)
	while (match(rest, /^[a-z_]+="([^"\\]|\\.)*",?/)) {
		pair = substr(rest, 1, RLENGTH)
		rest = substr(rest, RLENGTH + 1)
		label = pair
		sub(/=.*/, "", label)
		value = pair
		sub(/^[^"]*"/, "", value)
		sub(/",?$/, "", value)
		if (label == "le") continue
		if (!(label in values)) order[++count] = label
		if (!((label, value) in seen_value) || seen_value[label, value] != name) {
			seen_value[label, value] = name
			values[label] = values[label] (values[label] == "" ? "" : ", ") value
			number[name, label]++
		}
	}
}
function flush_row(    i, labels) {
	if (name == "") return
	labels = ""
	for (i = 1; i <= count; i++) {
		labels = labels (labels == "" ? "" : "; ") order[i]
		if (number[name, order[i]] <= 13 && type != "gauge" || number[name, order[i]] > 1 && number[name, order[i]] <= 13)
			labels = labels ": " values[order[i]]
	}
	printf "| `%s` | %s | %s | %s |\n", name, type, labels, text
}
END { flush_row() }
