#!/bin/sh
# Installs the packages that building and testing suture needs, those that are missing only, and says which.
#
#   scripts/install_deps.sh [test|check|page]     test: also what `make test` needs; check: also what `make check-all` needs;
#                                                 page: also what `make test-page` needs (a browser)
#
# Debian 12 and Ubuntu 24.04 and newer. Elsewhere it names what is needed and installs nothing.
set -eu

packages="g++ make cmake pkgconf python3 python3-pip python3-venv python3-setuptools python3-wheel
  python3-jsonschema python3-yaml ca-certificates git patch strace util-linux mount
  libyaml-cpp-dev libcli11-dev libdtl-dev libre2-dev nlohmann-json3-dev libsodium-dev libminizip-dev
  zlib1g-dev libzstd-dev libisal-dev libgtest-dev libgmock-dev"
# tests/remote runs sshd, hosts in network namespaces, and a root folder with nothing but busybox.
case ${1:-} in
  test | check) packages="$packages openssh-server openssh-client iproute2 binutils dash busybox-static" ;;
esac
[ "${1:-}" = check ] && packages="$packages clang clang-tidy clang-format libclang-rt-dev shellcheck"
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
# The tests start sshd themselves, with keys and a configuration of their own: the system's stays off.
policy=
case $missing in
  *openssh-server*)
    if [ ! -e /usr/sbin/policy-rc.d ]; then
      policy=/usr/sbin/policy-rc.d
      printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy > /dev/null
      $as_root chmod 755 $policy
      trap '$as_root rm -f $policy' EXIT
    fi ;;
esac
$as_root apt-get update -qq
# shellcheck disable=SC2086  # a list of names
$as_root apt-get install -y -qq --no-install-recommends $missing > /dev/null
if [ -n "$policy" ] && command -v systemctl > /dev/null; then
  $as_root systemctl disable -q ssh.service ssh.socket 2> /dev/null || true
fi
