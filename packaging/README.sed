# What the README says of the source is left out where only the program is, and all else is where the package puts it.
/^## A minute to the first offline edit$/,/^## Running it for real$/ {
	/^## Running it for real$/ !d
}
/^## More commands$/,/^## How it is built$/ {
	/^## How it is built$/ !d
}
/^    swift build /d
/^    \.build\/release\/holdfast serve --upstream /c\
The package has started the host as a service, under a user that systemd makes for it. Its unit gives it no settings;\
yours go into a drop-in, as the environment variables that `holdfast help serve` names:\
\
    systemctl edit holdfast       # [Service]\
                                  # Environment=HOLDFAST_UPSTREAM=https://vault.example.org\
    systemctl restart holdfast\
\
What has no variable there is a member of a JSON file that everybody may read, such as `{"no-auth": true}`, and that\
`Environment=HOLDFAST_CONFIG=/etc/holdfast.json` names.\
\
Without `HOLDFAST_UPSTREAM` each account names its server when it signs in (`--server`). Its state directory only root\
can look into, so commands are run as root, and are told where it is: `export HOLDFAST_STATE=/var/lib/holdfast`.
/^needs these packages:/,/^$/d
/^`make deb` makes /,/^$/d
s#(`~/\.local/state/holdfast`, or `--state`)#(`/var/lib/holdfast`)#
s#~/\.local/state/holdfast#/var/lib/holdfast#
s#`packaging/bw`#`/usr/lib/holdfast/bw`#
s#`packaging/holdfast\.service`#`holdfast.service`#
# All documents lie side by side there.
s#Docs/##g
s#Dashboards/Ready#examples#g
