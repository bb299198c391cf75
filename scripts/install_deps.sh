#!/bin/sh
# Installs the packages that building and testing suture needs, those that are missing only, and says which.
#
#   scripts/install_deps.sh [check|page]     check: also what `make check-all` needs (clang, its tools)
#                                            page: also what `make test-page` needs (a browser)
#
# Debian 12 and Ubuntu 24.04 and newer. Elsewhere it names what is needed and installs nothing.
set -eu

packages="g++ make cmake python3 python3-pip python3-venv python3-setuptools python3-wheel
  python3-jsonschema python3-yaml ca-certificates git patch
  libyaml-cpp-dev libcli11-dev libdtl-dev libre2-dev nlohmann-json3-dev libsodium-dev libminizip-dev
  zlib1g-dev libzstd-dev libisal-dev libgtest-dev libgmock-dev"
[ "${1:-}" = check ] && packages="$packages clang clang-tidy clang-format libclang-rt-dev"
[ "${1:-}" = page ] && packages="$packages chromium"

if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
  echo "install-deps: not a Debian or Ubuntu machine, nothing installed. Needed, by Debian's names:" >&2
  echo "$packages" >&2
  exit 0
fi

missing=
for package in $packages; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null)" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=
elif command -v sudo > /dev/null; then
  as_root=sudo
else
  echo "install-deps: neither root nor sudo here. Have these installed, then run again:" >&2
  echo "  apt-get update && apt-get install -y$missing" >&2
  exit 1
fi

echo "install-deps: installing$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086  # a list of names
$as_root apt-get install -y -qq --no-install-recommends $missing > /dev/null
