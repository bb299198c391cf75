#!/bin/sh
# Makes CACHE/tools, a virtual environment with what tests/remote runs beside suture: ansible-core, uv, pipx, and the build
# backend of the wheel. From PyPI, by name and version. Prints the folder; with a filled cache nothing is fetched.
#
#   scripts/fetch_tools.sh CACHE
set -eu

tools=$1/tools
packages="scikit-build-core==1.1.2 ansible-core==2.19.14 uv==0.13.9 pipx==1.18.4"

mkdir -p "$1"
exec 9> "$1/tools.lock"
flock 9  # several tests come for them at one time

if [ "$(cat "$tools/packages" 2> /dev/null)" != "$packages" ] || ! "$tools/bin/python" -V > /dev/null 2>&1; then
  rm -rf "$tools"
  {
    python3 -m venv "$tools"
    # shellcheck disable=SC2086  # a list of names
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check $packages
  } >&2 || {
    echo "fetch_tools: pip could not install $packages; is there a network?" >&2
    exit 1
  }
  echo "$packages" > "$tools/packages"
fi
echo "$tools"
