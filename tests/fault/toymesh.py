"""The invented package that the tests of this folder attack, and five patches of it. Nothing of it comes from any project.

Four patches touch nowhere: cache (which adds a file), retry, frame, and stats, which shares the added file and its import
line with cache. The fifth, inline, edits the call that cache edits. MODEL says in plain text what each one does: the tests
hold suture to it.
"""

import base64
import contextlib
import hashlib
import os
import pathlib

NODE = '''\
"""One node of the mesh."""

import socket


class Node:
    """Sends rows to its peers."""

    def __init__(self, peers):
        self.peers = peers

    def step(self, rows):
        # All of the rows, though a peer reads a few.
        packed = rows.pack(
            self.peers
        )
        return [peer.send(packed) for peer in self.peers]

    def send(self, row):
        return socket.send(row)

    def close(self):
        """Says goodbye."""
        return [peer.close() for peer in self.peers]
'''

# CRLF, a byte that is not ASCII, no newline at the end.
FRAME = '"""Frames, caf\u00e9."""\r\n\r\nimport struct\r\n\r\n\r\ndef frame(row):\r\n    return struct.pack("!I", len(row)) + row'

FILES = {
    "__init__.py": "",
    "core/__init__.py": "",
    "core/node.py": NODE,
    "core/frame.py": FRAME,
    "core/other.py": "x = 1\n" * 40,
}

PACKED = '''\
"""Rows, packed for those who read them."""


def pack_for(rows, peers):
    return {peer: rows.pack_one(peer) for peer in peers}
'''

RULES = """\
file: core/node.py
rules:
  - id: mesh-step-packs-for-peers
    in: Node.step
    match: $ROWS.pack($PEERS)
    replace: pack_for($ROWS, $PEERS)
    expect: 1
    ok: step packs what its peers read
  - id: mesh-imports-pack-for
    add_import: from toymesh.lib.packed import pack_for
    expect: 1
  - id: mesh-send-retries
    in: Node.send
    match: return socket.send($ROW)
    replace: |-
      try:
          return socket.send($ROW)
      except OSError:
          time.sleep(1)
          return socket.send($ROW)
    expect: 1
  - id: mesh-imports-time
    add_import: import time
    expect: 1
  - id: mesh-frame-keeps-sizes
    file: core/frame.py
    in: frame
    prepend_body: bisect.insort(SIZES, len(row))
    expect: 1
  - id: mesh-frame-imports-bisect
    file: core/frame.py
    add_import: import bisect
    expect: 1
  - id: mesh-other-has-sizes
    file: core/other.py
    match: x = 1
    select: last
    insert_after: SIZES = []
    expect: 40
  - id: mesh-close-packs
    in: Node.close
    prepend_body: pack_for([], self.peers)
    expect: 1
  - id: mesh-step-packs-inline
    in: Node.step
    match: $ROWS.pack($PEERS)
    replace: "[$ROWS.pack_one(peer) for peer in $PEERS]"
    expect: 1
"""

ADDS = "adds:\n  - {path: lib/packed.py, from: packed.py}\n"
PATCHES = {
    "mesh-cache": (ADDS, ["mesh-step-packs-for-peers", "mesh-imports-pack-for"]),
    "mesh-retry": ("", ["mesh-send-retries", "mesh-imports-time"]),
    "mesh-frame": ("", ["mesh-frame-keeps-sizes", "mesh-frame-imports-bisect", "mesh-other-has-sizes"]),
    "mesh-stats": (ADDS, ["mesh-close-packs", "mesh-imports-pack-for"]),
    "mesh-inline": ("", ["mesh-step-packs-inline"]),
}

# {patch: {file: [(old, new)]}, each old text once in the file} and the import lines: {patch: {file: line}}.
MODEL = {
    "mesh-cache": {"core/node.py": [("packed = rows.pack(\n            self.peers\n        )",
                                     "packed = pack_for(\n            rows,\n            self.peers\n        )")]},
    "mesh-retry": {"core/node.py": [("        return socket.send(row)\n",
                                     "        try:\n            return socket.send(row)\n        except OSError:\n"
                                     "            time.sleep(1)\n            return socket.send(row)\n")]},
    "mesh-frame": {"core/frame.py": [("    return struct", "    bisect.insort(SIZES, len(row))\r\n    return struct")],
                   "core/other.py": [("x = 1\n" * 40, "x = 1\n" * 40 + "SIZES = []\n")]},
    "mesh-stats": {"core/node.py": [('goodbye."""\n', 'goodbye."""\n        pack_for([], self.peers)\n')]},
    "mesh-inline": {"core/node.py": [("rows.pack(\n            self.peers\n        )",
                                      "[rows.pack_one(\n            peer\n        ) for peer in self.peers]")]},
}
IMPORTS = {
    "mesh-cache": {"core/node.py": "from toymesh.lib.packed import pack_for\n"},
    "mesh-retry": {"core/node.py": "import time\n"},
    "mesh-frame": {"core/frame.py": "import bisect\r\n"},
    "mesh-stats": {"core/node.py": "from toymesh.lib.packed import pack_for\n"},
}
ADDED = {"mesh-cache": {"lib/packed.py": PACKED}, "mesh-stats": {"lib/packed.py": PACKED}}
# The pairs that touch.
TOUCH = {frozenset({"mesh-cache", "mesh-inline"})}


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


def add_patches(folder):
    """The rules and patches in folder/rules and folder/patches; returns the options that name them."""
    write(folder / "rules/toymesh.yaml", RULES)
    for name, (adds, rules) in PATCHES.items():
        write(folder / f"patches/{name}/patch.yaml",
              f"patch: {name}\nsummary: {name} of an invented package\npackage: {{name: toymesh}}\n{adds}"
              f"rules: [{', '.join(rules)}]\n")
        if adds:
            write(folder / f"patches/{name}/packed.py", PACKED)
    return ["--rules-dir", str(folder / "rules"), "--patches-dir", str(folder / "patches")]


def install(site):
    """The package as pip leaves it, with what makes writing harder: modes, another owner, an attribute, a second name of a
    file, bytecode."""
    lines = []
    for path, text in FILES.items():
        data = text.encode()
        write(site / "toymesh" / path, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"toymesh/{path},sha256={digest},{len(data)}")
    write(site / "toymesh-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: toymesh\nVersion: 1.0\n")
    write(site / "toymesh-1.0.dist-info/RECORD", "\n".join([*lines, "toymesh-1.0.dist-info/RECORD,,"]) + "\n")
    node = site / "toymesh/core/node.py"
    if os.getuid() == 0:
        os.chown(node, 1, 1)
    node.chmod(0o640)
    with contextlib.suppress(OSError):  # a file system without attributes
        os.setxattr(node, "user.origin", b"wheel")
    os.link(site / "toymesh/core/frame.py", site / "cache-of-frame")
    write(site / "toymesh/core/__pycache__/node.cpython-311.pyc", b"stale")


def expected(patches):
    """{path: text} of the package with these patches, their import lines sorted."""
    files = dict(FILES)
    for patch in patches:
        for path, edits in MODEL[patch].items():
            for old, new in edits:
                assert files[path].count(old) == 1, (patch, path)
                files[path] = files[path].replace(old, new)
        files.update(ADDED.get(patch, {}))
    for path in list(files):
        lines = sorted({IMPORTS[patch][path] for patch in patches if path in IMPORTS.get(patch, {})})
        header = next((line for line in ("import socket\n", "import struct\r\n") if line in files[path]), None)
        if lines:
            files[path] = files[path].replace(header, header + "".join(lines))
    return files


def present(site):
    """{path: text} of the package's Python files as they are, the import lines that patches add sorted."""
    root = pathlib.Path(site) / "toymesh"
    files = {path.relative_to(root).as_posix(): path.read_bytes().decode() for path in root.rglob("*.py")}
    added = {line for lines in IMPORTS.values() for line in lines.values()}
    for path, text in files.items():
        lines = text.splitlines(keepends=True)
        where = [i for i, line in enumerate(lines) if line in added]
        if where and where == list(range(where[0], where[-1] + 1)):
            lines[where[0] : where[-1] + 1] = sorted(lines[where[0] : where[-1] + 1])
            files[path] = "".join(lines)
    return files
