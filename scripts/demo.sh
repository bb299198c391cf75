#!/bin/sh
# suture on a real SGLang wheel: downloaded by name and version, unpacked into a scratch folder, looked at, patched and
# restored. Nothing outside the cache is touched, and SGLang is neither installed nor run.
#
#   scripts/demo.sh SUTURE            SUTURE_CACHE: where downloads are kept
set -eu

suture=$(realpath "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
cache=$(realpath "${SUTURE_CACHE:-$root/.cache}")
version=0.5.9
patch=sglang-cast-active-slots

say() { printf '\n# %s\n' "$*"; }
# run EXIT COMMAND...: echoes the command, runs it, and holds it to that exit code.
run() {
  expected=$1
  shift
  printf '$ %s\n' "$*"
  code=0
  "$@" || code=$?
  if [ "$code" != "$expected" ]; then
    echo "demo: exit code $code, not $expected" >&2
    exit 1
  fi
}
suture() { "$suture" "$@"; }
# One hash over every file's name and bytes.
fingerprint() { find site-packages -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum | cut -c 1-16; }

say "SGLang $version from PyPI, unpacked into a scratch site-packages"
wheel=$("$root/scripts/fetch_wheel.sh" "$cache" $version)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
python3 -m zipfile -e "$wheel" site-packages
pristine=$(fingerprint)
echo "$(basename "$wheel"): $(find site-packages -type f | wc -l) files, fingerprint $pristine"

say "What state is this tree in?"
run 0 suture status -t site-packages
say "What would the patch change? (the same plan that apply writes)"
run 0 suture diff $patch -t site-packages
say "Write it"
run 0 suture apply $patch -t site-packages
run 0 suture status -t site-packages
say "Again: nothing to do, and that is no error"
run 0 suture apply $patch -t site-packages
say "Take it back"
run 0 suture revert $patch -t site-packages
run 0 suture status -t site-packages

restored=$(fingerprint)
say "The tree's fingerprint: before $pristine, after $restored"
if [ "$pristine" != "$restored" ]; then
  echo "demo: the tree is not what it was" >&2
  exit 1
fi
echo "Every byte is as it was."
