#!/bin/sh
# Fetches the sources of tree-sitter, of its Python grammar and of simdjson, and lays them out for CMake.
#
#   scripts/fetch_sources.sh [CACHE]      CACHE: .cache of this checkout
#
# They are source distributions on PyPI, fetched by name and version with pip, checked by SHA-256 before anything of
# them is used. With a filled cache nothing is fetched and no network is needed.
#
# The grammar's source distribution of 0.25.0 lacks scanner.c, that of 0.23.6 lacks the headers; the external tokens of
# both are the same, so the two make one grammar. Two gaps follow, and suture refuses such a file: indentation over 255
# columns, and t-strings (PEP 750). A checkout of the grammar's own repository has neither gap: build with
# -DTREE_SITTER_PYTHON_DIR=FOLDER.
#
# simdjson 3.12.3, its two files, lies whole in the source distribution of pysimdjson 7.0.2 (Debian 12 has 3.0.1, and no
# archive of it). It stands in a folder of its own, so that a cache that two checkouts share suits both.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cache=${1:-$root/.cache}
mkdir -p "$cache/sdist"
staging=
trap 'rm -rf "$staging"' EXIT

die() { echo "fetch_sources: $*" >&2; exit 1; }

# fetch DISTRIBUTION VERSION FILE SHA256
fetch() {
  file=$cache/sdist/$3
  if [ ! -f "$file" ]; then
    echo "fetching $1 $2 (source distribution, PyPI)"
    staging=$(mktemp -d "$cache/fetch.XXXXXX")
    printf '%s==%s --hash=sha256:%s\n' "$1" "$2" "$4" > "$staging/requirements.txt"
    # --no-binary names the one distribution, not :all:, or pip would build its own build tools from source.
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary "$1" --require-hashes \
      -r "$staging/requirements.txt" -d "$staging" || die "pip could not download $1==$2; is there a network?"
    [ -f "$staging/$3" ] || die "pip downloaded $1==$2, but not as $3"
    mv "$staging/$3" "$file"
    rm -rf "$staging"
  fi
  echo "$4  $file" | sha256sum --check --quiet --status || die "$file: not the SHA-256 that is pinned ($4); remove it and run again"
}

runtime=tree-sitter-0.25.2
grammar=tree_sitter_python-0.25.0
scanner=tree_sitter_python-0.23.6
fetch tree-sitter 0.25.2 $runtime.tar.gz fe43c158555da46723b28b52e058ad444195afd1db3ca7720c59a254544e9c20
fetch tree-sitter-python 0.25.0 $grammar.tar.gz b13e090f725f5b9c86aa455a268553c65cadf325471ad5b65cd29cac8a1a68ac
fetch tree-sitter-python 0.23.6 $scanner.tar.gz 354bfa0a2f9217431764a631516f85173e9711af2c13dbd796a8815acfe505d9

simdjson=$cache/simdjson-3.12.3
fetch pysimdjson 7.0.2 pysimdjson-7.0.2.tar.gz 44cf276e48912a3b9c7ca362c14da8420a7ac15a9f1a16ec95becff86db3904a
if [ ! -d "$simdjson" ]; then
  staging=$(mktemp -d "$cache/unpack.XXXXXX")
  tar -xzf "$cache/sdist/pysimdjson-7.0.2.tar.gz" -C "$staging" --no-same-owner
  mkdir "$staging/simdjson"
  mv "$staging"/pysimdjson-7.0.2/simdjson/simdjson.h "$staging"/pysimdjson-7.0.2/simdjson/simdjson.cpp \
    "$staging"/pysimdjson-7.0.2/LICENSE "$staging/simdjson"
  chmod 755 "$staging/simdjson"
  mv "$staging/simdjson" "$simdjson"
  rm -rf "$staging"
fi

# The layout is named after what is in it: another version is laid out anew, and nothing is laid out twice.
layout=$runtime+$grammar+$scanner
[ -f "$cache/src/$layout" ] && exit 0
staging=$(mktemp -d "$cache/unpack.XXXXXX")
for name in $runtime $grammar $scanner; do
  tar -xzf "$cache/sdist/$name.tar.gz" -C "$staging" --no-same-owner
done
mkdir -p "$staging/src/tree-sitter-python"
mv "$staging/$runtime/tree_sitter/core" "$staging/src/tree-sitter"
cp "$staging/$runtime/LICENSE" "$staging/src/tree-sitter/LICENSE"
mv "$staging/$grammar/src" "$staging/$grammar/LICENSE" "$staging/src/tree-sitter-python/"
mv "$staging/$scanner/src/scanner.c" "$staging/src/tree-sitter-python/src/"
touch "$staging/src/$layout"
rm -rf "$cache/src"
mv "$staging/src" "$cache/src"
rm -rf "$staging"
