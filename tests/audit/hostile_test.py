"""`suture audit` on 1,000 damaged and hostile files: it ends, in bounded time and memory, and each file is either read to its end or
named.

    python3 tests/audit/hostile_test.py
"""

import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import driver

SEED = 20
MEMORY = 2 << 30  # of address space: what is parsed of a file is bounded, and so is what a parse takes
SECONDS = 300

GOOD = '''"""A module."""
import flashinfer
from flashinfer import BatchMLAPagedAttentionWrapper as Wrapper


class Updater:
    def __init__(self, backend):
        self.wrapper = Wrapper(backend.workspace)
        self.data_type = backend.dtype

    def begin(self, a, b, c, d):
        name = f"{a!r:>{b}} {{}}"
        self.wrapper.plan(a, b, c, d, 1, 2, 3, 4, False, 1.0, self.data_type, self.data_type)
        return self.wrapper.begin_forward(a, kv_indptr=b)

    def forward(self, q, layer):
        k, v = self.pool.get_kv_buffer(layer)
        k = k.view(-1, 8).to(q.dtype)
        x = self.pool.get_key_buffer(
            layer  # which
        ).to(q.dtype)
        return self.wrapper.run(q, k, v.float(), x)
'''.encode()


def truncated(rng, text):
    return text[: rng.randrange(len(text))]


def flipped(rng, text):
    text = bytearray(text)
    for _ in range(rng.randint(1, 12)):
        text[rng.randrange(len(text))] ^= 1 << rng.randrange(8)
    return bytes(text)


def unbalanced(rng, text):
    text = bytearray(text)
    for _ in range(rng.randint(1, 6)):
        text.insert(rng.randrange(len(text)), rng.choice(b"()[]{}\"'"))
    return bytes(text)


def shuffled(rng, text):
    lines = text.splitlines(keepends=True)
    for _ in range(rng.randint(1, 5)):
        a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[a], lines[b] = lines[b], lines[a]
    return b"".join(lines)


def with_nuls(rng, text):
    text = bytearray(text)
    for _ in range(rng.randint(1, 4)):
        text.insert(rng.randrange(len(text)), 0)
    return bytes(text)


def other_newlines(rng, text):
    return text.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\r", b"\x0c\n"]))


def recoded(rng, text):
    return rng.choice([b"# coding: latin-1\n", b"# coding: utf-16\n", b"\xef\xbb\xbf", b"\xff\xfe", b""]) + text.replace(
        b"backend", rng.choice(["bäckend".encode(), "bäckend".encode("latin-1")]))


SITE = b"x.plan(pool.get_key_buffer(0).to(d))\n"
EXTREMES = {
    "open_brackets": SITE + b"(" * 70_000,
    "open_mixed": SITE + b"x,(" * 70_000,
    "deep_brackets": SITE + b"(" * 100_000 + b"1" + b")" * 100_000 + b"\n",
    "deep_calls": b"plan(" * 100_000 + b")" * 100_000 + b"\n",
    "deep_attributes": b"x" + b".plan()" * 100_000 + b"\n",
    "deep_indents": b"".join(b" " * i + b"if x:\n" for i in range(2000)) + b" " * 2000 + SITE,
    "deep_lambdas": SITE + b"lambda: " * 100_000 + b"1\n",
    "deep_not": SITE + b"not " * 100_000 + b"1\n",
    "deep_fields": b"f'" + b"{f\"" * 5_000 + b"\n" + SITE,
    "large_code": SITE * (50_000_000 // len(SITE)),
    "large_comment": b"#" + b"x" * 49_999_999 + b"\n" + SITE,
    "large_legal": SITE * 200_000,
    "one_line": b"; ".join([SITE.strip()] * 6_000) + b"\n",
    "long_string": SITE + b"'''" + b"plan( " * 1_000_000,
    "only_nuls": b"\0" * 1_000_000,
    "nuls_and_site": b"\0" * 1_000_000 + b"\n" + SITE,
    "continuations": SITE + b"x = \\\n" * 200_000,
    "many_names": b"def f(k):\n" + b"    k = k\n" * 20_000 + b"    k.to(pool.get_key_buffer(0))\n    return k.plan()\n",
    "chain": b"def f():\n    a0 = pool.get_key_buffer(0)\n" + b"".join(
        b"    a%d = a%d\n" % (i + 1, i) for i in range(5_000)) + b"    return a5000.to(d)\n",
    "empty": b"",
}
MUTATIONS = [truncated, flipped, unbalanced, shuffled, with_nuls, other_newlines, recoded]


def files():
    rng = random.Random(SEED)
    yield from EXTREMES.items()
    for number in range(1000 - len(EXTREMES)):
        text = GOOD
        for _ in range(rng.randint(1, 2)):
            text = rng.choice(MUTATIONS)(rng, text) or GOOD
        yield f"mutant_{number:03}", text


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main():
    with tempfile.TemporaryDirectory(prefix="suture-audit-") as scratch:
        tree = pathlib.Path(scratch) / "toy"
        tree.mkdir()
        (tree / "__init__.py").write_bytes(b"")
        (tree / "good.py").write_bytes(GOOD)
        names = ["__init__.py", "good.py"]
        for name, text in files():
            (tree / f"{name}.py").write_bytes(text)
            names.append(f"{name}.py")
        os.mkfifo(tree / "pipe.py")
        (tree / "loop.py").symlink_to("loop.py")
        inside, outside = tree / "inside", pathlib.Path(scratch) / "outside"
        for folder in (inside, outside):
            folder.mkdir()
            (folder / "__init__.py").write_bytes(b"")
        names.append("inside/__init__.py")
        (tree / "again").symlink_to("inside")  # read in its own place
        (tree / "linked").symlink_to(outside)
        run = subprocess.run([driver.SUTURE, "audit", "--json", "-t", tree], capture_output=True, check=False,
                             timeout=SECONDS, preexec_fn=limited)
        assert run.returncode in (4, 6), f"exit code {run.returncode}: {run.stderr.decode(errors='replace')[-2000:]}"
        report = json.loads(run.stdout)["trees"][0]["audit"]
        named = {problem["file"] for problem in report["problems"]}
        assert {"pipe.py", "loop.py", "large_code.py", "large_comment.py", "linked"} <= named, named
        assert "again" not in named, named
        unread = len({"pipe.py", "loop.py", "large_code.py", "large_comment.py"})
        assert report["files_read"] == len(names) + 2 - unread, (report["files_read"], len(names))
        good = [site for site in report["sites"] if site["path"] == "good.py"]
        assert [(site["line"], site["kind"]) for site in good] == [
            (13, "plan"), (14, "plan"), (18, "cast"), (19, "cast"), (22, "cast")], good
        print(f"{len(names)} files: {report['files_read']} read, {report['files_parsed']} parsed, {len(named)} named, "
              f"{len(report['sites'])} sites")


if __name__ == "__main__":
    main()
