#!/bin/bash
# A Debian package of a program that was built in release: deb.sh HOLDFAST DIRECTORY
set -euo pipefail
umask 022
program=$(readlink -f "${1:?which program}")
mkdir -p "${2:?where to put it}"
out=$(readlink -f "$2")
root=$(dirname "$(dirname "$(readlink -f "$0")")")
maintainer=${MAINTAINER:-Holdfast <holdfast@localhost>}
version=$("$program" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -1)
architecture=$(dpkg --print-architecture)
# The same tree at the same moment makes the same package.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2> /dev/null || date +%s)}
when=$(date -u -R -d "@$SOURCE_DATE_EPOCH")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
put() { install -D -m "$1" "$2" "$tree/$3"; }
# Compressed as Debian wants it, with neither name nor time.
pack() { mkdir -p "$(dirname "$tree/$1")" && gzip -9n > "$tree/$1" && chmod 644 "$tree/$1"; }

put 755 "$program" usr/bin/holdfast
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$tree/usr/bin/holdfast"
# Not among the programs: that name is Bitwarden's own.
put 755 "$root/packaging/bw" usr/lib/holdfast/bw
put 644 "$root/packaging/holdfast.service" lib/systemd/system/holdfast.service
"$program" manual | pack usr/share/man/man1/holdfast.1.gz
"$program" completions bash > "$work/bash"
"$program" completions zsh > "$work/zsh"
"$program" completions fish > "$work/fish"
put 644 "$work/bash" usr/share/bash-completion/completions/holdfast
put 644 "$work/zsh" usr/share/zsh/vendor-completions/_holdfast
put 644 "$work/fish" usr/share/fish/vendor_completions.d/holdfast.fish

documents=usr/share/doc/holdfast
for file in ARCHITECTURE.md CONFLICTS.md METRICS.md PERFORMANCE.md PROMISES.md RUNBOOK.md TESTS.md UPSTREAM.md outage.svg; do
	put 644 "$root/Docs/$file" "$documents/$file"
done
sed -f "$root/packaging/README.sed" "$root/README.md" > "$work/README.md"
put 644 "$work/README.md" "$documents/README.md"
put 644 "$root/packaging/copyright" "$documents/copyright"
mkdir -p "$tree/$documents/examples"
cp -r "$root/Dashboards/Ready/." "$tree/$documents/examples/"
chmod -R u=rwX,go=rX "$tree/$documents/examples"
pack "$documents/changelog.gz" << END
holdfast ($version) unstable; urgency=medium

  * What is new is told by the history of the source.

 -- $maintainer  $when
END
mkdir -p "$tree/usr/share/lintian/overrides"
cp "$root/packaging/lintian-overrides" "$tree/usr/share/lintian/overrides/holdfast"
chmod 644 "$tree/usr/share/lintian/overrides/holdfast"

# Which packages the program's libraries come from.
mkdir -p "$work/debian"
printf 'Source: holdfast\n\nPackage: holdfast\nArchitecture: any\n' > "$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O "$tree/usr/bin/holdfast" 2> /dev/null | sed -n 's/^shlibs:Depends=//p')

mkdir "$tree/DEBIAN"
cat > "$tree/DEBIAN/control" << END
Package: holdfast
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -k -s --apparent-size "$tree" | cut -f1)
Depends: $depends
Recommends: ca-certificates
Suggests: prometheus
Section: net
Priority: optional
Description: encrypted vaults that stay usable while their server is away
 Holdfast keeps the vaults of servers that are compatible with Bitwarden on
 this machine, encrypted, and serves them over the API of "bw serve". Edits
 that are made while the server is away are kept safely and are brought there
 when it is back; whatever a conflict would overwrite is kept as a copy.
 .
 It comes with metrics, alerts and boards for Prometheus and Grafana, and
 with a status page.
END
for script in postinst prerm postrm; do
	install -m 755 "$root/packaging/$script" "$tree/DEBIAN/$script"
done
(cd "$tree" && find usr lib -type f -print0 | sort -z | xargs -0 md5sum) > "$tree/DEBIAN/md5sums"
package=$out/holdfast_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build "$tree" "$package" > /dev/null
echo "$package"
