"""Parsing what can hold a site finds what parsing everything finds: every site of a whole release, with all that is said of it. And
the outline that chooses what to parse has the logical lines of Python's tokenize.

    python3 tests/audit/soundness_test.py AUDIT_PROBE RELEASE...
"""

import io
import pathlib
import subprocess
import sys
import tempfile
import tokenize

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sites_test  # puts tests/support on the path
import driver


def logical_lines(text):
    """[(first line, last line, indent)] by tokenize; None where Python refuses the file."""
    found, begin, indent = [], None, 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
                continue
            if begin is None:
                begin, indent = token.start[0], token.start[1]
            if token.type == tokenize.NEWLINE:
                found.append((begin, token.start[0], indent))
                begin = None
    except (tokenize.TokenError, IndentationError):
        return None
    return found


def outlined(probe, paths):
    """{path: the same of audit_probe; None: not sure}"""
    out = subprocess.run([probe, "outline", *paths], capture_output=True, check=True).stdout.decode()
    result, path = {}, None
    for line in out.splitlines():
        if line.endswith(".py"):
            path = line
            result[path] = []
        elif line == "unsure":
            result[path] = None
        else:
            result[path].append(tuple(map(int, line.split())))
    return result


def check_outlines(probe, tree):
    paths = sorted(map(str, tree.rglob("*.py")))
    unsure = 0
    for path, lines in outlined(probe, paths).items():
        raw = pathlib.Path(path).read_bytes()
        if lines is None:
            unsure += 1
            continue
        begins = [0]
        for line in raw.splitlines(keepends=True):
            begins.append(begins[-1] + len(line))
        number = {begin: row + 1 for row, begin in enumerate(begins)}
        found = [(number[begin], number[end] - 1 if end in number else len(begins) - 1, indent)
                 for begin, end, indent in lines]
        bom = 3 if raw.startswith(b"\xef\xbb\xbf") else 0
        wanted = logical_lines(raw[bom:].decode())
        if wanted is not None:
            found = [(first if first else 1, last, indent) for first, last, indent in found]
            assert found == wanted, f"{path}: {[pair for pair in zip(found, wanted) if pair[0] != pair[1]][:3]}"
    assert unsure <= len(paths) // 50, f"the outline is unsure of {unsure} of {len(paths)} files"
    return f"{len(paths)} outlines as tokenize has them, {unsure} unsure"


def check(probe, release):
    with tempfile.TemporaryDirectory(prefix="suture-audit-") as scratch:
        tree = sites_test.unpacked(release, scratch)
        print(f"{release}: {check_outlines(probe, tree)}")
        run = subprocess.run([probe, "depths", tree], capture_output=True, text=True, check=False)
        print(run.stdout + run.stderr, end="")
        assert run.returncode == 0, "the two do not agree"


def main():
    for release in sys.argv[2:]:
        check(sys.argv[1], release)


if __name__ == "__main__":
    main()
