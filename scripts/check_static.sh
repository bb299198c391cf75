#!/bin/sh
# Holds an executable to what docs/remote.md promises of it: one static file, which needs a Linux kernel and nothing else.
#
#   scripts/check_static.sh EXECUTABLE
set -eu

exe=$1
limit=12582912  # bytes; it travels over ssh
die() { echo "check_static: $exe: $*" >&2; exit 1; }

# ldd runs the loader on it: for a static executable it fails, and says so.
loads=$(LC_ALL=C ldd "$exe" 2>&1) && die "it loads libraries:
$loads"
case $loads in *'not a dynamic executable'*) ;; *) die "$loads" ;; esac
bytes=$(wc -c < "$exe")
[ "$bytes" -le $limit ] || die "$bytes bytes, more than $limit"
"$exe" test > /dev/null || die "a rule or a patch inside does not hold its own examples"
echo "$exe: $bytes bytes, static"
