"""Includes only point down, and each third-party library stays behind the one file that may include it."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import driver

LAYERS = ["base", "read", "engine", "effects", "shell"]
# header prefix -> the only file that may include it.
ONLY = {
    "tree_sitter/": "read/syntax.cc",
    "yaml-cpp/": "read/yaml_reader.cc",
    "dtl/": "engine/diff.cc",
    "CLI/": "shell/options.cc",
    "minizip/": "effects/zip_archive.cc",
    "simdjson": "read/json_tokens.cc",
    "zlib.h": "read/inflate.cc",
    "isa-l/": "read/inflate.cc",
    "zstd.h": "read/inflate.cc",
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def problems(path, text):
    """What is wrong with the includes of one file; path is relative to src."""
    layer = LAYERS.index(path.split("/")[0])
    for header in INCLUDE.findall(text):
        folder = header.split("/")[0]
        if "/" in header and folder in LAYERS and LAYERS.index(folder) > layer:
            yield f"{path} ({LAYERS[layer]}) includes {header}: an include only points down"
        for prefix, owner in ONLY.items():
            if header.startswith(prefix) and path != owner:
                yield f"{path} includes {header}: only {owner} may"


def main():
    # The check must be able to fail.
    assert len(list(problems("read/rule.h", '#include "engine/plan.h"\n#include <yaml-cpp/yaml.h>\n'))) == 2
    assert list(problems("engine/plan.h", '#include "engine/state.h"\n#include "base/result.h"\n')) == []

    source = driver.SOURCE / "src"
    files = sorted(path for path in source.rglob("*") if path.suffix in (".h", ".cc"))
    found = [line for file in files for line in problems(file.relative_to(source).as_posix(), file.read_text())]
    print("\n".join(found) or f"{len(files)} files: includes point down")
    sys.exit(1 if found or not files else 0)


if __name__ == "__main__":
    main()
