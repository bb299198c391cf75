"""Traces that are damaged, odd or no traces: what could be read is reported with the offset, or the error is clear. Never a shorter
trace in silence.

Each case says what must be counted, and what must be said.
"""

import gzip
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import driver  # noqa: E402

OPS = 300


def event(**fields):
    return {"ph": "X", "pid": 1, "tid": 1, **fields}


def op(i, **more):
    return event(cat="cpu_op", name="aten::mm", **{"ts": i * 10, "dur": 5, "args": {"External id": i + 1}, **more})


def kernel(i, **more):
    return event(cat="kernel", name="gemm", **{"ts": 100000 + i * 10, "dur": 4, "args": {"External id": i + 1, "device": 0, "stream": 7,
                                                                                        "correlation": i + 1}, **more})


EVENTS = [each for i in range(OPS) for each in (op(i), kernel(i))]
PLAIN = json.dumps({"schemaVersion": 1, "traceEvents": EVENTS}).encode()
LINES = ('{"traceEvents": [\n' + ",\n".join(json.dumps(e) for e in EVENTS) + '\n], "traceName": "t"}\n').encode()


class Case:
    """A run on one file: the report, the words on stderr, the exit code that it must have."""

    def __init__(self, folder, name, data, code=0):
        path = pathlib.Path(folder) / name
        path.write_bytes(data)
        out, _ = driver.suture("trace", path, "--json", exit_code=code)
        self.document = json.loads(out)
        self.trace = (self.document.get("traces") or [None])[0]
        self.errors = [error["message"] for error in self.document["errors"]]
        _, self.words = driver.suture("trace", path, exit_code=code)
        if self.trace:
            self.warnings = {each["what"]: each for each in self.trace["warnings"]}

    def all_there(self, events=2 * OPS, kernels=OPS):
        assert self.trace["complete"] and not self.errors, self.errors
        assert (self.trace["events"], self.trace["kernels"]) == (events, kernels), self.trace["events"]
        return self

    def damaged(self, at, least=1):
        """Damaged at or near that byte; what came before is counted."""
        assert not self.trace["complete"] and self.trace["damage"]["why"], self.trace
        offset = self.trace["damage"]["offset"]
        assert at[0] <= offset <= at[1], (at, self.trace["damage"])
        assert least <= self.trace["events"] < 2 * OPS, self.trace["events"]
        assert f"damaged at byte {offset}" in self.words, self.words
        return self

    def warned(self, part, count=None, offset=None):
        found = [each for what, each in self.warnings.items() if part in what]
        assert len(found) == 1, (part, self.warnings)
        assert count is None or found[0]["count"] == count, found
        assert offset is None or found[0]["offset"] == offset, (found, offset)
        assert f"first at byte {found[0]['offset']}" in self.words, self.words
        return self

    def unwarned(self):
        assert not self.warnings, self.warnings

    def refused(self, part):
        assert self.trace is None and len(self.errors) == 1 and part in self.errors[0], self.errors
        assert part in self.words


def truncated(folder):
    packed = gzip.compress(PLAIN)
    for size in (len(packed) // 2, len(packed) - 1, len(packed) - 8):
        case = Case(folder, "t.gz", packed[:size], code=6)
        assert not case.trace["complete"] and "gzip" in case.trace["damage"]["why"], case.trace["damage"]
        assert "not complete" in case.words
    for text in (PLAIN, LINES):
        for size in (len(text) // 3, len(text) // 2, len(text) - 40):
            Case(folder, "t.json", text[:size], code=6).damaged((size - 400, size))


def bad_byte(folder):
    at = LINES.index(b'"aten::mm"', len(LINES) // 2)
    for replacement in (b"\x01", b"\x00"):
        bad = LINES[:at + 3] + replacement + LINES[at + 4:]
        Case(folder, "control.json", bad, code=6).damaged((at + 3, at + 3), OPS // 2)
    lost = LINES[:at] + b"x" + LINES[at + 1:]  # a quote is lost
    case = Case(folder, "quote.json", lost, code=6)
    assert abs(case.trace["damage"]["offset"] - at) < 200 and case.trace["events"] > OPS // 2, case.trace["damage"]
    brace = LINES.index(b"}}", at)
    Case(folder, "brace.json", LINES[:brace] + b"]" + LINES[brace + 1:], code=6).damaged((brace, brace), OPS // 2)
    colon = LINES.index(b":", LINES.index(b'"ts"', at))
    Case(folder, "colon.json", LINES[:colon] + b"," + LINES[colon + 1:]).warned("left out", 1, colon).all_there(2 * OPS - 1)
    utf8 = LINES[:at + 3] + b"\xe9" + LINES[at + 4:]
    Case(folder, "latin.json", utf8).warned("not UTF-8", 1, at + 3).all_there()
    packed = bytearray(gzip.compress(PLAIN))
    packed[len(packed) // 2] ^= 0x40
    case = Case(folder, "flipped.gz", bytes(packed), code=6)
    assert not case.trace["complete"], case.trace


def trailing(folder):
    Case(folder, "behind.json", PLAIN + b" more {", 0).warned("behind the end", 6, len(PLAIN) + 1).all_there()
    Case(folder, "blanks.json", PLAIN + b" \n" * 300000).all_there().unwarned()
    for name, rest in (("large.json", b'{"x": [1, 2]}\n' * 100000), ("string.json", b'"\x00' + bytes(1000000)),
                       ("quote.json", b"x" * 700000 + b'"')):  # read in several windows; with a string that has no end
        Case(folder, name, PLAIN + b"\n" + rest).warned("behind the end", len(rest), len(PLAIN) + 1).all_there()
    packed = gzip.compress(PLAIN)
    Case(folder, "behind.gz", packed + b"garbage").warned("behind the compressed stream", 7, len(packed)).all_there()
    Case(folder, "zeros.gz", packed + bytes(1000)).all_there()


def encodings(folder):
    Case(folder, "bom.json", b"\xef\xbb\xbf" + PLAIN).all_there()
    Case(folder, "utf16.json", PLAIN.decode().encode("utf-16"), 6).refused("UTF-16")
    half = len(PLAIN) // 2
    Case(folder, "members.gz", gzip.compress(PLAIN[:half]) + gzip.compress(b"") + gzip.compress(PLAIN[half:])).all_there()
    try:
        import subprocess
        packed = subprocess.run(["zstd", "-q", "-c"], input=PLAIN, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return
    path = pathlib.Path(folder) / "t.zst"
    path.write_bytes(packed)
    out = json.loads(driver.suture("trace", path, "--json")[0])["traces"][0]
    assert out["complete"] and out["events"] == 2 * OPS and out["compression"] == "zstd"


def odd_values(folder):
    def case(name, *more):
        text = json.dumps({"traceEvents": EVENTS + list(more)})
        return Case(folder, name, text.encode()), text
    it, text = case("nan.json", kernel(900, dur=float("nan")), kernel(901, ts=float("inf")))
    it.warned("no numbers", 2, text.index("NaN"))
    assert it.trace["kernels"] == OPS, it.trace["kernels"]
    without = kernel(900)
    del without["dur"]
    it, text = case("dur.json", without)
    it.warned("no duration", 1, text.rindex('{"ph"'))
    assert it.trace["kernels"] == OPS
    it, _ = case("negative.json", kernel(900, ts=-5000.5), op(901, dur=-1))
    it.warned("negative", 1)
    assert it.trace["kernels"] == OPS + 1 and it.trace["wall_us"] > 105000
    it, text = case("range.json", kernel(900, ts=1.7e18), kernel(901, dur=1e16), kernel(902, args={"External id": 2**70}))
    it.warned("out of range", 2, text.index("1.7e+18")).warned("longer than 13 days", 1)
    assert it.trace["kernels"] == OPS + 1 and not any("no numbers" in what for what in it.warnings), it.warnings
    lost = [kernel(i, ts=1.7e18 + i) for i in range(OPS)]
    it = Case(folder, "lost.json", json.dumps({"traceEvents": [op(1), *lost]}).encode(), 6)
    assert it.errors and "none of its 300 calls on the GPU has a time" in it.errors[0], it.errors
    out, _ = driver.suture("trace", pathlib.Path(folder) / "lost.json", exit_code=6)
    assert b"nothing ran on a GPU" not in out and b"none can be told" in out, out
    big = 2**53
    odd = [event(cat="cpu_op", name="aten::a", ts=9e5, dur=1, args={"External id": big + 1}),
           event(cat="cpu_op", name="aten::b", ts=9.1e5, dur=1, args={"External id": big}),
           kernel(1000, args={"External id": big + 1}), kernel(1001, args={"External id": big}), kernel(1002, args={"External id": big})]
    it, _ = case("ids.json", *odd)
    times = {row["operator"]: row["self_us"] for row in it.trace["operators"]}
    assert times["aten::a"] == 4 and times["aten::b"] == 8, times
    twice = PLAIN.replace(b'"dur": 4', b'"dur": 9, "dur": 4')
    Case(folder, "twice.json", twice).warned("twice", OPS).all_there()
    it, _ = case("pairs.json", {"ph": "B", "cat": "cpu_op", "name": "open", "pid": 1, "tid": 2, "ts": 1},
                 {"ph": "E", "pid": 1, "tid": 3, "ts": 5}, {"ph": "B", "cat": "cpu_op", "name": "paired", "pid": 1, "tid": 4, "ts": 1},
                 {"ph": "E", "pid": 1, "tid": 4, "ts": 5})
    it.warned("no end (E)", 1).warned("no beginning (B)", 1)
    assert {row["operator"]: row["cpu_us"] for row in it.trace["operators"]}["paired"] == 4
    it, _ = case("async.json", {"ph": "b", "cat": "x", "id": 1, "name": "a", "ts": 1}, {"ph": "n", "cat": "x", "id": 1, "name": "a", "ts": 2},
                 {"ph": "e", "cat": "x", "id": 1, "name": "a", "ts": 3}, {"ph": "C", "name": "c", "ts": 1, "args": {"v": 1}})
    it.all_there(2 * OPS + 4)


def forms(folder):
    Case(folder, "empty.json", b"", 6).refused("is empty (0 bytes)")
    Case(folder, "blank.json", b" \n", 6).refused("nothing but blanks")
    Case(folder, "empty.gz", gzip.compress(b""), 6).refused("is empty (0 bytes)")
    Case(folder, "text.json", b"hello", 6).refused("neither { nor [")
    Case(folder, "other.json", b'{"a": [1, 2]}', 6).refused('no "traceEvents"')
    Case(folder, "number.json", b'{"traceEvents": 5}', 6).refused('"traceEvents" that is no array (byte 16)')
    Case(folder, "header.gz", b"\x1f\x8b\x07" + bytes(100), 6).refused("header.gz cannot be read: the gzip stream")
    Case(folder, "array.json", json.dumps(EVENTS).encode()).all_there()
    Case(folder, "object.json", PLAIN).all_there()
    Case(folder, "last.json", b'{"traceEvents": [], "x": {"traceEvents": [{}]}}').all_there(0, 0)
    cpu = Case(folder, "cpu.json", json.dumps([op(i) for i in range(OPS)]).encode()).all_there(OPS, 0)
    assert cpu.trace["operators"][0]["cpu_us"] == 5 * OPS and cpu.trace["gpu_us"] == 0
    out, _ = driver.suture("trace", pathlib.Path(folder) / "cpu.json")
    assert b"nothing ran on a GPU" in out and b"aten::mm" in out, out
    _, words = driver.suture("trace", pathlib.Path(folder) / "missing.json", exit_code=6)
    assert "No such file" in words
    _, words = driver.suture("trace", folder, exit_code=6)
    assert "Is a directory" in words
    # One file that cannot be read costs the others nothing.
    out, words = driver.suture("trace", pathlib.Path(folder) / "empty.json", pathlib.Path(folder) / "object.json", exit_code=6)
    assert b"600 events" in out and "is empty" in words


def main():
    with tempfile.TemporaryDirectory(prefix="suture-trace-") as folder:
        for check in (truncated, bad_byte, trailing, encodings, odd_values, forms):
            check(folder)
            print(f"ok      {check.__name__}")


if __name__ == "__main__":
    main()
