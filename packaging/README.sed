# What the README says of the source is left out where only the program is, and all else is where the package puts it.
/^## A minute to the first offline edit$/,/^## Running it for real$/ {
	/^## Running it for real$/ !d
}
/^## More commands$/,/^## How it is built$/ {
	/^## How it is built$/ !d
}
/^    swift build /d
/^needs these packages:/,/^$/d
/^`make deb` makes /,/^$/d
s#\.build/release/holdfast#holdfast#
s#`packaging/bw`#`/usr/lib/holdfast/bw`#
s#`packaging/holdfast\.service`#`holdfast.service`#
# All documents lie side by side there.
s#Docs/##g
s#Dashboards/Ready#examples#g
