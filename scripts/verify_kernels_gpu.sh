#!/usr/bin/env bash
# All that verify_kernels has to say on a GPU host: every check, every planted error, the times; figures as JSON in OUT.
#
#   scripts/verify_kernels_gpu.sh OUT [EXECUTABLE]     EXECUTABLE: build-kernels/verify_kernels, which `make verify-kernels` makes
#
# Exits with 0 where the checks pass, every planted error is caught, and the cast is within 3 % of a plain move.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
out=${1:?usage: scripts/verify_kernels_gpu.sh OUT [EXECUTABLE]}
exe=${2:-build-kernels/verify_kernels}
mkdir -p "$out"
worst=0

# expect CODE ARGUMENT...
expect() {
  local want=$1 got=0
  shift
  echo "== verify_kernels $*" >&2
  "$exe" "$@" || got=$?
  [ "$got" = "$want" ] || { echo "== exit code $got, not $want" >&2; worst=1; }
}

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || true
expect 0 --quiet --seeds 2
for plant in off-by-one stale-index stale-count wrong-scale compact-under-graph missing-slot; do
  expect 4 --only gpu --quiet --plant "$plant"
done
expect 0 --only bench --quiet --json --within 3 > "$out/verify-kernels.json"
exit "$worst"
