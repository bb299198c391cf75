"""The invented package that the scenarios patch, and its patches. Nothing of it comes from any project.

toycache keeps rows that are packed; Decoder.step unpacks all of them, though it reads a few.
"""

DECODE = '''\
"""One step of the decoder."""

from toycache.rows import Rows


class Decoder:
    """Reads rows of the cache."""

    def __init__(self, rows: Rows, kernel):
        self.rows = rows
        self.kernel = kernel

    def step(self, query, layer):
        # All of the rows, though the kernel reads a few.
        packed = self.rows.get_rows(layer.index).unpack(
            query.kind
        )
        return self.kernel.run(query, packed)

    def prefetch(self, layer):
        """Warms the cache."""
        return self.rows.get_rows(layer.index)
'''

ROWS = '''\
"""Rows of the cache, packed."""


class Rows:
    def __init__(self, data):
        self.data = data

    def get_rows(self, index):
        return self.data[index]
'''

FILES = {"__init__.py": "", "decode.py": DECODE, "rows.py": ROWS}

ACTIVE_ROWS = '''\
"""Unpacks the rows that a kernel reads."""


def unpack_active(rows, kernel, kind):
    """The rows of `kernel.slots`, unpacked as `kind`; the others stay packed."""
    return rows.unpack_some(kernel.slots, kind)
'''

RULES = """\
file: decode.py
rules:
  - id: toy-step-unpacks-active
    note: The step reads a few rows; unpacking all of them costs a pass over the cache.
    in: Decoder.step
    match: $ROWS.get_rows($LAYER).unpack($KIND)
    replace: unpack_active($ROWS.get_rows($LAYER), self.kernel, $KIND)
    expect: 1
    ok: step unpacks the rows that its kernel reads
    examples:
      - {before: "x = self.rows.get_rows(i).unpack(k)", after: "x = unpack_active(self.rows.get_rows(i), self.kernel, k)"}
      - {same: "x = self.rows.get_rows(i).view(k)"}
  - id: toy-imports-unpack-active
    add_import: from toycache.active_rows import unpack_active
    expect: 1
    ok: decode.py imports unpack_active
  - id: toy-step-gathers
    in: Decoder.step
    match: $ROWS.get_rows($LAYER).unpack($KIND)
    replace: $ROWS.gather($LAYER, self.kernel.slots).unpack($KIND)
    expect: 1
    ok: step gathers its rows before it unpacks them
  - id: toy-prefetch-counts
    in: Decoder.prefetch
    prepend_body: self.rows.prefetched = True
    expect: 1
    ok: prefetch marks the rows
"""

ACTIVE = """\
patch: toy-active
summary: Unpack the rows that a step reads, not all of them
note: The kernel names the slots that it reads.
package: {name: toycache, versions: ">=1.0,<2"}
conflicts: [toy-gather]
recommend: 1
adds:
  - {path: active_rows.py, from: active_rows.py}
rules: [toy-step-unpacks-active, toy-imports-unpack-active]
"""

GATHER = """\
patch: toy-gather
summary: Gather the rows that a step reads, then unpack them
package: {name: toycache, versions: ">=1.0,<2"}
conflicts: [toy-active]
recommend: 2
rules: [toy-step-gathers]
"""

PREFETCH = """\
patch: toy-prefetch
summary: Mark rows that were prefetched
package: {name: toycache}
rules: [toy-prefetch-counts]
"""

PAGE = """\
# toy-active

When: the cache is large and a step is small.
"""


def add_rules(scenario):
    scenario.write("rules/toycache.yaml", RULES)
    scenario.write("patches/toy-active/patch.yaml", ACTIVE)
    scenario.write("patches/toy-active/active_rows.py", ACTIVE_ROWS)
    scenario.write("patches/toy-active/README.md", PAGE)
    scenario.write("patches/toy-gather/patch.yaml", GATHER)
    scenario.write("patches/toy-prefetch/patch.yaml", PREFETCH)


def toy(scenario, decode=DECODE, version="1.0", site="site", **more):
    """The package with its rules and patches; `decode` instead of its decode.py, `more`: other files by stem."""
    add_rules(scenario)
    files = {**FILES, "decode.py": decode, **{f"{stem}.py": text for stem, text in more.items()}}
    scenario.install({path: data for path, data in files.items() if data is not None}, site=site, version=version)


def only_rule(scenario, rule, patch_rules="[only-rule]"):
    """One rule file and one patch of it: for what is wrong with either."""
    scenario.write("rules/only.yaml", rule)
    scenario.write("patches/only/patch.yaml",
                   f"patch: only\nsummary: One rule\npackage: {{name: toycache}}\nrules: {patch_rules}\n")
