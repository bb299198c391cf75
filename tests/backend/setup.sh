#!/bin/sh
# Puts torch where the backend tests find it, and nowhere else: CACHE/torch, prints that folder on stdout.
#
#   tests/backend/setup.sh CACHE
#
# A folder and not a virtual environment, so that pip alone is needed (Debian keeps venv in a package of its own).
# Exit code 77, and why on stderr, where torch cannot be had: the test is then skipped.
set -eu

cache=$1
torch=torch==2.11.0
# What torch imports on the CPU, where CUDA 13 with cuDNN and NCCL is on the machine: 0.6 GB instead of 3.
small="typing_extensions sympy mpmath networkx jinja2 markupsafe filelock fsspec numpy
  nvidia-cufile nvidia-cusparselt-cu13 nvidia-nvshmem-cu13"

target=$cache/torch
if [ -e "$target.made" ]; then
  echo "$target"
  exit 0
fi

works() {
  PYTHONPATH=$1 python3 -c 'import torch; torch.ones(2).to(torch.float8_e4m3fn)' > /dev/null 2>&1
}

install() {
  python3 -m pip install --quiet --disable-pip-version-check --no-warn-conflicts --only-binary=:all: "$@" >&2
}

python3 -m pip --version > /dev/null 2>&1 || {
  echo "python3 has no pip: install python3-pip" >&2
  exit 77
}

mkdir -p "$cache"
staging=$(mktemp -d "$cache/torch.XXXXXX")
trap 'rm -rf "$staging"' EXIT

# shellcheck disable=SC2086  # a list of names
if install --no-deps --target "$staging/small" $torch $small && works "$staging/small"; then
  made=$staging/small
else
  rm -rf "$staging/small"
  echo "torch does not load with the small set of packages (no CUDA 13 with cuDNN and NCCL here): all of them" >&2
  if install --target "$staging/whole" $torch numpy && works "$staging/whole"; then
    made=$staging/whole
  else
    echo "no torch 2.11.0 for this machine: $(python3 -V 2>&1), $(uname -m); is there a network?" >&2
    exit 77
  fi
fi

rm -rf "$target"
mv "$made" "$target"
: > "$target.made"
echo "$target"
