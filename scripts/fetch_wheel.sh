#!/bin/sh
# Downloads wheels of SGLang by version with pip, into CACHE/wheels, and prints one path a line. A wheel that is there
# is not fetched again.
#
#   scripts/fetch_wheel.sh CACHE VERSION...
#
# Wheels up to 0.5.10 are py3-none-any; later ones hold the same Python files under cp311 and manylinux_2_34 tags. Both
# come by naming that platform, whatever this machine is: nothing of them is run here.
set -eu

cache=$1
shift
mkdir -p "$cache/wheels"

for version in "$@"; do
  found=$(find "$cache/wheels" -name "sglang-$version-*.whl" | sort | head -n 1)
  if [ -z "$found" ]; then
    staging=$(mktemp -d "$cache/fetch.XXXXXX")
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
      --python-version 3.11 --platform manylinux_2_34_x86_64 -d "$staging" "sglang==$version" >&2 || {
      rm -rf "$staging"
      echo "fetch_wheel: pip could not download sglang==$version; is there a network?" >&2
      exit 1
    }
    found=$cache/wheels/$(basename "$staging"/sglang-*.whl)
    mv "$staging"/sglang-*.whl "$found"
    rm -rf "$staging"
  fi
  echo "$found"
done
