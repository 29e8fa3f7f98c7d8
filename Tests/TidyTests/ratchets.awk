# Prints median, 95th percentile and maximum of the lines of files and functions.
# Meant to be talked about when they move, not to be obeyed. Wants formatted Swift.

function indentation(line) { match(line, /[^ ]/); return RSTART - 1 }

function finish(length_, where) {
    lengths[++functions] = length_
    if (length_ > longest) { longest = length_; longestWhere = where }
}

FNR == 1 {
    if (files) fileLengths[files] = lastLine
    files++
    inside = 0
    if (lastLine > longestFile) { longestFile = lastLine; longestFileWhere = lastFile }
}

{ lastLine = FNR; lastFile = FILENAME }

!inside && /^ *([a-z]+(\([a-z]+\))? |@[A-Za-z]+(\([^)]*\))? )*(func |init[(?<]|deinit|subscript[(<])/ {
    if ($0 ~ /\{.*\}$/) { finish(1, FILENAME ":" FNR); next }
    inside = 1; begun = FNR; depth = indentation($0); opened = ($0 ~ /\{$/)
    next
}

inside && !opened {
    if ($0 ~ /\{$/) opened = 1
    else if ($0 ~ /^ *$/ || (indentation($0) <= depth && $0 !~ /^ *\)/)) inside = 0
    next
}

inside && indentation($0) == depth && /^ *\}/ {
    finish(FNR - begun + 1, FILENAME ":" begun)
    inside = 0
}

function report(name, values, count, where) {
    if (!count) return
    for (i = 2; i <= count; i++) {
        value = values[i]
        for (j = i - 1; j > 0 && values[j] > value; j--) values[j + 1] = values[j]
        values[j + 1] = value
    }
    p95 = int(count * 0.95)
    if (p95 < 1) p95 = 1
    printf "%-10s %5d   median %3d   p95 %4d   longest %4d  %s\n", name, count, \
        values[int((count + 1) / 2)], values[p95], values[count], where
}

END {
    fileLengths[files] = lastLine
    if (lastLine > longestFile) { longestFile = lastLine; longestFileWhere = lastFile }
    report("files", fileLengths, files, longestFileWhere)
    report("functions", lengths, functions, longestWhere)
}
